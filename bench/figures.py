"""Rows of figures: what was measured, median and spread over the runs, the ratio to a bare pipe, the aim."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

Better = Literal["lower", "higher"]


class Aim(msgspec.Struct, frozen=True):
    """What a row should come to. `added` means beyond what the bare pipe takes."""

    limit: float
    better: Better = "lower"
    added: bool = False

    def words(self, unit: str) -> str:
        """The aim as a person reads it."""
        sign = "<=" if self.better == "lower" else ">="
        return f"{sign} {self.limit:g} {unit}{' added' if self.added else ''}"


class Figure(msgspec.Struct, frozen=True):
    """One row of one run. `bare` is what the bare pipe took for the same work in the same run, in `unit`.

    `server_cpu` and `agents_cpu` are CPU seconds, None where they would say nothing.
    """

    row: str
    value: float
    unit: str
    bare: float | None = None
    server_cpu: float | None = None
    agents_cpu: float | None = None
    better: Better = "lower"
    aim: Aim | None = None

    @property
    def ratio(self) -> float | None:
        """How many times dearer than the bare pipe."""
        if not self.bare or not self.value:
            return None
        return self.value / self.bare if self.better == "lower" else self.bare / self.value

    @property
    def judged(self) -> float:
        """What the aim speaks of."""
        added = self.aim is not None and self.aim.added and self.bare is not None
        return self.value - self.bare if added and self.bare is not None else self.value


class Spread(msgspec.Struct, frozen=True):
    """Median, least and most of the runs."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(statistics.median(values), min(values), max(values))


class Row(msgspec.Struct, frozen=True):
    """A row over all runs. `met` is None where there is no aim."""

    row: str
    unit: str
    better: Better
    value: Spread
    bare: Spread | None = None
    ratio: Spread | None = None
    server_cpu: Spread | None = None
    agents_cpu: Spread | None = None
    aim: str | None = None
    judged: float | None = None
    met: bool | None = None


def gathered(figures: Sequence[Figure]) -> Row:
    """One row of the figures of its runs, all of the same name."""
    first = figures[0]
    aim = first.aim
    judged = statistics.median(f.judged for f in figures) if aim is not None else None
    met = None
    if aim is not None and judged is not None:
        met = judged <= aim.limit if aim.better == "lower" else judged >= aim.limit
    return Row(
        row=first.row,
        unit=first.unit,
        better=first.better,
        value=Spread.of([f.value for f in figures]),
        bare=_spread(f.bare for f in figures),
        ratio=_spread(f.ratio for f in figures),
        server_cpu=_spread(f.server_cpu for f in figures),
        agents_cpu=_spread(f.agents_cpu for f in figures),
        aim=aim.words(first.unit) if aim is not None else None,
        judged=judged,
        met=met,
    )


def _spread(values: Iterable[float | None]) -> Spread | None:
    there = [v for v in values if v is not None]
    return Spread.of(there) if there else None


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    lines = [["row", "median", "min - max", "unit", "x pipe", "cpu server", "cpu agents", "aim", ""]]
    for row in rows:
        lines.append(
            [
                row.row,
                shown(row.value.median),
                f"{shown(row.value.least)} - {shown(row.value.most)}",
                row.unit,
                shown(row.ratio.median) if row.ratio else "",
                shown(row.server_cpu.median) if row.server_cpu else "",
                shown(row.agents_cpu.median) if row.agents_cpu else "",
                row.aim or "",
                "" if row.met is None else "met" if row.met else f"MISSED ({shown(row.judged or 0.0)})",
            ]
        )
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def shown(value: float) -> str:
    """A number in as many digits as mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"
