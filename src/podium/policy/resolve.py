"""The answer to "may and can this be done, and how": the only way to an optional ask (R9, F059, F073)."""

from __future__ import annotations

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import (
    FAILED_HERE,
    MUST_BE_PROVEN_REASON,
    OUTSIDE_RANGE,
    PENDING,
    UNPROVEN,
)
from podium.contract.evidence import STRICT as STRICT_REASON
from podium.contract.leaves import MANDATORY_ASKS, guards
from podium.contract.values import at_least, reason_of
from podium.policy.config import STRICT, Policy, PolicyError
from podium.policy.rows import FEATURES, RESERVED, ROWS, Fidelity, Option, Outcome, Reserved

NOT_AVAILABLE_YET = "not_available_yet"
REFUSED_BY_POLICY = "refused_by_policy"
REFUSED_BY_STRICT = "refused_by_strict"
UNSUPPORTED = "unsupported"

RESERVED_INDEX = -1
"""The option index of a reserved feature: it has no options."""

_LEAF_CODES = frozenset({MUST_BE_PROVEN_REASON, UNPROVEN, PENDING, OUTSIDE_RANGE, STRICT_REASON, FAILED_HERE})
"""Reasons of a leaf that say more than "unsupported" and so become the code of the refusal."""


_RESERVED_LEAF = {
    "fork": "threads.fork",
    "rollback": "threads.rollback",
    "nested_checkpoint": "checkpoints.nested_scopes",
    "return": "context.delta",
    "summariser": "context.summarize",
}


class Refusal(msgspec.Struct, frozen=True):
    """Why something is not done: a stable code, the capability, the policy key and the reason (F059)."""

    code: str
    capability: str
    policy: str
    reason: str
    consequence: str = ""


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """How a feature is answered; the record of a degradation.

    `capability` is the leaf that decided, `policy` the key that allowed or refused (empty where no choice
    exists), `code` says in one word why it is not native, `reason` why the leaf says what it says.
    """

    feature: str
    outcome: Outcome
    option: int
    capability: str
    policy: str = ""
    code: str = ""
    reason: str = ""
    fidelity: Fidelity = "full"
    consequence: str = ""
    steps: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the feature is not there at all."""
        return self.fidelity == "none"

    @property
    def is_native(self) -> bool:
        """Whether the agent itself does it, in full."""
        return self.fidelity == "full"

    def refusal(self) -> Refusal | None:
        """The refusal as data, None where the feature is there in some way."""
        if not self.refused:
            return None
        return Refusal(self.code, self.capability, self.policy, self.reason, self.consequence)


def _missing(option: Option, capabilities: Capabilities) -> str | None:
    """The first leaf that does not reach what the option needs."""
    return next((path for path, least in option.needs if not at_least(capabilities.value(path), least)), None)


def _reserved(feature: str, found: Reserved, capabilities: Capabilities) -> Resolution:
    """Refused for want of an executor; where the leaf says more, such as a missing proof, it is named."""
    reason = reason_of(capabilities.value(_RESERVED_LEAF[feature]))
    return Resolution(
        feature=feature,
        outcome="refuse",
        option=RESERVED_INDEX,
        capability=_RESERVED_LEAF[feature],
        policy=feature,
        code=reason if reason in _LEAF_CODES else NOT_AVAILABLE_YET,
        reason=reason if reason in _LEAF_CODES else found.reason,
        fidelity="none",
        consequence=found.consequence,
    )


class _Block(msgspec.Struct, frozen=True):
    """That the agent could, and the user's choice forbids."""

    code: str
    policy: str


def _block(option: Option, policy: Policy) -> _Block | None:
    """How the policy refuses an option, None where it allows it."""
    if option.emulates and policy.strict:
        return _Block(REFUSED_BY_STRICT, STRICT)
    allowed = option.allowed_by
    if allowed and policy.choice(allowed.key) not in allowed.values:
        return _Block(REFUSED_BY_POLICY, allowed.key)
    return None


def _answer(feature: str, index: int, capabilities: Capabilities) -> Resolution:
    """An option that is taken. The deciding leaf is the one that kept the answer from being the first."""
    option, first = ROWS[feature][index], ROWS[feature][0]
    leaf = _missing(first, capabilities) or first.needs[0][0]
    reason = reason_of(capabilities.value(leaf)) or option.reason
    return Resolution(
        feature=feature,
        outcome=option.outcome,
        option=index,
        capability=leaf,
        policy=option.allowed_by.key if option.allowed_by else "",
        code=option.reason,
        reason="" if option.fidelity == "full" else reason,
        fidelity=option.fidelity,
        consequence=option.consequence,
        steps=option.steps,
    )


def resolve(feature: str, capabilities: Capabilities, policy: Policy) -> Resolution:
    """Answer a feature for what the agent effectively can and what the policy allows.

    Refusals are results, never exceptions; only a name that is no feature raises `PolicyError`
    (`unknown_feature`). `capabilities` must be effective: `Capabilities.effective`.
    """
    if feature in RESERVED:
        return _reserved(feature, RESERVED[feature], capabilities)
    if feature not in ROWS:
        raise PolicyError(
            "unknown_feature", f"There is no feature {feature!r}.", fix=f"Use one of: {', '.join(FEATURES)}."
        )
    blocks: list[_Block] = []
    for index, option in enumerate(ROWS[feature][:-1]):
        if _missing(option, capabilities) is not None:
            continue
        if block := _block(option, policy):
            blocks.append(block)
            continue
        return _answer(feature, index, capabilities)
    return _explain(_answer(feature, len(ROWS[feature]) - 1, capabilities), blocks, policy)


def _explain(found: Resolution, blocks: list[_Block], policy: Policy) -> Resolution:
    """A refusal with the cause that a person can do most about: the policy first, the proof last."""
    if blocks:
        return msgspec.structs.replace(found, code=blocks[0].code, policy=blocks[0].policy)
    return msgspec.structs.replace(found, code=found.reason if found.reason in _LEAF_CODES else UNSUPPORTED)


def resolve_all(capabilities: Capabilities, policy: Policy) -> dict[str, Resolution]:
    """The answer to every feature, reserved ones included."""
    return {feature: resolve(feature, capabilities, policy) for feature in FEATURES}


def guard(ask: str, capabilities: Capabilities) -> Refusal | None:
    """Whether an optional ask may be sent at all: None, or the refusal (F073).

    The last gate before an adapter: whatever the caller resolved, an ask whose leaves are all missing never
    reaches it. Mandatory asks always pass; an ask that no leaf knows is refused.
    """
    if ask in MANDATORY_ASKS:
        return None
    leaves = guards(ask)
    if not leaves:
        return Refusal("unknown_ask", "", "", "unknown_ask", f"No leaf of the tree guards {ask!r}.")
    if any(capabilities.has(path) for path in leaves):
        return None
    reason = reason_of(capabilities.value(leaves[0])) or UNSUPPORTED
    code = reason if reason in _LEAF_CODES else UNSUPPORTED
    return Refusal(code, leaves[0], "", reason, f"This agent does not take {ask!r}.")
