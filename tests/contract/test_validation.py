"""A declaration that claims more than is implemented and proven is found out."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Evidence, EvidenceClass, Source
from podium.contract.leaves import LEAVES, MANDATORY_ASKS
from podium.contract.validation import FALSE_CLAIMS, Finding, check_declaration
from podium.contract.values import DIRECT, NATIVE, Degraded, Kind, Mcp, Unsupported, WrittenFiles, degraded

PROOF = Evidence(
    evidence_class=EvidenceClass.PROVEN_NATIVE, native=("a/method",), proven_on=("1.0",), scenario="own:one"
)
ASKS = MANDATORY_ASKS | {ask for leaf in LEAVES.values() for ask in leaf.asks}

GOOD: dict[str, Any] = {
    "lifecycle.persistent": NATIVE,
    "lifecycle.attach": NATIVE,
    "input.text": NATIVE,
    "turns.interrupt": NATIVE,
    "turns.steer_active": NATIVE,
    "turns.terminal_quality": "strong",
    "approvals.command": NATIVE,
    "approvals.user_input": NATIVE,
    "planning.questions": NATIVE,
    "maintenance.history": NATIVE,
    "reasoning.supported": NATIVE,
    "reasoning.values": ("low", "high"),
    "tools.app_tools": Mcp(("http",)),
    "models.catalog": NATIVE,
    "input.max_chars": 10,
}


def record(declared: dict[str, Any] | None = None, **proofs: Evidence | None) -> Capabilities:
    leaves = GOOD if declared is None else declared
    evidence = dict.fromkeys(leaves, PROOF)
    for name, proof in proofs.items():
        path = name.replace("__", ".")
        evidence.pop(path, None)
        if proof is not None:
            evidence[path] = proof
    return Capabilities.build(leaves, adapter="zz", evidence=evidence)


def codes(capabilities: Capabilities, asks: frozenset[str] = ASKS) -> list[tuple[str, str]]:
    return [(finding.code, finding.leaf) for finding in check_declaration(capabilities, asks)]


def proof(**changes: Any) -> Evidence:
    return msgspec.structs.replace(PROOF, **changes)


@pytest.mark.behaviour("F016", "F031")
def test_a_sound_declaration_has_no_findings() -> None:
    assert check_declaration(record(), ASKS) == []


@pytest.mark.behaviour("F035")
def test_a_program_that_only_takes_text_is_a_sound_declaration() -> None:
    assert check_declaration(record({"input.text": NATIVE}), MANDATORY_ASKS) == []


@pytest.mark.behaviour("F016", "F031", "F027", "F029")
def test_removing_each_ask_in_turn_is_seen() -> None:
    for ask in sorted(ASKS):
        users = {
            path
            for path, leaf in LEAVES.items()
            if ask in leaf.asks and record().has(path) and leaf.kind is not Kind.NUMBER
        }
        found = codes(record(), ASKS - {ask})
        if ask in MANDATORY_ASKS:
            assert ("mandatory_ask_missing", "declaration") in found
        assert {leaf for _, leaf in found if leaf != "declaration"} == users, ask


@pytest.mark.behaviour("F019")
def test_steering_needs_its_ask() -> None:
    assert codes(record(), ASKS - {"steer_turn"}) == [("ask_missing", "turns.steer_active")]


@pytest.mark.behaviour("F030")
def test_history_needs_both_methods() -> None:
    assert codes(record(), ASKS - {"read_history"}) == [("history_needs_both", "maintenance.history")]
    assert codes(record(), ASKS - {"inspect_history"}) == [("history_needs_both", "maintenance.history")]
    neither = codes(record(), ASKS - {"inspect_history", "read_history"})
    assert neither == [("ask_missing", "maintenance.history")]


@pytest.mark.behaviour("F018")
def test_attach_needs_persistence_and_resume_is_nothing_else() -> None:
    attach = record({"input.text": NATIVE, "lifecycle.attach": NATIVE})
    assert codes(attach) == [("implication_broken", "lifecycle.attach")]
    assert not attach.has("lifecycle.resume")


def test_a_leaf_needs_the_leaves_it_implies() -> None:
    assert codes(record({"planning.questions": NATIVE})) == [("implication_broken", "planning.questions")]
    forks = record({"threads.fork_from_subagent": NATIVE, "threads.fork": NATIVE})
    assert codes(forks) == [("implication_broken", "threads.fork_from_subagent")]


@pytest.mark.behaviour("F023", "F024")
def test_less_than_native_needs_words() -> None:
    bad = {
        "output.usage": Unsupported(" "),
        "output.diffs": Degraded("", ""),
        "tools.app_tools": Mcp(()),
        "tools.mcp_external": WrittenFiles(()),
    }
    assert set(codes(record(bad))) == {
        ("reason_missing", "output.usage"),
        ("reason_missing", "output.diffs"),
        ("mode_missing", "output.diffs"),
        ("transports_missing", "tools.app_tools"),
        ("modes_missing", "tools.mcp_external"),
    }


@pytest.mark.behaviour("F028")
def test_reasoning_values_are_exact_and_unique() -> None:
    twice = GOOD | {"reasoning.values": ("low", "low")}
    assert codes(record(twice)) == [("duplicate_values", "reasoning.values")]
    assert codes(record(GOOD | {"reasoning.values": ("low", " ")})) == [("empty_value", "reasoning.values")]
    assert codes(record(GOOD | {"reasoning.values": ()})) == [("values_missing", "reasoning.values")]
    alone = {"reasoning.values": ("low",)}
    assert codes(record(alone)) == [("implication_broken", "reasoning.values")]
    assert codes(record({"resources.skills": WrittenFiles(("a", "a"))})) == [
        ("duplicate_values", "resources.skills")
    ]


@pytest.mark.behaviour("F017", "F033")
def test_every_claim_needs_evidence_with_exact_names_and_a_version() -> None:
    assert codes(record(turns__interrupt=None)) == [("evidence_missing", "turns.interrupt")]
    assert codes(record(turns__interrupt=proof(native=()))) == [("native_names_missing", "turns.interrupt")]
    assert codes(record(turns__interrupt=proof(proven_on=()))) == [
        ("proven_version_missing", "turns.interrupt")
    ]
    assert codes(record(turns__interrupt=proof(proven_on=(), elsewhere="another agent"))) == []
    delivery = proof(evidence_class=EvidenceClass.PROVEN_DELIVERY, native=(), scenario="own:a_call")
    assert codes(record(tools__app_tools=delivery)) == []
    nameless = msgspec.structs.replace(delivery, scenario="")
    assert codes(record(tools__app_tools=nameless)) == [
        ("native_names_missing", "tools.app_tools"),
        ("scenario_missing", "tools.app_tools"),
    ]


@pytest.mark.behaviour("F033")
def test_an_experimental_leaf_states_range_and_risk() -> None:
    found = codes(record(turns__interrupt=proof(experimental=True, risk="may go")))
    assert found == [("experimental_needs_risk", "turns.interrupt")]
    assert codes(record(turns__interrupt=proof(experimental=True, risk="may go", versions=">=1,<2"))) == []
    assert codes(record(turns__interrupt=proof(versions="~1"))) == [("version_range", "turns.interrupt")]


@pytest.mark.behaviour("F032")
def test_the_class_of_the_evidence_bounds_the_claim() -> None:
    for evidence_class, code in (
        (EvidenceClass.PENDING, "pending_claimed"),
        (EvidenceClass.UNSUPPORTED, "class_mismatch"),
        (EvidenceClass.DEGRADED, "class_mismatch"),
    ):
        found = codes(record(turns__interrupt=proof(evidence_class=evidence_class)))
        assert found == [(code, "turns.interrupt")]
    lesser = GOOD | {"turns.interrupt": degraded("late", "after the tool")}
    assert codes(record(lesser, turns__interrupt=proof(evidence_class=EvidenceClass.DEGRADED))) == []


FORBIDDEN = [
    ("output.reasoning", NATIVE, Source.TEXT, "reasoning_from_text"),
    ("maintenance.history", NATIVE, Source.LOG, "history_from_logs"),
    ("tools.mcp_external", DIRECT, Source.CONFIG, "mcp_from_config"),
    ("tools.mcp_status", NATIVE, Source.CONFIG, "mcp_from_config"),
    ("resources.skills", DIRECT, Source.TEXT, "skills_from_prompt"),
    ("approvals.command", NATIVE, Source.APP, "approvals_from_app"),
    ("tools.native_yielding", DIRECT, Source.APP, "yielding_from_app_tools"),
    ("models.catalog", NATIVE, Source.CONFIG, "catalog_from_config"),
    ("turns.interrupt", NATIVE, Source.PROCESS, "interrupt_by_kill"),
    ("input.images", NATIVE, Source.MODEL, "input_from_model"),
    ("planning.plan_updates", NATIVE, Source.TEXT, "claimed_from_prose"),
    ("tools.started", NATIVE, Source.TEXT, "claimed_from_prose"),
    ("turns.completed", NATIVE, Source.SCREEN, "claimed_from_prose"),
]


@pytest.mark.behaviour("F036", "F020", "F022", "F026")
@pytest.mark.parametrize(("path", "value", "source", "code"), FORBIDDEN)
def test_the_known_false_claims_are_found(path: str, value: Any, source: Source, code: str) -> None:
    honest = record({path: value})
    assert codes(honest) == []
    claimed = Capabilities.build({path: value}, adapter="zz", evidence={path: proof(source=source)})
    assert codes(claimed) == [(code, path)]


def test_every_false_claim_is_tried_here() -> None:
    assert {claim.code for claim in FALSE_CLAIMS} == {code for *_, code in FORBIDDEN}


@pytest.mark.behaviour("F036")
def test_a_kill_is_no_interrupt_without_proof_of_isolation() -> None:
    killed = proof(native=("process:SIGTERM", "kill"))
    assert codes(record(turns__interrupt=killed)) == [("interrupt_by_kill", "turns.interrupt")]
    isolated = msgspec.structs.replace(killed, isolation="one process group for each turn")
    assert codes(record(turns__interrupt=isolated)) == []
    assert codes(record(turns__interrupt=proof(native=("turn/interrupt", "SIGTERM")))) == []


def test_what_cannot_be_read_is_no_declaration() -> None:
    plain = msgspec.to_builtins(record())
    plain["leaves"]["turns.teleport"] = {"support": "native"}
    found = check_declaration(msgspec.convert(plain, Capabilities), ASKS)
    assert [(one.code, one.leaf) for one in found] == [("unreadable_leaf", "turns.teleport")]


def test_findings_say_what_to_do() -> None:
    found = check_declaration(record(dict.fromkeys(("threads.fork_from_turn",), NATIVE)), frozenset())
    assert found and all(isinstance(one, Finding) and one.message.endswith(".") for one in found)


@pytest.mark.behaviour("F016", "F032")
@pytest.mark.parametrize(
    ("scenario", "code"),
    [("", "scenario_missing"), ("steer", "scenario_unknown"), ("nothing", "scenario_unknown")],
)
def test_a_claim_names_the_scenario_that_showed_it(scenario: str, code: str) -> None:
    claim = record({"input.text": NATIVE}, input__text=proof(scenario=scenario))
    assert codes(claim) == [(code, "input.text")]


@pytest.mark.behaviour("F016")
@pytest.mark.parametrize("scenario", ["text", "own:mine"])
def test_the_scenario_of_the_leaf_or_one_of_the_packages_own_will_do(scenario: str) -> None:
    assert codes(record({"input.text": NATIVE}, input__text=proof(scenario=scenario))) == []


@pytest.mark.behaviour("F016")
def test_what_is_full_only_with_another_leaf_is_not_claimed_in_full_without_it() -> None:
    path = "lifecycle.empty_thread"
    assert codes(record({path: NATIVE})) == [("implication_broken", path)]
    lesser = proof(evidence_class=EvidenceClass.DEGRADED)
    volatile = degraded("volatile", "gone with the process")
    assert codes(record({path: volatile}, lifecycle__empty_thread=lesser)) == []
