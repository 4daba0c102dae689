"""Tool calls: announcement, update and permission are one item, whichever comes first."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

from podium.contract.events import FileChange, ItemContent, ItemKind, ItemSeen, TextDelta
from podium.contract.patches import patch
from podium.providers.acp.children import adopt
from podium.providers.acp.drafting import Draft
from podium.providers.acp.reading import Json, bounded, fits, native_id, obj, rows, text, whole
from podium.providers.acp.state import CONTENT_KEPT_MAX, Session, Tool
from podium.providers.acp.turns import close_message, end_child, tool_ref, watch, working

KINDS: dict[str, ItemKind] = {
    "execute": "command",
    "edit": "file_change",
    "delete": "file_change",
    "move": "file_change",
    "task": "subagent",
}
"""Kinds of the protocol, and the one with which an agent marks calls that start another of its kind."""

TITLE_MAX = 400
"""Longest title kept, in characters."""

COMMAND_KEPT_MAX = 300
"""Longest command that the state keeps whole, in bytes of JSON; of a longer one it keeps the head."""

CUT_MARK = " … (cut; the tool call has the whole command)"
"""What ends the head of a command, so that nobody takes it for the whole one."""

CHANGES_MAX = 100
"""Most changed paths of one tool call that are passed on."""


def tool_update(draft: Draft, session: Session, given: Json, *, announced: bool) -> str | None:
    """A `tool_call` or `tool_call_update`; returns the key of the call it is about."""
    call_id = native_id(given, "toolCallId")
    title = bounded(text(given, "title") or "")
    key = find(session, call_id, title)
    late = key is not None and session.turn is None
    if key is None or not late:
        session, turn = working(draft, session)
        turn_id = turn.id
    else:
        turn_id = session.tools[key].turn
    if key is None:
        session = close_message(
            draft, session, forget=session.message is not None and not session.message.native_id
        )
        session = draft.put(msgspec.structs.replace(session, ordinal=session.ordinal + 1))
        fingerprint = None if call_id else f"{title or 'tool'}#{session.ordinal}"
        key = call_id or f"#{session.ordinal}"
        tool = Tool(turn_id, item_kind(draft, given), call_id, fingerprint)
    else:
        tool = session.tools[key]
        if tool.kind == "tool_call" and text(given, "kind"):
            tool = msgspec.structs.replace(tool, kind=item_kind(draft, given))
    apply(draft, session, key, tool, given, fills=announced)
    if not late and (now := draft.session(session.id)) is not None:
        watch(draft, now)
    return key


def find(session: Session, call_id: str | None, title: str) -> str | None:
    """The call this is about: by its id, else the open one of this title, else the only open one."""
    if call_id is not None:
        return call_id if call_id in session.tools else None
    nameless = [(k, t) for k, t in session.tools.items() if t.native_id is None and t.state == "open"]
    if title:
        nameless = [(k, t) for k, t in nameless if (t.fingerprint or "").rpartition("#")[0] == title]
    return nameless[-1][0] if nameless else None


def native_kind(given: Json) -> str | None:
    """The agent's own word for the kind of tool."""
    return native_id(given, "kind")


def item_kind(draft: Draft, given: Json) -> ItemKind:
    """Our word for the agent's kind of tool. An item keeps the kind it was opened with."""
    meta = obj(given, "_meta")
    if text(meta, "childSessionId"):
        return "subagent"
    return KINDS.get(
        text(given, "kind") or text(obj(meta, draft.flavour.tool_meta), "kind") or "", "tool_call"
    )


def apply(draft: Draft, session: Session, key: str, tool: Tool, given: Json, *, fills: bool = False) -> None:
    """Take one frame about a call: its output first, then what the frame says; the core joins it.

    An announcement that comes behind an update or a permission (`fills`) takes nothing of theirs back.
    """
    status = text(given, "status")
    if tool.state == "open" and status in ("completed", "failed"):
        ended = "declined" if status == "failed" and tool.declined else status
        tool = msgspec.structs.replace(tool, state=ended)
    if status is not None and status != "pending" and not draft.flavour.describes:
        tool = msgspec.structs.replace(tool, running=True)
    content = merged(ItemContent(), given)
    if draft.flavour.titles_commands and tool.kind == "command" and content.command is None:
        content = msgspec.structs.replace(content, command=content.title)
    known_before = key in session.tools
    if fills and known_before:
        content = gaps(tool.content, content)
    tool = msgspec.structs.replace(tool, content=kept(joined(tool.content, content)))
    if not known_before:
        draft.emit(ItemSeen(tool_ref(session, tool), tool.kind, "open", content))
    said, tool = output(draft, session, tool, given)
    session = draft.put_tool(session, key, tool)
    only_output = "status" not in given and "content" not in given and "rawInput" not in given
    if (known_before and not (only_output and said)) or tool.state != "open":
        final = obj_final(given, tool)
        draft.emit(ItemSeen(tool_ref(session, tool), tool.kind, tool.state, content, final))
    child_id = native_id(obj(given, "_meta"), "childSessionId")
    if child_id is not None:
        child(draft, session, key, tool, child_id)


def child(draft: Draft, session: Session, key: str, tool: Tool, child_id: str) -> None:
    """A call that names a child: the child begins with it and ends with it."""
    found = draft.session(child_id)
    if found is None and tool.state == "open" and child_id != session.id:
        adopt(draft, session, child_id, key)
    elif found is not None and found.parent == session.id and tool.state != "open":
        end_child(draft, found, "completed" if tool.state == "completed" else "failed")


def output(draft: Draft, session: Session, tool: Tool, given: Json) -> tuple[bool, Tool]:
    """Pass on new output: a stated delta, or what a growing text has more than before."""
    delta = text(obj(obj(given, "_meta"), "terminal_output_delta"), "data")
    whole_text = content_text(given)
    if (
        delta is None
        and whole_text is not None
        and tool.running
        and not tool.streamed
        and tool.state == "open"
    ):
        start = whole_text[: tool.chars]
        if len(start) == tool.chars and zlib.crc32(start.encode("utf-8", "replace")) == tool.crc:
            delta = whole_text[tool.chars :]
            crc = zlib.crc32(whole_text.encode("utf-8", "replace"))
            tool = msgspec.structs.replace(tool, chars=len(whole_text), crc=crc)
    elif delta is not None:
        tool = msgspec.structs.replace(tool, streamed=True)
    if not delta:
        return False, tool
    draft.emit(TextDelta(tool_ref(session, tool), tool.kind, "output", delta))
    return True, tool


def content_text(given: Json) -> str | None:
    """The text of a call's content, if it has any."""
    parts = [
        text(obj(row, "content"), "text") for row in rows(given, "content") if text(row, "type") == "content"
    ]
    said = [part for part in parts if part is not None]
    return "".join(said) if said else None


def obj_final(given: Json, tool: Tool) -> dict[Any, str]:
    """The agent's own whole output, once the call has ended."""
    said = content_text(given)
    return {"output": said} if said is not None and tool.state != "open" else {}


def merged(before: ItemContent, given: Json) -> ItemContent:
    """What is known of a call after this frame."""
    raw = obj(given, "rawInput")
    changes = tuple(filter(None, (change(row) for row in rows(given, "content")[:CHANGES_MAX])))
    places = [text(row, "path") for row in rows(given, "locations")]
    code = exit_code(given)
    title = text(given, "title")
    return msgspec.structs.replace(
        before,
        title=title[:TITLE_MAX] if title is not None else before.title,
        command=text(raw, "command") or before.command,
        cwd=text(raw, "cwd") or before.cwd,
        arguments=raw or before.arguments,
        changes=changes or before.changes,
        path=next((place for place in places if place), before.path),
        exit_code=code if code is not None else before.exit_code,
        native_kind=native_kind(given) or before.native_kind,
    )


def gaps(before: ItemContent, said: ItemContent) -> ItemContent:
    """What is said of things that were not known before."""
    empty = ItemContent()
    known = {
        name: getattr(empty, name)
        for name in ItemContent.__struct_fields__
        if getattr(before, name) != getattr(empty, name)
    }
    return msgspec.structs.replace(said, **known)


def joined(before: ItemContent, said: ItemContent) -> ItemContent:
    """What is known after something was said: later words win, silence takes nothing back."""
    empty = ItemContent()
    news = {
        name: getattr(said, name)
        for name in ItemContent.__struct_fields__
        if getattr(said, name) != getattr(empty, name)
    }
    return msgspec.structs.replace(before, **news)


def exit_code(given: Json) -> int | None:
    """The exit status of a command, where the agent tells it."""
    raw = obj(given, "rawOutput")
    stated = (
        whole(obj(obj(given, "_meta"), "terminal_exit"), "exit_code"),
        whole(raw, "exit_code"),
        whole(raw, "exitCode"),
        whole(obj(raw, "metadata"), "exit"),
    )
    return next((code for code in stated if code is not None), None)


def change(row: Json) -> FileChange | None:
    """One changed file of a call's content."""
    path = text(row, "path")
    if text(row, "type") != "diff" or path is None:
        return None
    old, new = text(row, "oldText"), text(row, "newText")
    kind = "add" if old is None else "delete" if new is None else "update"
    return FileChange(path, kind, patch(old or "", new or ""))


def kept(content: ItemContent) -> ItemContent:
    """What the state may keep of it: all if it is short, else only names and short fields."""
    if len(msgspec.json.encode(content)) <= CONTENT_KEPT_MAX:
        return content
    return ItemContent(
        title=content.title if content.title and fits(content.title) else None,
        command=head(content.command) if content.command else None,
        path=content.path if content.path and fits(content.path) else None,
        exit_code=content.exit_code,
        native_kind=content.native_kind,
    )


def head(command: str) -> str:
    """A command that the state can keep: itself, or its head and a mark."""
    if len(command) <= COMMAND_KEPT_MAX and len(msgspec.json.encode(command)) <= COMMAND_KEPT_MAX:
        return command
    room = COMMAND_KEPT_MAX - len(msgspec.json.encode(CUT_MARK))
    size = 0
    for place, letter in enumerate(command):
        size += len(msgspec.json.encode(letter)) - 2  # without the quotes
        if size > room:
            return command[:place] + CUT_MARK
    return command
