"""The answer a command got: stored with its effects, the same for the same id, a refusal too (F240)."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from podium.contract.errors import BadInput, Conflict, Gone, NotFound, PodiumError, Refused
from podium.domain.commands import UserCommand
from podium.domain.outputs import Refusal
from podium.journal.rows import StoredReceipt


class Receipt(msgspec.Struct, frozen=True):
    """An accepted command: the newest sequence it is part of, and the entities it made."""

    sequence: int
    result: dict[str, str]


class _Answer(msgspec.Struct):
    result: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    refusal: Refusal | None = None


def command_fingerprint(thread_id: str | None, command: UserCommand) -> str:
    """What makes two commands the same command. Raises BadInput `text_invalid` for what is no text (B04)."""
    try:
        return hashlib.sha256(msgspec.json.encode([thread_id, command])).hexdigest()
    except UnicodeEncodeError:
        raise BadInput(
            "text_invalid",
            "The command holds characters that are no text (half of a surrogate pair).",
            fix="Send it as UTF-8.",
        ) from None


def receipt_of(stored: StoredReceipt) -> Receipt:
    """A stored answer again. Raises the refusal it was, if it was one."""
    answer = msgspec.json.decode(stored.payload, type=_Answer)
    if answer.refusal is not None:
        raise refusal_error(answer.refusal)
    return Receipt(stored.sequence, answer.result)


_ERRORS: dict[str, type[PodiumError]] = {
    "bad_input": BadInput,
    "not_found": NotFound,
    "conflict": Conflict,
    "gone": Gone,
    "refused": Refused,
}


def refusal_error(refusal: Refusal) -> PodiumError:
    """A refusal as the error its caller meets."""
    detail: dict[str, Any] = dict(refusal.detail)
    if refusal.capability is not None:
        detail |= {"capability": refusal.capability, "policy": refusal.policy}
    return _ERRORS[refusal.kind](refusal.code, refusal.message, fix=refusal.fix, **detail)
