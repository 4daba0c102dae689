"""The declaration is true to what was run, and the descriptor finds the program."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from podium.contract.capabilities import Unsupported
from podium.contract.evidence import EvidenceClass
from podium.contract.leaves import LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.validation import check_declaration
from podium.contract.values import NOT_DECLARED, Kind
from podium.providers.codex import CodexAdapter, adapter
from podium.providers.codex.declaration import PROVEN_ON


@pytest.mark.behaviour("F031")
def test_the_declaration_passes_every_check() -> None:
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []


def test_every_leaf_is_decided_with_a_reason() -> None:
    record = adapter.capabilities()
    for path, leaf in LEAVES.items():
        value = record.value(path)
        if leaf.kind is Kind.SUPPORT and isinstance(value, Unsupported):
            assert value.reason != NOT_DECLARED, path


def test_every_proof_names_the_scenario_of_its_leaf() -> None:
    record = adapter.capabilities()
    stated = {path: proof for path in LEAVES if (proof := record.evidence(path)) is not None}
    assert stated
    for path, proof in stated.items():
        if not LEAVES[path].derived:
            assert proof.scenario == SCENARIO_OF[path]
        assert proof.proven_on == (PROVEN_ON,)
        assert proof.evidence_class is not EvidenceClass.PENDING


@pytest.mark.behaviour("F287")
def test_a_returned_record_is_a_copy() -> None:
    first, second = adapter.capabilities(), adapter.capabilities()
    first.leaves().clear()
    assert second.leaves() == adapter.capabilities().leaves()


def test_the_record_carries_name_and_brand() -> None:
    record = CodexAdapter("box", "brand").capabilities()
    assert (record.adapter, record.agent_kind) == ("box", "brand")


@pytest.mark.parametrize(
    "layout",
    [
        "@openai/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex",
    ],
)
def test_the_native_program_is_found_behind_the_launcher(tmp_path: Path, layout: str) -> None:
    launcher = tmp_path / "@openai" / "codex" / "bin" / "codex.js"
    launcher.parent.mkdir(parents=True)
    launcher.touch()
    program = tmp_path / layout
    program.parent.mkdir(parents=True, exist_ok=True)
    program.touch()
    found = {
        path.resolve()
        for pattern in adapter.descriptor.native_programs
        for path in launcher.parent.glob(pattern)
    }
    assert found == {program.resolve()}


def test_secrets_are_marked() -> None:
    secret = {variable.name for variable in adapter.descriptor.environment if variable.secret}
    assert secret == {"OPENAI_API_KEY", "CODEX_API_KEY"}


def test_the_adapter_is_registered() -> None:
    (found,) = [entry for entry in entry_points(group="podium.providers") if entry.name == "codex"]
    assert found.load() is adapter
