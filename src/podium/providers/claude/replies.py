"""The agent's answers to our control requests."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    Notice,
    OffersSeen,
    SlashCommand,
    ThreadBound,
)
from podium.providers.claude.asks import start
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import ident, table, tables, text
from podium.providers.claude.state import MODELS_MAX, NAME_MAX, Model, Pending
from podium.providers.claude.turns import interrupt, withdrawn

COMMANDS_MAX = 200
"""Most slash commands that are passed on."""

WORDS_MAX = 300
"""Longest description of one, in characters."""


def answered(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """One `control_response`; one that answers nothing of ours is counted only."""
    response = table(frame, "response")
    name = ident(response, "request_id") or ""
    waiting = draft.waiting.get(name)
    if waiting is not None and waiting.of == of and waiting.answered is not None:
        draft.close(name, "taken")  # it repeats our answers as it repeats our prompts
        return
    pending = draft.pending.pop(name, None)
    if pending is None or pending.of != of:
        draft.passed("control_response")
    elif text(response, "subtype") == "error":
        _refused(draft, pending, text(response, "error") or "")
    else:
        _done(draft, pending, table(response, "response"))


def _refused(draft: Draft, pending: Pending, message: str) -> None:
    talk = draft.talks[pending.of]
    match pending.tag:
        case "open":
            why = failure("provider", "handshake_failed", message)
            draft.emit(AskFailed(pending.ask_id or "", why))
            draft.tell("close", of=pending.of)
        case "mode" | "model":
            # The prompt behind it is on its way: it must not run with more than it was given.
            note = f"The agent refused the {pending.tag} that was asked for. {message}"
            draft.emit(Notice("error", f"{pending.tag}_refused", note[:1000], talk.session))
            interrupt(draft, pending.of, None)
        case "cancel" | "cancel_steer":
            _not_cancelled(draft, pending)
        case "interrupt":
            if pending.ask_id is not None:
                draft.emit(AskFailed(pending.ask_id, failure("provider", "interrupt_rejected", message)))


def _done(draft: Draft, pending: Pending, result: dict[str, Any]) -> None:
    match pending.tag:
        case "open":
            _opened(draft, pending.of, result)
        case "interrupt" if pending.ask_id is not None:
            draft.emit(AskDone(pending.ask_id))
        case "cancel" | "cancel_steer" if result.get("cancelled") is True:
            _cancelled(draft, pending)
        case "cancel" | "cancel_steer":
            _not_cancelled(draft, pending)
        case _:
            draft.passed(f"control_response/{pending.tag}")


def _opened(draft: Draft, of: str, result: dict[str, Any]) -> None:
    talk = draft.talks[of]
    origin, ask_id = talk.opening, talk.ask_id
    talk = draft.change(of, opening=None, ask_id=None, error=None)
    draft.models = tuple(
        Model(value[:NAME_MAX], (text(entry, "displayName") or "")[:NAME_MAX] or None)
        for entry in tables(result, "models")[:MODELS_MAX]
        if (value := text(entry, "value"))
    )
    resumed = origin == "resumed"
    draft.emit(ThreadBound(ask_id, talk.session, draft.handle(of), resumed, talk.model))
    commands = tuple(
        SlashCommand(
            name[:NAME_MAX],
            (text(entry, "description") or "")[:WORDS_MAX],
            (text(entry, "argumentHint") or "")[:WORDS_MAX] or None,
        )
        for entry in tables(result, "commands")[:COMMANDS_MAX]
        if (name := text(entry, "name"))
    )
    draft.emit(OffersSeen(talk.session, tuple(model.id for model in draft.models), None, commands))


def reopen(draft: Draft, of: str) -> None:
    """Open a conversation again, now on its record."""
    talk = draft.talks[of]
    for name in [name for name, pending in draft.pending.items() if pending.of == of]:
        del draft.pending[name]
    draft.passed("ended")
    start(draft, of, replace(talk, empty=False), ("--resume", talk.session))


def _cancelled(draft: Draft, pending: Pending) -> None:
    """A message of ours was taken back."""
    found = next((p for p in draft.talks[pending.of].prompts if p.uuid == pending.prompt), None)
    if found is not None:
        withdrawn(draft, pending.of, found)
    if pending.ask_id is not None:
        draft.emit(AskDone(pending.ask_id))


def _not_cancelled(draft: Draft, pending: Pending) -> None:
    """The prompt is being taken: then its turn is what is to be stopped, now and once it is said to begin."""
    if pending.tag == "cancel":
        talk = draft.talks[pending.of]
        marked = (replace(p, stop=True) if p.uuid == pending.prompt else p for p in talk.prompts)
        draft.change(pending.of, prompts=tuple(marked))
        interrupt(draft, pending.of, pending.ask_id)
    else:
        draft.passed("cancel_async_message")
