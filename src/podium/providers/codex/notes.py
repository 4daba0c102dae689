"""The agent's notifications, each to its handler; threads, plans, usage and limits are handled here."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import (
    DiagnosticSeen,
    DiffSeen,
    Limited,
    Notice,
    OpaqueSeen,
    PlanSeen,
    PlanStep,
    PlanStepState,
    Ref,
    Retrying,
    ThreadChanged,
    Usage,
    UsageSeen,
)
from podium.providers.codex import children, deltas, login, turns
from podium.providers.codex.answers import closed
from podium.providers.codex.asks import mode_of
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import bounded, ident, integer, table, tables, text
from podium.providers.codex.failures import attempts, turn_failure
from podium.providers.codex.placing import Params, malformed, place_of
from podium.providers.codex.state import same_id, turn_key


def noted(draft: Draft, method: str, params: Params) -> None:
    """Take one notification. Unknown names are kept as they are (B73); known ones without use are counted."""
    handler = _HANDLERS.get(method)
    if handler is not None:
        handler(draft, params)
    elif method in QUIET or method.startswith(QUIET_FAMILIES):
        draft.emit(DiagnosticSeen(method))
    else:
        draft.opaque += 1
        thread, turn = ident(params, "threadId"), ident(params, "turnId")
        draft.emit(OpaqueSeen(method[:80], bounded(params), thread, turn))


def _status(draft: Draft, params: Params) -> None:
    draft.emit(DiagnosticSeen("thread/status/changed"))
    thread = ident(params, "threadId")
    word = text(table(params, "status"), "type")
    if thread is None or word is None or thread not in draft.threads:
        return
    known = draft.thread(thread)
    draft.threads[thread] = msgspec.structs.replace(known, quiet=word != "active", loaded=word != "notLoaded")


def _settings(draft: Draft, params: Params) -> None:
    thread = ident(params, "threadId")
    settings = table(params, "threadSettings")
    if thread is None:
        malformed(draft, "thread/settings/updated", params)
        return
    model = text(settings, "model")
    mode = mode_of(text(settings, "approvalPolicy"), text(table(settings, "sandboxPolicy"), "type"))
    known = draft.thread(thread)
    draft.keep_thread(
        thread, msgspec.structs.replace(known, model=model or known.model, mode=mode or known.mode)
    )
    draft.emit(ThreadChanged(thread, model, mode))


def _named(draft: Draft, params: Params) -> None:
    thread = ident(params, "threadId")
    if thread is None:
        malformed(draft, "thread/name/updated", params)
    else:
        draft.emit(ThreadChanged(thread, title=text(params, "threadName")))


def _plan(draft: Draft, params: Params) -> None:
    place = place_of(draft, params)
    if place is None:
        malformed(draft, "turn/plan/updated", params)
        return
    steps = tuple(
        PlanStep(text(step, "step") or "", _STEPS.get(text(step, "status") or "", "pending"))
        for step in tables(params, "plan")
    )
    draft.emit(PlanSeen(Ref(*place), "todo_list", steps, explanation=text(params, "explanation")))


_STEPS: dict[str, PlanStepState] = {
    "pending": "pending",
    "inProgress": "in_progress",
    "completed": "completed",
}


def _diff(draft: Draft, params: Params) -> None:
    place, diff = place_of(draft, params), text(params, "diff")
    if place is None or diff is None:
        malformed(draft, "turn/diff/updated", params)
    else:
        draft.emit(DiffSeen(*place, diff))


def _usage(draft: Draft, params: Params) -> None:
    thread, turn = ident(params, "threadId"), ident(params, "turnId")
    usage = table(params, "tokenUsage")
    if thread is None or not usage:
        malformed(draft, "thread/tokenUsage/updated", params)
        return
    total = _tokens(table(usage, "total"))
    window = integer(usage, "modelContextWindow")
    key = f"{turn}:{total.total}" if total.total is not None else None
    draft.emit(UsageSeen(thread, turn, _tokens(table(usage, "last")), total, window, key))


def _tokens(counts: Params) -> Usage:
    return Usage(
        integer(counts, "inputTokens"),
        integer(counts, "cachedInputTokens"),
        integer(counts, "outputTokens"),
        integer(counts, "reasoningOutputTokens"),
        integer(counts, "totalTokens"),
    )


def _error(draft: Draft, params: Params) -> None:
    thread, turn, error = ident(params, "threadId"), ident(params, "turnId"), table(params, "error")
    failed = turn_failure(error)
    if thread is None:
        draft.emit(Notice("error", failed.code, failed.message))
    elif params.get("willRetry") is True:
        attempt, maximum = attempts(error)
        draft.emit(Retrying(thread, turn, failed, attempt, maximum))
        login.refused(draft, thread, turn, _short(failed))
    else:
        key = turn_key(thread, turn or "")
        if key in draft.turns:
            draft.turns[key] = msgspec.structs.replace(draft.turns[key], failure=_short(failed))
        draft.emit(DiagnosticSeen("error"))


FAILURE_TEXT_MAX = 500
"""Characters kept of an error until its turn ends, in case the end does not repeat it."""


def _short(failed: Failure) -> Failure:
    return msgspec.structs.replace(failed, message=failed.message[:FAILURE_TEXT_MAX])


def _resolved(draft: Draft, params: Params) -> None:
    native = params.get("requestId")
    keys = [key for key, waiting in draft.waiting.items() if same_id(waiting.id, native)]
    for key in keys:
        closed(draft, key, "resolved")
    if not keys:
        draft.emit(DiagnosticSeen("serverRequest/resolved"))


def _limits(draft: Draft, params: Params) -> None:
    limits = table(params, "rateLimits")
    reached = text(limits, "rateLimitReachedType")
    if reached is None:
        draft.emit(DiagnosticSeen("account/rateLimits/updated"))
        return
    until = integer(table(limits, "primary"), "resetsAt")
    draft.emit(Limited(reached[:80], None if until is None else float(until)))


def _warning(draft: Draft, params: Params) -> None:
    message = text(params, "message") or text(params, "summary") or ""
    thread = ident(params, "threadId")
    if thread is not None:
        children.introduce(draft, thread)
    draft.emit(Notice("warning", "agent_warning", message[:NOTICE_MAX], thread))


NOTICE_MAX = 2000
"""Longest notice, in characters."""


def _mcp(draft: Draft, params: Params) -> None:
    if text(params, "status") != "failed":
        draft.emit(DiagnosticSeen("mcpServer/startupStatus/updated"))
        return
    name, why = text(params, "name") or "unknown", text(params, "error") or ""
    message = f"The MCP server {name[:80]} did not start. {why}"
    draft.emit(Notice("warning", "mcp_server_failed", message[:NOTICE_MAX], ident(params, "threadId")))


def _rerouted(draft: Draft, params: Params) -> None:
    thread = ident(params, "threadId")
    if thread is None:
        malformed(draft, "model/rerouted", params)
    else:
        draft.emit(ThreadChanged(thread, text(params, "toModel")))


def _thread_started(draft: Draft, params: Params) -> None:
    native = table(params, "thread")
    thread = ident(native, "id")
    if thread is not None and thread not in draft.threads:
        draft.keep_thread(thread, children.as_started(native))
    draft.emit(DiagnosticSeen("thread/started"))


_HANDLERS: dict[str, Callable[[Draft, Params], None]] = {
    "thread/started": _thread_started,
    "thread/status/changed": _status,
    "thread/settings/updated": _settings,
    "thread/name/updated": _named,
    "turn/started": turns.turn_started,
    "turn/completed": turns.turn_completed,
    "item/started": turns.item_started,
    "item/completed": turns.item_completed,
    "item/agentMessage/delta": deltas.delta_of("assistant_message", "text"),
    "item/plan/delta": deltas.delta_of("plan", "text"),
    "item/commandExecution/outputDelta": deltas.delta_of("command", "output"),
    "item/reasoning/summaryPartAdded": deltas.summary_part,
    "item/reasoning/summaryTextDelta": deltas.summary,
    "item/reasoning/textDelta": deltas.raw,
    "item/fileChange/patchUpdated": deltas.patch,
    "turn/plan/updated": _plan,
    "turn/diff/updated": _diff,
    "thread/tokenUsage/updated": _usage,
    "error": _error,
    "serverRequest/resolved": _resolved,
    "account/rateLimits/updated": _limits,
    "warning": _warning,
    "guardianWarning": _warning,
    "configWarning": _warning,
    "mcpServer/startupStatus/updated": _mcp,
    "model/rerouted": _rerouted,
}

QUIET = frozenset(
    {
        "thread/readState/changed",
        "thread/archived",
        "thread/unarchived",
        "thread/deleted",
        "thread/closed",
        "thread/reverted",
        "thread/compacted",
        "thread/section/changed",
        "thread/prediction/updated",
        "thread/queue/changed",
        "thread/project/updated",
        "thread/search/partial",
        "deprecationNotice",
        "skills/changed",
        "project/changed",
        "item/commandExecution/terminalInteraction",
        "item/fileChange/outputDelta",
        "item/mcpToolCall/progress",
        "turn/moderationMetadata",
        "app/list/updated",
        "process/outputDelta",
        "process/exited",
        "command/exec/outputDelta",
        "mcpServer/oauthLogin/completed",
    }
)
"""Known notifications that change nothing for us."""

QUIET_FAMILIES = (
    "account/",
    "remoteControl/",
    "thread/goal/",
    "thread/attachment/",
    "thread/environment/",
    "fuzzyFileSearch/",
    "externalAgentConfig/",
    "fs/",
    "windows",
)
"""Known families of the same kind."""
