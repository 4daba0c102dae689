"""What the agent tells while it works: text, plans, children, settings."""

from __future__ import annotations

import msgspec

from podium.contract.events import (
    Body,
    DiagnosticSeen,
    ItemKind,
    ItemSeen,
    OpaqueSeen,
    PlanSeen,
    PlanStep,
    PlanStepState,
    Ref,
    TextDelta,
    ThreadChanged,
)
from podium.providers.acp import settings, tools, usage
from podium.providers.acp.children import known, seen
from podium.providers.acp.drafting import Draft
from podium.providers.acp.pieces import beside
from podium.providers.acp.reading import Json, native_id, obj, rows, text
from podium.providers.acp.state import Message, Session
from podium.providers.acp.turns import LOADING, LOADING_QUIET, close_message, message_ref, working

CHUNKS: dict[str, tuple[ItemKind, Body]] = {
    "user_message_chunk": ("user_message", "text"),
    "agent_message_chunk": ("assistant_message", "text"),
    "agent_thought_chunk": ("reasoning", "reasoning"),
}
PLAN_STATES: dict[str, PlanStepState] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
EARLY = (
    "usage_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
)
"""News of a conversation as such; none of it is work."""

STEPS_MAX = 200
"""Most steps of a plan that are passed on."""


def update(draft: Draft, params: Json, *, history: bool) -> None:
    """One `session/update`."""
    thread = native_id(params, "sessionId")
    given = obj(params, "update")
    kind = text(given, "sessionUpdate") or "unknown"
    if kind == "available_commands_update":
        settings.commands(draft, draft.session(thread or ""), given)
        return
    if history or any(
        c.kind in ("load", "resume") and c.thread == thread for c in draft.state.calls.values()
    ):
        draft.emit(DiagnosticSeen("history"))
        return
    session = (known if kind not in EARLY else seen)(draft, thread, given) if thread else None
    if session is not None and session.loading is not None:
        draft.timer(LOADING + session.id, LOADING_QUIET)
        draft.emit(DiagnosticSeen("history"))
    elif session is None and kind in EARLY:
        draft.emit(DiagnosticSeen(kind))  # said of a conversation before the answer that names it
    elif session is None:
        draft.emit(OpaqueSeen(f"session/update {kind}"[:200], params, thread))
    elif kind in CHUNKS:
        chunk(draft, session, given, *CHUNKS[kind])
    elif kind in ("tool_call", "tool_call_update"):
        tools.tool_update(draft, session, given, announced=kind == "tool_call")
    elif kind == "plan":
        plan(draft, session, given)
    else:
        setting(draft, session, kind, given)


def chunk(draft: Draft, session: Session, given: Json, kind: ItemKind, body: Body) -> None:
    """A piece of a message. Without ids a message goes on until something else comes."""
    content = obj(given, "content")
    said = text(content, "text")
    if said is None:
        draft.emit(
            OpaqueSeen(f"{kind} content", given, session.id, session.turn.id if session.turn else None)
        )
        return
    heard = beside(draft, session, given, kind, said)
    if heard is None:
        return
    session, alone = heard
    message = session.message
    message_id = native_id(given, "messageId")
    own = (message.of or message.native_id) if message is not None else None
    same = message is not None and message.kind == kind and own == message_id
    late = session.turn is None and same and message_id is not None
    if message is not None and late:
        draft.emit(TextDelta(message_ref(session, message), kind, body, said))
        return
    turn_now = session.turn
    client = message_id if turn_now is not None and message_id in turn_now.clients else None
    session, turn = working(draft, session, client if kind == "user_message" else None)
    if message is None or not same or message.turn != turn.id or not message.open:
        session = close_message(draft, session)
        session = draft.put(msgspec.structs.replace(session, ordinal=session.ordinal + 1))
        fingerprint = None if message_id else f"m{session.ordinal}"
        of = None
        if message_id is not None and own == message_id:
            # A thought and the answer behind it can have one id, or a message goes on behind a tool call.
            message_id, of = f"{message_id}/{session.ordinal}", message_id
        message = Message(turn.id, kind, message_id, fingerprint, of=of)
        session = draft.put(msgspec.structs.replace(session, message=message))
        echo = client if kind == "user_message" else None
        draft.emit(ItemSeen(message_ref(session, message), kind, "open", client_id=echo))
    if said:
        draft.emit(TextDelta(message_ref(session, message), kind, body, said))
    if alone:
        close_message(draft, session, forget=True)


def plan(draft: Draft, session: Session, given: Json) -> None:
    """The whole plan, each time."""
    session, turn = working(draft, session)
    steps = tuple(
        PlanStep(text(row, "content") or "", PLAN_STATES.get(text(row, "status") or "", "pending"))
        for row in rows(given, "entries")[:STEPS_MAX]
    )
    draft.emit(PlanSeen(Ref(session.id, turn.id, None, "plan"), "todo_list", steps))


def setting(draft: Draft, session: Session, kind: str, given: Json) -> None:
    """Facts about the conversation; none of them starts a turn."""
    turn = session.turn.id if session.turn is not None else None
    mode = text(given, "currentModeId")
    if kind == "current_mode_update" and draft.flavour.mode_option:
        draft.emit(DiagnosticSeen(kind))
    elif kind == "current_mode_update" and mode is not None:
        draft.put(msgspec.structs.replace(session, mode=mode))
        draft.emit(ThreadChanged(session.id, mode=mode))
    elif kind == "session_info_update" and text(given, "title") is not None:
        draft.emit(ThreadChanged(session.id, title=text(given, "title")))
    elif kind == "session_info_update":
        draft.emit(DiagnosticSeen(kind))
    elif kind == "usage_update":
        usage.context(draft, session, given)
    elif kind == "config_option_update" and settings.changed(draft, session, given):
        pass
    elif kind == "config_option_update":
        draft.emit(DiagnosticSeen(kind))
    else:
        draft.emit(OpaqueSeen(f"session/update {kind}"[:200], given, session.id, turn))
