"""The errors a user or embedder can meet: few classes, stable codes, each saying what to do.

A code never changes its meaning; `docs/library.md` lists them. Classes group codes by what the caller can do:
correct the input, accept a refusal, retry elsewhere, or mend the machine.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

MESSAGE_MAX = 4096
"""Longest message kept in a failure, in characters (F277)."""

CODE_MAX = 128
"""Longest code kept in a failure, in characters (F277)."""


class PodiumError(Exception):
    """Base of every error Podium raises on purpose.

    `code` is stable and machine-readable, `fix` is the next step in words, `detail` holds plain data.
    """

    exit_code = 1

    def __init__(self, code: str, message: str, *, fix: str = "", **detail: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()


class BadInput(PodiumError):
    """The caller can correct it: unknown agent, missing workspace, empty prompt, option not offered."""

    exit_code = 2


class NotFound(BadInput):
    """A thread, run, item or request that this data folder does not hold."""


class Conflict(PodiumError):
    """Somebody else was first, or an id was used for another payload (F281)."""


class Gone(PodiumError):
    """The request can no longer be answered: it expired with its agent (F046)."""


class Refused(PodiumError):
    """A capability is missing and the policy refuses to do without (F059, R9).

    `detail` holds `capability`, `policy` and `reason`.
    """

    exit_code = 3


class Unavailable(PodiumError):
    """The agent cannot be started or reached: missing program, wrong version, failed start."""

    exit_code = 4


class StorageFailed(PodiumError):
    """The journal could not be read or written; nothing that was reported as done is lost."""


FailureKind = Literal["provider", "transport", "permission", "validation", "process", "storage", "unknown"]


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run, turn, item or ask failed, as data (F278). Unknown retryability is None, never False."""

    kind: FailureKind
    code: str
    message: str = ""
    retryable: bool | None = None
    fix: str = ""
    detail: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def failure(
    kind: FailureKind,
    code: str,
    message: str = "",
    *,
    retryable: bool | None = None,
    fix: str = "",
    **detail: Any,
) -> Failure:
    """Build a failure with its texts bounded (F277)."""
    return Failure(kind, code[:CODE_MAX], message[:MESSAGE_MAX], retryable, fix[:MESSAGE_MAX], detail)
