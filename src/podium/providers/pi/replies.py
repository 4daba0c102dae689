"""Pi's answers to our commands."""

from __future__ import annotations

from typing import Any

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    Notice,
    OffersSeen,
    SessionReady,
    SlashCommand,
    ThreadBound,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.providers.pi.asks import bind, send_prompt, unstarted
from podium.providers.pi.draft import Draft
from podium.providers.pi.failures import refusal
from podium.providers.pi.reading import Json, part, parts, text, texts, whole
from podium.providers.pi.said import Response
from podium.providers.pi.state import Pending

COMMANDS_MAX = 500
"""Most slash commands that are passed on."""

MODELS_MAX = 500
"""Most models of the catalog that are passed on."""

HANDLED = "handled"
"""The prompt was a command of an extension's: it was carried out, and no turn follows."""


def answered(draft: Draft, said: Response) -> None:
    """Take one answer; one to nothing that we asked is counted."""
    pending = draft.take(said.id)
    if pending is None:
        if said.success:
            draft.emit(DiagnosticSeen("response"))
        else:
            draft.emit(Notice("warning", "not_understood", f"The agent refused a line: {said.error[:500]}"))
    elif said.success:
        done(draft, pending, said.data)
    else:
        refused(draft, pending, said.error)


def refused(draft: Draft, pending: Pending, words: str) -> None:
    """A command was refused. A prompt that was never accepted is rejected, and nothing of it runs (F280)."""
    why = refusal(words)
    match pending.tag:
        case "switch" if pending.ask_id is not None:
            gone = "ENOENT" in words or "not found" in words.lower()
            draft.emit(ThreadMissing(pending.ask_id, "missing" if gone else "not_resumable", why))
        case "prompt":
            unstarted(draft, "The prompt was refused.")
            draft.emit(AskFailed(pending.ask_id or "", why))
        case _ if pending.ask_id is not None:
            draft.emit(AskFailed(pending.ask_id, why))
        case _:
            draft.emit(DiagnosticSeen(f"refused_{pending.tag}"))


def done(draft: Draft, pending: Pending, data: Any) -> None:
    """A command was carried out."""
    ask = pending.ask_id or ""
    match pending.tag:
        case "open":
            known(draft, data)
            draft.change(ready=True)
            draft.emit(SessionReady(ask))
        case "switch":
            draft.change(model="")  # the session brings its own
            draft.command("get_state", Pending("switched", ask, pending.native_id, model=pending.model))
        case "switched":
            switched(draft, pending, data)
        case "bind_model":
            draft.command("get_state", Pending("bind", ask, pending.native_id))
        case "bind":
            bound(draft, pending, data)
        case "turn_model" if pending.held is not None:
            draft.change(model=model_of(data))
            send_prompt(draft, pending.held)
        case "prompt":
            accepted(draft, pending, text(data, "disposition"))
        case "steer":
            steered(draft, pending)
        case "abort":
            draft.emit(AskDone(ask))
        case "read":
            said = [spoken(message) for message in parts(data, "messages")]
            draft.emit(AskDone(ask, {"thread": draft.state.session, "messages": said}))
        case "models":
            models = parts(data, "models")
            draft.emit(AskDone(ask, {"models": [row(draft, model) for model in models]}))
        case "offer_models":
            names = tuple(model_of(model) for model in parts(data, "models"))[:MODELS_MAX]
            draft.emit(OffersSeen(draft.state.session, models=names))
        case "offer_commands":
            offers(draft, data)
        case _:
            draft.emit(DiagnosticSeen(pending.tag))


def known(draft: Draft, data: Any) -> None:
    """What the process holds now."""
    model = part(data, "model")
    draft.change(
        current=text(data, "sessionId"),
        path=text(data, "sessionFile"),
        model=model_of(model),
        window=whole(model, "contextWindow"),
    )


def model_of(model: Any) -> str:
    """The name of a model: its own may be offered by several providers."""
    provider, name = text(model, "provider"), text(model, "id")
    return f"{provider}/{name}" if name else ""


def switched(draft: Draft, pending: Pending, data: Any) -> None:
    """Another session was loaded: the very one that was named, or none (F074)."""
    known(draft, data)
    if draft.state.current != pending.native_id:
        why = failure("provider", "other_conversation", "The agent loaded another conversation.")
        draft.emit(ThreadMissing(pending.ask_id or "", "missing", why))
        return
    bind(draft, Pending("bind", pending.ask_id, pending.native_id, model=pending.model))


def bound(draft: Draft, pending: Pending, data: Any) -> None:
    """The conversation is ours; what it offers is asked for."""
    known(draft, data)
    state = draft.state
    if not state.current or (pending.native_id and state.current != pending.native_id):
        why = failure("provider", "protocol", "The agent named no conversation, or another one.")
        draft.emit(AskFailed(pending.ask_id or "", why))
        return
    draft.change(session=state.current)
    handle = draft.handle(state.current, state.path)
    resumed = bool(pending.native_id)
    draft.emit(ThreadBound(pending.ask_id, state.current, handle, resumed, state.model or None))
    draft.command("get_available_models", Pending("offer_models"))
    draft.command("get_commands", Pending("offer_commands"))


def accepted(draft: Draft, pending: Pending, disposition: str) -> None:
    """The prompt was taken: a turn follows, unless an extension has dealt with it."""
    session, turn = draft.state.session, pending.client_id
    draft.emit(TurnAccepted(pending.ask_id or "", session, turn))
    running = draft.state.turn
    if disposition == HANDLED and running is not None and running.id == turn and not running.started:
        draft.emit(TurnStarted(session, turn, turn), TurnEnded(session, turn, "completed", word=HANDLED))
        unstarted(draft, "The message was a command, which is done.")


def steered(draft: Draft, pending: Pending) -> None:
    """The message is queued; of a turn that ended meanwhile it must not begin another one."""
    turn = draft.state.turn
    if turn is not None and turn.id == pending.native_id and turn.stop is None:
        draft.emit(TurnAccepted(pending.ask_id or "", draft.state.session, turn.id))
        return
    draft.command("clear_queue", Pending("clear"))
    why = failure("validation", "no_active_turn", "The turn had ended.", fix="Send it as a new message.")
    draft.emit(AskFailed(pending.ask_id or "", why))


def spoken(message: Json) -> Json:
    """A message of the agent's record, in few words."""
    content = message.get("content")
    said = (
        content if isinstance(content, str) else "".join(text(p, "text") for p in parts(message, "content"))
    )
    return {"role": text(message, "role"), "text": said}


def row(draft: Draft, model: Json) -> Json:
    """A model of the catalog."""
    name = model_of(model)
    return {
        "id": name,
        "name": text(model, "name") or name,
        "default": name == draft.state.model,
        "hidden": False,
        "inputs": texts(model, "input"),
    }


def offers(draft: Draft, data: Any) -> None:
    """The slash commands of extensions, skills and prompt templates."""
    found = tuple(
        SlashCommand(text(one, "name"), text(one, "description"))
        for one in parts(data, "commands")
        if text(one, "name")
    )
    draft.emit(OffersSeen(draft.state.session, commands=found[:COMMANDS_MAX]))
