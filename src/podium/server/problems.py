"""Errors as problem documents (RFC 9457), from one table of classes and codes."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.errors import (
    BadInput,
    Conflict,
    Gone,
    NotFound,
    PodiumError,
    Refused,
    StorageFailed,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"

CLASSES: tuple[tuple[type[PodiumError], int], ...] = (
    (NotFound, 404),
    (BadInput, 400),
    (Conflict, 409),
    (Gone, 410),
    (Refused, 403),
    (Unavailable, 503),
    (StorageFailed, 503),
)
"""The status of each class of errors; the first that fits."""

CODES = {
    "not_signed_in": 401,
    "code_unknown": 401,
    "foreign_origin": 403,
    "method_unknown": 405,
    "not_json": 415,
    "foreign_host": 421,
    "option_not_offered": 422,
    "answer_not_offered": 422,
    "wrong_answer_count": 422,
    "too_large": 413,
    "unexpected": 500,
}
"""The status of codes that say more than their class."""


class Problem(msgspec.Struct, frozen=True):
    """A problem document. `code` is stable, `fix` is the next step in words; a refusal names what decided."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    fix: str = ""
    capability: str = ""
    policy: str = ""
    reason: str = ""
    more: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def status_of(error: PodiumError) -> int:
    """The HTTP status of an error."""
    known = CODES.get(error.code)
    return known or next((status for kind, status in CLASSES if isinstance(error, kind)), 500)


def problem_of(error: PodiumError) -> Problem:
    """An error as a problem document."""
    detail = dict(error.detail)
    named = {k: str(detail.pop(k) or "") for k in ("capability", "policy", "reason") if k in detail}
    return Problem(
        type=f"urn:podium:error:{error.code}",
        title=error.code.replace("_", " "),
        status=status_of(error),
        detail=error.message,
        code=error.code,
        fix=error.fix,
        more=plain(detail),
        **named,
    )


def plain(detail: dict[str, Any]) -> dict[str, Any]:
    """Details as JSON holds them, in whatever form they came."""
    return {k: msgspec.to_builtins(v, enc_hook=str) for k, v in detail.items()}
