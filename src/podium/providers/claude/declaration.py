"""What this adapter can drive, each claim with its proof (R8).

The proofs are scenarios played on the real program (`contract/scenarios.py` says which shows what). What was
not run is not claimed.
"""

from __future__ import annotations

from typing import Any

from podium.contract.capabilities import (
    NATIVE,
    Capabilities,
    Evidence,
    EvidenceClass,
    Strength,
    degraded,
    mcp,
    unsupported,
)
from podium.contract.scenarios import SCENARIO_OF

PROVEN_ON = ("2.1.197", "2.1.332")
"""The program versions that every proof was made with."""

PROVEN_AT = "2026-12-01"
"""The day of the proofs."""


def declare(adapter: str, agent_kind: str, transport: str) -> Capabilities:
    """A fresh record of the declaration."""
    leaves: dict[str, Any] = {}
    evidence: dict[str, Evidence] = {}
    for path, native in _NATIVE.items():
        leaves[path] = Strength.STRONG if path.startswith("identity.") or path in _STRENGTHS else NATIVE
        evidence[path] = _proof(path, EvidenceClass.PROVEN_NATIVE, native)
    for path, (value, native) in _LESSER.items():
        leaves[path] = value
        evidence[path] = _proof(path, EvidenceClass.DEGRADED, native)
    for path, (value, native) in _DELIVERED.items():
        leaves[path] = value
        evidence[path] = _proof(path, EvidenceClass.PROVEN_DELIVERY, native)
    for path, reason in _NOT.items():
        leaves[path] = unsupported(reason)
    return Capabilities.build(
        leaves, adapter=adapter, evidence=evidence, agent_kind=agent_kind, transport=transport
    )


def _proof(path: str, kind: EvidenceClass, native: str) -> Evidence:
    return Evidence(
        evidence_class=kind,
        native=tuple(native.split()),
        proven_on=PROVEN_ON,
        scenario=SCENARIO_OF[path],
        date=PROVEN_AT,
    )


_STRENGTHS = frozenset({"turns.terminal_quality"})

_NATIVE: dict[str, str] = {
    "lifecycle.persistent": "--resume system/init session_id",
    "lifecycle.reattach": "stream-json",
    "lifecycle.multi_thread_per_session": "--session-id",
    "lifecycle.empty_thread": "--session-id",
    "lifecycle.mode_switch": "set_permission_mode system/status can_use_tool",
    "threads.fork": "--resume --fork-session --session-id",
    "turns.started": "system/init",
    "turns.completed": "result",
    "turns.terminal_quality": "result is_error terminal_reason api_error_status",
    "turns.interrupt": "interrupt result",
    "turns.interrupt_keeps_background": "interrupt task_notification",
    "turns.steer_restart": "interrupt user",
    "turns.queue": "user",
    "input.text": "user",
    "input.images": "user image",
    "output.text_delta": "stream_event text_delta",
    "output.reasoning": "stream_event thinking_delta",
    "output.message_completed": "assistant",
    "output.usage": "stream_event message_delta result usage",
    "output.diffs": "tool_use_result structuredPatch",
    "output.raw": "stream-json",
    "tools.item_ids": "tool_use tool_result",
    "tools.started": "assistant tool_use",
    "tools.completed": "user tool_result",
    "tools.output": "user tool_result",
    "approvals.command": "can_use_tool",
    "approvals.file_change": "can_use_tool",
    "approvals.native_request_ids": "can_use_tool request_id",
    "approvals.from_subagents": "can_use_tool agent_id",
    "approvals.user_input": "can_use_tool AskUserQuestion",
    "policy.enforcement": "set_permission_mode dontAsk apply_flag_settings",
    "planning.plan_updates": "TodoWrite",
    "planning.todo_list": "TodoWrite",
    "planning.proposed_plan": "can_use_tool ExitPlanMode",
    "planning.questions": "can_use_tool AskUserQuestion",
    "subagents.supported": "system/task_started",
    "subagents.thread_ids": "system/task_started task_id",
    "subagents.lifecycle": "system/task_started system/task_notification",
    "subagents.background_jobs": "backgroundTaskId system/task_notification",
    "context.synthetic_user": "user",
    "context.consume": "user",
    "context.full": "user",
    "context.delta": "user",
    "context.compaction": "/compact system/compact_boundary",
    "context.context_usage": "result modelUsage contextWindow",
    "identity.thread": "session_id",
    "identity.item": "tool_use id",
    "identity.request": "request_id",
    "models.catalog": "initialize models",
    "models.switch": "set_model system/init",
    "commands.catalog": "initialize commands",
}
"""Proven native: leaf -> names of messages, requests and arguments."""

_LESSER: dict[str, tuple[Any, str]] = {
    "identity.turn": (Strength.WEAK, "user uuid isReplay"),
    "turns.steer_active": (
        degraded("at_tool_end", "Taken where a tool ends; a turn without one more tool does not take it."),
        "user priority isReplay cancel_async_message",
    ),
    "lifecycle.requests_survive_restart": (
        degraded("while_process_lives", "An open request ends with the agent's process, not with its owner."),
        "can_use_tool control_cancel_request",
    ),
}
"""Proven, but less than the leaf means."""

_DELIVERED: dict[str, tuple[Any, str]] = {
    "tools.mcp_external": (mcp("stdio"), "mcp__"),
}

_NOT: dict[str, str] = {
    "lifecycle.lazy_binding": "A thread is bound when it is created.",
    "lifecycle.attach": "Not driven: two processes on one conversation both write it.",
    "lifecycle.writing_load": "Not run: what a load writes into the record was not compared.",
    "lifecycle.list_native": "Not driven: the protocol lists no conversations.",
    "lifecycle.clone": "Not driven: a fork serves instead.",
    "lifecycle.tree": "The protocol has no tree of branches.",
    "lifecycle.read_snapshot": "Not driven: the protocol reads no record back.",
    "lifecycle.switch_by_handoff": "Not run.",
    "threads.fork_from_turn": "Not driven: a branch begins at the end of a conversation.",
    "threads.fork_from_subagent": "A subagent's conversation cannot be resumed.",
    "threads.rollback": "Not driven: it needs the ids of rows that only the agent's own record holds.",
    "threads.rollback_returns_snapshot": "There is no rollback.",
    "threads.delete": "The protocol has no delete.",
    "input.audio": "The protocol carries no audio.",
    "input.structured_output": "Not driven: a shape belongs to a process, not to a prompt.",
    "output.tool_output": "The output of a tool comes whole, with its result.",
    "output.plan_text": "The text of a plan comes whole, with the request to accept it.",
    "tools.app_tools": "Not run.",
    "tools.native_inspection": "Not driven: only names are listed.",
    "tools.native_yielding": "The agent's own tools cannot be handed over.",
    "tools.mcp_status": "Not driven: only a failed start is reported.",
    "tools.dynamic_callbacks": "Not driven: the adapter registers no tools.",
    "approvals.file_read": "Not run: reading in the workspace needs no approval.",
    "approvals.patch": "The agent has no tool that takes a patch.",
    "planning.item_ids": "Steps of a list carry no ids.",
    "planning.thread_goal": "The protocol has no goal.",
    "subagents.wait": "Only the agent itself waits for its subagents.",
    "subagents.close": "Not driven.",
    "subagents.fork": "A subagent's conversation cannot be resumed.",
    "context.system": "Not driven: it belongs to a process, not to a prompt.",
    "context.developer": "The protocol has no developer text.",
    "context.summarize": "Not run.",
    "context.clear_epoch": "Reported where it happens, and not proven: no scenario clears a conversation.",
    "checkpoints.filesystem": "Not driven: Podium captures the files itself.",
    "checkpoints.nested_scopes": "Not driven: Podium captures the files itself.",
    "reasoning.supported": "Not driven.",
    "auth.status": "Not driven.",
    "maintenance.health": "Not driven.",
    "maintenance.history": "Not driven: the protocol reads no record back.",
    "resources.skills": "Not run.",
    "resources.context_files": "Not run.",
}
"""Not offered, and why."""
