"""What runtimes that died left on this machine: processes of agents, and folders of keepers (B11, R3).

A process is known by the token in its environment, never by its number alone. An agent whose keeper lives is
left alone: its thread can be taken over.
"""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import anyio

from podium.contract.errors import StorageFailed
from podium.journal.rows import ProcessRow
from podium.journal.store import Journal
from podium.runtime.launching import PROCESS_FOLDER
from podium.runtime.ownership import is_alive, others_alive
from podium.transport.environment import PROCESS_TOKEN
from podium.transport.launch import Launched, read_launched
from podium.transport.link import Exited, Fenced, KeeperLink, LinkLost
from podium.transport.reaper import PROC, TOKEN_MIN, ReaperUnsupported, identify, kill_processes
from podium.transport.spool import discard_folder

LAST_GENERATION = 2**53
"""Above that of every owner: who attaches with it comes to end the process."""

LAUNCH_POLL, LAUNCH_LOOKS = 0.1, 50
"""Seconds between looks for a keeper that was being started when its runtime died, and how many."""

EXIT_MAX = 20.0
"""Seconds for a keeper that was told to end its agent to say that it has."""


async def reap(token: str) -> None:
    """End everything that was started with this token, in sessions of its own too."""
    with contextlib.suppress(ReaperUnsupported):  # off Linux keepers end their agents' groups
        await kill_processes(token)


async def launched_by(folder: Path) -> Launched | None:
    """What the keeper of this folder answered, also one that is just coming up; None if none ever will."""
    for _ in range(LAUNCH_LOOKS):
        launched = read_launched(folder)
        if launched is not None or not there(folder):
            return launched
        await anyio.sleep(LAUNCH_POLL)
    return None


def there(folder: Path) -> bool:
    """Whether a keeper made this folder."""
    return folder.exists()


def keeper_gone(folder: Path) -> bool:
    """Whether certainly nobody listens at the keeper's address."""
    launched = read_launched(folder)
    if launched is None:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1.0)
        try:
            client.connect(launched.address)
        except (FileNotFoundError, ConnectionRefusedError):
            return True
        except OSError:
            return False
    return False


async def sweep(journal: Journal, data: Path, own: str) -> None:
    """End what processes of dead runtimes left without a keeper, and delete what their keepers left."""
    folders = sorted((data / PROCESS_FOLDER).glob("*"))  # first: a record is older than its folder
    if not folders:
        return
    with contextlib.suppress(StorageFailed):  # the next start looks again
        rows = {row.folder: row for row in journal.processes(open_only=False)}
        alone = not others_alive(data, own)
        for folder in folders:
            row = rows.get(str(folder))
            if row is None and alone:
                await _sweep_unknown(folder)
            elif row is not None and row.runtime_id != own and not is_alive(data, row.runtime_id):
                await _sweep_known(row, folder)


async def _sweep_known(row: ProcessRow, folder: Path) -> None:
    if row.closed:
        await reap(row.token)
        discard_folder(folder)
    elif keeper_gone(folder):
        await reap(row.token)


async def _sweep_unknown(folder: Path) -> None:
    """A process whose record is gone, with its database for example: nobody can ever work with it."""
    launched = await launched_by(folder)
    token = token_of(launched) if launched is not None else None
    if launched is not None:
        with contextlib.suppress(LinkLost, Fenced):
            async with await KeeperLink.attach(launched.address, LAST_GENERATION) as link:
                await link.end("record_gone", grace=0)
                with anyio.move_on_after(EXIT_MAX):  # a keeper at work would write into what is deleted
                    async for notice in link:
                        if isinstance(notice, Exited):
                            break
    if token is not None:
        await reap(token)
    discard_folder(folder)


def token_of(launched: Launched) -> str | None:
    """The token of an agent that still lives, known by its start time; None for anybody else (B13)."""
    now = identify(launched.agent_pid)
    if now is None or now.start_ticks != launched.agent_start:
        return None
    mark = f"{PROCESS_TOKEN}=".encode()
    try:
        found = (PROC / str(launched.agent_pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    token = next((line.removeprefix(mark).decode() for line in found if line.startswith(mark)), "")
    return token if len(token) >= TOKEN_MIN else None
