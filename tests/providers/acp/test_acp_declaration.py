"""The declarations are true to what was run, and the descriptors find the programs."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from podium.contract.adapter import LaunchSettings
from podium.contract.capabilities import Unsupported
from podium.contract.evidence import EvidenceClass
from podium.contract.leaves import LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.validation import check_declaration
from podium.contract.values import Kind
from podium.providers.acp import AcpAdapter, adapter, copilot, gemini, grok, qwen, vibe
from podium.providers.acp.claims import GROK_VERSION, VIBE_VERSION
from podium.providers.acp.copilot import COPILOT_VERSION
from podium.providers.acp.gemini import GEMINI_VERSION
from podium.providers.acp.qwen import QWEN_VERSION

ALL = {"acp": adapter, "copilot": copilot, "gemini": gemini, "grok": grok, "qwen": qwen, "vibe": vibe}


@pytest.mark.behaviour("F031", "F287")
@pytest.mark.parametrize("name", ALL)
def test_the_declaration_passes_every_check_and_is_a_fresh_copy(name: str) -> None:
    of = ALL[name]
    assert check_declaration(of.capabilities(), of.asks()) == []
    first = of.capabilities()
    first.leaves().clear()
    assert of.capabilities() == first and of.capabilities() is not first


@pytest.mark.parametrize("name", ALL)
def test_every_leaf_is_decided_with_a_reason(name: str) -> None:
    record = ALL[name].capabilities()
    for path, leaf in LEAVES.items():
        value = record.value(path)
        if leaf.kind is Kind.SUPPORT and isinstance(value, Unsupported):
            assert value.reason != "not driven", path


@pytest.mark.parametrize(
    ("of", "version"),
    [
        (copilot, COPILOT_VERSION),
        (gemini, GEMINI_VERSION),
        (grok, GROK_VERSION),
        (qwen, QWEN_VERSION),
        (vibe, VIBE_VERSION),
        (adapter, None),
    ],
)
def test_every_proof_names_the_scenario_of_its_leaf(of: AcpAdapter, version: str | None) -> None:
    record = of.capabilities()
    stated = {path: proof for path in LEAVES if (proof := record.evidence(path)) is not None}
    assert stated
    for path, proof in stated.items():
        if not LEAVES[path].derived:
            assert proof.scenario == SCENARIO_OF[path]
        assert proof.proven_on == ((version,) if version else ())
        assert bool(proof.elsewhere) is (version is None)
        assert proof.evidence_class is not EvidenceClass.PENDING


@pytest.mark.parametrize("name", ALL)
def test_the_adapter_is_registered(name: str) -> None:
    [found] = [entry for entry in entry_points(group="podium.providers") if entry.name == name]
    assert found.load() is ALL[name]
    assert ALL[name].descriptor.adapter == name


def test_how_the_programs_are_started() -> None:
    plain = LaunchSettings("/bin/agent", "/w")
    assert grok.launch(plain).argv == ("/bin/agent", "agent", "--no-leader", "stdio")
    assert copilot.launch(plain).argv == ("/bin/agent", "--acp")
    assert gemini.launch(plain).argv == ("/bin/agent", "--acp")
    assert qwen.launch(plain).argv == ("/bin/agent", "--acp")
    assert vibe.launch(plain).argv == ("/bin/agent",)
    told = LaunchSettings("/bin/agent", "/w", options={"arguments": ["acp", 3]})
    assert [of.launch(told).argv for of in ALL.values()] == [("/bin/agent", "acp", "3")] * len(ALL)
    assert adapter.launch(LaunchSettings("/bin/agent", "/w", mode="full", model="m")).argv == ("/bin/agent",)


def test_known_programs_are_offered_and_one_that_was_not_named_is_a_clear_error() -> None:
    presets = {preset.name: preset for preset in adapter.descriptor.presets}
    assert presets["kilo"].options == {"arguments": ["acp"]}
    assert adapter.launch(LaunchSettings("", "/w")).argv == ("a-configured-program",)


def test_secrets_are_marked_and_homes_are_declared() -> None:
    told = (
        (copilot, "COPILOT_HOME", "COPILOT_PROVIDER_API_KEY"),
        (gemini, "GEMINI_CLI_HOME", "GEMINI_API_KEY"),
        (grok, "GROK_HOME", "XAI_API_KEY"),
        (qwen, "QWEN_HOME", "OPENAI_API_KEY"),
        (vibe, "VIBE_HOME", "MISTRAL_API_KEY"),
    )
    for of, home, secret in told:
        named = {variable.name: variable for variable in of.descriptor.environment}
        assert named[home].purpose == "home" and not named[home].secret
        assert [name for name, variable in named.items() if variable.secret] == [secret]
