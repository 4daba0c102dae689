"""Why a leaf may be believed, and how far on the version that is installed (R8, F032, F033)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from podium.contract.leaves import LEAVES, MUST_BE_PROVEN
from podium.contract.values import (
    LEVEL_NONE,
    Degraded,
    Kind,
    LeafValue,
    Native,
    Strength,
    bottom,
    level,
)

UNPROVEN = "unproven"
MUST_BE_PROVEN_REASON = "must_be_proven"
PENDING = "pending_evidence"
OUTSIDE_RANGE = "outside_version_range"
STRICT = "not_proven_on_this_version"
FAILED_HERE = "failed_on_this_version"
EVIDENCE_SAYS_NO = "evidence_says_unsupported"
ONLY_DEGRADED = "evidence_is_degraded"


class EvidenceClass(StrEnum):
    """How a claim was shown (F032). Pending is not yet a claim."""

    PROVEN_NATIVE = "proven_native"
    PROVEN_DELIVERY = "proven_delivery"
    DEGRADED = "degraded"
    UNSUPPORTED = "unsupported"
    PENDING = "pending"


class Standing(StrEnum):
    """How a claim stands on the installed version (R8)."""

    PROVEN = "proven"
    CARRIED = "carried"
    ADVERTISED = "advertised"
    UNPROVEN = "unproven"


class Source(StrEnum):
    """Where the evidence comes from. Only `protocol`, `hook` and `file` are the agent's own word.

    `protocol`: a documented method or event; `hook`: a documented hook; `file`: a documented record on disk;
    `app`: Podium does it itself; `process`: a signal to the process; `config`: a configured name or file;
    `log`: tailing a log; `text`: words in a message or prompt; `screen`: a rendered terminal; `model`: what
    the model behind the agent can do.
    """

    PROTOCOL = "protocol"
    HOOK = "hook"
    FILE = "file"
    APP = "app"
    PROCESS = "process"
    CONFIG = "config"
    LOG = "log"
    TEXT = "text"
    SCREEN = "screen"
    MODEL = "model"


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The proof of one leaf.

    `native` holds exact method and event names. `versions` is the range outside of which the claim is not
    made at all, as comma-separated comparisons (">=0.170,<0.180"); empty means any. `proven_on` lists agent
    versions on which `scenario` passed on `date` (ISO); `elsewhere` says with what other agent this adapter
    path was proven. `isolation` names the proof that ending a process ends only what was asked. `standing` is
    filled in once the installed version is known.
    """

    evidence_class: EvidenceClass = msgspec.field(name="class")
    native: tuple[str, ...] = ()
    source: Source = Source.PROTOCOL
    versions: str = ""
    proven_on: tuple[str, ...] = ()
    elsewhere: str = ""
    scenario: str = ""
    date: str = ""
    experimental: bool = False
    risk: str = ""
    isolation: str = ""
    standing: Standing | None = None


class Certification(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one conformance scenario on one agent version."""

    leaf: str
    agent_version: str
    passed: bool
    scenario: str = ""
    date: str = ""


class Reading(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the runtime may rely on: a value, its standing, and why it is less than declared (else empty)."""

    value: LeafValue
    standing: Standing
    reason: str = ""


_CLASS_ORDER = (
    EvidenceClass.PENDING,
    EvidenceClass.UNSUPPORTED,
    EvidenceClass.DEGRADED,
    EvidenceClass.PROVEN_DELIVERY,
    EvidenceClass.PROVEN_NATIVE,
)
_STANDING_ORDER = (None, Standing.UNPROVEN, Standing.ADVERTISED, Standing.CARRIED, Standing.PROVEN)


def weight(evidence: Evidence | None) -> tuple[int, int, bytes]:
    """A total order over evidence, weakest first; none at all is the weakest."""
    if evidence is None:
        return -1, 0, b""
    order = _CLASS_ORDER.index(evidence.evidence_class), _STANDING_ORDER.index(evidence.standing)
    return *order, msgspec.json.encode(evidence, order="deterministic")


_COMPARISON = re.compile(r"^(>=|<=|==|!=|>|<)\s*(\d[\w.+-]*)$")
_NUMBERS = re.compile(r"\d+")


def _release(version: str) -> tuple[tuple[int, ...], bool]:
    """The numbers of a version without trailing zeros, and whether it is a release (others are lower)."""
    core, _, _ = version.strip().lstrip("v").partition("+")
    main, dash, _ = core.partition("-")
    numbers = [int(number) for number in _NUMBERS.findall(main)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), not dash


def range_problem(versions: str) -> str | None:
    """What is wrong with a version range, or None."""
    parts = [part.strip() for part in versions.split(",")] if versions else []
    bad = [part for part in parts if not _COMPARISON.match(part)]
    return f"not a comparison such as '>=1.2': {', '.join(map(repr, bad))}" if bad else None


def in_range(version: str, versions: str) -> bool:
    """Whether a version lies in a range. An unreadable range holds nothing, so it never widens a claim."""
    if range_problem(versions) is not None:
        return False
    mine = _release(version)
    for part in filter(None, versions.split(",")):
        found = _COMPARISON.match(part.strip())
        if found is None:
            return False
        sign, other = found[1], _release(found[2])
        held = {
            ">=": mine >= other,
            "<=": mine <= other,
            "==": mine == other,
            "!=": mine != other,
            ">": mine > other,
            "<": mine < other,
        }
        if not held[sign]:
            return False
    return True


def standing_of(
    path: str,
    evidence: Evidence | None,
    installed_version: str | None,
    certifications: Iterable[Certification] = (),
    *,
    advertised: bool = False,
) -> Standing:
    """How a claim stands on the installed version. A scenario that failed on it outweighs every proof.

    An unknown installed version proves nothing exactly; what was proven elsewhere is then carried.
    """
    mine = [c for c in certifications if c.leaf == path]
    here = [c for c in mine if installed_version and c.agent_version == installed_version]
    if any(not c.passed for c in here):
        return Standing.UNPROVEN
    proven_on = evidence.proven_on if evidence is not None else ()
    if here or (installed_version and installed_version in proven_on):
        return Standing.PROVEN
    if proven_on or any(c.passed for c in mine):
        return Standing.CARRIED
    if advertised and evidence is not None and evidence.elsewhere:
        return Standing.ADVERTISED
    return Standing.UNPROVEN


def _doubt(
    path: str,
    evidence: Evidence | None,
    installed_version: str | None,
    standing: Standing,
    *,
    certifications: Iterable[Certification],
    strict: bool,
) -> str:
    """Why a claim cannot be relied upon, or the empty string."""
    if evidence is not None:
        if evidence.evidence_class is EvidenceClass.PENDING:
            return PENDING
        if evidence.evidence_class is EvidenceClass.UNSUPPORTED:
            return EVIDENCE_SAYS_NO
        if evidence.versions and not (installed_version and in_range(installed_version, evidence.versions)):
            return OUTSIDE_RANGE
    if standing is Standing.UNPROVEN:
        failed = any(
            c.leaf == path and not c.passed and c.agent_version == installed_version for c in certifications
        )
        return FAILED_HERE if failed else UNPROVEN
    if standing is not Standing.PROVEN and path in MUST_BE_PROVEN:
        return MUST_BE_PROVEN_REASON
    return STRICT if strict and standing is not Standing.PROVEN else ""


def effective_support(
    path: str,
    value: LeafValue,
    evidence: Evidence | None,
    installed_version: str | None,
    certifications: Iterable[Certification] = (),
    *,
    advertised: bool = False,
    strict: bool = False,
) -> Reading:
    """What the runtime may rely on for one declared leaf, given what is proven (R8).

    Pending and unproven read as unsupported. Carried and advertised are usable and marked, except the leaves
    in `MUST_BE_PROVEN`; `strict` wants every leaf proven on exactly this version. A stated number restricts,
    so it stays whatever its proof. A value never rises.
    """
    known = tuple(certifications)
    standing = standing_of(path, evidence, installed_version, known, advertised=advertised)
    kind = LEAVES[path].kind
    if kind is Kind.NUMBER or level(value) == LEVEL_NONE:
        return Reading(value, standing)
    if reason := _doubt(path, evidence, installed_version, standing, certifications=known, strict=strict):
        return Reading(bottom(kind, reason), standing, reason)
    if evidence is not None and evidence.evidence_class is EvidenceClass.DEGRADED:
        if isinstance(value, Native):
            return Reading(Degraded("as_evidenced", ONLY_DEGRADED), standing, ONLY_DEGRADED)
        if value is Strength.STRONG:
            return Reading(Strength.WEAK, standing, ONLY_DEGRADED)
    return Reading(value, standing)
