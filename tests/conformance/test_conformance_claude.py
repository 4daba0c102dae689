"""Every claim of claude, on two versions of the program itself and on an agent without that leaf."""

from __future__ import annotations

import pytest

from podium.providers.claude import adapter
from podium.testkit.rigs.claude import rig
from tests.agents.paths import claude_binary, claude_new_binary
from tests.conformance.proving import Subject, every_claim_has_a_scenario, fails, sabotaged, shows
from tests.conformance.test_conformance_codex import SUBJECT as QUICK

OLDER = Subject(adapter, rig, claude_binary)
NEWER = Subject(adapter, rig, claude_new_binary)


def test_every_claim_has_a_scenario() -> None:
    every_claim_has_a_scenario(NEWER)


@shows
@pytest.mark.parametrize("scenario", OLDER.scenarios)
def test_the_older_version_shows_what_is_claimed(scenario: str) -> None:
    OLDER.shows(scenario)


@shows
@pytest.mark.parametrize("scenario", NEWER.scenarios)
def test_the_newer_version_shows_what_is_claimed(scenario: str) -> None:
    NEWER.shows(scenario)


@fails
@pytest.mark.parametrize("leaf", sabotaged(NEWER, set(QUICK.claims)))
def test_a_saboteur_fails(leaf: str) -> None:
    NEWER.fails_without(leaf)
