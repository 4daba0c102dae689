"""Write the HTTP contract: `python -m tools.openapi FILE`. The page's types are made from it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import anyio
import msgspec

import podium
from podium.server.access import Access
from podium.server.app import create_api
from podium.server.service import Service


async def contract() -> bytes:
    """The OpenAPI document, in a stable order."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"PODIUM_CONFIG": folder}
        async with podium.open(Path(folder) / "data", environ=environ) as opened:
            service = Service(opened, Access("-"), Path(folder))
            document = create_api(service).openapi_schema.to_schema()
    data = msgspec.json.encode(document, enc_hook=msgspec.to_builtins, order="deterministic")
    return msgspec.json.format(data) + b"\n"


def main() -> None:
    Path(sys.argv[1]).write_bytes(anyio.run(contract))


if __name__ == "__main__":
    main()
