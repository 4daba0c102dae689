"""What the core asks, as calls of the protocol."""

from __future__ import annotations

import msgspec

from podium.contract.errors import failure
from podium.contract.events import AskDone, ThreadMissing
from podium.contract.inputs import (
    CloseSession,
    Command,
    EnsureThread,
    ForkThread,
    InterruptTurn,
    OpenSession,
    Respond,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.acp.drafting import TRANSPORT, Draft
from podium.providers.acp.reading import Json
from podium.providers.acp.requests import cancel_requests, respond
from podium.providers.acp.serving import offer
from podium.providers.acp.settings import changes, lowers, set_mode, set_model
from podium.providers.acp.state import HELD_MAX, Call, Held, Session
from podium.providers.acp.turns import end, plan_turn

PROTOCOL_VERSION = 1
"""The only version that is offered. One agent answers another with frames of another shape."""


def ask(draft: Draft, command: Command) -> None:
    """Take one ask; one that this agent cannot do is refused, never ignored."""
    match command:
        case OpenSession():
            # No terminal is offered: a command of the agent's own goes on when Podium is restarted.
            client: Json = {"fs": offer(draft, command), "terminal": False, "elicitation": {"form": {}}}
            info = {"name": "podium", "title": "Podium", "version": command.client_version}
            params: Json = {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": client,
                "clientInfo": info,
            }
            draft.state = msgspec.structs.replace(draft.state, workspace=command.workspace)
            draft.call("initialize", params, Call("initialize", command.ask_id))
        case EnsureThread():
            ensure(draft, command)
        case ForkThread() if draft.flavour.forks:
            fork(draft, command)
        case SendTurn():
            prompt(draft, command)
        case SteerTurn() if draft.flavour.steer_method:
            steer(draft, command)
        case InterruptTurn() if draft.flavour.interrupts:
            interrupt(draft, command)
        case Respond() if draft.flavour.asks:
            respond(draft, command)
        case CloseSession():
            draft.emit(AskDone(command.ask_id))
        case _:
            draft.refuse(command, "unsupported_ask", "This agent cannot do that.")


def ensure(draft: Draft, command: EnsureThread) -> None:
    """A new conversation, or the very one the handle names (F074)."""
    handle = command.handle
    params: Json = {"cwd": command.workspace, "mcpServers": []}
    if draft.flavour.full_meta and command.mode == "full":
        params["_meta"] = {draft.flavour.full_meta: True}
    if command.model is not None and not draft.flavour.selects:
        draft.refuse(command, "model_not_offered", "This agent offers no choice of models.")
    elif not draft.room():
        draft.refuse(command, "too_many_threads", "One process serves no more conversations.")
    elif handle is None:
        call = Call("new", command.ask_id, model=command.model, wanted=command.mode)
        draft.call("session/new", params, call)
    elif (handle.transport, handle.agent_kind) != (TRANSPORT, draft.agent_kind):
        why = failure(
            "validation", "foreign_handle", f"This conversation belongs to {handle.agent_kind[:80]}."
        )
        draft.emit(ThreadMissing(command.ask_id, "not_resumable", why))
    elif (method := way_back(draft)) is None:
        fix = "Start a new conversation; what was said can be handed over."
        why = failure("provider", "resume_unsupported", "This agent keeps no conversations.", fix=fix)
        draft.emit(ThreadMissing(command.ask_id, "not_resumable", why))
    else:
        kind = "load" if method == "session/load" else "resume"
        call = Call(kind, command.ask_id, handle.native_id, model=command.model, wanted=command.mode)
        draft.call(method, {"sessionId": handle.native_id, **params}, call)


def way_back(draft: Draft) -> str | None:
    """The method that brings a conversation back, or None. One that destroys it is none (F177)."""
    flavour, state = draft.flavour, draft.state
    if not flavour.resumes:
        return None
    ways = [("session/resume", state.resumes), ("session/load", state.loads and not flavour.load_destroys)]
    return next((method for method, offered in ways if offered), None)


def fork(draft: Draft, command: ForkThread) -> None:
    """A branch of the whole conversation; the protocol knows no branch at a turn."""
    session = draft.session(command.thread)
    if not draft.state.forks or session is None:
        draft.refuse(command, "fork_unsupported", "This agent does not branch this conversation.")
    elif command.at_turn is not None:
        draft.refuse(command, "fork_whole_only", "This agent branches whole conversations only.")
    elif not draft.room():
        draft.refuse(command, "too_many_threads", "One process serves no more conversations.")
    else:
        params: Json = {"sessionId": session.id, "cwd": draft.state.workspace, "mcpServers": []}
        draft.call("session/fork", params, Call("fork", command.ask_id, session.id, wanted=session.wanted))


def blocks_of(command: SendTurn | SteerTurn) -> list[Json] | None:
    """The prompt as content blocks; None where something else than text is in it."""
    texts = [block.text for block in command.blocks if isinstance(block, TextBlock)]
    if not texts or len(texts) != len(command.blocks):
        return None
    return [{"type": "text", "text": text} for text in texts]


def prompt_params(draft: Draft, session: Session, blocks: list[Json], client_id: str) -> Json:
    """The parameters of a prompt; our own id goes with it where the agent gives it back."""
    params: Json = {"sessionId": session.id, "prompt": blocks}
    return {**params, "messageId": client_id} if draft.flavour.echoes_ids else params


def prompt(draft: Draft, command: SendTurn) -> None:
    """Start a turn. The agent shows that it took the prompt by working on it, or by its answer.

    One at a time in a conversation: agents queue a second prompt, refuse it, or drop the first.
    """
    session = draft.session(command.thread)
    blocks = blocks_of(command)
    if session is None or session.parent is not None:
        draft.refuse(
            command, "thread_unknown", "This process has no such conversation.", "Ensure the thread first."
        )
    elif blocks is None:
        draft.refuse(
            command, "text_only", "This agent takes text and nothing else.", "Send text blocks only."
        )
    elif session.held is not None or (session.turn is not None and session.turn.call is not None):
        draft.refuse(command, "turn_running", "A turn is running.", "Wait for its end, or interrupt it.")
    elif command.model not in (None, session.model, *draft.state.models):
        offered = ", ".join(draft.state.models) or "no models"
        draft.refuse(command, "model_not_offered", f"This agent offers {offered[:500]}.")
    elif lowers(draft, session, command.mode):
        fix = "Start a new thread in that mode."
        draft.refuse(command, "mode_not_offered", "This agent cannot go to a lesser mode while it runs.", fix)
    else:
        start(draft, command, session, blocks)


def start(draft: Draft, command: SendTurn, session: Session, blocks: list[Json]) -> None:
    """Send the prompt once the settings it wants have taken hold: an agent may read two requests at once."""
    if session.turn is not None:
        end(draft, session, None, evidence="inferred")
        session = draft.session(session.id) or session
    held = Held(command.ask_id, command.client_id, tuple(str(block["text"]) for block in blocks))
    waits = draft.flavour.holds_settings and changes(draft, session, command.mode, command.model)
    if waits and not can_wait(draft, held):
        fix = "Send a short message with the new model or mode first."
        draft.refuse(command, "prompt_too_long", "A prompt this long cannot wait for a setting.", fix)
        return
    set_mode(draft, session, command.mode)
    set_model(draft, session, command.model)
    if waits:
        draft.put(msgspec.structs.replace(session, held=held))
    else:
        send_prompt(draft, session, held)


def can_wait(draft: Draft, held: Held) -> bool:
    """Whether a prompt may wait in the state: it is short, and no other one waits."""
    alone = all(session.held is None for session in draft.state.sessions.values())
    return alone and len(msgspec.json.encode(held)) <= HELD_MAX


def send_prompt(draft: Draft, session: Session, held: Held) -> None:
    """The prompt itself, with the turn that it begins."""
    session = plan_turn(draft, session, held.ask_id, held.client_id)
    blocks: list[Json] = [{"type": "text", "text": text} for text in held.texts]
    params = prompt_params(draft, session, blocks, held.client_id)
    number = draft.call("session/prompt", params, Call("prompt", held.ask_id, session.id))
    if session.turn is not None:
        turn = msgspec.structs.replace(session.turn, call=number)
        draft.put(msgspec.structs.replace(session, turn=turn))


def steer(draft: Draft, command: SteerTurn) -> None:
    """Change the running turn."""
    session = draft.session(command.thread)
    blocks = blocks_of(command)
    turn = session.turn if session is not None else None
    if session is None or turn is None or turn.id != command.turn or not draft.state.steers:
        draft.refuse(command, "no_active_turn", "There is no such running turn to steer.")
    elif blocks is None:
        draft.refuse(
            command, "text_only", "This agent takes text and nothing else.", "Send text blocks only."
        )
    else:
        turn = msgspec.structs.replace(turn, clients=(*turn.clients[-15:], command.client_id))
        draft.put(msgspec.structs.replace(session, turn=turn))
        params = prompt_params(draft, session, blocks, command.client_id)
        draft.call(draft.flavour.steer_method, params, Call("steer", command.ask_id, session.id))


def interrupt(draft: Draft, command: InterruptTurn) -> None:
    """Cancel: a notification, so the acknowledgement is ours; the end of the turn is the agent's (F249)."""
    session = draft.session(command.thread)
    turn = session.turn if session is not None else None
    if session is not None and session.held is not None:
        draft.put(msgspec.structs.replace(session, held=None))
        draft.refuse(command, "no_active_turn", "The prompt had not been sent yet.")
    elif session is None or turn is None or (command.turn is not None and command.turn != turn.id):
        draft.refuse(command, "no_active_turn", "There is no such running turn to interrupt.")
    elif session.parent is not None:
        draft.refuse(command, "child_turn", "A child cannot be interrupted alone.", "Interrupt its parent.")
    else:
        draft.send({"method": "session/cancel", "params": {"sessionId": session.id}}, command.ask_id)
        turn = msgspec.structs.replace(turn, cancelled=True)
        draft.put(msgspec.structs.replace(session, turn=turn))
        cancel_requests(draft, session.id)
        draft.emit(AskDone(command.ask_id))
