"""Usage: python -m bench [names] [--runs 3] [--json FILE] [--baseline FILE] [--store] [--small]."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench import medians
from bench.figures import Figure, Row, gathered, table
from bench.measures import ALL
from bench.measuring import SMALL, Measure, Sizes
from bench.place import Missing


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure what users wait for.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(ALL)}; all without")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the median counts")
    parser.add_argument("--json", type=Path, help="write the rows there too")
    parser.add_argument("--baseline", type=Path, default=medians.STORED, help="medians to compare with")
    parser.add_argument("--store", action="store_true", help="keep the rows as the medians to compare with")
    parser.add_argument("--note", default="", help="what the stored medians say of the machine")
    parser.add_argument("--small", action="store_true", help="smallest sizes: only whether all is there")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in ALL]
    if unknown or given.runs < 1:
        parser.error(f"no measurement {', '.join(unknown)}" if unknown else "at least one run")
    return given


def measured(measure: Measure, sizes: Sizes, runs: int) -> tuple[list[Row], list[str]]:
    """Its rows over all runs, and what is missing: a row of a run, or all of them with the reason."""
    by_row: dict[str, list[Figure]] = {row: [] for row in measure.rows(sizes)}
    wrong: list[str] = []
    try:
        with measure.opened(sizes) as run:
            for _ in range(runs):
                for figure in run():
                    by_row.setdefault(figure.row, []).append(figure)
    except Missing as error:
        wrong.append(f"{measure.name}: {error}")
    wrong += [
        f"{measure.name}: {len(figures)} of {runs} figures of {row!r}"
        for row, figures in by_row.items()
        if len(figures) != runs
    ]
    return [gathered(figures) for figures in by_row.values() if figures], wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table, what is missing, and what got worse. 1 if anything is missing, lost or in disorder."""
    given = parse(arguments)
    sizes = SMALL if given.small else Sizes()
    rows: list[Row] = []
    wrong: list[str] = []
    for name in given.names or list(ALL):
        begun = time.monotonic()
        found, missing = measured(ALL[name], sizes, given.runs)
        rows += found
        wrong += missing
        print(f"{name}: {len(found)} rows in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    print(table(rows))
    report = medians.Report(medians.machine(given.note), given.runs, tuple(rows))
    if given.json is not None:
        medians.save(given.json, report)
    print(_compared(rows, given.baseline) if not given.small else "")
    if given.store and not wrong:
        medians.save(given.baseline, _with_others(report, given.baseline))
    for line in wrong:
        print(f"MISSING {line}", file=sys.stderr)
    return 1 if wrong else 0


def _compared(rows: Sequence[Row], stored: Path) -> str:
    try:
        before = medians.load(stored)
    except (OSError, msgspec.DecodeError) as error:
        return f"\nNothing to compare with: {error}"
    worse = medians.regressions(rows, before.rows)
    kind = f"{before.machine.cores} cores, Python {before.machine.python}"
    if not worse:
        return f"\nNothing is worse than the stored medians and their spread ({kind})."
    return "\n".join([f"\nWorse than the stored medians beyond their spread ({kind}):", *worse])


def _with_others(report: medians.Report, stored: Path) -> medians.Report:
    """The report with the stored rows of what was not measured now."""
    try:
        before = medians.load(stored).rows
    except (OSError, msgspec.DecodeError):
        before = ()
    fresh = {row.row for row in report.rows}
    return msgspec.structs.replace(report, rows=(*(r for r in before if r.row not in fresh), *report.rows))


if __name__ == "__main__":
    raise SystemExit(main())
