"""The rehearsal as an agent: its facts, its claims and the scenario behind each of them."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from podium.contract.adapter import LaunchSettings
from podium.contract.leaves import DERIVED
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.validation import check_declaration
from podium.providers.rehearsal import adapter


def test_it_is_found_by_its_entry_point() -> None:
    (found,) = [entry for entry in entry_points(group="podium.providers") if entry.name == "rehearsal"]
    assert found.load() is adapter


def test_it_is_always_there_and_needs_no_account() -> None:
    descriptor = adapter.descriptor
    assert (descriptor.adapter, descriptor.agent_kind, descriptor.role) == ("rehearsal",) * 3
    assert descriptor.display_name == "Rehearsal"
    assert descriptor.executables == ()
    assert "no account" in descriptor.login_hint
    assert adapter.launch(LaunchSettings("", "/w")).argv[-1] == "--rehearsal"


@pytest.mark.behaviour("F031")
def test_its_claims_have_no_findings_and_each_has_a_scenario() -> None:
    record = adapter.capabilities()
    assert check_declaration(record, adapter.asks()) == []
    claimed = [path for path in record.leaves() if record.has(path) and path not in DERIVED]
    for path in claimed:
        proof = record.evidence(path)
        assert proof is not None
        assert proof.scenario == SCENARIO_OF[path]
        assert proof.native
    assert (record.adapter, record.agent_kind) == ("rehearsal", "rehearsal")
    assert adapter.capabilities() is not record
