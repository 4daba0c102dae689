"""Narrowing is a meet, so a record can only shrink, in any order and any number of times."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.capabilities import Capabilities, equivalent_records, narrow
from podium.contract.evidence import Evidence, EvidenceClass, Standing
from podium.contract.leaves import LEAVES
from podium.contract.values import (
    NATIVE,
    NO_COMMON_WAY,
    NOT_DECLARED,
    CapabilityError,
    Degraded,
    Direct,
    Kind,
    LeafValue,
    Mcp,
    Native,
    Strength,
    Unknown,
    Unsupported,
    WrittenFiles,
    equivalent,
    level,
    meet,
    not_above,
)

WORDS = st.sampled_from(["a", "b", "c"])
REASONS = st.sampled_from(["late", "none", NOT_DECLARED, NO_COMMON_WAY])
SETS = st.lists(WORDS, unique=True, min_size=1).map(tuple)

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.SUPPORT: st.one_of(
        st.just(Native()),
        st.builds(Degraded, WORDS, REASONS),
        st.builds(Unsupported, REASONS),
        st.builds(Unknown, REASONS),
    ),
    Kind.DELIVERY: st.one_of(
        st.just(Native()),
        st.just(Direct()),
        st.builds(Mcp, SETS),
        st.builds(WrittenFiles, SETS),
        st.builds(Degraded, WORDS, REASONS),
        st.builds(Unsupported, REASONS),
    ),
    Kind.STRENGTH: st.sampled_from(Strength),
    Kind.NUMBER: st.none() | st.integers(0, 4),
    Kind.LIST: st.lists(WORDS, unique=True).map(tuple),
    Kind.SCHEMA: st.none() | st.fixed_dictionaries({"minimum": st.sampled_from([0, 1, True, 1.5])}),
}
EVIDENCE = st.none() | st.builds(
    Evidence,
    evidence_class=st.sampled_from(EvidenceClass),
    native=st.sampled_from([(), ("x",), ("y",)]),
    standing=st.none() | st.sampled_from(Standing),
)
DECLARED = [path for path, leaf in LEAVES.items() if not leaf.derived]
# Every kind of leaf and the sources of derived ones: a whole tree for each draw is slow and no wider.
SOME = [
    "lifecycle.persistent",
    "approvals.command",
    "approvals.patch",
    "tools.mcp_external",
    "resources.skills",
    "identity.thread",
    "input.max_chars",
    "reasoning.values",
    "models.options_schema",
    "policy.enforcement",
]


@st.composite
def records(draw: st.DrawFn) -> Capabilities:
    values = {path: draw(VALUES[LEAVES[path].kind]) for path in draw(st.sets(st.sampled_from(SOME)))}
    proofs = {path: draw(EVIDENCE) for path in draw(st.sets(st.sampled_from(SOME), max_size=4))}
    known = {path: proof for path, proof in proofs.items() if proof is not None}
    return Capabilities.build(values, adapter="zz", evidence=known)


def triples(kind: Kind) -> st.SearchStrategy[tuple[LeafValue, LeafValue, LeafValue]]:
    return st.tuples(VALUES[kind], VALUES[kind], VALUES[kind])


@pytest.mark.behaviour("F286")
@pytest.mark.parametrize("kind", Kind)
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_every_kind_of_leaf_has_a_meet(kind: Kind, data: st.DataObject) -> None:
    a, b, c = data.draw(triples(kind))
    both = meet(kind, a, b)
    assert equivalent(both, meet(kind, b, a))
    assert equivalent(meet(kind, both, c), meet(kind, a, meet(kind, b, c)))
    assert equivalent(meet(kind, a, a), a)
    assert not_above(kind, both, a) and not_above(kind, both, b)


@pytest.mark.behaviour("F286")
@given(records(), records(), records())
@settings(max_examples=60, deadline=None)
def test_narrow_is_a_meet_of_whole_records_with_their_evidence(
    a: Capabilities, b: Capabilities, c: Capabilities
) -> None:
    both = narrow(a, b)
    assert equivalent_records(both, narrow(b, a))
    assert equivalent_records(narrow(both, c), narrow(a, narrow(b, c)))
    assert equivalent_records(narrow(a, a), a)
    for path, leaf in LEAVES.items():
        assert not_above(leaf.kind, both.value(path), a.value(path)), path
        assert not_above(leaf.kind, both.value(path), b.value(path)), path


@given(records(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_handshake_narrows_the_leaves_it_names_and_no_other(a: Capabilities, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(SOME))
    limit = data.draw(VALUES[LEAVES[path].kind])
    narrowed = a.narrowed({path: limit})
    assert equivalent(narrowed.value(path), meet(LEAVES[path].kind, a.value(path), limit))
    assert all(equivalent(narrowed.value(other), a.value(other)) for other in DECLARED if other != path)


def test_the_evidence_of_the_lower_value_is_kept() -> None:
    strong = Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("strong",))
    weak = Evidence(evidence_class=EvidenceClass.DEGRADED, native=("weak",))
    high = Capabilities.build({"output.usage": NATIVE}, adapter="zz", evidence={"output.usage": weak})
    low = Capabilities.build(
        {"output.usage": Degraded("totals", "only at the end")},
        adapter="zz",
        evidence={"output.usage": strong},
    )
    assert narrow(high, low).evidence("output.usage") == strong
    assert narrow(low, high).evidence("output.usage") == strong


@pytest.mark.parametrize("path", ["output.usage", "tools.app_tools"])
def test_where_both_say_the_same_the_weaker_evidence_is_kept(path: str) -> None:
    strong = Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("x",))
    weak = Evidence(evidence_class=EvidenceClass.PROVEN_DELIVERY, native=("x",))
    a = Capabilities.build({path: NATIVE}, adapter="zz", evidence={path: strong})
    b = Capabilities.build({path: NATIVE}, adapter="zz", evidence={path: weak})
    assert narrow(a, b).evidence(path) == narrow(b, a).evidence(path) == weak


def test_a_definite_no_says_more_than_nothing_said() -> None:
    said, unsaid = Unsupported("removed in this version"), Unsupported(NOT_DECLARED)
    for a, b in ((said, unsaid), (unsaid, said), (said, Unknown("nobody looked"))):
        assert meet(Kind.SUPPORT, a, b) == said


def test_two_ways_of_delivery_have_no_way_in_common() -> None:
    assert meet(Kind.DELIVERY, Mcp(("stdio", "http")), Mcp(("http",))) == Mcp(("http",))
    assert meet(Kind.DELIVERY, Mcp(("stdio",)), Mcp(("http",))) == Unsupported(NO_COMMON_WAY)
    assert meet(Kind.DELIVERY, Direct(), WrittenFiles(("rules",))) == Unsupported(NO_COMMON_WAY)
    assert meet(Kind.DELIVERY, Direct(), Degraded("once", "at the start only")) == Degraded(
        "once", "at the start only"
    )


def test_no_stated_limit_yields_to_a_limit_and_a_schema_is_never_mixed() -> None:
    assert meet(Kind.NUMBER, None, 7) == 7
    assert meet(Kind.NUMBER, 9, 7) == 7
    assert meet(Kind.SCHEMA, {"type": "object"}, {"type": "object"}) == {"type": "object"}
    assert meet(Kind.SCHEMA, {"type": "object"}, {"type": "string"}) is None
    assert meet(Kind.SCHEMA, {"const": 1}, {"const": True}) is None


def test_a_list_keeps_the_order_in_which_it_was_declared() -> None:
    assert meet(Kind.LIST, ("high", "low", "off"), ("off", "high")) == ("high", "off")


def test_records_of_two_agents_are_not_met() -> None:
    with pytest.raises(CapabilityError) as caught:
        narrow(Capabilities.minimal("one"), Capabilities.minimal("two"))
    assert caught.value.code == "different_subjects"


def test_a_header_that_only_one_record_states_is_kept() -> None:
    negotiated = Capabilities.minimal("zz").narrowed({}, protocol_version="2", agent_version="1.2")
    both = narrow(Capabilities.minimal("zz", instance="mine"), negotiated)
    assert (both.instance, both.protocol_version, both.agent_version) == ("mine", "2", "1.2")


def test_unread_leaves_are_kept_only_where_both_hold_the_same() -> None:
    def stored(**extra: Any) -> Capabilities:
        plain = msgspec.to_builtins(Capabilities.minimal("zz"))
        plain["leaves"] |= {name.replace("__", "."): value for name, value in extra.items()}
        return msgspec.convert(plain, Capabilities)

    a, b = stored(new__leaf={"x": 1}, new__other=1), stored(new__leaf={"x": 1}, new__other=2)
    assert narrow(a, b).opaque() == {"new.leaf": {"x": 1}}


def test_level_tells_there_from_not_there() -> None:
    assert [level(value) for value in (Native(), Degraded("m", "r"), Unsupported("r"), Unknown("r"))] == [
        2,
        1,
        0,
        0,
    ]
    assert [level(value) for value in (("a",), (), {"type": "x"}, None)] == [2, 0, 2, 0]
