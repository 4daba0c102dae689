"""An error of the agent's, as a typed failure."""

from __future__ import annotations

from podium.contract.errors import Failure, FailureKind, failure
from podium.providers.opencode.reading import Json, count, is_object, obj, text

AUTH = ("ProviderAuthError",)
ABORTED = "MessageAbortedError"

STATUSES: dict[int, tuple[FailureKind, str]] = {
    401: ("permission", "auth_required"),
    403: ("permission", "auth_required"),
    429: ("provider", "rate_limited"),
}
"""What the status of the model's service says."""

NAMES = {
    "ContextOverflowError": "context_too_long",
    "MessageOutputLengthError": "output_limit",
    "ContentFilterError": "content_filtered",
    "UnknownError": "agent_error",
}


def problem(error: Json) -> Failure:
    """An error of a message or of a conversation: {name, data: {message, statusCode, isRetryable}}."""
    name = text(error, "name") or "unknown"
    data = obj(error, "data")
    status = count(data, "statusCode")
    kind, code = STATUSES.get(status or 0, ("provider", NAMES.get(name, f"agent_{name}")))
    if name in AUTH:
        kind, code = "permission", "auth_required"
    retries = data.get("isRetryable")
    words = text(data, "message") or "The agent gave no reason."
    return failure(kind, code, words, retryable=retries if isinstance(retries, bool) else None)


def refused(status: int, body: object) -> Failure:
    """An HTTP answer that is no success, or none at all."""
    if status == 0:
        words = "The agent did not answer in time." if body == "timeout" else "The agent's answer was lost."
        return failure("transport", "no_answer", words)
    said = body if is_object(body) else {}
    named = text(said, "name") or text(said, "_tag") or f"http_{status}"
    words = text(obj(said, "data"), "message") or text(said, "message") or f"The agent answered {status}."
    kind: FailureKind = "validation" if status in (400, 404, 409) else "provider"
    return failure(kind, f"agent_{named}", words)
