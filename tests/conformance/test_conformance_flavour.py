"""A flavour is a few lines, and the scenarios are the same for every agent."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from podium.contract.validation import check_declaration
from podium.testkit import scripted_agent
from podium.testkit.rigs.rehearsal import rig
from tests.conformance import small_flavour
from tests.conformance.proving import Subject, every_claim_has_a_scenario, shows

LINES_MAX = 40
"""Most lines of a flavour without its imports and its blank lines."""

PROGRAM: dict[str, Any] = {"arguments": ["-I", scripted_agent.__file__, "--rehearsal"]}
"""The agent that plays it: one that keeps to the protocol and has nothing of its own."""

SUBJECT = Subject(small_flavour.polite, rig, lambda: sys.executable, PROGRAM)


def test_it_takes_few_lines() -> None:
    source = Path(small_flavour.__file__).read_text(encoding="utf-8")
    imported = {
        line
        for node in ast.parse(source).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    written = [line for number, line in enumerate(source.splitlines(), 1) if line and number not in imported]
    assert len(written) < LINES_MAX


def test_its_declaration_is_whole() -> None:
    adapter = small_flavour.polite
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []
    every_claim_has_a_scenario(SUBJECT)


@shows
@pytest.mark.parametrize("scenario", SUBJECT.scenarios)
def test_it_passes_the_common_scenarios(scenario: str) -> None:
    SUBJECT.shows(scenario)
