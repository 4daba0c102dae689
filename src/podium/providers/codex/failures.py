"""The agent's error words as our failures."""

from __future__ import annotations

import re
from typing import Any

from podium.contract.errors import Failure, FailureKind, failure
from podium.providers.codex.edges import integer, is_table, text

_NO_LOGIN = re.compile(
    r"\b401\b.{0,40}unauthori[sz]ed|unauthori[sz]ed.{0,40}\b401\b|refresh token|(?:sign|log) in again",
    re.IGNORECASE,
)
"""The agent's own words for a login that is over, where it gives no code for it."""

_ATTEMPT = re.compile(r"(\d{1,4})/(\d{1,4})$")

_WORDS: dict[str, tuple[FailureKind, str, bool | None]] = {
    "contextWindowExceeded": ("provider", "context_too_long", False),
    "usageLimitExceeded": ("provider", "usage_limited", False),
    "rateLimitExceeded": ("provider", "rate_limited", True),
    "serverOverloaded": ("provider", "overloaded", True),
    "internalServerError": ("provider", "internal", True),
    "modelNotFound": ("provider", "model_not_found", False),
    "unauthorized": ("permission", "auth_required", False),
    "badRequest": ("validation", "bad_request", False),
    "sandboxError": ("permission", "sandbox_failed", None),
    "httpConnectionFailed": ("transport", "stream_lost", True),
    "responseStreamConnectionFailed": ("transport", "stream_lost", True),
    "responseStreamDisconnected": ("transport", "stream_lost", True),
    "responseTooManyFailedAttempts": ("provider", "other", None),
}

_STATUS: dict[int, tuple[FailureKind, str, bool | None]] = {
    400: ("validation", "bad_request", False),
    401: ("permission", "auth_required", False),
    403: ("permission", "auth_required", False),
    404: ("provider", "model_not_found", False),
    429: ("provider", "rate_limited", True),
    500: ("provider", "internal", True),
    503: ("provider", "overloaded", True),
}

MESSAGE_SEARCHED = 2000
"""Characters of a message that are searched for a known cause."""

_FIXES = {
    "auth_required": "Log in to the agent again, or set its API key.",
    "usage_limited": "Wait until the limit resets, or use another account.",
    "context_too_long": "Compact the conversation or start a new thread.",
    "model_not_found": "Choose a model that the agent lists.",
}


def turn_failure(error: dict[str, Any]) -> Failure:
    """A TurnError `{message, codexErrorInfo}` as a failure; an unknown word stays `other` with its name."""
    info = error.get("codexErrorInfo")
    word: str | None = None
    status: int | None = None
    if isinstance(info, str):
        word = info
    elif is_table(info) and info:
        word = next(iter(info))
        inner = info[word]
        status = integer(inner, "httpStatusCode") if is_table(inner) else None
    kind, code, retryable = _WORDS.get(word or "", ("provider", "other", None))
    if status in _STATUS and code in ("stream_lost", "other"):
        kind, code, retryable = _STATUS[status]
    detail: dict[str, Any] = {}
    if word is not None:
        detail["native"] = word[:80]
    if status is not None:
        detail["http_status"] = status
    message = text(error, "message") or ""
    if code == "other" and _NO_LOGIN.search(message[:MESSAGE_SEARCHED]):
        kind, code, retryable = "permission", "auth_required", False
    return failure(kind, code, message, retryable=retryable, fix=_FIXES.get(code, ""), **detail)


def attempts(error: dict[str, Any]) -> tuple[int | None, int | None]:
    """Attempt and maximum of a retry, where the agent's message ends in them ("1/2")."""
    found = _ATTEMPT.search(text(error, "message") or "")
    return (int(found[1]), int(found[2])) if found else (None, None)


def rpc_failure(error: Any, default: str) -> Failure:
    """A JSON-RPC error as a failure. Codes of the protocol do not tell causes apart, so known texts do."""
    message = (text(error, "message") or "") if is_table(error) else ""
    code = default
    for start, name in _RPC_TEXTS:
        if start in message:
            code = name
            break
    native = integer(error, "code") if is_table(error) else None
    detail: dict[str, Any] = {} if native is None else {"native": native}
    return failure("provider", code, message, retryable=None, fix=_FIXES.get(code, ""), **detail)


_RPC_TEXTS = (
    ("model not found", "model_not_found"),
    ("unknown model", "model_not_found"),
    ("model is not supported", "model_not_found"),
    ("no rollout found", "thread_missing"),
    ("thread not found", "thread_missing"),
    ("invalid thread id", "thread_missing"),
    ("already has an active writer", "thread_in_use"),
    ("no active turn", "no_active_turn"),
    ("expected active turn id", "other_turn_active"),
    ("turn not found", "turn_missing"),
    ("direct app-server input is not allowed", "input_not_allowed"),
    ("cannot resume an unloaded", "parent_not_loaded"),
    ("unknown variant", "not_supported"),
    ("requires experimentalApi", "not_supported"),
)
