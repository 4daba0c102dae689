"""The ledger: which promised behaviour is shown by which tests.

`write` makes docs/conformance.md, `check` compares it with the marks.
Usage: python -m tools.ledger write | check
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tools import behaviours, marks
from tools.behaviours import ROOT, LedgerError, Row

CONFORMANCE = ROOT / "docs" / "conformance.md"
TESTS = ROOT / "tests"

SHOWN = "shown"
NOT_YET = "not yet"
NOT_APPLICABLE = "not applicable"

_HEAD = """# What is shown

Made by `make rows` from docs/behaviours.md and the behaviour marks of the tests; do not edit. "Shown" means
that tests carry the row, and a full test run fails unless at least one of them passed and none failed.
"Not yet" means that no test carries it.
"""


def render(rows: Mapping[str, Row], tests: Mapping[str, list[str]]) -> str:
    """The whole text of docs/conformance.md."""
    shown = sum(1 for row in rows.values() if row.applies and row.id in tests)
    owed = sum(1 for row in rows.values() if row.applies)
    lines = [
        _HEAD,
        f"{shown} of {owed} rows that apply are shown; {len(rows) - owed} do not apply.",
        "",
        "| id | behaviour | state | tests |",
        "| --- | --- | --- | --- |",
    ]
    for row in rows.values():
        if not row.applies:
            state, proof = NOT_APPLICABLE, row.reason
        elif row.id in tests:
            state, proof = SHOWN, "<br>".join(f"`{test}`" for test in tests[row.id])
        else:
            state, proof = NOT_YET, ""
        lines.append(f"| {row.id} | {row.behaviour} | {state} | {proof} |")
    return "\n".join(lines) + "\n"


def shown_rows(conformance: str) -> frozenset[str]:
    """The ids that a conformance page calls shown."""
    ids: set[str] = set()
    for line in conformance.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| F") and len(cells) >= behaviours.CELLS and cells[2] == SHOWN:
            ids.add(cells[0])
    return frozenset(ids)


def current() -> str:
    """What docs/conformance.md should say now; raises LedgerError where table and marks disagree."""
    rows = behaviours.load()
    tests = marks.in_tree(TESTS, ROOT)
    marks.check(tests, rows)
    return render(rows, tests)


def check(path: Path = CONFORMANCE) -> None:
    """Raises LedgerError if the committed page is not what the marks say."""
    if not path.exists() or path.read_text(encoding="utf-8") != current():
        raise LedgerError("docs/conformance.md is not up to date: run `make rows` and commit the result")


def main(arguments: list[str]) -> int:
    """Exit status 0 if all is well, 1 for a contradiction, 2 for wrong usage."""
    try:
        match arguments:
            case ["write"]:
                CONFORMANCE.write_text(current(), encoding="utf-8")
            case ["check"]:
                check()
            case _:
                print("usage: python -m tools.ledger write | check", file=sys.stderr)
                return 2
    except LedgerError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
