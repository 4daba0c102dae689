"""What the core asks, as requests to the agent."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from podium.contract.errors import failure
from podium.contract.events import AskDone, ThreadMissing
from podium.contract.inputs import (
    Block,
    CloseSession,
    Command,
    CompactThread,
    EnsureThread,
    ForkThread,
    ImageBlock,
    InterruptTurn,
    ListModels,
    OpenSession,
    ReadThread,
    Respond,
    RollbackThread,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.opencode.drafting import Draft, provider_model
from podium.providers.opencode.items import MARK
from podium.providers.opencode.reading import Json
from podium.providers.opencode.requests import SAFE, respond
from podium.providers.opencode.rules import tightened
from podium.providers.opencode.state import Call, Opening, Prompt, Session
from podium.providers.opencode.turns import stop

OPENING: dict[str, str] = {
    "health": "/global/health",
    "agents": "/agent",
    "models": "/config/providers",
    "servers": "/mcp",
}
"""What is read before the first conversation."""

OPEN_SECONDS = 15.0
"""Longest wait for one of these: an agent that was starting was seen to leave a request unanswered (H8)."""

COMPACT_SECONDS = 300.0
TITLE = "Podium"
"""Every conversation has it, as the agent asks a model for a title where there is none."""


def ask(draft: Draft, command: Command) -> None:
    """Take one ask; one that this agent cannot do is refused, never ignored."""
    match command:
        case OpenSession():
            opened(draft, command)
        case EnsureThread():
            ensure(draft, command)
        case SendTurn():
            prompt(draft, command)
        case SteerTurn():
            steer(draft, command)
        case InterruptTurn():
            interrupt(draft, command)
        case Respond():
            respond(draft, command)
        case ListModels():
            draft.call(Call("list_models", command.ask_id), "GET", OPENING["models"])
        case ReadThread(thread=thread) | ForkThread(thread=thread) | RollbackThread(thread=thread) if (
            draft.session(thread) is not None
        ):
            history(draft, command, thread)
        case CompactThread():
            compact(draft, command)
        case CloseSession():
            draft.emit(AskDone(command.ask_id))
        case _:
            draft.refuse(command, "thread_unknown", "This process has no such conversation.")


def opened(draft: Draft, command: OpenSession) -> None:
    """The handshake: who answers, which agents, models and tool servers it has."""
    agent = command.options.get("agent")
    if isinstance(agent, str):
        draft.set(agent=agent)
    draft.set(opening=Opening(command.ask_id, tuple(OPENING)))
    for kind, path in OPENING.items():
        draft.call(Call(kind, command.ask_id), "GET", path, seconds=OPEN_SECONDS)


def ensure(draft: Draft, command: EnsureThread) -> None:
    """A new conversation, or the very one the handle names (F074)."""
    handle, model = command.handle, command.model
    data: Json = {"mode": command.mode, "model": model}
    if not offered(draft, model):
        draft.refuse(command, "model_not_offered", f"This agent offers no model {model}.")
    elif not draft.room():
        draft.refuse(command, "too_many_threads", "One process serves no more conversations.")
    elif handle is None:
        body = {"title": TITLE, "permission": tightened(draft.state.rules)}
        draft.call(Call("create", command.ask_id, data=data), "POST", "/session", body)
    elif (handle.transport, handle.agent_kind) != (draft.transport, draft.agent_kind):
        why = failure(
            "validation", "foreign_handle", f"This conversation belongs to {handle.agent_kind[:80]}."
        )
        draft.emit(ThreadMissing(command.ask_id, "not_resumable", why))
    elif not SAFE.fullmatch(handle.native_id) or not handle.native_id.startswith("ses"):
        why = failure("validation", "foreign_handle", "This is no conversation of this agent's.")
        draft.emit(ThreadMissing(command.ask_id, "missing", why))
    else:
        call = Call("resume", command.ask_id, handle.native_id, data)
        draft.call(
            call, "PATCH", f"/session/{handle.native_id}", {"permission": tightened(draft.state.rules)}
        )


def offered(draft: Draft, model: str | None) -> bool:
    """Whether a model is in the catalog; without a catalog none is."""
    return model is None or model in draft.state.models


def parts_of(blocks: Sequence[Block], client_id: str) -> list[Json]:
    """A prompt as parts; the first text carries our id, which the agent keeps."""
    made: list[Json] = []
    marked = False
    for block in blocks:
        match block:
            case TextBlock(text):
                made.append({"type": "text", "text": text})
                if not marked:
                    made[-1]["metadata"] = {MARK: client_id}
                    marked = True
            case ImageBlock(path, media_type):
                made.append({"type": "file", "mime": media_type, "url": f"file://{path}"})
    return made if marked else []


def body_of(draft: Draft, session: Session, parts: list[Json]) -> Json:
    """The body of a prompt. Model and agent are always said: the agent keeps the last ones otherwise (H6)."""
    model = session.model or session.told_model
    body: Json = {"agent": draft.state.agent, "parts": parts}
    return {**body, "model": provider_model(model)} if model else body


def prompt(draft: Draft, command: SendTurn) -> None:
    """Start a turn. One at a time: a second prompt would join the first one's turn."""
    session = draft.session(command.thread)
    parts = parts_of(command.blocks, command.client_id)
    if session is None or session.parent is not None:
        fix = "Ensure the thread first."
        draft.refuse(command, "thread_unknown", "This process has no such conversation.", fix)
    elif not parts:
        draft.refuse(command, "text_only", "A prompt needs a text.")
    elif session.turn is not None or session.prompt is not None:
        draft.refuse(command, "turn_running", "A turn is running.", "Wait for its end, or interrupt it.")
    elif not offered(draft, command.model):
        draft.refuse(command, "model_not_offered", f"This agent offers no model {command.model}.")
    else:
        session = draft.put(
            session,
            mode=command.mode or session.mode,
            model=command.model or session.model,
            prompt=Prompt(command.ask_id, command.client_id),
        )
        send(draft, session, command.ask_id, parts)


def send(draft: Draft, session: Session, ask_id: str, parts: list[Json]) -> None:
    """Send what starts work, once."""
    path = f"/session/{session.id}/prompt_async"
    draft.call(Call("prompt", ask_id, session.id), "POST", path, body_of(draft, session, parts), prompt=True)


def steer(draft: Draft, command: SteerTurn) -> None:
    """A message for the turn that runs: the agent takes it at its next step."""
    session = draft.session(command.thread)
    parts = parts_of(command.blocks, command.client_id)
    if session is None or session.turn is None or session.prompt is not None:
        draft.refuse(command, "no_active_turn", "No turn runs that could take a message.")
    elif not parts:
        draft.refuse(command, "text_only", "A message needs a text.")
    else:
        session = draft.put(session, prompt=Prompt(command.ask_id, command.client_id, steers=True))
        send(draft, session, command.ask_id, parts)


def interrupt(draft: Draft, command: InterruptTurn) -> None:
    """Stop a turn; one that was sent and is not seen yet is stopped once it is."""
    session = draft.session(command.thread)
    if session is None:
        draft.refuse(command, "thread_unknown", "This process has no such conversation.")
    elif session.turn is not None:
        stop(draft, session, command.ask_id)
    elif session.prompt is not None:
        waiting = msgspec.structs.replace(session.prompt, stop=command.ask_id)
        draft.put(session, prompt=waiting)
    else:
        draft.emit(AskDone(command.ask_id))


def history(draft: Draft, command: ReadThread | ForkThread | RollbackThread, thread: str) -> None:
    """What begins with reading the agent's record."""
    session = draft.session(thread)
    assert session is not None
    path = f"/session/{thread}/message"
    match command:
        case ReadThread():
            draft.call(Call("read", command.ask_id, thread), "GET", path)
        case ForkThread(at_turn=None):
            draft.call(Call("fork", command.ask_id, thread), "POST", f"/session/{thread}/fork", {})
        case ForkThread(at_turn=turn):
            # A name that is not there would copy everything (H5): the record says what comes behind the turn.
            draft.call(Call("fork_where", command.ask_id, thread, {"turn": turn}), "GET", path)
        case RollbackThread(before_turn=turn):
            if session.turn is not None or session.prompt is not None:
                draft.refuse(command, "turn_running", "A turn is running.", "Wait for its end.")
            else:
                draft.call(Call("rollback_where", command.ask_id, thread, {"turn": turn}), "GET", path)


def compact(draft: Draft, command: CompactThread) -> None:
    """Have the agent shorten the conversation, with the model that it works with."""
    session = draft.session(command.thread)
    model = (session.told_model or session.model) if session is not None else None
    if session is None or model is None:
        draft.refuse(command, "nothing_to_compact", "Nothing was said in this conversation yet.")
    else:
        path = f"/session/{session.id}/summarize"
        call = Call("compact", command.ask_id, session.id)
        draft.call(call, "POST", path, provider_model(model), seconds=COMPACT_SECONDS)
