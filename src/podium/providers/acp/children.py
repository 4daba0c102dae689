"""Conversations of children: the agent opens them, and they are adopted, never dropped."""

from __future__ import annotations

from podium.contract.events import Ref, SubagentSeen
from podium.providers.acp.drafting import Draft
from podium.providers.acp.reading import Json, is_object, native_id, obj, text
from podium.providers.acp.state import Session
from podium.providers.acp.turns import end_child, plan_turn, tool_ref, working


def known(draft: Draft, thread: str, given: Json) -> Session | None:
    """The conversation; one that nobody opened belongs to a child of the one that works."""
    session = draft.session(thread)
    if session is not None:
        return session
    named = native_id(obj(given, "_meta"), "parentSessionId")
    at_work = [s for s in draft.state.sessions.values() if s.turn is not None and s.parent is None]
    parent = draft.session(named) if named else at_work[0] if len(at_work) == 1 else None
    return adopt(draft, parent, thread, None) if parent is not None and draft.room() else None


def seen(draft: Draft, thread: str, given: Json) -> Session | None:
    """The conversation if it is known; what is only news of it adopts nobody."""
    return draft.session(thread)


def adopt(draft: Draft, parent: Session, child: str, tool_key: str | None) -> Session:
    """A child's conversation, whose turn begins with it."""
    parent, turn = working(draft, parent)
    tool = parent.tools.get(tool_key) if tool_key else None
    ref = tool_ref(parent, tool) if tool is not None else Ref(parent.id, turn.id, None, f"child:{child}")
    name = tool.content.title if tool is not None else None
    asked = tool.content.arguments if tool is not None else None
    said = text(asked, "prompt") if is_object(asked) else None
    draft.emit(SubagentSeen(ref, "running", child, draft.handle(child), name, said))
    session = draft.put(Session(child, parent=parent.id, parent_tool=tool_key))
    session = plan_turn(draft, session, None, None)
    return working(draft, session)[0]


def announced(draft: Draft, update: Json) -> None:
    """A side channel says that a child works; the newest open call that may have made it is its parent."""
    parent = draft.session(native_id(update, "parent_session_id") or "")
    child = native_id(update, "child_session_id")
    if parent is None or child is None or draft.session(child) or not draft.room():
        return
    taken = {s.parent_tool for s in draft.state.sessions.values() if s.parent == parent.id}
    makers = [k for k, t in parent.tools.items() if t.kind == "subagent" and k not in taken]
    adopt(draft, parent, child, makers[-1] if makers else None)


def finished(draft: Draft, update: Json) -> None:
    """A side channel says that a child is done."""
    child = draft.session(native_id(update, "child_session_id") or "")
    if child is not None and child.parent is not None:
        word = text(update, "status")
        end_child(draft, child, "completed" if word == "completed" else "failed")
