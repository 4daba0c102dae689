"""Where a turn begins and ends, said or inferred.

The protocol has no turn ids, so a turn is the n-th of its conversation: t1, t2, ...
"""

from __future__ import annotations

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import (
    Evidence,
    ItemSeen,
    Outcome,
    Ref,
    RequestClosed,
    SubagentSeen,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.providers.acp.drafting import Draft
from podium.providers.acp.state import Message, Session, Tool, Turn

QUIET_SECONDS = 2.0
"""Silence after which a turn that nobody ends counts as over, where nothing is open in it."""

QUIET_OPEN_SECONDS = 30.0
"""The same while a tool call or a request is open."""

QUIET = "quiet:"
"""Start of the names of the timers that watch for silence."""


LOADING_QUIET = 0.3
"""Silence after the answer to a load, in seconds, after which its history counts as told."""

LOADING_MAX = 5.0
"""Longest time a history may take behind the answer to its load, in seconds."""

LOADING, LOADING_END = "loading:", "loading_end:"
"""Start of the names of the timers of a load."""


def message_ref(session: Session, message: Message) -> Ref:
    """Where a message lives."""
    return Ref(session.id, message.turn, message.native_id, message.fingerprint)


def tool_ref(session: Session, tool: Tool) -> Ref:
    """Where a tool call lives."""
    return Ref(session.id, tool.turn, tool.native_id, tool.fingerprint)


def turn_name(session: Session, number: int) -> str:
    """Our name of a turn, unique in the conversation over all processes that work on it."""
    return f"{session.resumed}/t{number}" if session.resumed else f"t{number}"


def plan_turn(draft: Draft, session: Session, ask_id: str | None, client_id: str | None) -> Session:
    """A turn we are about to ask for; nothing is reported before the agent shows that it works on it."""
    number = session.turns + 1
    turn = Turn(turn_name(session, number), ask_id, clients=(client_id,) if client_id else ())
    tools = {k: t for k, t in session.tools.items() if t.state == "open"}
    return draft.put(msgspec.structs.replace(session, turns=number, turn=turn, message=None, tools=tools))


def working(draft: Draft, session: Session, client_id: str | None = None) -> tuple[Session, Turn]:
    """The turn that is seen to work: the one we asked for, or one that the agent began by itself."""
    if session.turn is None:
        session = plan_turn(draft, session, None, None)
    turn = session.turn or Turn(turn_name(session, session.turns))
    if not turn.shown and draft.flavour.errors_as_text and client_id is None:
        turn = msgspec.structs.replace(turn, shown=True)
        session = draft.put(msgspec.structs.replace(session, turn=turn))
    if not turn.started:
        if turn.ask_id is not None:
            draft.emit(TurnAccepted(turn.ask_id, session.id, turn.id))
        draft.emit(TurnStarted(session.id, turn.id, client_id, root_turn(draft, session)))
        turn = msgspec.structs.replace(turn, started=True)
        session = draft.put(msgspec.structs.replace(session, turn=turn))
    watch(draft, session)
    return session, turn


def root_turn(draft: Draft, session: Session) -> str | None:
    """The turn of the parent that a child works for."""
    parent = draft.session(session.parent) if session.parent else None
    return parent.turn.id if parent is not None and parent.turn is not None else None


def watch(draft: Draft, session: Session) -> None:
    """Set the watch for silence, where silence may be the only end."""
    turn = session.turn
    if turn is None or session.parent is not None or not turn.started:
        return
    if turn.call is None or draft.flavour.infers_end:
        busy = any(t.state == "open" for t in session.tools.values())
        busy = busy or any(r.thread == session.id for r in draft.state.requests.values())
        draft.timer(QUIET + session.id, QUIET_OPEN_SECONDS if busy else QUIET_SECONDS)


def close_message(draft: Draft, session: Session, *, forget: bool = False) -> Session:
    """The message is over: another item follows, or its turn ends."""
    message = session.message
    if message is None:
        return session
    if message.open and draft.flavour.ends_messages:
        draft.emit(ItemSeen(message_ref(session, message), message.kind, "completed"))
    kept = None if forget else msgspec.structs.replace(message, open=False)
    return draft.put(msgspec.structs.replace(session, message=kept))


def end(
    draft: Draft,
    session: Session,
    outcome: Outcome | None,
    *,
    evidence: Evidence = "provider",
    failure: Failure | None = None,
    word: str | None = None,
) -> None:
    """The turn is over. What hung on it is closed first, so that nothing of it follows its end."""
    turn = session.turn
    if turn is None:
        return
    session = close_message(draft, session)
    for key, tool in session.tools.items():
        if tool.declined and tool.state == "open":
            gone = msgspec.structs.replace(tool, state="declined")
            draft.emit(ItemSeen(tool_ref(session, gone), gone.kind, "declined", gone.content))
            session = draft.put_tool(session, key, gone)
    told = "child_ended" in draft.flavour.side.values()
    for child in [s for s in draft.state.sessions.values() if s.parent == session.id]:
        # Where ends of children are told, one that was not told of works on, and nothing is known of it.
        end_child(draft, child, None if told else outcome, evidence="inferred")
    close_requests(draft, session.id, "turn_ended")
    draft.emit(TurnEnded(session.id, turn.id, outcome, evidence, failure, word))
    if turn.call is not None:
        draft.take_call(turn.call)
    draft.put(msgspec.structs.replace(session, turn=None))
    if draft.flavour.infers_end or turn.call is None:
        draft.timer(QUIET + session.id, None)


def end_child(
    draft: Draft, child: Session, outcome: Outcome | None, *, evidence: Evidence = "provider"
) -> None:
    """A child is done, by its call's end or with its parent's turn."""
    if child.turn is None:
        return
    end(draft, child, outcome, evidence=evidence)
    parent = draft.session(child.parent or "")
    tool = parent.tools.get(child.parent_tool or "") if parent is not None else None
    ref = tool_ref(parent, tool) if parent is not None and tool is not None else Ref(child.parent or child.id)
    draft.emit(SubagentSeen(ref, outcome or "unknown", child.id, draft.handle(child.id)))


def close_requests(draft: Draft, thread: str, reason: str) -> None:
    """The agent waits for none of these any more."""
    for key, request in list(draft.state.requests.items()):
        if request.thread == thread:
            draft.drop_request(key)
            draft.emit(RequestClosed(key, "agent", reason))


def silence(draft: Draft, name: str) -> None:
    """A turn fell silent. Its end is inferred: completed where nothing was open, else unknown (F047)."""
    session = draft.session(name.removeprefix(QUIET))
    if session is None or session.turn is None or not session.turn.started:
        return
    if session.turn.cancelled:
        end(draft, session, "interrupted", evidence="inferred")
        return
    left_open = any(t.state == "open" for t in session.tools.values())
    end(draft, session, None if left_open else "completed", evidence="inferred")
