"""`system` frames: the beginning of turns, settings, retries, tasks, compaction."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.events import (
    ContextCleared,
    ItemContent,
    ItemSeen,
    Limited,
    Notice,
    Retrying,
    ThreadChanged,
)
from podium.providers.claude import children
from podium.providers.claude.draft import Draft
from podium.providers.claude.failures import word_failure
from podium.providers.claude.modes import mode_of
from podium.providers.claude.reading import ident, integer, is_table, table, tables, text
from podium.providers.claude.state import NAME_MAX
from podium.providers.claude.stream import models
from podium.providers.claude.turns import begin, compacted

MILLISECONDS = 1000.0

QUIET = frozenset(
    {
        "thinking_tokens",
        "session_state_changed",
        "task_progress",
        "task_updated",
        "background_tasks_changed",
        "hook_started",
        "hook_progress",
        "hook_response",
        "files_persisted",
        "local_command",
        "commands_changed",
        "post_turn_summary",
        "memory_recall",
        "elicitation_complete",
        "plugin_install",
        "turn_duration",
        "stop_hook_summary",
    }
)
"""Known notes that change nothing for us."""


def noted(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """One `system` frame. Unknown ones are kept as they are (B73)."""
    word = text(frame, "subtype") or ""
    talk = draft.talks[of]
    match word:
        case "init":
            begin(draft, of, ident(frame, "uuid"))
            _settings(draft, of, frame)
            models(draft, of, _plain(text(frame, "model")))
            _servers(draft, of, frame)
        case "status":
            if text(frame, "status") in ("requesting", "compacting"):
                begin(draft, of, ident(frame, "uuid"))
            if text(frame, "compact_result") == "failed":
                compacted(draft, of, text(frame, "compact_error") or "The agent did not shorten it.")
            _settings(draft, of, frame)
        case "api_retry":
            _retry(draft, of, frame)
        case "task_started":
            children.started(draft, of, frame)
        case "task_notification":
            children.notified(draft, of, frame)
        case "permission_denied":
            _denied(draft, of, frame)
        case "compact_boundary":
            _compacted(draft, of, frame)
        case _ if word in QUIET:
            draft.passed(f"system/{word}")
        case _:
            draft.unknown(f"system/{word}", frame, talk.session, talk.turn.id if talk.turn else None)


def _plain(model: str | None) -> str | None:
    """A model's id without the agent's note of the size of its window."""
    return model.partition("[")[0] if model is not None else None


def moved(draft: Draft, of: str, session: str) -> None:
    """The agent goes on under another id: it dropped its context (its own command for that was used)."""
    talk = draft.talks[of]
    if session == talk.session or talk.opening is not None:
        return
    before = talk.session
    draft.change(of, session=session)
    draft.emit(ContextCleared(before, draft.handle(of)))


def _settings(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """The mode it really runs in. A person who allows more than once changes it too."""
    native, talk = text(frame, "permissionMode"), draft.talks[of]
    if native is None:
        draft.passed(f"system/{text(frame, 'subtype')}")
        return
    draft.change(of, real_mode=native[:NAME_MAX])
    draft.emit(ThreadChanged(talk.session, mode=mode_of(native, talk.mode)))


def _servers(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    talk = draft.talks[of]
    for server in tables(frame, "mcp_servers"):
        if text(server, "status") == "failed":
            message = f"The MCP server {(text(server, 'name') or 'unknown')[:80]} did not start."
            draft.emit(Notice("warning", "mcp_server_failed", message, talk.session))


def _retry(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    turn, session = begin(draft, of, ident(frame, "uuid")), draft.talks[of].session
    status = integer(frame, "error_status")
    why = word_failure(text(frame, "error"), "The model's server refused the request.", status)
    delay = frame.get("retry_delay_ms")
    seconds = delay / MILLISECONDS if isinstance(delay, int | float) and not isinstance(delay, bool) else None
    attempt, most = integer(frame, "attempt"), integer(frame, "max_retries")
    draft.emit(Retrying(session, turn.id, why, attempt, most, seconds))


def _denied(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """The agent's own rules refused a call: it did not fail, it never ran."""
    number = ident(frame, "tool_use_id")
    tools = draft.talks[of].tools
    if number is not None and number in tools:
        refused = msgspec.structs.replace(tools[number], declined=True)
        draft.change(of, tools={**tools, number: refused})
    draft.passed("system/permission_denied")


def _compacted(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    begin(draft, of, ident(frame, "uuid"))
    compacted(draft, of, None)
    told = table(frame, "compact_metadata")
    content = ItemContent(native_kind=text(told, "trigger"), duration_ms=integer(told, "duration_ms"))
    draft.emit(ItemSeen(draft.ref(of, ident(frame, "uuid")), "compaction", "completed", content))


def limited(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """`rate_limit_event`: only where the agent may not work on."""
    info = frame.get("rate_limit_info")
    if not is_table(info) or text(info, "status") != "rejected":
        draft.passed("rate_limit_event")
        return
    until = integer(info, "resetsAt")
    scope = text(info, "rateLimitType") or "account"
    draft.emit(Limited(scope[:80], None if until is None else float(until)))
