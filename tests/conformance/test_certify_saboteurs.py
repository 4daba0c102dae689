"""Certification of agents that lack one leaf: exactly that is reported, and what cannot be without it."""

from __future__ import annotations

import pytest

from podium.providers.rehearsal import adapter
from podium.testkit.conformance.report import dependants, findings
from podium.testkit.conformance.running import claims_of, prove
from podium.testkit.rehearsal.program import VERSION
from podium.testkit.rigs.rehearsal import rig

LACKING = (
    "approvals.command",
    "approvals.file_change",
    "approvals.from_subagents",
    "approvals.user_input",
    "lifecycle.mode_switch",
    "lifecycle.multi_thread_per_session",
    "lifecycle.persistent",
    "models.switch",
    "output.diffs",
    "output.reasoning",
    "output.text_delta",
    "output.tool_output",
    "output.usage",
    "policy.enforcement",
    "subagents.supported",
    "tools.output",
    "turns.interrupt",
    "turns.steer_active",
)


def lost(*switches: str) -> dict[str, tuple[str, ...]]:
    """The leaves a certification does not find, each with the lost leaves it rests on."""
    record = adapter.capabilities()
    claims = claims_of(record)
    verdicts = prove(adapter, rig, "", claims, options={"switches": list(switches)})
    found = findings(record, VERSION, claims, verdicts)
    assert {f.word for f in found} <= {"proven", "failed"}
    return {f.leaf: f.because_of for f in found if f.word == "failed"}


@pytest.mark.behaviour("F016")
def test_the_unaltered_agent_lacks_nothing() -> None:
    assert lost() == {}


@pytest.mark.behaviour("F016", "F031")
@pytest.mark.parametrize("leaf", LACKING)
def test_an_agent_without_a_leaf_lacks_exactly_that(leaf: str) -> None:
    claimed = {claim.leaf for claim in claims_of(adapter.capabilities())}
    found = lost("--without", leaf)
    assert set(found) == {leaf} | (dependants(leaf) & claimed)
    assert found.pop(leaf) == ()
    assert all(leaf in reasons for reasons in found.values())
