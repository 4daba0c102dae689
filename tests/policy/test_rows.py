"""The rows are sound, and an unsound one is not imported."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.leaves import LEAVES
from podium.policy import FEATURES, KNOWN_STEPS, RESERVED, ROWS, Allowed, Option, PolicyError
from podium.policy.config import CHOICES
from podium.policy.rows import OUTCOME_RANK, STEP_ASKS, check_rows, row_problems


def test_the_rows_are_sound() -> None:
    check_rows(ROWS)


@pytest.mark.behaviour("F044")
def test_every_leaf_that_names_a_feature_names_one_that_exists() -> None:
    assert {leaf.feature for leaf in LEAVES.values() if leaf.feature} == set(FEATURES)


def test_a_feature_looks_only_at_leaves_that_name_it_or_stand_in_for_it() -> None:
    for feature, options in ROWS.items():
        first = {path for path, _ in options[0].needs}
        assert all(LEAVES[path].feature == feature or LEAVES[path].derived for path in first), feature


def test_every_step_is_known_and_every_known_step_is_used() -> None:
    used = {step for options in ROWS.values() for option in options for step in option.steps}
    assert used == KNOWN_STEPS
    assert set(STEP_ASKS) <= KNOWN_STEPS


def test_every_outcome_is_used_and_every_choice_allows_something() -> None:
    assert {option.outcome for options in ROWS.values() for option in options} == set(OUTCOME_RANK)
    used = {
        (option.allowed_by.key, value)
        for options in ROWS.values()
        for option in options
        if option.allowed_by
        for value in option.allowed_by.values
    }
    for key, values in CHOICES.items():
        for value in values:
            assert (key, value) in used or key in RESERVED or value == "refuse", (key, value)


NATIVE = ROWS["interrupt"][0]
STOP = ROWS["interrupt"][2]
REFUSE = ROWS["interrupt"][-1]


def changed(option: Option, **changes: Any) -> Option:
    return msgspec.structs.replace(option, **changes)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "the last option must be the refusal"),
        ((NATIVE,), "the last option must be the refusal"),
        (
            (NATIVE, changed(REFUSE, needs=(("turns.queue", "native"),))),
            "the last option must be the refusal",
        ),
        ((NATIVE, changed(STOP, allowed_by=None), REFUSE), "only the last option may be without needs"),
        ((STOP, NATIVE, REFUSE), "a better outcome stands below a worse one"),
        ((changed(NATIVE, steps=("turn.teleport",)), REFUSE), "no executor for turn.teleport"),
        ((changed(NATIVE, needs=(("turns.teleport", "native"),)), REFUSE), "no leaf turns.teleport"),
        ((changed(NATIVE, needs=(("turns.interrupt", "strong"),)), REFUSE), "cannot be asked for strong"),
        ((NATIVE, changed(STOP, reason=""), REFUSE), "no reason or consequence"),
        ((NATIVE, changed(STOP, consequence=""), REFUSE), "no reason or consequence"),
        ((NATIVE, changed(STOP, emulates=False), REFUSE), "must be marked as what it is"),
        (
            (NATIVE, changed(STOP, allowed_by=Allowed("interrupt", ("beg",))), REFUSE),
            "no choice interrupt = beg",
        ),
        ((NATIVE, changed(STOP, allowed_by=Allowed("mood", ("good",))), REFUSE), "no choice mood = good"),
    ],
)
def test_an_unsound_row_is_found(options: tuple[Option, ...], says: str) -> None:
    assert any(says in problem for problem in row_problems("interrupt", options))
    with pytest.raises(PolicyError) as caught:
        check_rows({"interrupt": options})
    assert caught.value.code == "bad_rows"
