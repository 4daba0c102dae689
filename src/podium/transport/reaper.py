"""Finds and ends what agents left behind, by the token in the environment, never by a pid alone (R3, B11,
B13)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

import anyio
import msgspec

from podium.transport.environment import PROCESS_TOKEN

PROC = Path("/proc")
ENVIRON_MAX = 4 << 20  # bytes of one process's environment that are looked at
TERM_WAIT = 3.0  # seconds between TERM and KILL
KILL_WAIT = 3.0  # seconds until a killed process must be gone
POLL = 0.05
ROUNDS_MAX = 5  # a process may start others while it is being ended
TOKEN_MIN = 8  # characters; a shorter token could be somebody else's


class ProcessIdentity(msgspec.Struct, frozen=True):
    """One process, not only a pid: `start_ticks` is its start in clock ticks since boot, `exe` its program
    (""
    where it may not be read)."""

    pid: int
    start_ticks: int
    exe: str


class ReaperUnsupported(Exception):
    """This system does not show other processes' environments; end agents through their keepers."""


class Reaped(msgspec.Struct, frozen=True):
    """`gone` has ended; `survivors` carried the token and outlived KILL or could not be signalled."""

    gone: tuple[ProcessIdentity, ...]
    survivors: tuple[ProcessIdentity, ...]


def supported() -> bool:
    return sys.platform == "linux" and PROC.joinpath("self", "environ").exists()


def identify(pid: int) -> ProcessIdentity | None:
    """Who holds this pid now; None for nobody and for a zombie, which counts as gone."""
    try:
        fields = (PROC / str(pid) / "stat").read_bytes().decode("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    if not fields or fields[0] in "ZX":
        return None
    try:
        exe = str((PROC / str(pid) / "exe").readlink())
    except OSError:
        exe = ""
    return ProcessIdentity(pid, int(fields[19]), exe)


def is_same(recorded: ProcessIdentity) -> bool:
    """Whether the recorded process still lives: same pid, start time and program (B13)."""
    now = identify(recorded.pid)
    return (
        now is not None
        and now.start_ticks == recorded.start_ticks
        and (not recorded.exe or not now.exe or _program(now.exe) == _program(recorded.exe))
    )


def find_processes(token: str) -> list[ProcessIdentity]:
    """All living processes started with this token, in sessions of their own too; never this process.

    Raises ReaperUnsupported off Linux, ValueError for a token too short to be ours alone.
    """
    return find_all([token])


def find_all(tokens: Iterable[str]) -> list[ProcessIdentity]:
    """The same for several tokens in one pass over /proc."""
    needles = _needles(tokens)
    found: list[ProcessIdentity] = []
    for entry in PROC.iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid() and _carries(int(entry.name), needles):
            identity = identify(int(entry.name))
            if identity is not None and _carries(identity.pid, needles):
                found.append(identity)
    return found


async def kill_processes(
    token: str, *, term_wait: float = TERM_WAIT, kill_wait: float = KILL_WAIT, spare: Iterable[int] = ()
) -> Reaped:
    """End every process with this token: TERM, then KILL, each wait bounded. Token and start time are checked
    again right before each signal, so a pid that was given away meanwhile is never touched."""
    needles = _needles([token])
    spared = set(spare)
    gone: list[ProcessIdentity] = []
    left: list[ProcessIdentity] = []
    for _ in range(ROUNDS_MAX):
        found = [identity for identity in find_processes(token) if identity.pid not in spared]
        left = found
        if not found:
            break
        for number, wait in ((signal.SIGTERM, term_wait), (signal.SIGKILL, kill_wait)):
            for identity in left:
                _signal(identity, number, needles)
            left = await _wait_gone(left, wait)
        gone += [identity for identity in found if identity not in left]
    return Reaped(tuple(gone), tuple(left))


async def kill_identity(
    recorded: ProcessIdentity, token: str, *, term_wait: float = TERM_WAIT, kill_wait: float = KILL_WAIT
) -> bool:
    """End one recorded process if it is still the same and carries the token; True when it is gone then.

    False means that it lives: it does not carry the token, or nothing ended it.
    """
    needles = _needles([token])
    for number, wait in ((signal.SIGTERM, term_wait), (signal.SIGKILL, kill_wait)):
        if is_same(recorded) and _signal(recorded, number, needles):
            await _wait_gone([recorded], wait)
    return not is_same(recorded)


def _signal(identity: ProcessIdentity, number: int, needles: frozenset[bytes]) -> bool:
    """Through a pidfd: after the check the signal cannot hit another process."""
    try:
        pidfd = os.pidfd_open(identity.pid)
    except OSError:  # nobody there
        return False
    try:
        if not is_same(identity) or not _carries(identity.pid, needles):
            return False
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True


async def _wait_gone(identities: list[ProcessIdentity], wait: float) -> list[ProcessIdentity]:
    alive = [identity for identity in identities if is_same(identity)]
    with anyio.move_on_after(wait, shield=True):
        while alive:
            await anyio.sleep(POLL)
            alive = [identity for identity in alive if is_same(identity)]
    return alive


def _needles(tokens: Iterable[str]) -> frozenset[bytes]:
    if not supported():
        raise ReaperUnsupported("this system does not show the environment of other processes")
    needles: set[bytes] = set()
    for token in tokens:
        if len(token) < TOKEN_MIN:
            raise ValueError(f"a process token has at least {TOKEN_MIN} characters")
        needles.add(f"{PROCESS_TOKEN}={token}".encode())
    return frozenset(needles)


def _carries(pid: int, needles: frozenset[bytes]) -> bool:
    """Exact variables only: a token that merely occurs in some other value proves nothing."""
    try:
        with (PROC / str(pid) / "environ").open("rb") as file:
            environ = file.read(ENVIRON_MAX)
    except OSError:
        return False
    return not needles.isdisjoint(environ.split(b"\0"))


def _program(exe: str) -> str:
    return exe.removesuffix(" (deleted)")  # the file was replaced, as by an upgrade; the process is the same
