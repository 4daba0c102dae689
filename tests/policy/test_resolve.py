"""The answer to every feature, for every agent and every choice (F044, F059)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Evidence, EvidenceClass
from podium.contract.leaves import LEAVES, MANDATORY_ASKS, guards
from podium.contract.values import NATIVE, Kind, Strength, Unsupported, degraded, level, unknown
from podium.policy import (
    CHOICES,
    FEATURES,
    RESERVED,
    ROWS,
    Policy,
    PolicyError,
    Resolution,
    guard,
    resolve,
    resolve_all,
)
from podium.policy.rows import OUTCOME_RANK, STEP_ASKS

SUPPORT = (Unsupported("the agent has no way"), degraded("lesser", "part is lost"), NATIVE)
VALUES: dict[Kind, tuple[Any, ...]] = {
    Kind.SUPPORT: SUPPORT,
    Kind.STRENGTH: (Strength.NONE, Strength.WEAK, Strength.STRONG),
}

POLICIES = [
    Policy(interrupt=interrupt, steer=steer, fork=fork, strict=strict)
    for interrupt, steer, fork, strict in itertools.product(
        CHOICES["interrupt"], CHOICES["steer"], CHOICES["fork"], (False, True)
    )
]


def sources(path: str) -> tuple[str, ...]:
    return LEAVES[path].derived_from or (path,)


def leaves_of(feature: str) -> list[str]:
    """The declared leaves a row looks at; a derived one through its first source."""
    needs = {path for option in ROWS[feature] for path, _ in option.needs}
    return sorted({sources(path)[0] for path in needs})


def records_of(feature: str) -> list[dict[str, Any]]:
    """Every record that the row can tell apart."""
    paths = leaves_of(feature) if feature in ROWS else []
    return [
        dict(zip(paths, values, strict=True))
        for values in itertools.product(*(VALUES[LEAVES[path].kind] for path in paths))
    ]


def can(**leaves: Any) -> Capabilities:
    return Capabilities.build(
        {path.replace("__", "."): value for path, value in leaves.items()}, adapter="zz"
    )


def built(leaves: dict[str, Any]) -> Capabilities:
    return Capabilities.build(leaves, adapter="zz")


@pytest.mark.behaviour("F044")
@pytest.mark.parametrize("feature", ROWS)
def test_every_option_is_the_answer_for_some_record_and_policy(feature: str) -> None:
    answers = {
        resolve(feature, built(leaves), policy).option
        for leaves in records_of(feature)
        for policy in POLICIES
    }
    assert answers == set(range(len(ROWS[feature])))


@pytest.mark.behaviour("F044")
@pytest.mark.parametrize("feature", ROWS)
def test_raising_a_leaf_never_worsens_the_outcome(feature: str) -> None:
    for policy in POLICIES:
        for leaves in records_of(feature):
            before = resolve(feature, built(leaves), policy)
            for path, value in leaves.items():
                ladder = VALUES[LEAVES[path].kind]
                for higher in ladder[ladder.index(value) + 1 :]:
                    after = resolve(feature, built(leaves | {path: higher}), policy)
                    assert OUTCOME_RANK[after.outcome] >= OUTCOME_RANK[before.outcome]
                    assert after.option <= before.option


@given(data=st.data(), feature=st.sampled_from(FEATURES), policy=st.sampled_from(POLICIES))
@settings(max_examples=150, deadline=None)
def test_raising_any_leaf_of_a_whole_record_never_worsens_any_outcome(
    data: st.DataObject, feature: str, policy: Policy
) -> None:
    declared = [path for path, leaf in LEAVES.items() if leaf.kind in VALUES and not leaf.derived]
    paths = data.draw(st.sets(st.sampled_from(declared), max_size=12))
    leaves = {path: data.draw(st.sampled_from(VALUES[LEAVES[path].kind])) for path in sorted(paths)}
    path = data.draw(st.sampled_from(declared))
    higher = data.draw(st.sampled_from(VALUES[LEAVES[path].kind]))
    low = built(leaves)
    if level(higher) < level(low.value(path)):
        return
    before, after = resolve(feature, low, policy), resolve(feature, built(leaves | {path: higher}), policy)
    assert OUTCOME_RANK[after.outcome] >= OUTCOME_RANK[before.outcome]


@pytest.mark.behaviour("F059")
@pytest.mark.parametrize("feature", FEATURES)
def test_whatever_is_not_native_says_code_capability_reason_and_consequence(feature: str) -> None:
    for leaves in records_of(feature):
        for policy in POLICIES:
            found = resolve(feature, built(leaves), policy)
            if found.is_native:
                assert not (found.code or found.reason or found.consequence)
                continue
            assert found.code and found.reason and found.consequence and found.capability in LEAVES
            refusal = found.refusal()
            assert (refusal is not None) == found.refused
            if refusal is not None:
                assert (refusal.code, refusal.capability) == (found.code, found.capability)


@pytest.mark.parametrize("feature", ROWS)
def test_a_strict_policy_refuses_every_emulation_and_says_so(feature: str) -> None:
    for leaves in records_of(feature):
        found = resolve(
            feature, built(leaves), Policy(interrupt="stop_session", steer="restart", strict=True)
        )
        lax = resolve(feature, built(leaves), Policy(interrupt="stop_session", steer="restart"))
        assert found.fidelity != "emulated"
        if lax.fidelity == "emulated":
            assert (found.refused, found.code, found.policy) == (
                True,
                "refused_by_strict",
                "strict",
            ) or not found.refused


def outcome(feature: str, capabilities: Capabilities, **choices: Any) -> tuple[str, tuple[str, ...], str]:
    found: Resolution = resolve(feature, capabilities, Policy(**choices))
    return found.outcome, found.steps, found.code


NOTHING = can()


@pytest.mark.behaviour("F051")
def test_interrupt() -> None:
    assert outcome("interrupt", can(turns__interrupt=NATIVE)) == ("native", ("turn.interrupt",), "")
    assert outcome("interrupt", NOTHING, interrupt="stop_session")[:2] == ("stop_session", ("session.stop",))
    refused = outcome("interrupt", NOTHING, interrupt="refuse")
    assert refused == ("refuse", (), "refused_by_policy")


@pytest.mark.behaviour("F048", "F052")
def test_steer() -> None:
    both = can(
        turns__steer_active=NATIVE, turns__steer_restart=NATIVE, turns__interrupt=NATIVE, turns__queue=NATIVE
    )
    assert outcome("steer", both)[1] == ("turn.steer",)
    after = can(turns__steer_restart=NATIVE, turns__interrupt=NATIVE, turns__queue=NATIVE)
    assert outcome("steer", after, steer="restart")[:2] == ("restart", ("turn.interrupt", "attempt.restart"))
    assert outcome("steer", after, steer="queue")[:2] == ("queue", ("queue.append",))
    assert outcome("steer", after, steer="refuse") == ("refuse", (), "refused_by_policy")
    assert outcome("steer", can(turns__queue=NATIVE), steer="restart")[0] == "queue"
    assert outcome("steer", NOTHING, steer="restart") == ("refuse", (), "unsupported")


@pytest.mark.behaviour("F045")
def test_model_switch() -> None:
    assert outcome("model_switch", can(models__switch=NATIVE))[0] == "in_session"
    other = outcome("model_switch", can(lifecycle__persistent=NATIVE))
    assert other[:2] == ("new_session", ("session.stop", "session.open", "session.resume"))
    assert outcome("model_switch", NOTHING)[0] == "refuse"


@pytest.mark.behaviour("F046")
def test_requests_expire_where_nothing_can_be_attached() -> None:
    survive = can(lifecycle__requests_survive_restart=NATIVE, lifecycle__reattach=NATIVE)
    assert outcome("request_survival", survive)[:2] == ("reattach", ("session.reattach",))
    half = can(lifecycle__requests_survive_restart=NATIVE)
    assert outcome("request_survival", half)[:2] == ("expire", ("request.expire",))
    reconciled = can(
        lifecycle__requests_survive_restart=NATIVE,
        lifecycle__reattach=degraded("reconcile", "deltas are missing"),
    )
    assert outcome("request_survival", reconciled)[0] == "degraded"


@pytest.mark.behaviour("F057")
def test_without_approvals_the_sandbox_governs_or_nothing_runs_supervised() -> None:
    assert outcome("approvals", can(approvals__patch=NATIVE))[0] == "native"
    sandbox = outcome("approvals", can(policy__enforcement=degraded("sandbox_only", "no questions")))
    assert sandbox[:2] == ("sandbox_only", ("sandbox.configure",))
    assert outcome("approvals", NOTHING)[0] == "refuse"


@pytest.mark.behaviour("F047", "F049", "F058", "F074")
def test_what_is_lost_is_named() -> None:
    weak = can(turns__terminal_quality="weak")
    assert outcome("terminal", weak)[:2] == ("inferred", ("terminal.infer",))
    assert outcome("terminal", weak, strict=True)[0] == "refuse"
    assert outcome("message_close", weak)[:2] == ("at_terminal", ("item.close_at_terminal",))
    assert outcome("plan_progress", NOTHING)[0] == "none"
    assert outcome("resume", NOTHING)[0] == "not_resumable"
    assert outcome("resume", can(lifecycle__persistent=NATIVE))[1] == ("session.resume",)


def test_input_and_questions() -> None:
    assert outcome("start", can(input__text=NATIVE))[0] == "native"
    assert outcome("image_input", can(input__text=NATIVE))[0] == "refuse"
    asks = can(planning__questions=NATIVE, approvals__user_input=NATIVE)
    assert outcome("structured_questions", asks)[0] == "native"
    assert outcome("structured_questions", can(planning__questions=NATIVE))[0] == "refuse"


def test_a_fork_is_not_available_yet_whatever_is_chosen() -> None:
    assert outcome("fork", can(threads__fork=NATIVE), fork="synthetic")[2] == "not_available_yet"
    assert outcome("fork", NOTHING, fork="refuse")[2] == "not_available_yet"


@pytest.mark.parametrize("feature", RESERVED)
def test_a_reserved_feature_is_refused_whatever_the_agent_can(feature: str) -> None:
    everything = built(
        {p: VALUES[leaf.kind][-1] for p, leaf in LEAVES.items() if leaf.kind in VALUES and not leaf.derived}
    )
    found = resolve(feature, everything, Policy())
    assert (found.outcome, found.code, found.steps) == ("refuse", "not_available_yet", ())


def test_a_fork_that_must_be_proven_says_so() -> None:
    proof = Evidence(evidence_class=EvidenceClass.PROVEN_NATIVE, native=("x",), proven_on=("0.171.0",))
    declared = Capabilities.build(
        {"threads.fork": NATIVE, "turns.interrupt": NATIVE},
        adapter="zz",
        evidence={"threads.fork": proof, "turns.interrupt": proof},
    )
    here = declared.effective("0.999.0")
    found = resolve("fork", here, Policy())
    assert (found.outcome, found.code, found.capability) == ("refuse", "must_be_proven", "threads.fork")
    assert resolve("interrupt", here, Policy()).is_native


def test_the_reason_is_the_agents_own() -> None:
    found = resolve("interrupt", can(turns__interrupt=unknown("nobody has tried")), Policy())
    assert (found.reason, found.code, found.policy) == (
        "nobody has tried",
        "interrupt_unsupported",
        "interrupt",
    )
    lesser = resolve("interrupt", can(turns__interrupt=degraded("late", "after the tool")), Policy())
    assert (lesser.outcome, lesser.reason, lesser.fidelity) == ("degraded", "after the tool", "degraded")


def test_no_feature_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(PolicyError, match="steer") as caught:
        resolve("teleport", NOTHING, Policy())
    assert caught.value.code == "unknown_feature"


def test_all_features_at_once() -> None:
    assert set(resolve_all(NOTHING, Policy())) == set(FEATURES) == set(ROWS) | set(RESERVED)


@pytest.mark.behaviour("F073")
def test_an_optional_ask_never_passes_without_its_leaf() -> None:
    asks = sorted({ask for leaf in LEAVES.values() for ask in leaf.asks})
    for ask in asks:
        refused = guard(ask, NOTHING)
        assert (refused is None) == (ask in MANDATORY_ASKS), ask
        if refused is not None:
            assert refused.code and refused.reason and refused.capability in guards(ask)
    assert guard("steer_turn", can(turns__steer_active=NATIVE)) is None
    unknown_ask = guard("teleport", NOTHING)
    assert unknown_ask is not None and unknown_ask.code == "unknown_ask"


@pytest.mark.behaviour("F073")
def test_every_answer_sends_only_asks_that_the_guard_lets_pass() -> None:
    for feature in ROWS:
        for leaves in records_of(feature):
            capabilities = built(leaves)
            for policy in POLICIES:
                found = resolve(feature, capabilities, policy)
                for step in found.steps:
                    ask = STEP_ASKS.get(step)
                    assert ask is None or guard(ask, capabilities) is None, (feature, step)
