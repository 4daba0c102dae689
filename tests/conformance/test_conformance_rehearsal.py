"""Every claim of the rehearsal, on the program itself and on an agent without that leaf."""

from __future__ import annotations

import pytest

from podium.providers.rehearsal import adapter
from podium.testkit.rigs.rehearsal import rig
from tests.conformance.proving import Subject, every_claim_has_a_scenario, fails, shows

SUBJECT = Subject(adapter, rig)


def test_every_claim_has_a_scenario() -> None:
    every_claim_has_a_scenario(SUBJECT)


@shows
@pytest.mark.parametrize("scenario", SUBJECT.scenarios)
def test_it_shows_what_is_claimed(scenario: str) -> None:
    SUBJECT.shows(scenario)


@fails
@pytest.mark.parametrize("leaf", SUBJECT.claims)
def test_a_saboteur_fails(leaf: str) -> None:
    SUBJECT.fails_without(leaf)
