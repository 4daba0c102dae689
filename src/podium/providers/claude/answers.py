"""A person's answer in the agent's words; one answer for one request, and none after its end (B28)."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.errors import failure
from podium.contract.events import AskFailed
from podium.contract.inputs import Respond
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.providers.claude.draft import Draft
from podium.providers.claude.state import Waiting

ACCEPT_SESSION = "accept_session"
ACCEPT_RULE = "accept_rule"
ACCEPT_EDITS = "accept_edits"
CANCEL = "cancel"

SESSION = "session"
DECLINED = "The person declined this."
STOPPED = "The person declined this and stopped the turn."


class BadAnswer(Exception):
    """An answer that does not fit: (code, message). The request stays open."""


def respond(draft: Draft, command: Respond) -> None:
    """Answer an open request once."""
    waiting = draft.waiting.get(command.request)
    if waiting is None or waiting.answered is not None:
        message = "The agent no longer waits for this answer; nothing was sent."
        draft.emit(AskFailed(command.ask_id, failure("validation", "request_gone", message, retryable=False)))
        return
    try:
        response = _response(waiting, command.answer)
    except BadAnswer as error:
        code, message = error.args
        draft.emit(AskFailed(command.ask_id, failure("validation", code, message)))
        return
    if response["behavior"] == "deny":
        declined(draft, waiting)
    draft.reply(waiting.of, command.request, response, ask_id=command.ask_id)
    draft.waiting[command.request] = msgspec.structs.replace(waiting, answered=command.ask_id)


def declined(draft: Draft, waiting: Waiting) -> None:
    """Remember that the call of this request will not run, so that its result reads as what it is."""
    talk = draft.talks.get(waiting.of)
    tool = talk.tools.get(waiting.tool or "") if talk is not None else None
    if talk is not None and tool is not None and waiting.tool is not None:
        changed = msgspec.structs.replace(tool, declined=True)
        draft.change(waiting.of, tools={**talk.tools, waiting.tool: changed})


def denial(words: str | None, *, stop: bool = False) -> dict[str, Any]:
    """No, with words for the agent."""
    said = words or (STOPPED if stop else DECLINED)
    return {"behavior": "deny", "message": said} | ({"interrupt": True} if stop else {})


def _response(waiting: Waiting, answer: Answer) -> dict[str, Any]:
    """The response to send. Raises BadAnswer."""
    match answer.decision:
        case "decline":
            return denial(answer.text)
        case "cancel":
            return denial(answer.text, stop=True)
        case "accept" if waiting.form == "question":
            return {
                "behavior": "allow",
                "updatedInput": {**(waiting.input or {}), "answers": _answers(waiting, answer)},
            }
        case "accept":
            return _allowed(waiting, answer)
        case "accept_session" if waiting.rules:
            return _allowed(waiting, answer) | {"updatedPermissions": for_session(waiting.rules)}
        case "accept_rule" if lasting(waiting.rules):
            return _allowed(waiting, answer) | {"updatedPermissions": lasting(waiting.rules)}
        case "accept_edits" if waiting.form == "plan":
            mode = {"type": "setMode", "mode": "acceptEdits", "destination": SESSION}
            return _allowed(waiting, answer) | {"updatedPermissions": [mode]}
        case _:
            raise BadAnswer("option_not_offered", f"This request does not offer {answer.decision[:80]!r}.")


def _allowed(waiting: Waiting, answer: Answer) -> dict[str, Any]:
    """Yes. The input goes back only where the person changed it: what was asked for is what then runs."""
    given = answer.updated_input if answer.updated_input is not None else waiting.input
    return {"behavior": "allow"} | ({} if given is None else {"updatedInput": given})


def for_session(rules: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The proposed rules, good for this process only."""
    return [{**rule, "destination": SESSION} for rule in rules]


def lasting(rules: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The proposed rules that the agent would write into a file."""
    return [rule for rule in rules if rule.get("type") == "addRules" and rule.get("destination") != SESSION]


def _answers(waiting: Waiting, answer: Answer) -> dict[str, str]:
    """The answers by the text of their question; ours are positional (F144). Raises BadAnswer."""
    given = answer.answers
    if given is None and answer.text is not None and len(waiting.questions) == 1:
        given = ((answer.text,),)
    if given is None or len(given) != len(waiting.questions) or not all(given):
        message = f"Give one list of answers for each of the {len(waiting.questions)} questions."
        raise BadAnswer("answer_invalid", message)
    return {question: ", ".join(values) for question, values in zip(waiting.questions, given, strict=True)}


OFFERED = (ACCEPT, ACCEPT_SESSION, ACCEPT_RULE, ACCEPT_EDITS, DECLINE, CANCEL)
"""Every decision that a card of this adapter can offer."""
