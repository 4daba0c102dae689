"""`user` frames: results of tools, prompts that were taken, and what the agent says to itself."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.events import Body, ItemContent, ItemSeen, ItemState, Ref
from podium.providers.claude import children, todos
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import ident, is_table, joined, table, tables, text
from podium.providers.claude.tools import result_of
from podium.providers.claude.turns import begin, taken


def told(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """One `user` frame."""
    content = table(frame, "message").get("content")
    uuid = ident(frame, "uuid")
    if frame.get("isReplay") is True:
        _replayed(draft, of, uuid, joined(content))
        return
    results = [b for b in tables(table(frame, "message"), "content") if text(b, "type") == "tool_result"]
    for block in results:
        _result(draft, of, block, frame)
    if not results:
        # Its own notes to the model: an interrupt, a summary, the prompt of a subagent.
        draft.passed("user")


def _replayed(draft: Draft, of: str, uuid: str | None, words: str | None) -> None:
    """The agent takes a prompt of ours, into the running turn or as a turn of its own."""
    talk = draft.talks[of]
    mine = next((prompt for prompt in talk.prompts if prompt.uuid == uuid), None)
    if talk.turn is not None and talk.turn.id == uuid:
        draft.change_turn(of, seen=True)
    elif mine is not None:
        rest = tuple(prompt for prompt in talk.prompts if prompt is not mine)
        if talk.turn is None:
            draft.change(of, prompts=(mine, *rest), exact=False)
            begin(draft, of, uuid)
            draft.change_turn(of, seen=True)
        else:
            draft.change(of, prompts=rest)
            taken(draft, of, mine)
    else:
        draft.passed("user/replay")  # such as what a local command printed
        return
    client = mine.client_id if mine is not None else talk.turn.client_id if talk.turn is not None else None
    final: dict[Body, str] = {} if words is None else {"text": words}
    draft.emit(ItemSeen(draft.ref(of, uuid), "user_message", "completed", final=final, client_id=client))


def _result(draft: Draft, of: str, block: dict[str, Any], frame: dict[str, Any]) -> None:
    number = ident(block, "tool_use_id")
    tool = draft.talks[of].tools.get(number or "")
    for key, waiting in draft.waits_of(of):
        if waiting.tool == number:
            draft.close(key, "result")
    if number is None or tool is None:
        draft.passed("tool_result")
        return
    result = frame.get("tool_use_result")
    ref = Ref(tool.thread, tool.turn, number)
    task = text(result, "backgroundTaskId") if is_table(result) else None
    started = is_table(result) and (task is not None or text(result, "status") == "async_launched")
    if started and tool.kind in ("command", "subagent"):
        # The call is over and its work is not: `task_notification` ends it.
        running = msgspec.structs.replace(tool, background=True)
        draft.change(of, tools={**draft.talks[of].tools, number: running})
        draft.emit(ItemSeen(ref, tool.kind, "open", ItemContent(background=True)))
        return
    draft.change(of, tools={name: t for name, t in draft.talks[of].tools.items() if name != number})
    state: ItemState = "completed"
    if block.get("is_error") is True:
        state = "declined" if tool.declined else "failed"
    content, final = result_of(tool.kind, tool.name, block, result)
    draft.emit(ItemSeen(ref, tool.kind, state, content, final))
    if tool.kind == "subagent":
        children.over(draft, of, number, "completed" if state == "completed" else "failed")
    elif is_table(result):
        todos.changed(draft, of, ref, tool.name, result)
