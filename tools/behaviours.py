"""Reads the table of promised behaviours, docs/behaviours.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEHAVIOURS = ROOT / "docs" / "behaviours.md"

CELLS = 3
_ROW_ID = re.compile(r"F\d{3}")
_NOT_APPLICABLE = "no: "


class LedgerError(ValueError):
    """The table, the marks or the report contradict each other; the message says where and what to do."""


@dataclass(frozen=True)
class Row:
    """One promised behaviour.

    `reason` is empty where the row applies, else it says why Podium has no use for it.
    """

    id: str
    group: str
    behaviour: str
    reason: str

    @property
    def applies(self) -> bool:
        """Whether a test is owed."""
        return not self.reason


def parse(text: str) -> dict[str, Row]:
    """Every row by its id, in the order of the table.

    Raises LedgerError for a row with a wrong number of cells, an unheard-of `applies`, or an id used twice.
    """
    rows: dict[str, Row] = {}
    group = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("## "):
            group = line.removeprefix("## ").strip()
        if not line.startswith("| F"):
            continue
        row = _row(line, group, f"docs/behaviours.md:{number}")
        if row.id in rows:
            raise LedgerError(f"docs/behaviours.md:{number}: {row.id} stands twice; ids are never used again")
        rows[row.id] = row
    if not rows:
        raise LedgerError("docs/behaviours.md has no rows of the form `| F001 | behaviour | yes |`")
    return rows


def _row(line: str, group: str, place: str) -> Row:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) != CELLS:
        raise LedgerError(f"{place}: {len(cells)} cells where id, behaviour and applies are expected")
    row_id, behaviour, applies = cells
    if not _ROW_ID.fullmatch(row_id):
        raise LedgerError(f"{place}: {row_id!r} is no row id; write F and three digits")
    if not behaviour:
        raise LedgerError(f"{place}: {row_id} says no behaviour")
    if applies == "yes":
        return Row(row_id, group, behaviour, "")
    reason = applies.removeprefix(_NOT_APPLICABLE).strip()
    if not applies.startswith(_NOT_APPLICABLE) or not reason:
        raise LedgerError(f"{place}: {row_id} applies is {applies!r}; write `yes` or `no: the reason`")
    return Row(row_id, group, behaviour, reason)


def load(path: Path = BEHAVIOURS) -> dict[str, Row]:
    """The project's own table."""
    return parse(path.read_text(encoding="utf-8"))
