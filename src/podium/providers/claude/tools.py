"""The agent's tools as our items. Pure: a call or its result in, one kind and content out."""

from __future__ import annotations

from typing import Any, Literal

from podium.contract.events import Body, FileChange, ItemContent, ItemKind
from podium.providers.claude.reading import bounded, integer, is_list, is_table, joined, strings, tables, text

DIFF_MAX = 64 * 1024
"""Longest diff kept of one path, in characters; it is for reading."""

OUTPUT_MAX = 1024 * 1024
"""Longest output kept of one call, in characters."""

KINDS: dict[str, ItemKind] = {
    "Bash": "command",
    "PowerShell": "command",
    "Edit": "file_change",
    "MultiEdit": "file_change",
    "Write": "file_change",
    "NotebookEdit": "file_change",
    "WebSearch": "web_search",
    "Agent": "subagent",
    "Task": "subagent",
    "AskUserQuestion": "question",
}
"""The tools with a kind of their own; every other one is a tool call."""

SERVER_PREFIX = "mcp__"


def kind_of(name: str) -> ItemKind:
    """Our kind of a tool."""
    return KINDS.get(name, "tool_call")


def server_of(name: str) -> tuple[str | None, str]:
    """The server and the tool's own name, where the tool comes from an MCP server."""
    if not name.startswith(SERVER_PREFIX):
        return None, name
    server, _, tool = name.removeprefix(SERVER_PREFIX).partition("__")
    return server, tool or name


def content_of(kind: ItemKind, name: str, given: dict[str, Any]) -> ItemContent:
    """What a call says it will do."""
    match kind:
        case "command":
            background = given.get("run_in_background") is True
            return ItemContent(
                title=text(given, "description"), command=text(given, "command"), background=background
            )
        case "file_change":
            path = path_of(given)
            change = FileChange(path, "update", diff_of_input(given)) if path else None
            return ItemContent(changes=(change,) if change is not None else (), tool=name)
        case "web_search":
            return ItemContent(query=text(given, "query"), tool=name)
        case "subagent":
            return ItemContent(
                title=text(given, "description"),
                tool=name,
                arguments=bounded(given),
                background=given.get("run_in_background") is True,
            )
        case _:
            server, tool = server_of(name)
            return ItemContent(
                tool=tool, server=server, arguments=bounded(given), path=text(given, "file_path")
            )


def path_of(given: dict[str, Any]) -> str | None:
    """The file that a call changes."""
    return text(given, "file_path") or text(given, "notebook_path")


def diff_of_input(given: dict[str, Any]) -> str:
    """What a call wants to change, for reading; where it is not yet known, only the new lines are."""
    whole = text(given, "content")
    if whole is not None:
        return _lines("+", whole)[:DIFF_MAX]
    edits = tables(given, "edits") or [given]
    parts: list[str] = []
    for edit in edits:
        old, new = text(edit, "old_string"), text(edit, "new_string")
        if old is not None or new is not None:
            parts.append(_lines("-", old or "") + _lines("+", new or ""))
    return "".join(parts)[:DIFF_MAX]


def _lines(sign: str, words: str) -> str:
    return "".join(f"{sign}{line}\n" for line in words.splitlines())


def change_of_result(result: dict[str, Any]) -> FileChange | None:
    """What a finished edit changed, with the agent's own diff."""
    path = text(result, "filePath")
    if path is None:
        return None
    kind: Literal["add", "update"] = "add" if text(result, "type") == "create" else "update"
    hunks: list[str] = []
    for hunk in tables(result, "structuredPatch"):
        old, new = (
            f"{integer(hunk, f'{side}Start')},{integer(hunk, f'{side}Lines')}" for side in ("old", "new")
        )
        hunks.append(f"@@ -{old} +{new} @@\n" + "".join(f"{line}\n" for line in strings(hunk, "lines")))
    diff = "".join(hunks)
    if not diff and kind == "add":
        diff = _lines("+", text(result, "content") or "")
    return FileChange(path, kind, diff[:DIFF_MAX])


def output_of(block: dict[str, Any], result: Any) -> str | None:
    """The output of a command, else the text of a result."""
    if is_table(result) and isinstance(result.get("stdout"), str):
        out, err = text(result, "stdout") or "", text(result, "stderr") or ""
        return "\n".join(part for part in (out, err) if part)[:OUTPUT_MAX]
    found = joined(block.get("content"))
    return None if found is None else found[:OUTPUT_MAX]


def result_of(
    kind: ItemKind, name: str, block: dict[str, Any], result: Any
) -> tuple[ItemContent, dict[Body, str]]:
    """The content and the texts of a finished call."""
    output = output_of(block, result)
    match kind:
        case "command":
            return ItemContent(), {} if output is None else {"output": output}
        case "file_change":
            change = change_of_result(result) if is_table(result) else None
            return ItemContent(changes=(change,) if change is not None else ()), {}
        case _:
            said = block.get("content")
            kept = bounded([entry for entry in said if is_table(entry)] if is_list(said) else said)
            server, tool = server_of(name)
            return ItemContent(tool=tool, server=server, result=kept), {}
