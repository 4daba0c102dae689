"""`podium serve` in a process of its own: started, read, killed, stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import httpx
import msgspec

from podium.runtime.place import SERVER_FILE
from tests.runtime.house import WAIT_MAX, House
from tests.server.desk import Web


class Server:
    """One server process with what it said. `port` 0 takes a free one."""

    def __init__(self, process: anyio.abc.Process, house: House, errors: Path) -> None:
        self.process = process
        self.house = house
        self.said = ""
        self._errors = errors

    @classmethod
    async def start(cls, house: House, port: int = 0) -> Server:
        """A server that answers."""
        errors = house.root / "serve.err"
        with errors.open("ab") as sink:
            process = await anyio.open_process(
                [sys.executable, "-m", "podium", "serve", "--port", str(port)],
                env={**house.environ, "PODIUM_DATA": str(house.data)},
                cwd=house.root,
                stdin=subprocess.DEVNULL,
                stderr=sink,
            )
        server = cls(process, house, errors)
        with anyio.fail_after(WAIT_MAX):
            while "Open: " not in server.said or not server.said.endswith("\n"):
                await server.read()
        return server

    async def read(self) -> bool:
        """Take what it says now; False at its end."""
        assert self.process.stdout is not None
        try:
            self.said += (await self.process.stdout.receive()).decode()
        except anyio.EndOfStream:
            assert self.process.returncode is None or "Open: " in self.said, self.complained
            return False
        return True

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def complained(self) -> str:
        return self._errors.read_text()

    @property
    def url(self) -> str:
        return self.said.split("Podium ", 1)[1].split()[0]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def code(self) -> str:
        return self.said.partition("#code=")[2].split()[0]

    @property
    def token(self) -> str:
        found = msgspec.json.decode((self.house.data / SERVER_FILE).read_bytes())
        return str(found["token"])

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Web]:
        """A client with its token."""
        async with httpx.AsyncClient(base_url=self.url, timeout=WAIT_MAX, trust_env=False) as http:
            yield Web(http, self.token, str(self.house.workspace))

    async def stop(self) -> int:
        """SIGTERM, and its exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> int:
        """SIGKILL."""
        return await self._end(signal.SIGKILL)

    async def _end(self, number: signal.Signals) -> int:
        if self.process.returncode is not None:
            return self.process.returncode
        self.process.send_signal(number)
        with anyio.fail_after(WAIT_MAX):
            while await self.read():
                pass
            code = await self.process.wait()
        await self.process.aclose()
        return code
