"""An error of the agent's, as a typed failure.

Few agents use the protocol's codes; the others say in words what went wrong. So a known code decides first,
then the HTTP status that a model's service answered, where the words name one.
"""

from __future__ import annotations

import re
from typing import Any

from podium.contract.errors import Failure, FailureKind, failure
from podium.providers.acp.flavour import Flavour
from podium.providers.acp.reading import Json, is_object, text, whole

AUTH_REQUIRED, NOT_FOUND, CANCELLED, RATE_LIMITED = "auth_required", "not_found", "cancelled", "rate_limited"

CODES: dict[int, str] = {-32000: AUTH_REQUIRED, -32002: NOT_FOUND, -32800: CANCELLED}
"""The protocol's own codes."""

WORDS = (
    (re.compile(r"\b401\b|\bunauthori[sz]ed\b|invalid api key", re.I), AUTH_REQUIRED),
    (re.compile(r"\b429\b|\brate.?limit", re.I), RATE_LIMITED),
)
"""What the words of an error say, where its code says nothing."""

GONE = re.compile(r"not found|no rollout|no previous sessions|unknown session", re.I)
"""Words with which agents say that they have no such conversation; most use a code that means anything."""

WORDS_MAX = 2000
"""Most characters of an error's words that are looked at."""


def problem(error: Any, flavour: Flavour) -> Failure:
    """A JSON-RPC error as a failure."""
    data: Json = error if is_object(error) else {}
    code = whole(data, "code")
    said = words(data)
    named = CODES.get(code or 0) or flavour.errors.get(code or 0)
    named = named or named_in(said, "")
    return coded(named or f"agent_error_{code}", said or "The agent gave no reason.")


def named_in(said: str, otherwise: str = "agent_error") -> str:
    """Our code for an error that is told in words."""
    return next((name for pattern, name in WORDS if pattern.search(said[:WORDS_MAX])), otherwise)


def coded(code: str, message: str) -> Failure:
    """A failure with what its code says of its kind, and of trying again."""
    kind: FailureKind = "permission" if code == AUTH_REQUIRED else "provider"
    retryable = {AUTH_REQUIRED: False, RATE_LIMITED: True}.get(code)
    return failure(kind, code, message, retryable=retryable)


def words(data: Json) -> str:
    """The message of an error, with what its data adds."""
    more = data.get("data")
    if is_object(more):
        more = text(more, "details") or text(more, "detail") or text(more, "message")
    parts = [text(data, "message"), more if isinstance(more, str) else None]
    return ": ".join(part[:WORDS_MAX] for part in parts if part)


def is_gone(why: Failure) -> bool:
    """Whether an error says that the agent has no such conversation."""
    return why.code == NOT_FOUND or (why.code.startswith("agent_error_") and bool(GONE.search(why.message)))
