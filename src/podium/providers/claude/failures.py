"""The agent's error words as our failures."""

from __future__ import annotations

from typing import Any

from podium.contract.errors import Failure, FailureKind, failure
from podium.providers.claude.reading import integer, strings, text

MESSAGE_KEPT = 500
"""Characters kept of an error."""

_WORDS: dict[str, tuple[FailureKind, str, bool | None]] = {
    "authentication_failed": ("permission", "auth_required", False),
    "oauth_org_not_allowed": ("permission", "auth_required", False),
    "billing_error": ("provider", "usage_limited", False),
    "rate_limit": ("provider", "rate_limited", True),
    "overloaded": ("provider", "overloaded", True),
    "invalid_request": ("validation", "bad_request", False),
    "model_not_found": ("provider", "model_not_found", False),
    "server_error": ("provider", "internal", True),
    "max_output_tokens": ("provider", "answer_too_long", None),
    "error_max_turns": ("provider", "too_many_steps", None),
    "prompt_too_long": ("provider", "context_too_long", False),
}

_STATUS: dict[int, tuple[FailureKind, str, bool | None]] = {
    400: ("validation", "bad_request", False),
    401: ("permission", "auth_required", False),
    403: ("permission", "auth_required", False),
    404: ("provider", "model_not_found", False),
    429: ("provider", "rate_limited", True),
    500: ("provider", "internal", True),
    529: ("provider", "overloaded", True),
}

_FIXES = {
    "auth_required": "Log in to the agent again, or set its API key.",
    "usage_limited": "Wait until the limit resets, or use another account.",
    "context_too_long": "Compact the conversation or start a new thread.",
    "model_not_found": "Choose a model that the agent lists.",
}


def word_failure(word: str | None, message: str, status: int | None = None) -> Failure:
    """A failure by the agent's word for it, else by the status of the model's server."""
    said = _WORDS.get(word or "")
    known = _STATUS.get(status or 0)
    # Its word for every error of the server is the same; the status tells them apart.
    found = known if known is not None and (said is None or word == "server_error") else said
    kind, code, retryable = found or ("provider", "other", None)
    detail: dict[str, Any] = {}
    if word is not None:
        detail["native"] = word[:80]
    if status is not None:
        detail["http_status"] = status
    return failure(
        kind, code, message[:MESSAGE_KEPT], retryable=retryable, fix=_FIXES.get(code, ""), **detail
    )


def result_failure(result: dict[str, Any], known: Failure | None) -> Failure:
    """Why a turn failed. An end that calls itself a success says it by a flag and a status only."""
    reason, subtype = text(result, "terminal_reason"), text(result, "subtype")
    status = integer(result, "api_error_status")
    message = text(result, "result") or "; ".join(strings(result, "errors"))
    word = next((name for name in (reason, subtype) if name in _WORDS), None)
    if word is None and status is None and known is not None:
        return known
    if word is None and known is not None and known.detail.get("native") in _WORDS:
        word = str(known.detail["native"])
    if text(result, "stop_reason") == "refusal":
        return failure("provider", "refused", message[:MESSAGE_KEPT], retryable=False)
    return word_failure(word, message, status)


def opening_failure(error: str | None, stderr: str, code: int | None) -> tuple[bool, Failure]:
    """Why a conversation could not be opened, and whether it is because there is no such conversation."""
    said = stderr.strip() or error or ""
    if "No conversation found" in said or "No message found" in said:
        return True, failure("provider", "thread_missing", said[:MESSAGE_KEPT])
    message = said[:MESSAGE_KEPT] or "The agent ended before it answered."
    return False, failure("process", "thread_start_failed", message, exit_code=code)
