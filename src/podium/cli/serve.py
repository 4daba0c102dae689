"""`podium serve`: the data folder over HTTP, with the page."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from podium.cli.printing import complain, say

if TYPE_CHECKING:
    from podium.runtime.place import Place

INTERRUPTED = 130


def serve(*, host: str = "127.0.0.1", port: int | None = None, url: bool = False) -> int:
    """Serve this data folder over HTTP, and print a URL that opens the page once.

    Ctrl-C or SIGTERM stops the server; agents go on working, and the next server goes on with them.
    `podium stop --agents` ends them.

    Parameters
    ----------
    host
        The address to listen at. Only this machine can reach the default.
    port
        The port; 0 takes a free one. Without it the usual port, or a free one if that is taken.
    url
        Print a fresh URL of the server that runs already, and leave.
    """
    import anyio

    from podium.runtime.settings import data_folder, load_settings

    if url:
        from podium.runtime.place import read_place

        place = read_place(data_folder(os.environ))
        if place is None:
            complain("No server runs on this data folder.", fix="Start one: podium serve")
            return 1
        say(f"{anyio.run(fresh_url, place)}\n")
        return 0
    settings = load_settings(os.environ)

    async def work() -> int:
        from podium.server.serving import open_agents, serving

        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with serving(settings, host=host, port=port) as running:
                say(f"Podium {running.place.url}\nOpen: {running.open_url}\n")
                number = await anext(aiter(signals))
                left = open_agents(running.service)
                if left:
                    many = f"{left} agents go" if left != 1 else "1 agent goes"
                    say(f"{many} on working; end with: podium stop --agents\n")
            return INTERRUPTED if number == signal.SIGINT else 0

    return anyio.run(work, backend_options={"use_uvloop": True})


async def fresh_url(place: Place) -> str:
    """A URL that signs another browser in. Raises Unavailable `server_unreachable`."""
    from podium.client.wire import Wire

    wire = Wire(place.url, place.token)
    try:
        found = await wire.call("POST", "/v1/session/code", dict[str, str], {})
    finally:
        await wire.aclose()
    return f"{place.url}/#code={found['code']}"
