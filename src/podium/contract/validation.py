"""What is wrong with a declaration, found when an adapter is registered (F016, F031).

A declaration describes what is implemented. So every claim needs its ask handled, its proof named, a reason
where it is less than native, and nothing that the known false claims rest on (F036).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Evidence, EvidenceClass, Source, range_problem
from podium.contract.leaves import GROUPS, LEAVES, MANDATORY_ASKS, Leaf
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.values import (
    LEVEL_NATIVE,
    Degraded,
    Kind,
    LeafValue,
    Mcp,
    Unknown,
    Unsupported,
    WrittenFiles,
    level,
)

DECLARATION = "declaration"
"""Stands where a finding is about no single leaf."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong: a stable code, the leaf, and what to do about it in words."""

    code: str
    leaf: str
    message: str


class FalseClaim(msgspec.Struct, frozen=True):
    """A kind of evidence that does not carry a kind of claim."""

    code: str
    leaves: frozenset[str]
    sources: frozenset[Source]
    message: str


def _group(*names: str) -> frozenset[str]:
    return frozenset(path for path, leaf in LEAVES.items() if leaf.group in names)


_ALL = _group(*GROUPS)
_REQUESTS = frozenset(
    {
        "approvals.command",
        "approvals.file_read",
        "approvals.file_change",
        "approvals.patch",
        "approvals.user_input",
        "planning.questions",
    }
)

FALSE_CLAIMS: tuple[FalseClaim, ...] = (
    FalseClaim(
        "reasoning_from_text",
        frozenset({"output.reasoning"}),
        frozenset({Source.TEXT, Source.SCREEN}),
        "A thought-like passage in an answer is no reasoning event.",
    ),
    FalseClaim(
        "history_from_logs",
        frozenset({"maintenance.history", "lifecycle.read_snapshot", "lifecycle.list_native"}),
        frozenset({Source.LOG}),
        "A tailed log has no stable entries; use an official read method.",
    ),
    FalseClaim(
        "mcp_from_config",
        frozenset({"tools.mcp_external", "tools.mcp_status"}),
        frozenset({Source.CONFIG}),
        "A configured server need not be connected; use the agent's own status or a call.",
    ),
    FalseClaim(
        "skills_from_prompt",
        frozenset({"resources.skills"}),
        frozenset({Source.TEXT}),
        "Mentioning a skill in a prompt does not deliver it.",
    ),
    FalseClaim(
        "approvals_from_app",
        _REQUESTS,
        frozenset({Source.APP}),
        "Blocking a tool from outside is no request of the agent; declare `policy.enforcement`.",
    ),
    FalseClaim(
        "yielding_from_app_tools",
        frozenset({"tools.native_yielding"}),
        frozenset({Source.APP}),
        "Handing over Podium's tools says nothing of the agent's own; declare `tools.app_tools`.",
    ),
    FalseClaim(
        "catalog_from_config",
        frozenset({"models.catalog"}),
        frozenset({Source.CONFIG}),
        "A configured model name is no catalog.",
    ),
    FalseClaim(
        "interrupt_by_kill",
        frozenset({"turns.interrupt"}),
        frozenset({Source.PROCESS}),
        "Ending the process is no interrupt unless `isolation` names what proves that only the turn ends.",
    ),
    FalseClaim(
        "input_from_model",
        frozenset({"input.images", "input.audio"}),
        frozenset({Source.MODEL}),
        "What the model can see does not matter; the protocol must carry it (F020).",
    ),
    FalseClaim(
        "claimed_from_prose",
        _ALL,
        frozenset({Source.TEXT, Source.SCREEN}),
        "Words in a message or on a screen prove no leaf (F022, F060).",
    ),
)
"""The known false claims, the particular ones first; a leaf gets at most one of these findings."""

KILL_NAMES: frozenset[str] = frozenset(
    {"sigint", "sigterm", "sigkill", "sighup", "kill", "killpg", "terminate"}
)
"""Native names that are a signal to a process, whatever source the evidence states."""


def _claims(capabilities: Capabilities) -> Iterator[tuple[Leaf, LeafValue, Evidence | None]]:
    """Every declared leaf that offers something."""
    for path, leaf in LEAVES.items():
        if leaf.kind is not Kind.NUMBER and capabilities.has(path):
            yield leaf, capabilities.value(path), capabilities.evidence(path)


def _value_findings(path: str, value: LeafValue) -> Iterator[Finding]:
    if isinstance(value, Degraded | Unsupported | Unknown) and not value.reason.strip():
        yield Finding("reason_missing", path, "Say why this is less than native.")
    if isinstance(value, Degraded) and not value.mode.strip():
        yield Finding("mode_missing", path, "Name the lesser path.")
    names: tuple[str, ...] = ()
    match value:
        case Mcp(transports):
            names = transports
            if not names:
                yield Finding("transports_missing", path, "Name the transports of this delivery.")
        case WrittenFiles(modes):
            names = modes
            if not names:
                yield Finding("modes_missing", path, "Name the modes of this delivery.")
        case tuple():
            names = value
        case _:
            pass
    if len(set(names)) < len(names):
        yield Finding("duplicate_values", path, "Each value may stand here once.")
    if any(not name.strip() for name in names):
        yield Finding("empty_value", path, "A value may not be empty.")


def _ask_findings(leaf: Leaf, asks: Collection[str]) -> Iterator[Finding]:
    missing = [ask for ask in leaf.asks if ask not in asks]
    if not missing:
        return
    if leaf.path == "maintenance.history" and len(missing) < len(leaf.asks):
        code, message = "history_needs_both", f"History needs both of its asks; {missing[0]} is not handled."
    else:
        code, message = "ask_missing", f"The adapter does not handle {', '.join(missing)}."
    yield Finding(code, leaf.path, message)


def _class_findings(leaf: Leaf, value: LeafValue, evidence: Evidence) -> Iterator[Finding]:
    match evidence.evidence_class:
        case EvidenceClass.PENDING:
            yield Finding("pending_claimed", leaf.path, "Pending is no claim; declare it unsupported.")
        case EvidenceClass.UNSUPPORTED:
            yield Finding("class_mismatch", leaf.path, "The evidence says unsupported, the value does not.")
        case EvidenceClass.DEGRADED if level(value) == LEVEL_NATIVE and leaf.kind in _GRADED:
            yield Finding("class_mismatch", leaf.path, "The evidence says degraded, the value says more.")
        case EvidenceClass.PROVEN_NATIVE if not evidence.native:
            yield Finding("native_names_missing", leaf.path, "Name the exact methods or events.")
        case EvidenceClass.PROVEN_DELIVERY if not (evidence.native or evidence.scenario):
            yield Finding("native_names_missing", leaf.path, "Name the methods, the events or the scenario.")
        case _:
            pass


_GRADED = (Kind.SUPPORT, Kind.STRENGTH)


def _proof_findings(leaf: Leaf, value: LeafValue, evidence: Evidence) -> Iterator[Finding]:
    yield from _class_findings(leaf, value, evidence)
    if not (evidence.proven_on or evidence.elsewhere) and evidence.evidence_class not in _NO_PROOF:
        yield Finding("proven_version_missing", leaf.path, "Say on which agent version this was proven.")
    yield from _scenario_findings(leaf, evidence)
    if problem := range_problem(evidence.versions):
        yield Finding("version_range", leaf.path, f"The version range cannot be read: {problem}.")
    if evidence.experimental and not (evidence.versions and evidence.risk):
        yield Finding("experimental_needs_risk", leaf.path, "State the version range and the risk (F033).")


OWN_SCENARIO = "own:"
"""Begins the name of a scenario that an adapter package brings itself."""


def _scenario_findings(leaf: Leaf, evidence: Evidence) -> Iterator[Finding]:
    """A claim names what showed it: the scenario of its leaf, or one of the package's own."""
    if evidence.evidence_class in _NO_PROOF:
        return
    own = SCENARIO_OF.get(leaf.path, "")
    if not evidence.scenario:
        yield Finding(
            "scenario_missing", leaf.path, f"Name the scenario that showed it{f': {own}' if own else ''}."
        )
    elif evidence.scenario != own and not evidence.scenario.startswith(OWN_SCENARIO):
        message = (
            f"No scenario {evidence.scenario!r} proves this; one of your own is called {OWN_SCENARIO}NAME."
        )
        yield Finding("scenario_unknown", leaf.path, message)


_NO_PROOF = (EvidenceClass.PENDING, EvidenceClass.UNSUPPORTED)


def _source(leaf: Leaf, evidence: Evidence) -> Source:
    """The stated source, corrected where an interrupt names only signals."""
    names = {name.lower().removeprefix("process:").removeprefix("os.") for name in evidence.native}
    if leaf.path == "turns.interrupt" and names and names <= KILL_NAMES:
        return Source.PROCESS
    return evidence.source


def _false_claims(leaf: Leaf, evidence: Evidence) -> Iterator[Finding]:
    source = _source(leaf, evidence)
    for claim in FALSE_CLAIMS:
        if leaf.path not in claim.leaves or source not in claim.sources:
            continue
        if claim.code == "interrupt_by_kill" and evidence.isolation:
            continue
        yield Finding(claim.code, leaf.path, claim.message)
        return


def _implications(capabilities: Capabilities, leaf: Leaf) -> Iterator[Finding]:
    for other in leaf.implies:
        if not capabilities.has(other):
            yield Finding("implication_broken", leaf.path, f"{leaf.path} cannot be there without {other}.")
    if level(capabilities.value(leaf.path)) < LEVEL_NATIVE:
        return
    for other in leaf.fully_with:
        if not capabilities.has(other):
            message = f"{leaf.path} is degraded or weak at most without {other}."
            yield Finding("implication_broken", leaf.path, message)


def check_declaration(capabilities: Capabilities, asks_handled: Iterable[str]) -> list[Finding]:
    """Everything that is wrong with what an adapter declares; an empty list registers it.

    `asks_handled` are the tags of the asks its `step` handles. Rows F016-F019, F022-F036.
    """
    asks = frozenset(asks_handled)
    findings = [
        Finding("mandatory_ask_missing", DECLARATION, f"Every adapter handles {ask}.")
        for ask in sorted(MANDATORY_ASKS - asks)
    ]
    findings += [
        Finding("unreadable_leaf", path, "There is no such leaf or value.") for path in capabilities.opaque()
    ]
    for path, leaf in LEAVES.items():
        if not leaf.derived:
            findings += _value_findings(path, capabilities.value(path))
    for leaf, value, evidence in _claims(capabilities):
        findings += _ask_findings(leaf, asks)
        findings += _implications(capabilities, leaf)
        if leaf.derived:
            continue
        if evidence is None:
            findings.append(Finding("evidence_missing", leaf.path, f"Name the proof: {leaf.needs}."))
            continue
        findings += _proof_findings(leaf, value, evidence)
        findings += _false_claims(leaf, evidence)
    return findings + _reasoning(capabilities)


def _reasoning(capabilities: Capabilities) -> list[Finding]:
    """Values and support of reasoning stand or fall together (F028)."""
    supported, values = capabilities.has("reasoning.supported"), capabilities.has("reasoning.values")
    if supported and not values:
        return [Finding("values_missing", "reasoning.values", "List the exact values that are accepted.")]
    if values and not supported:
        return [Finding("implication_broken", "reasoning.values", "Values need `reasoning.supported`.")]
    return []
