"""The capability record: complete, copied at every door, readable across versions."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.capabilities import (
    CAPABILITIES_SCHEMA_VERSION,
    NEWER_VALUE,
    NOT_IN_RECORD,
    Capabilities,
)
from podium.contract.evidence import Evidence, EvidenceClass
from podium.contract.leaves import LEAVES
from podium.contract.values import (
    DIRECT,
    NATIVE,
    CapabilityError,
    Degraded,
    Mcp,
    Native,
    Strength,
    Unsupported,
    WrittenFiles,
    degraded,
    mcp,
    unknown,
    unsupported,
    written_files,
)

SCHEMA = {"type": "object", "properties": {"effort": {"enum": ["low"]}}}


def full() -> Capabilities:
    return Capabilities.build(
        {
            "lifecycle.persistent": NATIVE,
            "approvals.command": NATIVE,
            "approvals.patch": degraded("whole", "one answer for all files"),
            "tools.app_tools": mcp("http"),
            "tools.mcp_external": DIRECT,
            "identity.thread": "strong",
            "identity.turn": Strength.WEAK,
            "input.max_chars": 1000,
            "reasoning.values": ["high", "low"],
            "models.options_schema": SCHEMA,
        },
        adapter="zz",
        instance="mine",
        evidence={
            "lifecycle.persistent": Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("open",))
        },
    )


@pytest.mark.behaviour("F024")
@pytest.mark.parametrize("reason", ["", "  "])
def test_an_empty_reason_is_refused(reason: str) -> None:
    for build in (lambda: unsupported(reason), lambda: unknown(reason), lambda: degraded("mode", reason)):
        with pytest.raises(CapabilityError) as caught:
            build()
        assert caught.value.code == "reason_missing"


@pytest.mark.behaviour("F023")
def test_a_delivery_without_its_names_is_refused() -> None:
    for build, code in ((mcp, "transports_missing"), (written_files, "modes_missing")):
        with pytest.raises(CapabilityError) as caught:
            build()
        assert caught.value.code == code
    with pytest.raises(CapabilityError) as caught:
        degraded("", "why")
    assert caught.value.code == "mode_missing"
    assert written_files("rules") == WrittenFiles(("rules",))


@pytest.mark.behaviour("F024", "F035")
def test_a_minimal_record_says_no_to_everything_with_a_reason() -> None:
    record = Capabilities.minimal("zz", reason="one-shot program")
    assert set(record.leaves()) == set(LEAVES)
    assert not any(record.has(path) for path in LEAVES)
    assert record.support("turns.interrupt") == Unsupported("one-shot program")
    assert record.delivery("resources.skills") == Unsupported("one-shot program")
    assert record.strength("identity.turn") is Strength.NONE


def test_values_are_read_by_the_kind_of_their_leaf() -> None:
    record = full()
    assert isinstance(record.support("lifecycle.persistent"), Native)
    assert record.delivery("tools.app_tools") == Mcp(("http",))
    assert record.strength("identity.turn") is Strength.WEAK
    assert record.number("input.max_chars") == 1000
    assert record.names("reasoning.values") == ("high", "low")
    assert record.schema("models.options_schema") == SCHEMA


@pytest.mark.parametrize("reader", ["support", "delivery", "strength", "number", "names", "schema"])
def test_asking_a_leaf_for_another_kind_is_a_typed_error(reader: str) -> None:
    path = "identity.thread" if reader != "strength" else "turns.interrupt"
    with pytest.raises(CapabilityError) as caught:
        getattr(full(), reader)(path)
    assert caught.value.code == "wrong_kind"


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ({"turns.teleport": NATIVE}, "unknown_leaf"),
        ({"lifecycle.resume": NATIVE}, "derived_leaf"),
        ({"turns.interrupt": True}, "wrong_kind"),
        ({"turns.interrupt": DIRECT}, "wrong_kind"),
        ({"turns.interrupt": {"support": "perhaps"}}, "wrong_kind"),
        ({"identity.turn": "mighty"}, "wrong_kind"),
        ({"input.max_chars": -1}, "wrong_kind"),
        ({"input.max_chars": "many"}, "wrong_kind"),
        ({"input.max_chars": True}, "wrong_kind"),
        ({"reasoning.values": "low"}, "wrong_kind"),
        ({"models.options_schema": ["x"]}, "wrong_kind"),
    ],
)
@pytest.mark.behaviour("F002")
def test_an_adapter_cannot_declare_what_is_no_leaf_or_no_value(declared: dict[str, Any], code: str) -> None:
    with pytest.raises(CapabilityError) as caught:
        Capabilities.build(declared, adapter="zz")
    assert caught.value.code == code
    assert isinstance(caught.value, ValueError)
    assert caught.value.detail["leaf"] in declared


def test_evidence_for_no_leaf_is_refused() -> None:
    with pytest.raises(CapabilityError):
        Capabilities.build(
            {}, adapter="zz", evidence={"no.leaf": Evidence(evidence_class=EvidenceClass.PENDING)}
        )


def test_derived_leaves_follow_their_sources_and_carry_their_proof() -> None:
    record = full()
    assert record.has("lifecycle.resume")
    assert record.evidence("lifecycle.resume") == record.evidence("lifecycle.persistent") is not None
    assert record.support("approvals.native_requests") == NATIVE
    assert record.delivery("resources.mcp_delivery") == DIRECT
    narrowed = record.narrowed(
        {"approvals.command": unsupported("off"), "lifecycle.persistent": unsupported("off")}
    )
    assert isinstance(narrowed.support("approvals.native_requests"), Degraded)
    assert not narrowed.has("lifecycle.resume")


@pytest.mark.behaviour("F287")
def test_nothing_that_goes_in_or_out_is_shared() -> None:
    schema: dict[str, Any] = {"properties": {"effort": 1}}
    values = ["low"]
    record = Capabilities.build({"models.options_schema": schema, "reasoning.values": values}, adapter="zz")
    schema["properties"]["effort"] = 2
    values.append("high")
    taken = record.schema("models.options_schema")
    assert taken == {"properties": {"effort": 1}}
    assert taken is not None
    taken["properties"].clear()
    record.leaves().clear()
    record.opaque()["x"] = 1
    for view in (record.view_000(), record.view_001()):
        view["tools"].clear()
        view.pop("approvals")
    record.view_001()["models"]["optionsSchema"]["properties"]["effort"] = 3
    record.view_001()["reasoning"]["values"].append("extreme")
    assert record.schema("models.options_schema") == {"properties": {"effort": 1}}
    assert record.view_001()["reasoning"]["values"] == ["low"]
    assert "approvals" in record.view_000() and record.view_001()["tools"]


@pytest.mark.behaviour("F003")
def test_a_record_survives_storage_and_states_its_version() -> None:
    record = full()
    again = msgspec.json.decode(msgspec.json.encode(record), type=Capabilities)
    assert again == record
    assert again.schema_version == CAPABILITIES_SCHEMA_VERSION
    assert again.view_000() == record.view_000()


def test_a_record_of_a_newer_version_keeps_what_this_one_cannot_read() -> None:
    plain = msgspec.to_builtins(full())
    plain["schema_version"] = 9
    plain["leaves"]["turns.teleport"] = {"support": "native", "range": 3}
    plain["leaves"]["turns.interrupt"] = {"support": "telepathic"}
    plain["leaves"]["identity.item"] = "unbreakable"
    plain["leaves"]["reasoning.values"] = [1, 2]
    plain["evidence"]["turns.interrupt"] = {"class": "revealed"}
    data = msgspec.json.encode(plain)
    record = msgspec.json.decode(data, type=Capabilities)
    assert set(record.opaque()) == {"turns.teleport", "turns.interrupt", "identity.item", "reasoning.values"}
    assert record.support("turns.interrupt") == Unsupported(NEWER_VALUE)
    assert record.strength("identity.item") is Strength.NONE
    assert record.names("reasoning.values") == ()
    assert record.evidence("turns.interrupt") is None
    stored_again = msgspec.json.decode(msgspec.json.encode(record))
    for path in record.opaque():
        assert stored_again["leaves"][path] == plain["leaves"][path]
    assert stored_again["evidence"]["turns.interrupt"] == {"class": "revealed"}
    with pytest.raises(CapabilityError):
        record.value("turns.teleport")


def test_a_record_of_an_older_version_says_what_it_lacks() -> None:
    plain = msgspec.to_builtins(full())
    del plain["leaves"]["turns.interrupt"]
    record = msgspec.convert(plain, Capabilities)
    assert record.support("turns.interrupt") == Unsupported(NOT_IN_RECORD)
