"""A person's answer in the agent's words; one answer for one request, and none after its end (B28)."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from podium.contract.errors import failure
from podium.contract.events import AskDone, AskFailed, RequestClosed
from podium.contract.inputs import Respond
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.providers.codex.draft import Draft
from podium.providers.codex.state import Field, Waiting


class BadAnswer(Exception):
    """An answer that does not fit the form; the request stays open."""


def respond(draft: Draft, command: Respond) -> None:
    """Answer an open request once."""
    waiting = draft.waiting.get(command.request)
    if waiting is None or waiting.answered is not None:
        message = "The agent no longer waits for this answer; nothing was sent."
        draft.emit(AskFailed(command.ask_id, failure("validation", "request_gone", message, retryable=False)))
        return
    answer = command.answer
    if waiting.form == "unknown":
        if answer.decision != DECLINE:
            draft.emit(_not_offered(command.ask_id, answer.decision))
            return
        draft.refuse(waiting.id, "This request is not known here.", ask_id=command.ask_id)
    else:
        try:
            result = _result(waiting, answer)
        except BadAnswer as error:
            draft.emit(AskFailed(command.ask_id, failure("validation", "answer_invalid", str(error))))
            return
        if result is None:
            draft.emit(_not_offered(command.ask_id, answer.decision))
            return
        draft.reply(waiting.id, result, ask_id=command.ask_id)
    draft.waiting[command.request] = msgspec.structs.replace(waiting, answered=command.ask_id)


def closed(draft: Draft, key: str, reason: str) -> None:
    """The agent no longer waits: report it, and finish the answer if there was one."""
    waiting = draft.waiting.pop(key)
    if waiting.answered is None:
        draft.emit(RequestClosed(key, "agent", reason))
        return
    draft.emit(RequestClosed(key, "answer"), AskDone(waiting.answered))


def _not_offered(ask_id: str, decision: str) -> AskFailed:
    message = f"This request does not offer {decision[:80]!r}."
    return AskFailed(
        ask_id, failure("validation", "option_not_offered", message, fix="Choose an offered option.")
    )


def _result(waiting: Waiting, answer: Answer) -> dict[str, Any] | None:
    """The result to send, or None where the option was not offered."""
    if answer.decision == ACCEPT and waiting.form == "questions":
        given = _given(waiting, answer)
        return {"answers": {f.id: {"answers": list(values)} for f, values in given.items() if values}}
    if answer.decision == ACCEPT and waiting.form == "elicitation":
        return {"action": "accept", "content": _content(waiting, answer), "_meta": None}
    return waiting.replies.get(answer.decision)


def _given(waiting: Waiting, answer: Answer) -> dict[Field, tuple[str, ...]]:
    """The answers by question; they are positional (F144)."""
    given = answer.answers
    if given is None and answer.text is not None and len(waiting.fields) == 1:
        given = ((answer.text,),)
    if given is None or len(given) != len(waiting.fields):
        raise BadAnswer(f"Give one list of answers for each of the {len(waiting.fields)} questions.")
    for field, values in zip(waiting.fields, given, strict=True):
        if field.required and not values:
            raise BadAnswer(f"The question {field.id!r} needs an answer.")
    return dict(zip(waiting.fields, given, strict=True))


def _content(waiting: Waiting, answer: Answer) -> dict[str, Any] | None:
    """The content of an accepted form: its fields by type, or the object as given for a nested one."""
    if answer.updated_input is not None:
        return answer.updated_input
    if not waiting.fields:
        return None
    return {f.id: _typed(f, v[0]) for f, v in _given(waiting, answer).items() if v}


def _typed(field: Field, value: str) -> Any:
    try:
        match field.type:
            case "integer":
                return int(value)
            case "number":
                return _finite(field, float(value))
            case "boolean" if value in ("true", "false"):
                return value == "true"
            case "boolean":
                raise BadAnswer(f"The answer to {field.id!r} must be true or false.")
            case _:
                return value
    except ValueError as error:
        raise BadAnswer(f"The answer to {field.id!r} must be a number.") from error


def _finite(field: Field, value: float) -> float:
    if not math.isfinite(value):
        raise BadAnswer(f"The answer to {field.id!r} must be a finite number.")
    return value
