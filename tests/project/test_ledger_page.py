"""docs/conformance.md says what the marks say, and marks are found without importing tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import behaviours, ledger, marks
from tools.behaviours import LedgerError

TABLE = "| F001 | one | yes |\n| F002 | two | no: not ours |\n| F003 | three | yes |\n"
SOURCE = '''
import pytest

pytestmark = pytest.mark.behaviour("F003")

@pytest.mark.behaviour("F001", "F003")
def test_plain() -> None: ...

class TestGroup:
    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.behaviour("F001"))])
    async def test_method(self, n: int) -> None: ...

def test_other() -> None:
    """Talks of behaviour("F009") in prose only."""
'''


def test_marks_on_functions_methods_parameters_and_files_are_found() -> None:
    assert sorted(marks.in_source(SOURCE, "t.py")) == [
        ("F001", "t.py::TestGroup::test_method"),
        ("F001", "t.py::test_plain"),
        ("F003", "t.py"),
        ("F003", "t.py::test_plain"),
    ]


@pytest.mark.parametrize(
    "call", ["behaviour()", "behaviour(ROW)", "behaviour(*ROWS)", 'behaviour(row="F001")']
)
def test_a_mark_that_cannot_be_read_is_refused(call: str) -> None:
    with pytest.raises(LedgerError, match=r"t\.py:1"):
        list(marks.in_source(f"mark.{call}", "t.py"))


def test_a_tree_is_searched_whole(tmp_path: Path) -> None:
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "tests" / "deep" / "test_a.py").write_text(SOURCE)
    (tmp_path / "tests" / "helper.py").write_text('mark.behaviour("F777")')
    found = marks.in_tree(tmp_path / "tests", tmp_path)
    assert found["F001"] == [
        "tests/deep/test_a.py::TestGroup::test_method",
        "tests/deep/test_a.py::test_plain",
    ]
    assert "F777" not in found


@pytest.mark.parametrize(("row", "says"), [("F004", "is not in"), ("F002", "not applicable")])
def test_a_mark_of_a_wrong_row_is_refused(row: str, says: str) -> None:
    with pytest.raises(LedgerError, match=says):
        marks.check({row: ["t.py::test_x"]}, behaviours.parse(TABLE))


def test_the_page_tells_shown_owed_and_not_applicable_apart() -> None:
    page = ledger.render(behaviours.parse(TABLE), {"F001": ["t.py::test_a", "t.py::test_b"]})
    assert "1 of 2 rows that apply are shown; 1 do not apply." in page
    assert "| F001 | one | shown | `t.py::test_a`<br>`t.py::test_b` |" in page
    assert "| F002 | two | not applicable | not ours |" in page
    assert "| F003 | three | not yet |  |" in page
    assert ledger.shown_rows(page) == {"F001"}


def test_a_stale_or_missing_page_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "conformance.md"
    with pytest.raises(LedgerError, match="make rows"):
        ledger.check(page)
    page.write_text(ledger.current(), encoding="utf-8")
    ledger.check(page)
    page.write_text(ledger.current().replace("not yet", "shown", 1), encoding="utf-8")
    with pytest.raises(LedgerError, match="make rows"):
        ledger.check(page)


def test_wrong_usage_has_its_own_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert ledger.main([]) == 2
    assert "usage" in capsys.readouterr().err
