"""The agent's thread items as ours. Pure: one native item in, one kind, content and final text out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from podium.contract.errors import Failure, failure
from podium.contract.events import Body, FileChange, ItemContent, ItemKind, ItemSeen, ItemState, Ref
from podium.providers.codex.edges import bounded, ident, integer, is_table, strings, table, tables, text

DIFF_MAX = 64 * 1024
"""Longest diff kept of one path, in characters; it is for reading."""

PART_BREAK = "\n\n"
"""What stands between two parts of a reasoning, in the deltas and in the final text alike."""

KINDS: dict[str, ItemKind] = {
    "userMessage": "user_message",
    "agentMessage": "assistant_message",
    "reasoning": "reasoning",
    "commandExecution": "command",
    "fileChange": "file_change",
    "mcpToolCall": "tool_call",
    "dynamicToolCall": "tool_call",
    "webSearch": "web_search",
    "imageView": "image",
    "plan": "plan",
    "collabAgentToolCall": "subagent",
    "subAgentActivity": "subagent",
    "contextCompaction": "compaction",
    "enteredReviewMode": "review",
    "exitedReviewMode": "review",
}

_STATES: dict[str, ItemState] = {
    "completed": "completed",
    "failed": "failed",
    "declined": "declined",
    "interrupted": "interrupted",
    "inProgress": "open",
}

_CHANGE_KINDS: dict[str, Literal["add", "update", "delete"]] = {
    "add": "add",
    "update": "update",
    "delete": "delete",
}


def kind_of(item: dict[str, Any]) -> ItemKind:
    """Our kind of a native item; an unknown type is opaque (B73)."""
    native = text(item, "type")
    if native == "collabAgentToolCall" and text(item, "tool") != "spawnAgent":
        return "tool_call"  # It talks to a child and makes none.
    return KINDS.get(native or "", "opaque")


def changes_of(item: dict[str, Any]) -> tuple[FileChange, ...]:
    """The structured file changes of an item."""
    found: list[FileChange] = []
    for change in tables(item, "changes"):
        path = text(change, "path")
        if not path:
            continue
        native = table(change, "kind")
        kind = _CHANGE_KINDS.get(text(native, "type") or text(change, "kind") or "", "update")
        diff = (text(change, "diff") or "")[:DIFF_MAX]
        moved = text(native, "move_path")
        if moved:
            found.append(FileChange(path, "move", diff, moved))
        else:
            found.append(FileChange(path, kind, diff))
    return tuple(found)


def item_seen(ref: Ref, item: dict[str, Any], *, ended: bool, background: bool = False) -> ItemSeen:
    """One item as it began or ended. Final text is given at its end only."""
    kind = kind_of(item)
    state: ItemState = "open"
    if ended:
        word = text(item, "status")
        state = "completed" if word is None else _STATES.get(word, "unverifiable")
    content = _content(kind, item)
    if background and kind == "command":
        content = msgspec.structs.replace(content, background=True)
    return ItemSeen(ref, kind, state, content, _final(kind, item) if ended else {}, ident(item, "clientId"))


def _content(kind: ItemKind, item: dict[str, Any]) -> ItemContent:
    build = _CONTENTS.get(kind)
    return ItemContent() if build is None else build(item)


def _command(item: dict[str, Any]) -> ItemContent:
    return ItemContent(
        command=text(item, "command"),
        cwd=text(item, "cwd"),
        exit_code=integer(item, "exitCode"),
        duration_ms=integer(item, "durationMs"),
        native_kind=text(item, "source"),
    )


def _review(item: dict[str, Any]) -> ItemContent:
    native = text(item, "type")
    return ItemContent(
        title=text(item, "review") if native == "enteredReviewMode" else None, native_kind=native
    )


def _opaque(item: dict[str, Any]) -> ItemContent:
    return ItemContent(native_kind=(text(item, "type") or "unknown")[:80], payload=bounded(item))


def _tool(item: dict[str, Any]) -> ItemContent:
    native = text(item, "type")
    if native == "collabAgentToolCall":
        return _subagent(item)
    own = native == "mcpToolCall"
    return ItemContent(
        tool=text(item, "tool"),
        server=text(item, "server") if own else text(item, "namespace"),
        arguments=bounded(item.get("arguments")),
        result=bounded(item.get("result") if own else item.get("contentItems")),
        duration_ms=integer(item, "durationMs"),
        failure=_tool_failure(item.get("error")),
    )


def _tool_failure(error: Any) -> Failure | None:
    if error is None:
        return None
    message = text(error, "message") if is_table(error) else error
    return failure("provider", "tool_failed", message if isinstance(message, str) else "")


def _subagent(item: dict[str, Any]) -> ItemContent:
    if text(item, "type") == "subAgentActivity":
        return ItemContent(title=text(item, "agentPath"), native_kind=text(item, "kind"))
    return ItemContent(tool=text(item, "tool"), arguments=bounded(strings(item, "receiverThreadIds")))


def _attachments(item: dict[str, Any]) -> Any:
    """What a message holds besides text, without any inline data."""
    found: list[dict[str, Any]] = []
    for block in tables(item, "content"):
        name = text(block, "type")
        if name == "text":
            continue
        path = text(block, "path")
        found.append({"type": name or "unknown"} | ({} if path is None else {"path": path}))
    return found or None


def _final(kind: ItemKind, item: dict[str, Any]) -> dict[Body, str]:
    final: dict[Body, str] = {}
    match kind:
        case "user_message":
            final["text"] = "".join(
                text(b, "text") or "" for b in tables(item, "content") if b.get("type") == "text"
            )
        case "assistant_message" | "plan":
            found = text(item, "text")
            if found is not None:
                final["text"] = found
        case "reasoning":
            summary, raw = strings(item, "summary"), strings(item, "content")
            if summary:
                final["summary"] = PART_BREAK.join(summary)
            if raw:
                final["reasoning"] = PART_BREAK.join(raw)
        case "command":
            # Deltas lose the beginning of fast commands; the aggregate is the truth.
            output = text(item, "aggregatedOutput")
            if output is not None:
                final["output"] = output
        case "review":
            found = text(item, "review")
            if found is not None and text(item, "type") == "exitedReviewMode":
                final["text"] = found
        case _:
            pass
    return final


_CONTENTS: dict[ItemKind, Callable[[dict[str, Any]], ItemContent]] = {
    "user_message": lambda item: ItemContent(payload=_attachments(item)),
    "assistant_message": lambda item: ItemContent(phase=text(item, "phase")),
    "command": _command,
    "file_change": lambda item: ItemContent(changes=changes_of(item)),
    "tool_call": _tool,
    "web_search": lambda item: ItemContent(query=text(item, "query"), arguments=bounded(item.get("action"))),
    "image": lambda item: ItemContent(path=text(item, "path")),
    "subagent": _subagent,
    "review": _review,
    "opaque": _opaque,
}
"""How the content of each kind is read; the other kinds have none."""
