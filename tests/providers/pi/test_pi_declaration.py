"""The declaration is true to what was run."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from podium.contract.adapter import LaunchSettings
from podium.contract.capabilities import Unsupported
from podium.contract.leaves import LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.validation import check_declaration
from podium.contract.values import Kind
from podium.providers.pi import adapter
from podium.providers.pi.declaration import CLAIMS, GROUP_REASONS, PROVEN_ON, REASONS
from tests.agents.paths import pinned


@pytest.mark.behaviour("F031", "F287")
def test_the_declaration_passes_every_check_and_is_a_fresh_copy() -> None:
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []
    first = adapter.capabilities()
    first.leaves().clear()
    assert adapter.capabilities() == first and adapter.capabilities() is not first


def test_every_claim_names_the_scenario_of_its_leaf_on_the_pinned_version() -> None:
    record = adapter.capabilities()
    for path in CLAIMS:
        proof = record.evidence(path)
        assert proof is not None and proof.scenario == SCENARIO_OF[path]
        assert proof.proven_on == (PROVEN_ON,) == (pinned("@earendil-works/pi-coding-agent"),)


def test_what_is_not_there_has_a_reason_and_no_reason_is_left_over() -> None:
    record = adapter.capabilities()
    for path, leaf in LEAVES.items():
        value = record.value(path)
        if leaf.kind is Kind.SUPPORT and isinstance(value, Unsupported):
            assert value.reason
    assert not set(REASONS) & set(CLAIMS)
    assert set(GROUP_REASONS) == {leaf.group for leaf in LEAVES.values()}


def test_it_is_registered_and_no_prompt_stands_among_the_arguments() -> None:
    [found] = [entry for entry in entry_points(group="podium.providers") if entry.name == "pi"]
    assert found.load() is adapter
    plan = adapter.launch(LaunchSettings("/opt/pi", "/work", "full"))
    assert plan.argv == ("/opt/pi", "--mode", "rpc")
