"""The table of promised behaviours is read strictly."""

from __future__ import annotations

import pytest

from tools import behaviours
from tools.behaviours import LedgerError


def test_rows_keep_group_text_and_reason() -> None:
    rows = behaviours.parse("## One\n\n| F001 | does it | yes |\n## Two\n| F002 | did it | no: not ours |\n")
    assert list(rows) == ["F001", "F002"]
    assert (rows["F001"].group, rows["F001"].behaviour, rows["F001"].applies) == ("One", "does it", True)
    assert (rows["F002"].group, rows["F002"].applies, rows["F002"].reason) == ("Two", False, "not ours")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("| F001 | a | b | yes |", "4 cells"),
        ("| F001 | a |", "2 cells"),
        ("| F1 | a | yes |", "no row id"),
        ("| F001 |  | yes |", "says no behaviour"),
        ("| F001 | a | maybe |", "write `yes` or `no: the reason`"),
        ("| F001 | a | no |", "write `yes` or `no: the reason`"),
        ("| F001 | a | no:  |", "write `yes` or `no: the reason`"),
    ],
)
def test_a_malformed_row_is_refused_with_its_place(line: str, says: str) -> None:
    with pytest.raises(LedgerError, match=says) as caught:
        behaviours.parse("# t\n" + line)
    assert "docs/behaviours.md:2" in str(caught.value)


def test_an_id_stands_once() -> None:
    with pytest.raises(LedgerError, match="F001 stands twice"):
        behaviours.parse("| F001 | a | yes |\n| F001 | b | yes |")


def test_a_page_without_rows_is_refused() -> None:
    with pytest.raises(LedgerError, match="no rows"):
        behaviours.parse("# nothing\n")


def test_the_projects_own_table_is_dense() -> None:
    rows = behaviours.load()
    assert list(rows) == [f"F{number:03}" for number in range(1, len(rows) + 1)]
    assert len(rows) >= 295
