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

PROVEN_ON = "0.171.0"
"""The program version that every proof was made with."""

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
        proven_on=(PROVEN_ON,),
        scenario=SCENARIO_OF[path],
        date=PROVEN_AT,
    )


_STRENGTHS = frozenset({"turns.terminal_quality"})

_NATIVE: dict[str, str] = {
    "lifecycle.persistent": "thread/resume",
    "lifecycle.reattach": "app-server",
    "lifecycle.multi_thread_per_session": "thread/start turn/start",
    "lifecycle.read_snapshot": "thread/read",
    "lifecycle.mode_switch": "turn/start thread/settings/updated",
    "threads.fork": "thread/fork",
    "threads.fork_from_turn": "thread/fork lastTurnId",
    "threads.fork_from_subagent": "thread/fork",
    "threads.rollback": "thread/revert thread/reverted",
    "turns.started": "turn/start turn/started",
    "turns.completed": "turn/completed",
    "turns.terminal_quality": "turn/completed turn.status codexErrorInfo",
    "turns.interrupt": "turn/interrupt turn/completed",
    "turns.interrupt_keeps_background": "turn/interrupt item/completed",
    "turns.steer_active": "turn/steer",
    "turns.steer_restart": "turn/interrupt turn/start",
    "turns.queue": "turn/start",
    "input.text": "turn/start",
    "input.images": "turn/start localImage",
    "output.text_delta": "item/agentMessage/delta",
    "output.reasoning": "item/reasoning/summaryTextDelta item/reasoning/textDelta",
    "output.message_completed": "item/completed",
    "output.usage": "thread/tokenUsage/updated",
    "output.diffs": "turn/diff/updated",
    "output.raw": "app-server",
    "tools.item_ids": "item/started item/completed",
    "tools.started": "item/started",
    "tools.completed": "item/completed",
    "tools.output": "item/completed aggregatedOutput",
    "approvals.command": "item/commandExecution/requestApproval",
    "approvals.file_change": "item/fileChange/requestApproval",
    "approvals.patch": "item/fileChange/requestApproval",
    "approvals.native_request_ids": "item/commandExecution/requestApproval",
    "approvals.from_subagents": "item/commandExecution/requestApproval",
    "approvals.user_input": "item/tool/requestUserInput mcpServer/elicitation/request",
    "policy.enforcement": "approvalPolicy sandbox",
    "planning.plan_updates": "turn/plan/updated",
    "planning.todo_list": "turn/plan/updated",
    "planning.questions": "item/tool/requestUserInput",
    "subagents.supported": "item/started collabAgentToolCall subAgentActivity",
    "subagents.thread_ids": "receiverThreadIds agentThreadId",
    "subagents.lifecycle": "collabAgentToolCall subAgentActivity turn/completed",
    "subagents.fork": "thread/fork",
    "subagents.background_jobs": "item/completed turn/completed",
    "context.synthetic_user": "turn/start",
    "context.consume": "turn/start",
    "context.full": "turn/start",
    "context.delta": "turn/start",
    "context.compaction": "thread/compact/start contextCompaction",
    "context.context_usage": "thread/tokenUsage/updated modelContextWindow",
    "identity.thread": "thread.id",
    "identity.turn": "turn.id",
    "identity.item": "item.id",
    "models.catalog": "model/list",
    "models.switch": "turn/start model",
}
"""Proven native: leaf -> method and event names."""

_LESSER: dict[str, tuple[Any, str]] = {
    "lifecycle.empty_thread": (
        degraded("volatile", "An empty thread lives in the process only until its first turn."),
        "thread/start",
    ),
    "output.tool_output": (
        degraded("lossy_deltas", "Deltas may miss the beginning; the final output is whole."),
        "item/commandExecution/outputDelta aggregatedOutput",
    ),
    "lifecycle.requests_survive_restart": (
        degraded("while_process_lives", "An open request ends with the agent's process, not with its owner."),
        "item/commandExecution/requestApproval serverRequest/resolved",
    ),
    "identity.request": (Strength.WEAK, "serverRequest/resolved"),
}
"""Proven, but less than the leaf means."""

_DELIVERED: dict[str, tuple[Any, str]] = {
    "tools.mcp_external": (mcp("stdio"), "mcpToolCall"),
}

_NOT: dict[str, str] = {
    "lifecycle.lazy_binding": "A thread is bound when it is created.",
    "lifecycle.attach": "Not driven: a second process on a running conversation is refused by the agent.",
    "lifecycle.writing_load": "Not run: what a load writes into the record was not compared.",
    "lifecycle.list_native": "Not driven: the adapter sends no list request.",
    "lifecycle.clone": "Not driven: a fork serves instead.",
    "lifecycle.tree": "The protocol has no tree of branches.",
    "lifecycle.switch_by_handoff": "Not run.",
    "threads.rollback_returns_snapshot": "Not driven: the answer of a rollback is not read.",
    "threads.delete": "Not driven: a delete takes subagents along and is refused for forked history.",
    "input.audio": "Not run.",
    "output.plan_text": "Not driven: the adapter does not enter the agent's plan mode.",
    "planning.proposed_plan": "Not driven: the adapter does not enter the agent's plan mode.",
    "input.structured_output": "Not driven: the adapter sends no output schema.",
    "tools.app_tools": "Not run.",
    "tools.native_inspection": "The protocol does not list the agent's own tools.",
    "tools.native_yielding": "The agent's own tools cannot be handed over.",
    "tools.mcp_status": "Not driven: only a failed start is reported.",
    "tools.dynamic_callbacks": "Not driven: the adapter registers no tools; a call to one fails at once.",
    "approvals.file_read": "Reading needs no approval in any mode.",
    "planning.item_ids": "Steps of a plan carry no ids.",
    "planning.thread_goal": "Not driven.",
    "subagents.wait": "Only the agent itself waits for its subagents.",
    "subagents.close": "Only the agent itself closes its subagents.",
    "context.system": "Not driven.",
    "context.developer": "Not driven.",
    "context.summarize": "Not run.",
    "context.clear_epoch": "The protocol has no clearing of a conversation; a new thread serves instead.",
    "checkpoints.filesystem": "The agent takes back conversations, never files.",
    "checkpoints.nested_scopes": "The agent takes back conversations, never files.",
    "reasoning.supported": "Not driven: an unlisted effort was accepted unchecked.",
    "auth.status": "Not driven.",
    "maintenance.health": "Not driven.",
    "maintenance.history": "Not driven.",
    "commands.catalog": "The protocol lists no slash commands.",
    "resources.skills": "Not run.",
    "resources.context_files": "Not run.",
}
"""Not offered, and why."""
