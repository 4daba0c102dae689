"""Starts hosts in processes of their own and kills them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import anyio.abc

from tests.runtime.house import WAIT_MAX, House

HOST = Path(__file__).with_name("host.py")


class Host:
    """One host process with what it said."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.said: list[str] = []
        self._rest = b""

    async def word(self, wanted: str) -> str:
        """Read on until a line begins with this; the rest of that line."""
        assert self.process.stdout is not None
        with anyio.fail_after(WAIT_MAX):
            while True:
                while b"\n" in self._rest:
                    line, self._rest = self._rest.split(b"\n", 1)
                    self.said.append(line.decode())
                    if self.said[-1].startswith(wanted):
                        return self.said[-1][len(wanted) :].strip()
                self._rest += await self.process.stdout.receive()

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        with anyio.fail_after(WAIT_MAX):
            await self.process.wait()


async def host(house: House, *prompts: str, agent: str = "scripted", linger: float = 0.0) -> Host:
    """A host that has posted these prompts in a new thread."""
    process = await anyio.open_process(
        [sys.executable, str(HOST), str(house.data), str(house.workspace), agent, str(linger), *prompts],
        env=house.environ,
        stdin=subprocess.DEVNULL,
        stderr=None,
    )
    return Host(process)
