"""`podium stop`: end what goes on working in the background."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli.printing import complain, say

if TYPE_CHECKING:
    from podium.runtime.podium import Podium


SERVER_MAX = 30.0
"""Longest wait for a server to leave, in seconds."""

POLL = 0.05


def stop(*, agents: bool = False) -> int:
    """Stop the server; its agents go on working. With --agents, end every agent that was left working.

    Parameters
    ----------
    agents
        End every agent process of this data folder that no running command works with.
    """
    import anyio

    from podium.journal.database import FILE_NAME
    from podium.runtime.settings import data_folder

    data = data_folder(os.environ)
    stopped = anyio.run(stop_server, data)
    if stopped is False:
        return 1
    if stopped:
        say("Stopped the server.\n")
    if not agents:
        if stopped is None:
            say("No server runs. `podium stop --agents` ends agents that were left working.\n")
        return 0
    if not (data / FILE_NAME).exists():
        say("No agent was left working.\n")
        return 0
    ended, busy = anyio.run(_stop_agents)
    if ended:
        say(f"Ended {ended} agent{'s' if ended != 1 else ''}.\n")
    elif not busy:
        say("No agent was left working.\n")
    if busy:
        complain(
            f"{busy} agent{'s' if busy != 1 else ''} of a running command were not touched.",
            fix="Interrupt that command, or wait for its end.",
        )
    return 1 if busy else 0


async def stop_server(data: Path) -> bool | None:
    """Ask the server of a data folder to leave, and wait for it; None if none runs, False if it stays.

    The process is the one that holds the lock: a number that belongs to somebody else is never signalled.
    """
    import anyio

    from podium.runtime.place import locked, read_place

    place = read_place(data)
    if place is None:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.kill(place.pid, signal.SIGTERM)
    with anyio.move_on_after(SERVER_MAX):
        while locked(data):  # noqa: ASYNC110 - another process has no event for us
            await anyio.sleep(POLL)
        return True
    complain("The server did not leave.", fix=f"End process {place.pid}.")
    return False


def works(folder: str) -> bool:
    """Whether the agent of this process folder has not ended yet."""
    from podium.transport.spool import read_exit

    return Path(folder).exists() and read_exit(Path(folder)) is None


async def _stop_agents() -> tuple[int, int]:
    from podium.runtime.podium import open as open_podium

    async with open_podium() as podium:
        return await end_left_agents(podium)


async def end_left_agents(podium: Podium) -> tuple[int, int]:
    """How many agents were ended, and how many belong to a runtime that lives."""
    from podium.contract.errors import Conflict

    runtime = podium.runtime
    ended = busy = 0
    for row in runtime.journal.processes():
        alive = works(row.folder)
        try:
            await runtime.take_over(row.thread_id)
        except Conflict:
            busy += 1
            continue
        ended += alive
    await runtime.stop_agents("stopped")
    return ended, busy
