"""What Pi says went wrong, as a typed failure: it gives words, most with a status of the model's server."""

from __future__ import annotations

import re

from podium.contract.errors import Failure, FailureKind, failure

STATUS = re.compile(r"\b([45]\d\d)\b")

NO_KEY = re.compile(r"no api key|api key.{0,40}(?:missing|required|not found)|not logged in|/login", re.I)
"""Words for a model that nobody is signed in for."""

LOST = re.compile(r"terminated|socket|fetch failed|ECONN|network|connection|malformed server-sent", re.I)
"""Words for an answer that broke off, or never came."""

LONG = re.compile(r"context.{0,30}(?:length|window|limit)|too long|maximum context", re.I)

WORDS_MAX = 2000
"""Most characters of an error that are looked at."""

_STATUSES: dict[int, tuple[FailureKind, str, bool | None]] = {
    400: ("validation", "bad_request", False),
    401: ("permission", "auth_required", False),
    403: ("permission", "auth_required", False),
    404: ("provider", "model_not_found", False),
    429: ("provider", "rate_limited", True),
    500: ("provider", "internal", True),
    503: ("provider", "overloaded", True),
    529: ("provider", "overloaded", True),
}

_FIXES = {
    "auth_required": "Sign in with /login in a terminal, or set the API key of the model's provider.",
    "model_not_found": "Choose a model that the agent lists.",
    "context_too_long": "Compact the conversation or start a new thread.",
}


def model_failure(words: str) -> Failure:
    """The error of a model as a failure; words that say nothing known stay `other`."""
    said = words[:WORDS_MAX]
    found = STATUS.search(said)
    kind, code, retryable = _STATUSES.get(int(found[1]) if found else 0, ("provider", "other", None))
    if NO_KEY.search(said):
        kind, code, retryable = "permission", "auth_required", False
    elif LONG.search(said):
        kind, code, retryable = "provider", "context_too_long", False
    elif code == "other" and LOST.search(said):
        kind, code, retryable = "transport", "stream_lost", True
    return failure(
        kind, code, words or "The agent gave no reason.", retryable=retryable, fix=_FIXES.get(code, "")
    )


def refusal(words: str) -> Failure:
    """The error of a command as a failure."""
    if "already processing" in words:
        return failure(
            "provider", "turn_running", words, fix="Wait for the end of the turn, or interrupt it."
        )
    if words.startswith("Model not found"):
        return failure("provider", "model_not_found", words, fix=_FIXES["model_not_found"])
    return model_failure(words)
