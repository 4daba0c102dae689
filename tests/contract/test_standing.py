"""What the runtime may rely on: proof, version, certification, strictness."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import (
    FAILED_HERE,
    OUTSIDE_RANGE,
    PENDING,
    STRICT,
    UNPROVEN,
    Certification,
    Evidence,
    EvidenceClass,
    Standing,
    effective_support,
    in_range,
    range_problem,
    standing_of,
)
from podium.contract.leaves import LEAVES, MUST_BE_PROVEN
from podium.contract.values import NATIVE, Degraded, Kind, Native, Strength, Unsupported, mcp, not_above

PROVEN_171 = Evidence(
    evidence_class=EvidenceClass.PROVEN_NATIVE, native=("a/method",), proven_on=("0.171.0",), scenario="s"
)
CLAIMS = (
    "input.text",
    "approvals.command",
    "turns.interrupt",
    "turns.queue",
    "threads.fork",
    "turns.steer_active",
)


def declared() -> Capabilities:
    return Capabilities.build(
        dict.fromkeys(CLAIMS, NATIVE), adapter="zz", evidence=dict.fromkeys(CLAIMS, PROVEN_171)
    )


@pytest.mark.behaviour("F286")
def test_a_version_never_seen_keeps_what_is_harmless_and_refuses_what_is_not() -> None:
    record = declared().effective("0.999.0")
    for path in ("input.text", "approvals.command", "turns.interrupt"):
        assert record.has(path)
        assert record.standing(path) is Standing.CARRIED
    assert record.support("threads.fork") == Unsupported("must_be_proven")
    assert record.support("turns.steer_active") == Unsupported("must_be_proven")
    assert record.agent_version == "0.999.0"


def test_on_the_proven_version_everything_claimed_is_there() -> None:
    record = declared().effective("0.171.0")
    assert all(record.has(path) and record.standing(path) is Standing.PROVEN for path in CLAIMS)


def test_a_certification_lifts_a_leaf_on_its_version_only() -> None:
    passed = Certification(leaf="threads.fork", agent_version="0.999.0", passed=True)
    assert declared().effective("0.999.0", [passed]).has("threads.fork")
    assert not declared().effective("0.999.1", [passed]).has("threads.fork")


def test_a_certification_of_another_version_carries_only_if_it_passed() -> None:
    bare = Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("x",))
    for passed, standing in ((True, Standing.CARRIED), (False, Standing.UNPROVEN)):
        other = Certification(leaf="output.usage", agent_version="1", passed=passed)
        assert standing_of("output.usage", bare, "2", [other]) is standing
        assert standing_of("output.diffs", bare, "1", [other]) is Standing.UNPROVEN


def test_a_failure_on_this_version_outweighs_every_proof() -> None:
    failed = Certification(leaf="turns.interrupt", agent_version="0.171.0", passed=False)
    passed = Certification(leaf="turns.interrupt", agent_version="0.171.0", passed=True)
    record = declared().effective("0.171.0", [failed, passed])
    assert record.support("turns.interrupt") == Unsupported(FAILED_HERE)
    assert record.has("input.text")


def test_strict_wants_every_leaf_proven_on_exactly_this_version() -> None:
    assert declared().effective("0.171.0", strict=True).has("turns.interrupt")
    record = declared().effective("0.999.0", strict=True)
    assert record.support("turns.interrupt") == Unsupported(STRICT)
    assert record.support("threads.fork") == Unsupported("must_be_proven")


@pytest.mark.behaviour("F032")
def test_pending_and_unproven_read_as_unsupported() -> None:
    pending = Evidence(evidence_class=EvidenceClass.PENDING, native=("x",), proven_on=("1",))
    assert effective_support("output.usage", NATIVE, pending, "1").value == Unsupported(PENDING)
    bare = Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("x",))
    assert effective_support("output.usage", NATIVE, bare, "1").value == Unsupported(UNPROVEN)
    assert effective_support("output.usage", NATIVE, None, "1").value == Unsupported(UNPROVEN)
    assert effective_support("identity.turn", Strength.STRONG, None, "1").value is Strength.NONE
    assert effective_support("reasoning.values", ("low",), None, "1").value == ()
    assert effective_support("tools.app_tools", mcp("http"), None, "1").value == Unsupported(UNPROVEN)


def test_advertised_needs_both_the_handshake_and_a_path_proven_elsewhere() -> None:
    elsewhere = Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("x",), elsewhere="another agent")
    assert standing_of("output.usage", elsewhere, "1", advertised=True) is Standing.ADVERTISED
    assert standing_of("output.usage", elsewhere, "1") is Standing.UNPROVEN
    assert standing_of("output.usage", PROVEN_171, "1", advertised=True) is Standing.CARRIED
    record = Capabilities.build(
        {"output.usage": NATIVE, "threads.fork": NATIVE},
        adapter="zz",
        evidence={"output.usage": elsewhere, "threads.fork": elsewhere},
    ).effective("1", advertised=["output.usage", "threads.fork"])
    assert record.standing("output.usage") is Standing.ADVERTISED and record.has("output.usage")
    assert record.support("threads.fork") == Unsupported("must_be_proven")


@pytest.mark.behaviour("F033")
def test_outside_its_version_range_a_leaf_is_unavailable_with_the_reason() -> None:
    ranged = Evidence(
        evidence_class=EvidenceClass.PROVEN_NATIVE,
        native=("x",),
        proven_on=("1.2",),
        versions=">=1.0,<2",
        experimental=True,
        risk="may be renamed",
    )
    assert effective_support("output.usage", NATIVE, ranged, "1.9.3").value == NATIVE
    assert effective_support("output.usage", NATIVE, ranged, "2.0").value == Unsupported(OUTSIDE_RANGE)
    assert effective_support("output.usage", NATIVE, ranged, None).value == Unsupported(OUTSIDE_RANGE)


@pytest.mark.parametrize(
    ("version", "versions", "inside"),
    [
        ("1.10.0", ">=1.9", True),
        ("1.9", ">=1.9.0,<=1.9.0", True),
        ("1.9.0-beta.2", ">=1.9.0", False),
        ("1.9.0+build7", "==1.9", True),
        ("v2.1", ">2,!=2.2", True),
        ("2.2.0", ">2,!=2.2", False),
        ("3", "", True),
        ("3", "around 3", False),
    ],
)
def test_version_ranges(version: str, versions: str, inside: bool) -> None:
    assert in_range(version, versions) is inside


def test_an_unreadable_range_says_what_is_wrong() -> None:
    assert range_problem(">=1,~2") is not None
    assert range_problem(">=1, <2") is None


def test_an_unknown_version_proves_nothing_exactly() -> None:
    record = declared().effective(None)
    assert record.standing("turns.interrupt") is Standing.CARRIED
    assert not record.has("threads.fork")


def test_evidence_of_a_lesser_path_lowers_a_claim_that_says_more() -> None:
    lesser = Evidence(evidence_class=EvidenceClass.DEGRADED, native=("x",), proven_on=("1",))
    assert isinstance(effective_support("output.usage", NATIVE, lesser, "1").value, Degraded)
    assert effective_support("identity.turn", Strength.STRONG, lesser, "1").value is Strength.WEAK


def test_a_stated_limit_stays_whatever_its_proof() -> None:
    assert effective_support("input.max_chars", 100, None, "1").value == 100


def test_what_must_be_proven_is_in_the_tree_and_can_be_declared() -> None:
    assert all(path in LEAVES and not LEAVES[path].derived for path in MUST_BE_PROVEN)


@given(
    path=st.sampled_from(CLAIMS),
    value=st.sampled_from([NATIVE, Degraded("m", "r"), Unsupported("r")]),
    evidence_class=st.sampled_from(EvidenceClass),
    proven_on=st.sampled_from([(), ("1",), ("2",)]),
    certified=st.lists(st.tuples(st.sampled_from(["1", "2"]), st.booleans()), max_size=3),
    advertised=st.booleans(),
    strict=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_a_reading_is_never_above_the_declaration_and_strict_never_above_lax(
    *,
    path: str,
    value: Native | Degraded | Unsupported,
    evidence_class: EvidenceClass,
    proven_on: tuple[str, ...],
    certified: list[tuple[str, bool]],
    advertised: bool,
    strict: bool,
) -> None:
    evidence = Evidence(evidence_class=evidence_class, proven_on=proven_on, elsewhere="yes")
    results = [
        Certification(leaf=path, agent_version=version, passed=passed) for version, passed in certified
    ]
    reading = effective_support(path, value, evidence, "1", results, advertised=advertised, strict=strict)
    lax = effective_support(path, value, evidence, "1", results, advertised=advertised)
    assert not_above(Kind.SUPPORT, reading.value, value)
    assert not_above(Kind.SUPPORT, reading.value, lax.value)
