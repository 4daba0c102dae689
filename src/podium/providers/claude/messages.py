"""Whole blocks of an answer: `assistant` frames, one block each."""

from __future__ import annotations

from typing import Any

from podium.contract.events import ItemSeen, PlanSeen, Ref, TextDelta
from podium.providers.claude import children
from podium.providers.claude.draft import Draft
from podium.providers.claude.failures import word_failure
from podium.providers.claude.reading import ident, integer, joined, table, tables, text
from podium.providers.claude.state import TOOLS_MAX, Tool
from podium.providers.claude.stream import BLOCKS, models, place_of_block
from podium.providers.claude.todos import steps_of
from podium.providers.claude.tools import content_of, kind_of
from podium.providers.claude.turns import begin


def said(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """One `assistant` frame: of the conversation, or of a subagent in it."""
    message = table(frame, "message")
    name = ident(message, "id") or ident(frame, "uuid")
    parent = ident(frame, "parent_tool_use_id")
    if name is None:
        draft.passed("assistant")
        return
    if parent is not None:
        _child(draft, of, frame, parent, name)
        return
    begin(draft, of, ident(frame, "uuid"))
    error = text(frame, "error")
    if error is not None:
        # It is no answer: the agent writes its own error as one. The end of the turn says the same.
        why = word_failure(error, joined(message.get("content")) or "", integer(frame, "error_status"))
        draft.change_turn(of, failure=why)
        draft.passed("assistant/error")
        return
    models(draft, of, text(message, "model"))
    for block in tables(message, "content"):
        kind = text(block, "type") or ""
        if kind in BLOCKS:
            ref, _ = place_of_block(draft, of, name, kind)
            _whole(draft, ref, kind, block)
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            place_of_block(draft, of, name, kind)
            call(draft, of, draft.talks[of].session, block)
        elif kind.endswith("_tool_result"):
            draft.passed(kind[:80])
        else:
            draft.unknown(f"assistant/{kind}", block, *place(draft, of))


def place(draft: Draft, of: str) -> tuple[str, str | None]:
    """The conversation and its running turn."""
    talk = draft.talks[of]
    return talk.session, talk.turn.id if talk.turn is not None else None


def _whole(draft: Draft, ref: Ref, kind: str, block: dict[str, Any]) -> None:
    item, body = BLOCKS[kind]
    words = text(block, "text") if kind == "text" else text(block, "thinking")
    draft.emit(ItemSeen(ref, item, "completed", final={} if words is None else {body: words}))


def _child(draft: Draft, of: str, frame: dict[str, Any], parent: str, name: str) -> None:
    """A subagent's answer comes whole: no deltas of it are given."""
    child = children.place(draft, of, parent, ident(frame, "agent_id"))
    for index, block in enumerate(tables(table(frame, "message"), "content")):
        kind = text(block, "type") or ""
        ref = Ref(child.thread, child.turn, f"{name}:{ident(frame, 'uuid') or index}")
        if kind in BLOCKS:
            item, body = BLOCKS[kind]
            words = text(block, "text") or text(block, "thinking")
            if words:
                draft.emit(TextDelta(ref, item, body, words))
            _whole(draft, ref, kind, block)
        elif kind == "tool_use":
            call(draft, of, child.thread, block, turn=child.turn)
        else:
            draft.passed(f"subagent/{kind}"[:80])


def call(draft: Draft, of: str, thread: str, block: dict[str, Any], turn: str | None = None) -> None:
    """A tool call begins."""
    number, name, given = ident(block, "id"), text(block, "name") or "", table(block, "input")
    running = draft.talks[of].turn
    at = turn or (running.id if running is not None else None)
    if number is None or at is None:
        draft.passed("tool_use")
        return
    kind = kind_of(name)
    tools = {**draft.talks[of].tools, number: Tool(kind, at, name[:128], thread)}
    while len(tools) > TOOLS_MAX:
        del tools[next(iter(tools))]
    draft.change(of, tools=tools)
    ref = Ref(thread, at, number)
    draft.emit(ItemSeen(ref, kind, "open", content_of(kind, name, given)))
    steps = steps_of(name, given)
    if steps is not None:
        draft.emit(PlanSeen(ref, "todo_list", steps))
