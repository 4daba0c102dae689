"""Every claim of the weak and the one-shot shape, on the program itself and on an agent without that leaf."""

from __future__ import annotations

import pytest

from podium.contract.values import LEVEL_NATIVE
from podium.providers.scripted import one_shot, weak
from podium.testkit.rigs.rehearsal import rig
from tests.conformance.proving import Subject, every_claim_has_a_scenario, fails, sabotaged, shows

SHAPES = {"weak": Subject(weak(), rig), "one_shot": Subject(one_shot(), rig)}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_claim_has_a_scenario(shape: str) -> None:
    every_claim_has_a_scenario(SHAPES[shape])


@shows
@pytest.mark.parametrize(("shape", "scenario"), [(n, s) for n in SHAPES for s in SHAPES[n].scenarios])
def test_it_shows_what_is_claimed(shape: str, scenario: str) -> None:
    SHAPES[shape].shows(scenario)


@fails
@pytest.mark.parametrize("leaf", SHAPES["one_shot"].claims)
def test_a_saboteur_fails(leaf: str) -> None:
    SHAPES["one_shot"].fails_without(leaf)


WEAK = SHAPES["weak"].claims
FULL = {leaf for leaf, claim in WEAK.items() if claim.level == LEVEL_NATIVE}


@fails
@pytest.mark.parametrize("leaf", sabotaged(SHAPES["weak"], FULL))
def test_a_saboteur_has_not_even_the_lesser_form(leaf: str) -> None:
    SHAPES["weak"].fails_without(leaf)
