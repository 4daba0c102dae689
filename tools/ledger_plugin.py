"""Pytest plugin: holds docs/conformance.md against what a full run really showed.

It writes .cache/conformance.json after every run. A full run (no selection on the command line, nothing
deselected) that was green otherwise fails if the page and the run tell a row differently.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import ledger
from tools.marks import MARK

RESULTS = Path(".cache") / "conformance.json"
NARROWING = ("ignore", "ignore_glob", "lf", "stepwise")
ROWS = "behaviours"
"""The property of a test's reports that holds the rows it shows."""

OUTCOMES = ("passed", "failed", "skipped")


class Ledger:
    """Collects marks and outcomes of one session."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
        self.full = whole and not any(config.getoption(name) for name in NARROWING)
        self.rows_of: dict[str, tuple[str, ...]] = {}
        self.outcomes: dict[str, str] = {}
        self.problems: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Each test carries its rows in its reports: in a distributed run others collect than count."""
        for item in items:
            rows = {str(row) for mark in item.iter_markers(MARK) for row in mark.args}
            if rows:
                item.user_properties.append((ROWS, " ".join(sorted(rows))))

    def pytest_deselected(self) -> None:
        self.full = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, rows in report.user_properties:
            if name == ROWS:
                self.rows_of[report.nodeid] = tuple(str(rows).split())
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
        elif report.skipped:
            self.outcomes.setdefault(report.nodeid, "skipped")
        elif report.when == "call":
            self.outcomes.setdefault(report.nodeid, "passed")

    def results(self) -> dict[str, dict[str, list[str]]]:
        """Row id to outcome to test ids."""
        table: dict[str, dict[str, list[str]]] = {}
        for test, rows in sorted(self.rows_of.items()):
            for row in rows:
                if outcome := self.outcomes.get(test):
                    table.setdefault(row, {name: [] for name in OUTCOMES})[outcome].append(test)
        return dict(sorted(table.items()))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
        if session.config.getoption("collectonly") or hasattr(session.config, "workerinput"):
            return
        results = self.results()
        target = self.root / RESULTS
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps({"full": self.full, "rows": results}, indent=1) + "\n", encoding="utf-8")
        if not self.full or exitstatus != pytest.ExitCode.OK:
            return
        page = self.root / "docs" / "conformance.md"
        shown = ledger.shown_rows(page.read_text(encoding="utf-8")) if page.exists() else frozenset[str]()
        self.problems = list(contradictions(shown, results))
        if self.problems:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.problems:
            terminalreporter.section("docs/conformance.md does not hold", red=True)
            for problem in self.problems:
                terminalreporter.line(problem)


def contradictions(shown: frozenset[str], results: dict[str, dict[str, list[str]]]) -> list[str]:
    """One line for each row that the page and a full run tell differently."""
    passing = {row for row, tests in results.items() if tests["passed"] and not tests["failed"]}
    missing = [f"{row} is called shown, but no test of it passed" for row in sorted(shown - passing)]
    unsaid = [f"{row} has a passing test, but is not called shown" for row in sorted(passing - shown)]
    lines = missing + unsaid
    return [*lines, "Run `make rows` if the marks changed."] if lines else []


def pytest_configure(config: pytest.Config) -> None:
    """Registers the collector; of a distributed run the one that hands out the work counts."""
    config.pluginmanager.register(Ledger(config), "podium-ledger")
