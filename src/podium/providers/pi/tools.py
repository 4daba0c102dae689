"""Pi's tools as items: a command, a change of a file, or any other call."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

from podium.contract.errors import failure
from podium.contract.events import Body, FileChange, ItemContent, ItemKind, ItemSeen, TextDelta
from podium.providers.pi.draft import Draft
from podium.providers.pi.reading import is_object, part, parts, text, whole
from podium.providers.pi.said import ToolEnd, ToolStart, ToolUpdate
from podium.providers.pi.state import TOOLS_MAX, Tool, Turn
from podium.transport.codec import encode_frame

KINDS: dict[str, ItemKind] = {"bash": "command", "edit": "file_change", "write": "file_change"}

PAYLOAD_MAX = 32 * 1024
"""Largest argument or result kept whole, in encoded bytes."""

HEAD_MAX = 2048
"""Characters kept of one that is larger."""

DIFF_MAX = 64 * 1024
"""Longest diff kept of a path, in characters; it is for reading."""

ID_MAX = 128
"""Longest id of a call, in characters; a longer one is shortened, with its digest behind it."""


def call_id(native: str) -> str:
    """The id of a call, which comes from the model's server and may be any text."""
    return native if len(native) <= ID_MAX else f"{native[:64]}-{digest(native)}"


def digest(given: str) -> str:
    """What tells a text again without keeping it."""
    return hashlib.sha256(given.encode(errors="replace")).hexdigest()[:16]


def bounded(value: Any) -> Any:
    """The value, or the head of it."""
    try:
        size = len(msgspec.json.encode(value))
    except (OverflowError, UnicodeEncodeError, RecursionError):
        size = PAYLOAD_MAX + 1
    return value if size <= PAYLOAD_MAX else {"truncated": True, "head": encode_frame(value)[:HEAD_MAX]}


def started(draft: Draft, turn: Turn, said: ToolStart) -> None:
    """A tool runs."""
    key, kind = call_id(said.tool_call_id), KINDS.get(said.tool_name, "tool_call")
    kept = list(draft.state.tools.items())[-TOOLS_MAX + 1 :]
    draft.change(tools=dict(kept) | {key: Tool(kind)})
    draft.emit(ItemSeen(draft.ref(turn, key), kind, "open", content(kind, said.tool_name, said.args)))


def content(kind: ItemKind, name: str, args: Any) -> ItemContent:
    """What a call says of itself."""
    match kind:
        case "command":
            return ItemContent(command=text(args, "command"), native_kind=name)
        case "file_change":
            change = FileChange(text(args, "path"), changed(name))
            return ItemContent(changes=(change,) if change.path else (), native_kind=name)
        case _:
            return ItemContent(tool=name, arguments=bounded(args))


def changed(name: str) -> Literal["add", "update"]:
    """A write gives a whole file, whether there was one or not; an edit changes one that is there."""
    return "add" if name == "write" else "update"


def updated(draft: Draft, turn: Turn, said: ToolUpdate) -> None:
    """More output of a command, where it goes on from what was passed on; else its end brings it whole."""
    key = call_id(said.tool_call_id)
    tool, whole_text = draft.state.tools.get(key), output(said.partial_result)
    if tool is None or tool.kind != "command" or len(whole_text) <= tool.told:
        return
    if tool.told and digest(whole_text[: tool.told]) != tool.digest:
        return
    draft.emit(TextDelta(draft.ref(turn, key), "command", "output", whole_text[tool.told :]))
    told = Tool(tool.kind, len(whole_text), digest(whole_text))
    draft.change(tools=draft.state.tools | {key: told})


def output(result: Any) -> str:
    """The text of a result."""
    return "".join(text(one, "text") for one in parts(result, "content"))


def ended(draft: Draft, turn: Turn, said: ToolEnd) -> None:
    """A tool is done."""
    key = call_id(said.tool_call_id)
    tool = draft.state.tools.get(key)
    kind = tool.kind if tool is not None else KINDS.get(said.tool_name, "tool_call")
    draft.change(tools={k: t for k, t in draft.state.tools.items() if k != key})
    final: dict[Body, str] = {}
    found = ItemContent(duration_ms=said.duration_ms, native_kind=said.tool_name)
    if kind == "command":
        structured = part(said.result, "structuredContent")
        final["output"] = text(structured, "output") if "output" in structured else output(said.result)
        found = msgspec.structs.replace(found, exit_code=whole(structured, "exit_code"))
    elif kind == "file_change":
        details = part(said.result, "details")
        patch = text(details, "patch")[:DIFF_MAX]
        path = patched(patch)
        if path:
            change = FileChange(path, changed(said.tool_name), patch)
            found = msgspec.structs.replace(found, changes=(change,))
    else:
        result = said.result.get("content") if is_object(said.result) else said.result
        found = ItemContent(tool=said.tool_name, result=bounded(result), duration_ms=said.duration_ms)
    if said.is_error:
        why = failure("provider", "tool_failed", output(said.result))
        found = msgspec.structs.replace(found, failure=why)
    state = "failed" if said.is_error else "completed"
    draft.emit(ItemSeen(draft.ref(turn, key), kind, state, found, final))


def patched(patch: str) -> str:
    """The path that a patch is for: its second line names the file as it is afterwards."""
    lines = patch.split("\n", 2)
    return lines[1].removeprefix("+++ ") if len(lines) > 1 and lines[1].startswith("+++ ") else ""
