"""Every claim of opencode, on the program itself and on an agent without that leaf."""

from __future__ import annotations

import pytest

from podium.providers.opencode import adapter
from podium.testkit.rigs.opencode import rig
from tests.agents.paths import opencode_binary
from tests.conformance.proving import Subject, every_claim_has_a_scenario, fails, sabotaged, shows
from tests.conformance.test_conformance_codex import SUBJECT as QUICK

SUBJECT = Subject(adapter, rig, opencode_binary)


def test_every_claim_has_a_scenario() -> None:
    every_claim_has_a_scenario(SUBJECT)


@shows
@pytest.mark.parametrize("scenario", SUBJECT.scenarios)
def test_it_shows_what_is_claimed(scenario: str) -> None:
    SUBJECT.shows(scenario)


@fails
@pytest.mark.parametrize("leaf", sabotaged(SUBJECT, set(QUICK.claims)))
def test_a_saboteur_fails(leaf: str) -> None:
    SUBJECT.fails_without(leaf)
