"""Subagents: their own threads on the parent's connection, introduced before their first event (B44)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.events import Ref, SubagentSeen
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import ID_MAX, ident, strings, table, text
from podium.providers.codex.state import Conversation

_BINDING = ("ensure_thread", "resume_thread", "fork_thread")

SubagentState = Literal["running", "completed", "failed", "interrupted", "unknown"]

_ACTIVITY: dict[str, SubagentState] = {
    "started": "running",
    "interacted": "running",
    "completed": "completed",
    "interrupted": "interrupted",
}

_TELLING = ("spawnAgent", "wait")
"""The calls whose answer tells the present state of a child."""

_AGENTS: dict[str, SubagentState] = {
    "pendingInit": "running",
    "running": "running",
    "completed": "completed",
    "errored": "failed",
    "interrupted": "interrupted",
}


def introduce(draft: Draft, thread: str, root: str | None = None) -> None:
    """Make an unknown thread known before its first event: a child if a parent can be told."""
    if thread in draft.threads:
        return
    parent = _parent(draft, thread, root)
    if parent is None:
        draft.keep_thread(thread, Conversation())
        return
    calls = [item.id for item in draft.items.values() if item.spawns and (item.thread, item.turn) == parent]
    draft.keep_thread(thread, Conversation(*parent, calls[0] if len(calls) == 1 else None))
    _seen(draft, thread, "running")


def spawns(item: dict[str, Any]) -> bool:
    """Whether this item makes a child; other calls of the kind only talk to one."""
    match text(item, "type"):
        case "subAgentActivity":
            return text(item, "kind") == "started"
        case "collabAgentToolCall":
            return text(item, "tool") == "spawnAgent"
        case _:
            return False


def activity(draft: Draft, thread: str, turn: str, item: dict[str, Any], *, ended: bool) -> None:
    """Learn about children from the parent's items."""
    call = (thread, turn, ident(item, "id"))
    native = text(item, "type")
    if native == "subAgentActivity":
        child = ident(item, "agentThreadId")
        if child is not None and child != thread:
            state = _ACTIVITY.get(text(item, "kind") or "", "unknown")
            _learn(draft, call, child, state, name=text(item, "agentPath"))
    elif native == "collabAgentToolCall" and ended:
        prompt = text(item, "prompt") if spawns(item) else None
        states = table(item, "agentsStates")
        for child in strings(item, "receiverThreadIds"):
            word = text(table(states, child), "status")
            # Other calls repeat the state from before they were made.
            if (
                word is not None
                and text(item, "tool") in _TELLING
                and 0 < len(child) <= ID_MAX
                and child != thread
            ):
                _learn(draft, call, child, _AGENTS.get(word, "unknown"), prompt=prompt)


def turned(draft: Draft, thread: str, state: SubagentState) -> None:
    """A turn of a child began or ended: so did its work."""
    if draft.thread(thread).parent_turn is not None:
        _seen(draft, thread, state)


def is_echo(item: dict[str, Any]) -> bool:
    """Whether an item only repeats the end of a child: its state is told, it is no activity of its own."""
    return text(item, "type") == "subAgentActivity" and text(item, "kind") == "completed"


def as_started(native: dict[str, Any]) -> Conversation:
    """A conversation as its own `thread/started` tells it."""
    return Conversation(parent=ident(native, "parentThreadId"), model=text(native, "model"), loaded=True)


def _learn(
    draft: Draft,
    call: tuple[str, str, str | None],
    child: str,
    state: SubagentState,
    *,
    name: str | None = None,
    prompt: str | None = None,
) -> None:
    known = draft.thread(child)
    if known.parent is None or known.parent_item is None:
        known = msgspec.structs.replace(known, parent=call[0], parent_turn=call[1], parent_item=call[2])
    draft.keep_thread(child, known)
    _seen(draft, child, state, name=name, prompt=prompt)


def _seen(
    draft: Draft, child: str, state: SubagentState, *, name: str | None = None, prompt: str | None = None
) -> None:
    known = draft.thread(child)
    handle = draft.handle(child)
    ref = Ref(known.parent or "", known.parent_turn, known.parent_item)
    draft.emit(SubagentSeen(ref, state, child, handle, name, prompt))


def _parent(draft: Draft, thread: str, root: str | None) -> tuple[str, str] | None:
    """Thread and turn that the unknown thread belongs to, or None."""
    others = [turn for turn in draft.turns.values() if turn.thread != thread]
    if root is None and any(pending.tag in _BINDING for pending in draft.pending.values()):
        return None  # It may be the very thread that we asked for.
    named = [turn for turn in others if turn.id == root]
    if named:
        return named[0].thread, named[0].id
    if root is not None:
        return None
    roots = [turn for turn in others if draft.thread(turn.thread).parent is None]
    return (roots[0].thread, roots[0].id) if len(roots) == 1 else None
