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
from podium.providers.opencode import adapter
from podium.providers.opencode.declaration import DELIVERED, LESS, NATIVELY, NOT, PROVEN_ON
from tests.agents.paths import pinned


@pytest.mark.behaviour("F031", "F287")
def test_the_declaration_passes_every_check_and_is_a_fresh_copy() -> None:
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []
    first = adapter.capabilities()
    first.leaves().clear()
    assert adapter.capabilities() == first and adapter.capabilities() is not first


def test_every_claim_names_the_scenario_of_its_leaf_on_the_pinned_version() -> None:
    record = adapter.capabilities()
    for path in [*NATIVELY, *LESS, *DELIVERED]:
        proof = record.evidence(path)
        assert proof is not None and proof.scenario == SCENARIO_OF[path]
        assert proof.proven_on == (PROVEN_ON,) == (pinned("opencode-linux-x64-baseline"),)


def test_what_is_not_there_has_a_reason() -> None:
    record = adapter.capabilities()
    for path, leaf in LEAVES.items():
        value = record.value(path)
        if leaf.kind is Kind.SUPPORT and isinstance(value, Unsupported) and not leaf.derived:
            assert path in NOT and value.reason == NOT[path], path


def test_it_is_registered_and_listens_on_the_loopback_alone_behind_a_password() -> None:
    [found] = [entry for entry in entry_points(group="podium.providers") if entry.name == "opencode"]
    assert found.load() is adapter
    plan = adapter.launch(LaunchSettings("/opt/opencode", "/work", "ask"))
    assert plan.argv == ("/opt/opencode", "serve", "--hostname", "127.0.0.1", "--port", "0")
    http = adapter.descriptor.http
    assert http is not None and http.password and http.password not in plan.environment
