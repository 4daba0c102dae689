"""Subagents: their frames come on the conversation's own stream and name the call that made them (B44)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.events import (
    BackgroundSeen,
    ItemContent,
    ItemSeen,
    Outcome,
    Ref,
    SubagentSeen,
    TurnEnded,
    TurnStarted,
)
from podium.contract.handles import Handle
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import ident, text
from podium.providers.claude.state import CHILDREN_MAX, Child

SubagentState = Literal["running", "completed", "failed", "interrupted", "unknown"]

_STATES: dict[str, SubagentState] = {
    "completed": "completed",
    "failed": "failed",
    "stopped": "interrupted",
    "killed": "interrupted",
}

_OUTCOMES: dict[SubagentState, Outcome] = {
    "completed": "completed",
    "failed": "failed",
    "interrupted": "interrupted",
}


def place(draft: Draft, of: str, call: str, agent: str | None = None) -> Child:
    """The subagent of a call; one that was not introduced is known by its call from now on."""
    known = draft.talks[of].children.get(call)
    return known if known is not None else _introduce(draft, of, call, agent or call)


def _introduce(
    draft: Draft, of: str, call: str, thread: str, *, name: str | None = None, prompt: str | None = None
) -> Child:
    talk = draft.talks[of]
    child = Child(thread, call)
    kept = {**talk.children, call: child}
    while len(kept) > CHILDREN_MAX:
        del kept[next(iter(kept))]
    draft.change(of, children=kept)
    handle = Handle(draft.transport, draft.agent_kind, thread)
    draft.emit(SubagentSeen(_call(draft, of, call), "running", thread, handle, name, prompt))
    draft.emit(TurnStarted(thread, call))
    return child


def _call(draft: Draft, of: str, call: str) -> Ref:
    """Where the call stands: in the turn that made it, which may be over."""
    tool = draft.talks[of].tools.get(call)
    return Ref(tool.thread, tool.turn, call) if tool is not None else draft.ref(of, call)


def started(draft: Draft, of: str, note: dict[str, Any]) -> None:
    """`task_started`: a subagent, or a command that takes long."""
    call, task = ident(note, "tool_use_id"), ident(note, "task_id")
    agent = text(note, "task_type") == "local_agent"
    if not agent or call is None or task is None or call in draft.talks[of].children:
        draft.passed("task_started")
        return
    prompt = text(note, "prompt")
    _introduce(draft, of, call, task, name=text(note, "subagent_type"), prompt=prompt)


def notified(draft: Draft, of: str, note: dict[str, Any]) -> None:
    """`task_notification`: the work of a call is over, also of one that went on behind it."""
    call, word = ident(note, "tool_use_id"), text(note, "status") or ""
    state = _STATES.get(word, "unknown")
    tool = draft.talks[of].tools.get(call or "")
    if call is not None and call in draft.talks[of].children:
        over(draft, of, call, state)
    if call is not None and tool is not None and tool.background:
        item = "unverifiable" if state in ("unknown", "running") else state
        content = ItemContent(background=True)
        draft.emit(ItemSeen(Ref(tool.thread, tool.turn, call), tool.kind, item, content))
        draft.change(of, tools={name: t for name, t in draft.talks[of].tools.items() if name != call})
    draft.passed("task_notification")


def over(draft: Draft, of: str, call: str, state: SubagentState) -> None:
    """A subagent's work is over; told once."""
    child = draft.talks[of].children.get(call)
    if child is None or child.over:
        return
    changed = msgspec.structs.replace(child, over=True)
    handle = Handle(draft.transport, draft.agent_kind, child.thread)
    draft.emit(SubagentSeen(_call(draft, of, call), state, child.thread, handle))
    draft.emit(TurnEnded(child.thread, child.turn, _OUTCOMES.get(state)))
    draft.change(of, children={**draft.talks[of].children, call: changed})


def thread_of(draft: Draft, of: str, agent: str | None) -> Child | None:
    """The subagent by the agent's own id of it."""
    return next((c for c in draft.talks[of].children.values() if c.thread == agent), None)


def left_behind(draft: Draft, of: str, state: SubagentState) -> None:
    """At the end of a turn: what goes on behind it. The other calls of the turn are over with it."""
    talk = draft.talks[of]
    turn = talk.turn.id if talk.turn is not None else None
    behind = {number: tool for number, tool in talk.tools.items() if tool.background}
    working = tuple(Ref(t.thread, t.turn, number) for number, t in behind.items() if t.turn == turn)
    if working:
        draft.emit(BackgroundSeen(talk.session, working))
    for call, child in talk.children.items():
        if not child.over and call not in behind:
            over(draft, of, call, state)
    alive = {call: child for call, child in draft.talks[of].children.items() if not child.over}
    threads = {child.thread for child in alive.values()}
    kept = {n: tool for n, tool in talk.tools.items() if tool.background or tool.thread in threads}
    draft.change(of, tools=kept, children=alive)
