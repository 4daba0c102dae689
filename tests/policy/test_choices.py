"""Choices are read strictly and merged narrowest first."""

from __future__ import annotations

import itertools
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.errors import BadInput
from podium.policy import (
    CHOICES,
    DEFAULTS,
    LAYERS,
    Layer,
    Policy,
    PolicyError,
    PolicyLayer,
    layer_of,
    merge,
    parse_layer,
)

TOML = """
[policy]
interrupt = "refuse"
steer = "restart"
fork = "synthetic"
rollback = "files"
nested_checkpoint = "refuse"
return = "refuse"
summariser = "writer-1"
strict = true
"""


def test_a_file_chooses_every_key() -> None:
    policy = merge(layer_of(tomllib.loads(TOML), "file"))
    chosen = {key: policy.choice(key) for key in CHOICES}
    assert chosen == {
        "interrupt": "refuse",
        "steer": "restart",
        "fork": "synthetic",
        "rollback": "files",
        "nested_checkpoint": "refuse",
        "return": "refuse",
        "summariser": "writer-1",
    }
    assert policy.strict
    assert policy.source("return") == "file" and policy.source("strict") == "file"


def test_nothing_chosen_is_the_default() -> None:
    policy = merge(layer_of({}, "file"))
    assert policy == Policy()
    assert {key: policy.choice(key) for key in CHOICES} == dict(DEFAULTS)
    assert policy.source("steer") == "default"
    assert not policy.strict


def test_every_default_and_every_value_is_readable() -> None:
    for key, values in CHOICES.items():
        assert DEFAULTS[key] in values
        for value in values:
            assert merge(parse_layer({key: value}, "project")).choice(key) == value


@given(
    st.dictionaries(
        st.sampled_from(LAYERS).filter(lambda layer: layer != "default"), st.sampled_from(CHOICES["steer"])
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_the_narrowest_layer_wins_in_whatever_order(chosen: dict[Layer, str], shuffler: Any) -> None:
    layers = [parse_layer({"steer": value}, layer) for layer, value in chosen.items()]
    shuffler.shuffle(layers)
    policy = merge(*layers)
    narrowest: Layer | None = next((layer for layer in reversed(LAYERS) if layer in chosen), None)
    assert policy.steer == (chosen[narrowest] if narrowest else DEFAULTS["steer"])
    assert policy.source("steer") == (narrowest or "default")


def test_layers_mix_key_by_key() -> None:
    policy = merge(
        parse_layer({"strict": False, "steer": "refuse"}, "thread"),
        parse_layer({"strict": True, "interrupt": "refuse", "steer": "restart"}, "file"),
    )
    assert (policy.strict, policy.interrupt, policy.steer) == (False, "refuse", "refuse")


@pytest.mark.parametrize("key", ["Interrupt", "steering", "", "layer", "return_", "sources"])
def test_an_unknown_key_lists_the_known_ones(key: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_layer({key: "refuse"}, "project")
    assert caught.value.code == "unknown_policy_key"
    assert caught.value.detail["allowed"] == [*CHOICES, "strict"]
    assert "interrupt" in str(caught.value) and "project" in str(caught.value)
    assert isinstance(caught.value, BadInput) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *itertools.product(
            ["interrupt", "steer", "fork", "rollback", "nested_checkpoint", "return"],
            ["yes", True, 1, None, []],
        ),
        ("strict", "true"),
        ("strict", 1),
        ("summariser", ""),
        ("summariser", "has space"),
        ("summariser", "x" * 65),
        ("summariser", True),
    ],
)
def test_an_unknown_value_lists_the_known_ones(key: str, value: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_layer({key: value}, "profile")
    assert caught.value.code == "unknown_policy_value"
    allowed = caught.value.detail["allowed"]
    assert allowed[: len(CHOICES.get(key, ()))] == list(CHOICES.get(key, ()))
    assert all(word in str(caught.value) for word in allowed)


def test_a_summariser_is_one_of_the_instances_where_they_are_known() -> None:
    assert parse_layer({"summariser": "mine"}, "file", instances=["mine"]).summariser == "mine"
    assert parse_layer({"summariser": "local"}, "file", instances=[]).summariser == "local"
    with pytest.raises(PolicyError) as caught:
        parse_layer({"summariser": "other"}, "file", instances=["mine"])
    assert caught.value.detail["allowed"] == ["local", "mine"]


@pytest.mark.parametrize("section", ["strict", 3, ["steer"], None])
def test_a_policy_that_is_no_table_is_refused(section: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        layer_of({"policy": section}, "file")
    assert caught.value.code == "wrong_policy_section"


def test_asking_for_no_key_is_a_typed_error() -> None:
    with pytest.raises(PolicyError):
        Policy().choice("teleport")


def test_a_layer_that_is_empty_changes_nothing() -> None:
    assert merge(PolicyLayer(layer="thread"), parse_layer({"steer": "refuse"}, "file")).steer == "refuse"
