"""Which of an agent's processes may write beside it: those that were not there when it was ready (R11)."""

from __future__ import annotations

import anyio
import anyio.to_thread

from podium.transport.reaper import ReaperUnsupported, find_processes

LOOK_AGAIN, LOOKS = 0.1, 4
"""Seconds between looks while a process of a finished turn is just going, and how many."""

Known = frozenset[tuple[int, int]]


class Census:
    """The processes of one agent, by the token they all carry. Where nobody can tell, it is never quiet."""

    def __init__(self, token: str) -> None:
        self.program: int | None = None
        """The pid of the agent program itself."""
        self._token = token
        self._servers: Known | None = None

    @property
    def taken(self) -> bool:
        """Whether it is known which processes the agent keeps for itself."""
        return self._servers is not None

    async def take(self) -> None:
        """What is alive now belongs to the agent: no turn has begun, or none is at work."""
        self._servers = await anyio.to_thread.run_sync(self._others)

    async def quiet(self) -> bool:
        """Whether nothing is alive but the program and what was there when this was taken."""
        for look in range(LOOKS):
            if look:
                await anyio.sleep(LOOK_AGAIN)
            found = await anyio.to_thread.run_sync(self._others)
            if found is not None and found <= (self._servers or frozenset()):
                return True
        return False

    def _others(self) -> Known | None:
        try:
            found = find_processes(self._token)
        except ReaperUnsupported:
            return None
        return frozenset((p.pid, p.start_ticks) for p in found if p.pid != self.program)
