"""A full run fails where docs/conformance.md and the run disagree; a partial one never does."""

from __future__ import annotations

import json

import pytest

from tools.ledger_plugin import contradictions

TESTS = """
import pytest

@pytest.mark.behaviour("F001")
def test_good():
    assert True

@pytest.mark.behaviour("F002")
@pytest.mark.parametrize("n", [1, 2])
def test_numbers(n):
    assert n

@pytest.mark.behaviour("F003")
def test_left_out():
    pytest.skip("on purpose")
"""
INI = """
[pytest]
testpaths = tests
addopts = --import-mode=importlib
markers =
    behaviour(*ids): rows
"""
SHOWN = "| {0} | text | shown | `t` |\n"


def project(pytester: pytest.Pytester, *shown: str) -> pytest.Pytester:
    pytester.makeini(INI)
    docs = pytester.mkdir("docs")
    (docs / "conformance.md").write_text("".join(SHOWN.format(row) for row in shown))
    (pytester.mkdir("tests") / "test_it.py").write_text(TESTS)
    return pytester


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "tools.ledger_plugin", *arguments)


def test_a_full_run_that_agrees_is_green(pytester: pytest.Pytester) -> None:
    result = run(project(pytester, "F001", "F002"))
    assert result.ret == pytest.ExitCode.OK
    written = json.loads((pytester.path / ".cache" / "conformance.json").read_text())
    assert written["full"] is True
    assert len(written["rows"]["F002"]["passed"]) == 2
    assert written["rows"]["F003"] == {
        "passed": [],
        "failed": [],
        "skipped": ["tests/test_it.py::test_left_out"],
    }


def test_a_row_called_shown_needs_a_test_that_passed(pytester: pytest.Pytester) -> None:
    result = run(project(pytester, "F001", "F002", "F003", "F099"))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["F003 is called shown, but no test of it passed", "F099 is called shown*"])
    assert " passed" in result.outlines[-1], "pytest's own summary stays the last line"


def test_a_row_that_is_shown_has_to_be_called_so(pytester: pytest.Pytester) -> None:
    result = run(project(pytester, "F001"))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["F002 has a passing test, but is not called shown"])


@pytest.mark.parametrize("narrowing", [["-k", "good"], ["tests/test_it.py"], ["--lf"]])
def test_a_partial_run_judges_nothing(pytester: pytest.Pytester, narrowing: list[str]) -> None:
    result = run(project(pytester, "F099"), *narrowing)
    assert result.ret == pytest.ExitCode.OK
    assert json.loads((pytester.path / ".cache" / "conformance.json").read_text())["full"] is False


def test_a_collection_judges_nothing_and_writes_nothing(pytester: pytest.Pytester) -> None:
    assert run(project(pytester, "F099"), "--collect-only").ret == pytest.ExitCode.OK
    assert not (pytester.path / ".cache").exists()


def test_one_failing_test_takes_a_row_back() -> None:
    results = {"F001": {"passed": ["a"], "failed": ["b"], "skipped": list[str]()}}
    assert contradictions(frozenset({"F001"}), results)[0].startswith("F001 is called shown")
    assert contradictions(frozenset(), results) == []
