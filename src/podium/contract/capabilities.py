"""The capability record: the whole tree for one agent, each leaf with its evidence (R8, F003).

Three layers, each the meet of the one before with something more: declared (the most the adapter can drive),
negotiated (what the handshake states), effective (what is proven on the installed version, and the policy).
Nothing widens (C22, F286). Records are values: whatever goes in or comes out is a copy (F287).
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from podium.contract import views
from podium.contract.evidence import (
    Certification,
    Evidence,
    EvidenceClass,
    Reading,
    Source,
    Standing,
    effective_support,
    weight,
)
from podium.contract.leaves import DERIVED, GROUPS, LEAVES, MUST_BE_PROVEN, Leaf
from podium.contract.values import (
    DIRECT,
    LEVEL_NONE,
    NATIVE,
    NOT_DECLARED,
    CapabilityError,
    Degraded,
    Delivery,
    Direct,
    Kind,
    LeafValue,
    Mcp,
    Native,
    Strength,
    Support,
    Unknown,
    Unsupported,
    WrittenFiles,
    bottom,
    degraded,
    equivalent,
    fits,
    level,
    mcp,
    meet,
    rank,
    read,
    schema_text,
    unknown,
    unsupported,
    written_files,
)

__all__ = [
    "CAPABILITIES_SCHEMA_VERSION",
    "DIRECT",
    "GROUPS",
    "LEAVES",
    "MUST_BE_PROVEN",
    "NATIVE",
    "NEWER_VALUE",
    "NOT_DECLARED",
    "NOT_IN_RECORD",
    "Capabilities",
    "CapabilityError",
    "Certification",
    "Degraded",
    "Delivery",
    "Direct",
    "Evidence",
    "EvidenceClass",
    "Kind",
    "Leaf",
    "LeafValue",
    "Mcp",
    "Native",
    "Reading",
    "Source",
    "Standing",
    "Strength",
    "Support",
    "Unknown",
    "Unsupported",
    "WrittenFiles",
    "degraded",
    "effective_support",
    "equivalent_records",
    "mcp",
    "narrow",
    "unknown",
    "unsupported",
    "written_files",
]

CAPABILITIES_SCHEMA_VERSION = 1
"""Version of the tree and of the form in which a record is stored."""

NOT_IN_RECORD = "not_in_this_record"
"""Reason of a leaf that a stored record of an older version does not have."""

NEWER_VALUE = "value_of_a_newer_version"
"""Reason of a leaf whose stored value this version cannot read; the value itself is kept."""

Proof = tuple[LeafValue, Evidence | None]

_HEADER = ("adapter", "instance", "agent_kind", "transport", "protocol_version", "agent_version")


def _leaf(path: str) -> Leaf:
    try:
        return LEAVES[path]
    except KeyError:
        raise CapabilityError(
            "unknown_leaf",
            f"There is no leaf {path!r}.",
            fix="See `LEAVES` for the tree.",
            leaf=path,
        ) from None


def _read(path: str, given: Any) -> LeafValue:
    leaf = _leaf(path)
    if leaf.derived:
        raise CapabilityError(
            "derived_leaf",
            f"{path} follows from {', '.join(leaf.derived_from)} and cannot be declared.",
            fix="Declare those leaves.",
            leaf=path,
        )
    try:
        return read(leaf.kind, given)
    except CapabilityError as error:
        raise CapabilityError(error.code, f"{path}: {error.message}", fix=error.fix, leaf=path) from error


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent can do. Build with `build` or `minimal`; a missing leaf is impossible.

    Stored records of newer versions keep the leaves, values and evidence that this version does not know,
    unread and unchanged (C23).
    """

    adapter: str
    instance: str = ""
    agent_kind: str = ""
    transport: str = ""
    protocol_version: str = ""
    agent_version: str = ""
    schema_version: int = CAPABILITIES_SCHEMA_VERSION
    _leaves: dict[str, Any] = msgspec.field(name="leaves", default_factory=dict[str, Any])
    _evidence: dict[str, Any] = msgspec.field(name="evidence", default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Complete the tree: read what is known, keep what is not, fill gaps, derive what follows."""
        stored = copy.deepcopy(self._leaves)
        for path, leaf in LEAVES.items():
            if path not in stored:
                stored[path] = bottom(leaf.kind, NOT_IN_RECORD)
                continue
            try:
                stored[path] = read(leaf.kind, stored[path])
            except CapabilityError:
                continue  # a value of a newer version stays as it is; `value` reads it as the bottom
        msgspec.structs.force_setattr(self, "_leaves", stored)
        for path, leaf in DERIVED.items():
            best = max((self.value(source) for source in leaf.derived_from), key=rank)
            stored[path] = self.value(leaf.derived_from[0]) if leaf.derived == "same" else best
        evidence = copy.deepcopy(self._evidence)
        for path, given in evidence.items():
            if not isinstance(given, Evidence):
                try:
                    evidence[path] = msgspec.convert(given, Evidence)
                except msgspec.ValidationError:
                    continue  # evidence of a newer version stays as it is and proves nothing here
        msgspec.structs.force_setattr(self, "_evidence", evidence)

    @classmethod
    def build(
        cls,
        declared: Mapping[str, Any],
        *,
        adapter: str,
        evidence: Mapping[str, Evidence] | None = None,
        instance: str = "",
        agent_kind: str = "",
        transport: str = "",
        protocol_version: str = "",
        agent_version: str = "",
        reason: str = NOT_DECLARED,
    ) -> Capabilities:
        """A record of what is declared; every other leaf is unsupported for `reason`.

        Raises `CapabilityError`: `unknown_leaf`, `derived_leaf`, `wrong_kind`.
        """
        leaves = {path: bottom(leaf.kind, reason) for path, leaf in LEAVES.items()}
        leaves |= {path: _read(path, given) for path, given in declared.items()}
        for path in evidence or {}:
            _leaf(path)
        return cls(
            adapter=adapter,
            instance=instance,
            agent_kind=agent_kind,
            transport=transport,
            protocol_version=protocol_version,
            agent_version=agent_version,
            _leaves=leaves,
            _evidence=dict(evidence or {}),
        )

    @classmethod
    def minimal(cls, adapter: str, *, reason: str = NOT_DECLARED, instance: str = "") -> Capabilities:
        """A record in which every leaf offers nothing, for `reason` (F024, F035)."""
        return cls.build({}, adapter=adapter, instance=instance, reason=reason)

    def value(self, path: str) -> LeafValue:
        """What a leaf says, as a copy. Raises `CapabilityError` with code `unknown_leaf`."""
        leaf = _leaf(path)
        stored = self._leaves[path]
        if not fits(leaf.kind, stored):
            return bottom(leaf.kind, NEWER_VALUE)
        value: LeafValue = copy.deepcopy(stored)
        return value

    def support(self, path: str) -> Support:
        """The value of a support leaf; `wrong_kind` for any other."""
        value = self.value(path)
        if LEAVES[path].kind is Kind.SUPPORT and isinstance(value, Native | Degraded | Unsupported | Unknown):
            return value
        raise _other_kind(path, Kind.SUPPORT)

    def delivery(self, path: str) -> Delivery:
        """The value of a delivery leaf; `wrong_kind` for any other."""
        value = self.value(path)
        if LEAVES[path].kind is Kind.DELIVERY and isinstance(
            value, Native | Direct | Mcp | WrittenFiles | Degraded | Unsupported
        ):
            return value
        raise _other_kind(path, Kind.DELIVERY)

    def strength(self, path: str) -> Strength:
        """The value of a strength leaf; `wrong_kind` for any other."""
        value = self.value(path)
        if isinstance(value, Strength):
            return value
        raise _other_kind(path, Kind.STRENGTH)

    def number(self, path: str) -> int | None:
        """The value of a number leaf, None for no stated limit; `wrong_kind` for any other."""
        value = self.value(path)
        if LEAVES[path].kind is Kind.NUMBER and (value is None or isinstance(value, int)):
            return value
        raise _other_kind(path, Kind.NUMBER)

    def names(self, path: str) -> tuple[str, ...]:
        """The value of a list leaf; `wrong_kind` for any other."""
        value = self.value(path)
        if isinstance(value, tuple):
            return value
        raise _other_kind(path, Kind.LIST)

    def schema(self, path: str) -> dict[str, Any] | None:
        """The value of a schema leaf, a copy, None for none; `wrong_kind` for any other."""
        value = self.value(path)
        if LEAVES[path].kind is Kind.SCHEMA and (value is None or isinstance(value, dict)):
            return value
        raise _other_kind(path, Kind.SCHEMA)

    def has(self, path: str) -> bool:
        """Whether a leaf is there in full or in part."""
        return level(self.value(path)) > LEVEL_NONE

    def leaves(self) -> dict[str, LeafValue]:
        """Every known leaf, as a copy."""
        return {path: self.value(path) for path in LEAVES}

    def opaque(self) -> dict[str, Any]:
        """What a newer version stored and this one cannot read, as a copy; kept, and otherwise ignored."""
        return {
            path: copy.deepcopy(given)
            for path, given in self._leaves.items()
            if path not in LEAVES or not fits(LEAVES[path].kind, given)
        }

    def evidence(self, path: str) -> Evidence | None:
        """The proof of a leaf, None for none. A derived leaf has the proof of the source it follows."""
        leaf = _leaf(path)
        if leaf.derived:
            return self.evidence(max(leaf.derived_from, key=lambda source: rank(self.value(source))))
        found = self._evidence.get(path)
        return found if isinstance(found, Evidence) else None

    def rests_elsewhere(self) -> frozenset[str]:
        """The leaves proven with another agent only: advertised, until a handshake narrows them (R8)."""
        return frozenset(p for p in LEAVES if (e := self.evidence(p)) and e.elsewhere and not e.proven_on)

    def standing(self, path: str) -> Standing:
        """How a leaf stands on the installed version; unproven until `effective` has judged it."""
        evidence = self.evidence(path)
        return (evidence.standing if evidence else None) or Standing.UNPROVEN

    def view_000(self) -> dict[str, dict[str, Any]]:
        """The record in eleven groups of booleans and strengths (F002); new plain data each time."""
        return views.view_000(self.leaves())

    def view_001(self) -> dict[str, dict[str, Any]]:
        """The record with delivery values and without strengths; new plain data each time."""
        return views.view_001(self.leaves())

    def narrowed(
        self, limits: Mapping[str, Any], *, protocol_version: str = "", agent_version: str = ""
    ) -> Capabilities:
        """This record met with what a handshake or a profile says of some leaves (F286); the rest stays.

        Raises as `build` does.
        """
        leaves = dict(self._leaves)
        for path, given in limits.items():
            limit = _read(path, given)
            leaves[path] = meet(LEAVES[path].kind, self.value(path), limit)
        return msgspec.structs.replace(
            self,
            _leaves=leaves,
            protocol_version=protocol_version or self.protocol_version,
            agent_version=agent_version or self.agent_version,
        )

    def effective(
        self,
        installed_version: str | None,
        certifications: Iterable[Certification] = (),
        *,
        advertised: Collection[str] = (),
        strict: bool = False,
    ) -> Capabilities:
        """What the runtime may rely on, each leaf marked with its standing (R8). Never above this record.

        `advertised` are the leaves that the handshake stated.
        """
        known = tuple(certifications)
        leaves, marked = dict(self._leaves), dict(self._evidence)
        for path, leaf in LEAVES.items():
            if leaf.derived:
                continue
            evidence = self.evidence(path)
            reading = effective_support(
                path,
                self.value(path),
                evidence,
                installed_version,
                known,
                advertised=path in advertised,
                strict=strict,
            )
            leaves[path] = reading.value
            if evidence is not None:
                marked[path] = msgspec.structs.replace(evidence, standing=reading.standing)
        version = installed_version or self.agent_version
        return msgspec.structs.replace(self, _leaves=leaves, _evidence=marked, agent_version=version)


def _other_kind(path: str, asked: Kind) -> CapabilityError:
    kind = LEAVES[path].kind
    return CapabilityError("wrong_kind", f"{path} is a {kind} leaf, not a {asked} leaf.", leaf=path)


def _one_header(field: str, a: str, b: str) -> str:
    if a and b and a != b:
        raise CapabilityError(
            "different_subjects",
            f"Two records of different {field} cannot be met: {a!r} and {b!r}.",
            fix="Narrow records of one agent only.",
        )
    return a or b


def _meet_leaf(kind: Kind, a: Proof, b: Proof) -> Proof:
    """One leaf with its evidence. Ordered kinds keep the lower value's evidence, the others the weaker one.

    Where neither value is the lower (two lists that overlap) no evidence is "the lower's", and taking the
    weaker keeps the meet associative.
    """
    weaker = min(a[1], b[1], key=weight)
    if kind in (Kind.SUPPORT, Kind.STRENGTH) and rank(a[0]) != rank(b[0]):
        return min(a, b, key=lambda proof: rank(proof[0]))
    return meet(kind, a[0], b[0]), weaker


def narrow(a: Capabilities, b: Capabilities) -> Capabilities:
    """The most that both records say: associative, commutative, idempotent, never above either (R8, F286).

    Header fields must agree where both state them (`different_subjects`). What neither version can read is
    kept only where both hold the same.
    """
    header = {field: _one_header(field, getattr(a, field), getattr(b, field)) for field in _HEADER}
    theirs = b.opaque()
    leaves: dict[str, Any] = {
        path: given
        for path, given in a.opaque().items()
        if path in theirs and _same_json(given, theirs[path])
    }
    evidence: dict[str, Evidence] = {}
    for path, leaf in LEAVES.items():
        if leaf.derived or path in leaves:
            continue
        value, proof = _meet_leaf(
            leaf.kind, (a.value(path), a.evidence(path)), (b.value(path), b.evidence(path))
        )
        leaves[path] = value
        if proof is not None:
            evidence[path] = proof
    return Capabilities(
        **header, schema_version=min(a.schema_version, b.schema_version), _leaves=leaves, _evidence=evidence
    )


def _same_json(a: Any, b: Any) -> bool:
    return schema_text(a) == schema_text(b)


def equivalent_records(a: Capabilities, b: Capabilities) -> bool:
    """Whether two records say the same of the same agent; the order inside lists says nothing."""
    return (
        all(getattr(a, field) == getattr(b, field) for field in (*_HEADER, "schema_version"))
        and all(equivalent(a.value(path), b.value(path)) for path in LEAVES)
        and all(a.evidence(path) == b.evidence(path) for path in LEAVES)
        and _same_json(a.opaque(), b.opaque())
    )
