"""Every claim of the one-shot adapter, on a real command and on one without that leaf."""

from __future__ import annotations

import pytest

from podium.providers.oneshot import adapter
from podium.testkit.rigs.oneshot import OPTIONS, PROGRAM, rig
from tests.conformance.proving import Subject, every_claim_has_a_scenario, fails, shows

SUBJECT = Subject(adapter, rig, lambda: PROGRAM, OPTIONS)


def test_every_claim_has_a_scenario() -> None:
    every_claim_has_a_scenario(SUBJECT)


@shows
@pytest.mark.behaviour("F035")
@pytest.mark.parametrize("scenario", SUBJECT.scenarios)
def test_it_shows_what_is_claimed(scenario: str) -> None:
    SUBJECT.shows(scenario)


@fails
@pytest.mark.parametrize("leaf", SUBJECT.claims)
def test_a_saboteur_fails(leaf: str) -> None:
    SUBJECT.fails_without(leaf)
