"""The agent's answers to our requests."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    Notice,
    Ref,
    SessionReady,
    ThreadBound,
    ThreadChanged,
    ThreadMissing,
    TurnAccepted,
)
from podium.providers.codex import settle
from podium.providers.codex.asks import EMPTY, loaded, mode_of
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import bounded, ident, strings, table, tables, text
from podium.providers.codex.failures import rpc_failure, turn_failure
from podium.providers.codex.items import item_seen
from podium.providers.codex.state import NAME_MAX, Pending

_VERSION = re.compile(r"/(\d+\.\d+\.\d+\S*)")

_DEFAULT_CODES = {
    "open_session": "handshake_failed",
    "ensure_thread": "thread_start_failed",
    "send_turn": "prompt_rejected",
    "steer_turn": "steer_rejected",
    "interrupt_turn": "interrupt_rejected",
    "read_thread": "read_failed",
    "rollback_thread": "rollback_failed",
    "fork_thread": "fork_failed",
    "list_models": "models_unavailable",
    "compact_thread": "compact_failed",
}


def answered(draft: Draft, frame: dict[str, Any]) -> None:
    """Take one response; one that answers nothing of ours is counted only."""
    number = frame.get("id")
    # Our own ids are numbers; an agent that gives one back as text or as a float means the same one.
    key = str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)
    pending = None if isinstance(number, bool) else draft.pending.pop(key, None)
    if pending is None:
        draft.emit(DiagnosticSeen("response"))
        return
    if pending.ask_id is None and pending.tag != "settle":
        draft.emit(DiagnosticSeen("response"))  # to a stop of our own; the turn is over already
    elif frame.get("error") is not None:
        _refused(draft, pending, frame.get("error"))
    elif pending.ask_id is None:
        settle.read(draft, pending, table(frame, "result"))
    else:
        _done(draft, pending, pending.ask_id, table(frame, "result"))


def _refused(draft: Draft, pending: Pending, error: Any) -> None:
    if pending.ask_id is None:
        settle.unreadable(draft, pending)
        return
    if pending.tag == "resume_thread":
        failed = rpc_failure(error, "thread_not_resumable")
        missing = failed.code == "thread_missing"
        if missing and pending.anew is not None:
            # It never had a turn, so it was never written: a new one is the same conversation (F074).
            again = msgspec.structs.replace(pending, tag="ensure_thread", thread=None, anew=None)
            draft.request("thread/start", pending.anew, again)
            draft.emit(DiagnosticSeen("thread/resume"))
            return
        draft.emit(ThreadMissing(pending.ask_id, "missing" if missing else "not_resumable", failed))
        return
    draft.emit(AskFailed(pending.ask_id, rpc_failure(error, _DEFAULT_CODES[pending.tag])))


def _done(draft: Draft, pending: Pending, ask_id: str, result: dict[str, Any]) -> None:
    match pending.tag:
        case "open_session":
            found = _VERSION.search(text(result, "userAgent") or "")
            draft.agent_version = found[1][:NAME_MAX] if found else "unknown"
            draft.notify("initialized")
            draft.emit(SessionReady(ask_id, found[1][:NAME_MAX] if found else None))
        case "ensure_thread" | "resume_thread" | "fork_thread":
            _bound(draft, pending, ask_id, result)
        case "send_turn" | "steer_turn":
            _accepted(draft, pending, ask_id, result)
        case "read_thread":
            draft.emit(AskDone(ask_id, snapshot(table(result, "thread"))))
        case "list_models":
            draft.emit(AskDone(ask_id, {"models": [_model(entry) for entry in tables(result, "data")]}))
        case _:
            draft.emit(AskDone(ask_id))


def _bound(draft: Draft, pending: Pending, ask_id: str, result: dict[str, Any]) -> None:
    thread = ident(table(result, "thread"), "id")
    resumed = pending.tag == "resume_thread"
    empty = pending.tag == "ensure_thread"
    if thread is None:
        message = "The agent named no conversation."
        draft.emit(AskFailed(ask_id, failure("provider", "protocol", message)))
    elif resumed and thread != pending.thread:
        message = "The agent resumed another conversation than the one named."
        draft.emit(ThreadMissing(ask_id, "not_resumable", failure("provider", "other_conversation", message)))
    elif resumed and _elsewhere(pending.place, text(result, "cwd")):
        message = f"The agent would work in {text(result, 'cwd')}, not in {pending.place}."
        fix = "Restore the folder, or start a thread elsewhere."
        why = failure("validation", "other_workspace", message, fix=fix)
        draft.emit(ThreadMissing(ask_id, "not_resumable", why))
    else:
        model = text(result, "model")
        loaded(draft, thread, model, empty=empty)
        handle = draft.handle(thread, EMPTY if empty else "")
        draft.emit(ThreadBound(ask_id, thread, handle, resumed, model))
        _compare(draft, pending, thread, result)


def _elsewhere(wanted: str | None, given: str | None) -> bool:
    """Whether the agent names another folder than ours; a relative one names none (B50)."""
    if wanted is None or given is None or not given.startswith("/"):
        return False
    return given.rstrip("/") != wanted.rstrip("/")


def _compare(draft: Draft, pending: Pending, thread: str, result: dict[str, Any]) -> None:
    """Where the agent runs with something else than was asked for, a person is told (B34, B79)."""
    model = text(result, "model")
    mode = mode_of(text(result, "approvalPolicy"), text(table(result, "sandbox"), "type"))
    if mode is not None and pending.mode is not None and mode != pending.mode:
        message = f"Asked for the mode {pending.mode}, the agent runs with {mode}."
        draft.emit(ThreadChanged(thread, model, mode), Notice("warning", "mode_differs", message, thread))
    if pending.model is not None and model is not None and model != pending.model:
        message = f"Asked for the model {pending.model[:NAME_MAX]}, the agent runs with {model[:NAME_MAX]}."
        draft.emit(Notice("warning", "model_differs", message, thread))


def _accepted(draft: Draft, pending: Pending, ask_id: str, result: dict[str, Any]) -> None:
    thread = pending.thread or ""
    turn = ident(table(result, "turn"), "id") or ident(result, "turnId")
    if turn is not None and pending.tag == "send_turn" and not draft.has_ended(thread, turn):
        draft.open_turn(thread, turn, pending.client_id)
        draft.keep_thread(thread, msgspec.structs.replace(draft.thread(thread), quiet=False))
        if pending.stop is not None:
            draft.interrupt(thread, turn, pending.stop)
    draft.emit(TurnAccepted(ask_id, thread, turn))
    if pending.over is not None and pending.over.turn == turn:
        draft.emit(pending.over)


def snapshot(thread: dict[str, Any]) -> dict[str, Any]:
    """The agent's own record in our words: turns with state and items, whole texts included."""
    name = ident(thread, "id") or ""
    turns: list[dict[str, Any]] = []
    for turn in tables(thread, "turns"):
        number = ident(turn, "id") or ""
        seen = [
            item_seen(Ref(name, number, ident(item, "id")), item, ended=True)
            for item in tables(turn, "items")
        ]
        error = turn.get("error")
        turns.append(
            {
                "id": number,
                "status": text(turn, "status"),
                "failure": None if error is None else msgspec.to_builtins(turn_failure(table(turn, "error"))),
                "items": [msgspec.to_builtins(item) for item in seen],
            }
        )
    return {"thread": name, "status": text(table(thread, "status"), "type"), "turns": turns}


def _model(entry: dict[str, Any]) -> dict[str, Any]:
    efforts = [text(effort, "reasoningEffort") for effort in tables(entry, "supportedReasoningEfforts")]
    return {
        "id": text(entry, "model") or text(entry, "id"),
        "name": text(entry, "displayName"),
        "default": entry.get("isDefault") is True,
        "hidden": entry.get("hidden") is True,
        "efforts": bounded([effort for effort in efforts if effort is not None]),
        "default_effort": text(entry, "defaultReasoningEffort"),
        "inputs": strings(entry, "inputModalities"),
    }
