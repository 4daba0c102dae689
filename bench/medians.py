"""The stored medians, and what got worse beyond their spread."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.figures import Row, Spread, shown

STORED = Path(__file__).with_name("medians.json")


class Machine(msgspec.Struct, frozen=True):
    """The kind of machine. It names no one machine."""

    system: str
    cores: int
    python: str
    memory_gib: int
    note: str = ""


class Report(msgspec.Struct, frozen=True):
    """All rows of some runs on one machine."""

    machine: Machine
    runs: int
    rows: tuple[Row, ...]


def machine(note: str = "") -> Machine:
    """This one."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    cores = os.cpu_count() or 1
    system = f"{platform.system()} {platform.machine()}"
    return Machine(system, cores, platform.python_version(), round(memory), note)


def load(path: Path) -> Report:
    """Stored medians. Raises OSError or msgspec.DecodeError."""
    return msgspec.json.decode(path.read_bytes(), type=Report)


def save(path: Path, report: Report) -> None:
    """Keep them."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")


def judged_by(row: Row) -> Spread:
    """What is compared: the ratio to the bare pipe if there is one, for machines differ; else the figure."""
    return row.ratio or row.value


def regressions(now: Sequence[Row], before: Sequence[Row]) -> list[str]:
    """What is worse than it ever was in the stored runs, one line each."""
    known = {row.row: row for row in before}
    found: list[str] = []
    for row in now:
        old = known.get(row.row)
        if old is None or (row.ratio is None) != (old.ratio is None):
            continue
        fresh, kept = judged_by(row), judged_by(old)
        lower = row.ratio is not None or row.better == "lower"
        if (fresh.median > kept.most) if lower else (fresh.median < kept.least):
            what = "times the bare pipe" if row.ratio is not None else row.unit
            found.append(
                f"{row.row}: {shown(fresh.median)} {what}; stored {shown(kept.median)} "
                f"({shown(kept.least)} - {shown(kept.most)})"
            )
    return found
