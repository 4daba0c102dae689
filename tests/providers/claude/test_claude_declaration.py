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
from podium.providers.claude import adapter
from podium.providers.claude.declaration import PROVEN_ON
from podium.testkit.conformance.running import claims_of
from tests.agents.paths import pinned


@pytest.mark.behaviour("F031", "F287")
def test_the_declaration_passes_every_check_and_is_a_fresh_copy() -> None:
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []
    first = adapter.capabilities()
    first.leaves().clear()
    assert adapter.capabilities() == first and adapter.capabilities() is not first


def test_every_claim_names_the_scenario_of_its_leaf_on_the_pinned_versions() -> None:
    assert (pinned("@anthropic-ai/claude-code"), pinned("claude-code-new")) == PROVEN_ON
    record = adapter.capabilities()
    for claim in claims_of(record):
        proof = record.evidence(claim.leaf)
        assert proof is not None and proof.scenario == SCENARIO_OF[claim.leaf]
        assert proof.proven_on == PROVEN_ON and proof.native


def test_what_is_not_there_has_a_reason() -> None:
    record = adapter.capabilities()
    for path, leaf in LEAVES.items():
        value = record.value(path)
        if leaf.kind is Kind.SUPPORT and not leaf.derived and isinstance(value, Unsupported):
            assert value.reason and "undeclared" not in value.reason, path


def test_it_is_registered_and_no_prompt_stands_among_the_arguments() -> None:
    [found] = [entry for entry in entry_points(group="podium.providers") if entry.name == "claude"]
    assert found.load() is adapter
    plan = adapter.launch(LaunchSettings("/opt/claude", "/work", "full", "a-model"))
    assert plan.argv[1] == "-I" and plan.argv[2].endswith("claude/bridge.py")
    assert plan.argv[3:] == ("/opt/claude",)
