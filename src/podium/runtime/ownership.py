"""Which runtime a thread belongs to: a file lock is the proof of life, without pids (R5)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from podium.contract.errors import Conflict, StorageFailed

FOLDER = "runtimes"

CLAIM_MAX = 30.0
"""Longest wait for another runtime's take-over, in seconds."""

CLAIM_POLL = 0.02


def _folder(data: Path) -> Path:
    folder = data / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


class RuntimeLock:
    """Held as long as its runtime lives; the system lets go of it however the process ends."""

    def __init__(self, data: Path, runtime_id: str) -> None:
        try:
            self.path = _folder(data) / f"{runtime_id}.lock"
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StorageFailed(
                "data_folder",
                f"The data folder {data} cannot be used: {error.strerror}.",
                fix="Give yourself the right to write it, or name another folder.",
            ) from error
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        """Let go, and leave no file behind."""
        self.path.unlink(missing_ok=True)
        os.close(self._fd)


def is_alive(data: Path, runtime_id: str) -> bool:
    """Whether the runtime with this id still runs on this machine.

    A shared lock asks: two that ask at the same moment do not take each other for the runtime.
    """
    path = data / FOLDER / f"{runtime_id}.lock"
    try:
        fd = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(fd)


def others_alive(data: Path, own: str) -> bool:
    """Whether any other runtime of this data folder lives, recorded or not."""
    ids = {path.stem for path in (data / FOLDER).glob("*.lock")}
    return any(is_alive(data, runtime_id) for runtime_id in ids - {own})


@asynccontextmanager
async def claiming(data: Path) -> AsyncGenerator[None]:
    """Alone between asking who owns a thread and owning it: two runtimes never take over the same one.

    The folder of the locks is itself the lock, so that nothing is left behind.

    Raises Conflict `take_over_busy` if another runtime does not finish.
    """
    fd = os.open(_folder(data), os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = anyio.current_time() + CLAIM_MAX
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if anyio.current_time() > deadline:
                    raise Conflict(
                        "take_over_busy",
                        "Another Podium is taking threads over and does not finish.",
                        fix="Try again; if it stays so, stop the other Podium.",
                    ) from None
            await anyio.sleep(CLAIM_POLL)
        yield
    finally:
        os.close(fd)
