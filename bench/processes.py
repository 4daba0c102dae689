"""What processes cost: CPU seconds and memory, as Linux tells them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TICK = 1.0 / os.sysconf("SC_CLK_TCK")
"""Seconds of one tick of the CPU clock of processes."""

POLL = 0.01
"""Seconds between looks whether a process is gone."""


class Cpu(NamedTuple):
    """CPU seconds: the server's own, and those of keepers and agents."""

    server: float
    agents: float

    def since(self, before: Cpu) -> Cpu:
        """What was used since then. Both must be of the same processes."""
        return Cpu(self.server - before.server, max(0.0, self.agents - before.agents))


def cpu_seconds(pid: int) -> float:
    """What a process used so far; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * TICK


def private_mib(pid: int) -> float:
    """Memory that would be free without the process, in MiB."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return (
        sum(int(row.split()[1]) for row in rows if row.startswith(("Private_Clean", "Private_Dirty"))) / 1024
    )


def resident_mib(pid: int) -> float:
    """Memory of the process, with what it shares, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def command_of(pid: int) -> str:
    """The command line, words between spaces; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def belonging(root: Path, but: Iterable[int] = ()) -> list[int]:
    """The processes that have this folder in their environment or command line."""
    mark, left = str(root).encode(), {os.getpid(), *but}
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) in left:
            continue
        try:
            if mark in (entry / "environ").read_bytes() or mark in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_gone(root: Path, seconds: float) -> list[int]:
    """Wait until no process of this folder is left; those that are still there after so many seconds."""
    deadline = time.monotonic() + seconds
    while (left := belonging(root)) and time.monotonic() < deadline:
        time.sleep(POLL)
    return left
