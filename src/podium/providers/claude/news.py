"""Everything the bridge says, each to its handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podium.contract.errors import failure
from podium.contract.events import AskFailed, Notice, RequestClosed, SessionReady, ThreadMissing, TurnEnded
from podium.providers.claude import cards, messages, replies, results, stream, system, turns
from podium.providers.claude.draft import Draft
from podium.providers.claude.ends import ended as turn_ended
from podium.providers.claude.failures import opening_failure
from podium.providers.claude.reading import ident, integer, is_table, table, text


def heard(draft: Draft, data: dict[str, Any]) -> None:
    """Take one line of the bridge. Unknown ones are kept as they are (B73)."""
    of = ident(data, "of")
    match data.get("say"):
        case "frame" if of is not None and of in draft.talks and is_table(data.get("frame")):
            _frame(draft, of, table(data, "frame"))
        case "ready":
            draft.nonce = ident(data, "nonce")
            draft.emit(SessionReady(text(data, "id") or ""))
        case "opened" | "noise" | "unread":
            draft.passed(str(data.get("say")))
        case "unopened" if of in draft.talks:
            _gone(draft, of, text(data, "message") or "", None)
        case "ended" if of in draft.talks:
            _gone(draft, of, text(data, "stderr") or "", integer(data, "code"))
        case "unsent":
            _unsent(draft, of, data)
        case "frame" | "unopened" | "ended":
            draft.passed("of_no_conversation")
        case _:
            draft.unknown("line", data)


def _frame(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    kind = text(frame, "type") or ""
    handler = _HANDLERS.get(kind)
    if handler is None:
        talk = draft.talks[of]
        draft.unknown(kind or "frame", frame, talk.session, talk.turn.id if talk.turn else None)
        return
    named = ident(frame, "session_id")
    if named is not None and kind != "control_response":
        system.moved(draft, of, named)
    handler(draft, of, frame)


def _quiet(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    draft.passed(text(frame, "type") or "frame")


def _cancelled(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    key = ident(frame, "request_id")
    if key is not None and key in draft.waiting:
        draft.close(key, "withdrawn")
    else:
        draft.passed("control_cancel_request")


_HANDLERS: dict[str, Callable[[Draft, str, dict[str, Any]], None]] = {
    "stream_event": stream.streamed,
    "assistant": messages.said,
    "user": results.told,
    "system": system.noted,
    "result": turn_ended,
    "control_request": cards.opened,
    "control_response": replies.answered,
    "control_cancel_request": _cancelled,
    "rate_limit_event": system.limited,
    "command_lifecycle": turns.lifecycle,
    "conversation_reset": _quiet,
    "keep_alive": _quiet,
    "auth_status": _quiet,
    "tool_progress": _quiet,
    "tool_use_summary": _quiet,
    "prompt_suggestion": _quiet,
}


def _unsent(draft: Draft, of: str | None, data: dict[str, Any]) -> None:
    """A message did not reach its agent: it is refused, and never taken for sent."""
    uuid, code = ident(data, "uuid"), text(data, "code") or "unsent"
    why = failure("validation", code, text(data, "message") or "")
    talk = draft.talks.get(of or "")
    found = next((p for p in talk.prompts if p.uuid == uuid), None) if talk is not None else None
    if of is None or talk is None or found is None:
        draft.emit(Notice("warning", code, why.message))
        return
    draft.change(of, prompts=tuple(p for p in talk.prompts if p is not found))
    draft.emit(AskFailed(found.ask_id, why))


def _gone(draft: Draft, of: str, stderr: str, code: int | None) -> None:
    """The process of a conversation is gone: it never opened, or the whole session ends with it."""
    talk = draft.talks[of]
    if talk.opening is not None and not talk.resumes and "already in use" in stderr:
        # It was thought to be empty and has a record after all: resume that.
        replies.reopen(draft, of)
        return
    for name in [name for name, pending in draft.pending.items() if pending.of == of]:
        del draft.pending[name]
    for key, _ in draft.waits_of(of):
        # Whether a last answer was taken is unknown, so it does not count.
        del draft.waiting[key]
        draft.emit(RequestClosed(key, "agent", "process_exit"))
    del draft.talks[of]
    if talk.opening is not None:
        missing, why = opening_failure(talk.error, stderr, code)
        ask_id = talk.ask_id or ""
        if talk.opening == "resumed":
            draft.emit(ThreadMissing(ask_id, "missing" if missing else "not_resumable", why))
        else:
            draft.emit(AskFailed(ask_id, why))
        return
    message = f"The agent ended by itself. {stderr}".strip()
    why = failure("process", "agent_exited", message[:2000], exit_code=code)
    if talk.turn is not None:
        draft.emit(TurnEnded(talk.session, talk.turn.id, "failed", "inferred", why))
    # What became of the rest is for the end of the session to say, as it is for every agent.
    if not draft.talks:
        draft.tell("leave")
