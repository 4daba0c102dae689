"""What a leaf of the capability tree can say, and how two sayings meet (R8).

Every kind of leaf has an order and a meet: associative, commutative, idempotent, never above either side. So
narrowing may happen in any order and any number of times and nothing ever widens (F286).

| kind | values, best first | meet |
|---|---|---|
| support | Native, Degraded, then Unsupported and Unknown alike | the lower |
| delivery | Native; Direct, Mcp, WrittenFiles, Degraded; Unsupported | the way both know, else none |
| strength | strong, weak, none | the lower |
| number | None (no stated limit), then by size | the smaller |
| list | by subset | what both hold, in the order of the first |
| schema | a JSON Schema, None | the same schema or None: two schemas are never mixed |
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from podium.contract.errors import BadInput

NOT_DECLARED = "not_declared"
"""Reason of every leaf that an adapter said nothing about."""

NO_COMMON_WAY = "no_common_way"
"""Reason of a delivery on which two records name two different ways."""


class CapabilityError(BadInput, ValueError):
    """A capability record was built wrongly; `code` says how, `detail` names the leaf."""


class Native(msgspec.Struct, frozen=True, tag_field="support", tag="native"):
    """The agent itself does it, in full."""


class Degraded(msgspec.Struct, frozen=True, tag_field="support", tag="degraded"):
    """A real but lesser path: `mode` names it, `reason` says what is lost."""

    mode: str
    reason: str


class Unsupported(msgspec.Struct, frozen=True, tag_field="support", tag="unsupported"):
    """There is no safe way; `reason` says why."""

    reason: str


class Unknown(msgspec.Struct, frozen=True, tag_field="support", tag="unknown"):
    """Nobody has looked; it reads as unsupported."""

    reason: str


class Direct(msgspec.Struct, frozen=True, tag_field="support", tag="direct"):
    """Handed over in the agent's own process or protocol call."""


class Mcp(msgspec.Struct, frozen=True, tag_field="support", tag="mcp"):
    """Handed over as an MCP server on one of these transports."""

    transports: tuple[str, ...]


class WrittenFiles(msgspec.Struct, frozen=True, tag_field="support", tag="written_files"):
    """Handed over as files that the agent reads, in one of these modes."""

    modes: tuple[str, ...]


class Strength(StrEnum):
    """How far a native id or signal can be trusted (F015)."""

    STRONG = "strong"
    WEAK = "weak"
    NONE = "none"


class Kind(StrEnum):
    """The kinds of leaf."""

    SUPPORT = "support"
    DELIVERY = "delivery"
    STRENGTH = "strength"
    NUMBER = "number"
    LIST = "list"
    SCHEMA = "schema"


Support = Native | Degraded | Unsupported | Unknown
Delivery = Native | Direct | Mcp | WrittenFiles | Degraded | Unsupported
LeafValue = Support | Delivery | Strength | int | tuple[str, ...] | dict[str, Any] | None

NATIVE = Native()
DIRECT = Direct()

LEVEL_NATIVE = 2
LEVEL_DEGRADED = 1
LEVEL_NONE = 0

_STRENGTH_LEVEL = {Strength.STRONG: LEVEL_NATIVE, Strength.WEAK: LEVEL_DEGRADED, Strength.NONE: LEVEL_NONE}
_LEAST_LEVEL = {
    "native": LEVEL_NATIVE,
    "strong": LEVEL_NATIVE,
    "degraded": LEVEL_DEGRADED,
    "weak": LEVEL_DEGRADED,
}
_WEAK_REASONS = (NO_COMMON_WAY, NOT_DECLARED)


def _said(reason: str, what: str) -> str:
    if not reason.strip():
        raise CapabilityError(
            "reason_missing", f"A leaf that is {what} needs a reason.", fix="Say in a few words why."
        )
    return reason


def unsupported(reason: str) -> Unsupported:
    """An unsupported leaf; an empty reason is refused with `reason_missing` (F024)."""
    return Unsupported(_said(reason, "unsupported"))


def unknown(reason: str) -> Unknown:
    """An unknown leaf; an empty reason is refused with `reason_missing`."""
    return Unknown(_said(reason, "unknown"))


def degraded(mode: str, reason: str) -> Degraded:
    """A degraded leaf; an empty mode or reason is refused (F023)."""
    if not mode.strip():
        raise CapabilityError("mode_missing", "A degraded leaf needs a mode.", fix="Name the lesser path.")
    return Degraded(mode, _said(reason, "degraded"))


def mcp(*transports: str) -> Mcp:
    """Delivery by MCP; no transport at all is refused with `transports_missing` (F023)."""
    if not transports:
        raise CapabilityError("transports_missing", "Delivery by MCP needs a transport.", fix="Name them.")
    return Mcp(transports)


def written_files(*modes: str) -> WrittenFiles:
    """Delivery by written files; no mode at all is refused with `modes_missing` (F023)."""
    if not modes:
        raise CapabilityError("modes_missing", "Delivery by written files needs a mode.", fix="Name them.")
    return WrittenFiles(modes)


_TYPES: dict[Kind, Any] = {
    Kind.SUPPORT: Support,
    Kind.DELIVERY: Delivery,
    Kind.STRENGTH: Strength,
    Kind.NUMBER: int | None,
    Kind.LIST: tuple[str, ...],
    Kind.SCHEMA: dict[str, Any] | None,
}
_CLASSES: dict[Kind, tuple[type, ...]] = {
    Kind.SUPPORT: (Native, Degraded, Unsupported, Unknown),
    Kind.DELIVERY: (Native, Direct, Mcp, WrittenFiles, Degraded, Unsupported),
    Kind.STRENGTH: (Strength,),
}


def read(kind: Kind, given: Any) -> LeafValue:
    """Take a value of this kind, from Python or from plain JSON data, as a copy of its own.

    Raises `CapabilityError` with code `wrong_kind` for anything else, negative numbers included.
    """
    if isinstance(given, _CLASSES.get(kind, ())):
        return given
    try:
        value: LeafValue = msgspec.convert(copy.deepcopy(given), _TYPES[kind])
    except (msgspec.ValidationError, TypeError) as error:
        raise CapabilityError("wrong_kind", f"This is no value of kind {kind}: {error}.") from error
    if isinstance(value, int) and value < 0:
        raise CapabilityError("wrong_kind", f"A limit cannot be negative: {value}.")
    return value


def fits(kind: Kind, value: Any) -> bool:
    """Whether something is already a value of this kind."""
    if kind is Kind.NUMBER:
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    if kind is Kind.LIST:
        return isinstance(value, tuple)
    if kind is Kind.SCHEMA:
        return value is None or isinstance(value, dict)
    return isinstance(value, _CLASSES[kind])


def bottom(kind: Kind, reason: str) -> LeafValue:
    """What a leaf of this kind says when it offers nothing. A number only restricts: it states no limit."""
    if kind in (Kind.SUPPORT, Kind.DELIVERY):
        return unsupported(reason)
    if kind is Kind.STRENGTH:
        return Strength.NONE
    return () if kind is Kind.LIST else None


def level(value: LeafValue) -> int:
    """2 in full, 1 in part, 0 not at all. Lists and schemas are there or not; a number is always in full."""
    match value:
        case Native() | Direct() | Mcp() | WrittenFiles():
            return LEVEL_NATIVE
        case Degraded():
            return LEVEL_DEGRADED
        case Unsupported() | Unknown():
            return LEVEL_NONE
        case Strength():
            return _STRENGTH_LEVEL[value]
        case int():
            return LEVEL_NATIVE
        case _:
            return LEVEL_NATIVE if value else LEVEL_NONE


def at_least(value: LeafValue, least: str) -> bool:
    """Whether a value reaches `least`: native, degraded, strong, weak, or a member of a list."""
    if isinstance(value, tuple):
        return least in value
    return level(value) >= _LEAST_LEVEL[least]


def reason_of(value: LeafValue) -> str:
    """The reason a value carries, or the empty string."""
    return value.reason if isinstance(value, Degraded | Unsupported | Unknown) else ""


def _reason_key(reason: str) -> tuple[int, str]:
    """Of two reasons the lower key is kept; the reasons that only say "nothing was said" come last."""
    order = 2 - _WEAK_REASONS.index(reason) if reason in _WEAK_REASONS else 0
    return order, reason


def rank(value: LeafValue) -> tuple[int, int, str, int, str]:
    """A total order over support, strength and number values: the meet of two is the one with the lower rank.

    Values of one level are ordered by their texts, only so that the meet does not depend on the order of its
    arguments; a definite "unsupported" is kept over "unknown".
    """
    match value:
        case Degraded(mode, reason):
            return LEVEL_DEGRADED, 0, mode, *_reason_key(reason)
        case Unsupported(reason):
            return LEVEL_NONE, 0, "", *_reason_key(reason)
        case Unknown(reason):
            return LEVEL_NONE, 1, "", *_reason_key(reason)
        case Strength():
            return level(value), 0, "", 0, ""
        case int():
            return 0, value, "", 0, ""
        case _:
            return LEVEL_NATIVE, 0, "", 0, ""


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    held = set(b)
    return tuple(dict.fromkeys(name for name in a if name in held))


def _meet_delivery(a: LeafValue, b: LeafValue) -> LeafValue:
    """Native is above all ways and unsupported below all; between two different ways there is no common one.

    Degraded stands below direct, so a direct way can be narrowed to a lesser one. It cannot stand below the
    sets too: two disjoint sets have nothing in common, and a way below both would be exactly that.
    """
    match a, b:
        case (Native(), other) | (other, Native()):
            return other
        case (Unsupported(), Unsupported()) | (Degraded(), Degraded()):
            return min(a, b, key=rank)
        case (
            (Unsupported() as lower, _)
            | (_, Unsupported() as lower)
            | (Direct(), (Direct() | Degraded()) as lower)
            | (Degraded() as lower, Direct())
        ):
            return lower
        case (Mcp(x), Mcp(y)) if shared := _common(x, y):
            return Mcp(shared)
        case (WrittenFiles(x), WrittenFiles(y)) if shared := _common(x, y):
            return WrittenFiles(shared)
        case _:
            return Unsupported(NO_COMMON_WAY)


def schema_text(value: Any) -> bytes:
    """A JSON value as canonical bytes, equal exactly when the JSON is (Python holds 1 and True equal)."""
    return msgspec.json.encode(value, order="deterministic")


def meet(kind: Kind, a: LeafValue, b: LeafValue) -> LeafValue:
    """The most that both say."""
    if kind is Kind.DELIVERY:
        return _meet_delivery(a, b)
    if kind is Kind.LIST and isinstance(a, tuple) and isinstance(b, tuple):
        return _common(a, b)
    if kind is Kind.SCHEMA:
        return copy.deepcopy(a) if schema_text(a) == schema_text(b) else None
    if kind is Kind.NUMBER:
        return b if a is None else a if b is None else min(a, b, key=rank)
    return min(a, b, key=rank)


def equivalent(a: LeafValue, b: LeafValue) -> bool:
    """Whether two values say the same. The order inside a list is presentation and says nothing."""
    match a, b:
        case (tuple(), tuple()):
            return set(a) == set(b)
        case (Mcp(x), Mcp(y)) | (WrittenFiles(x), WrittenFiles(y)):
            return set(x) == set(y)
        case _:
            return type(a) is type(b) and schema_text(a) == schema_text(b)


def not_above(kind: Kind, a: LeafValue, b: LeafValue) -> bool:
    """Whether `a` offers no more than `b`. Of support leaves only the level counts, not the words."""
    if kind is Kind.SUPPORT:
        return level(a) <= level(b)
    if kind is Kind.DELIVERY and level(a) == level(b) != LEVEL_NATIVE:
        return True
    return equivalent(meet(kind, a, b), a)


def least_words(kind: Kind) -> frozenset[str]:
    """The words a policy may ask of a leaf of this kind; lists take any member, numbers and schemas none."""
    words: Mapping[Kind, tuple[str, ...]] = {
        Kind.SUPPORT: ("native", "degraded"),
        Kind.DELIVERY: ("native", "degraded"),
        Kind.STRENGTH: ("strong", "weak"),
    }
    return frozenset(words.get(kind, ()))
