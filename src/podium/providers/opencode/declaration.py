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

PROVEN_ON = "1.18.33"
"""The program version that every proof was made with."""

PROVEN_AT = "2026-12-01"
"""The day of the proofs."""


def declare(adapter: str, agent_kind: str, transport: str) -> Capabilities:
    """A fresh record of the declaration."""
    leaves: dict[str, Any] = {path: unsupported(reason) for path, reason in NOT.items()}
    evidence: dict[str, Evidence] = {}
    for path, native in NATIVELY.items():
        leaves[path] = Strength.STRONG if path.startswith("identity.") or path in STRENGTHS else NATIVE
        evidence[path] = _proof(path, EvidenceClass.PROVEN_NATIVE, native)
    for path, (value, native) in LESS.items():
        leaves[path] = value
        evidence[path] = _proof(path, EvidenceClass.DEGRADED, native)
    for path, (value, native) in DELIVERED.items():
        leaves[path] = value
        evidence[path] = _proof(path, EvidenceClass.PROVEN_DELIVERY, native)
    return Capabilities.build(
        leaves, adapter=adapter, evidence=evidence, agent_kind=agent_kind, transport=transport
    )


def _proof(path: str, kind: EvidenceClass, native: str) -> Evidence:
    return Evidence(
        evidence_class=kind,
        native=tuple(native.split(", ")),
        proven_on=(PROVEN_ON,),
        scenario=SCENARIO_OF[path],
        date=PROVEN_AT,
    )


STRENGTHS = frozenset({"turns.terminal_quality"})

PROMPT = "POST /session/{id}/prompt_async"
PART = "message.part.updated"

NATIVELY: dict[str, str] = {
    "lifecycle.persistent": "PATCH /session/{id}",
    "lifecycle.empty_thread": "POST /session",
    "lifecycle.multi_thread_per_session": "POST /session",
    "lifecycle.reattach": "GET /event",
    "lifecycle.mode_switch": "permission.asked, POST /permission/{id}/reply",
    "lifecycle.read_snapshot": "GET /session/{id}/message",
    "threads.fork": "POST /session/{id}/fork",
    "threads.fork_from_turn": "POST /session/{id}/fork messageID",
    "threads.fork_from_subagent": "POST /session/{id}/fork",
    "threads.rollback": "DELETE /session/{id}/message/{id}",
    "input.text": PROMPT,
    "input.images": f"{PROMPT} parts.file",
    "turns.queue": PROMPT,
    "turns.started": f"{PART} text metadata",
    "turns.completed": "message.updated time.completed, session.idle",
    "turns.terminal_quality": "message.updated finish, message.updated error",
    "turns.interrupt": "POST /session/{id}/abort, message.updated error",
    "turns.steer_active": PROMPT,
    "turns.steer_restart": f"POST /session/{{id}}/abort, {PROMPT}",
    "output.text_delta": "message.part.delta",
    "output.reasoning": f"{PART} reasoning, message.part.delta",
    "output.message_completed": f"{PART} text time.end",
    "output.usage": f"{PART} step-finish tokens",
    "output.diffs": "permission.asked metadata.diff, message.part.updated metadata.filediff",
    "output.tool_output": f"{PART} tool metadata.output",
    "output.raw": "GET /event",
    "tools.item_ids": f"{PART} id",
    "tools.started": f"{PART} tool state",
    "tools.completed": f"{PART} tool state",
    "tools.output": f"{PART} tool output",
    "approvals.command": "permission.asked bash",
    "approvals.file_change": "permission.asked edit",
    "approvals.patch": "permission.asked edit metadata.diff",
    "approvals.native_request_ids": "permission.asked id",
    "approvals.from_subagents": "permission.asked sessionID",
    "approvals.user_input": "question.asked, POST /question/{id}/reply",
    "planning.questions": "question.asked, POST /question/{id}/reply",
    "planning.plan_updates": "todo.updated",
    "planning.todo_list": "todo.updated",
    "subagents.supported": f"{PART} tool task metadata.sessionId, session.created parentID",
    "subagents.thread_ids": "session.created parentID",
    "subagents.lifecycle": f"{PART} tool task state",
    "subagents.fork": "POST /session/{id}/fork",
    "context.consume": PROMPT,
    "context.full": PROMPT,
    "context.delta": PROMPT,
    "context.synthetic_user": PROMPT,
    "context.compaction": "POST /session/{id}/summarize, session.compacted",
    "context.context_usage": f"{PART} step-finish tokens, GET /config/providers limit.context",
    "identity.thread": "session.id",
    "identity.turn": "message.id",
    "identity.item": "part.id",
    "identity.request": "permission.id",
    "models.catalog": "GET /config/providers",
    "models.switch": f"{PROMPT} model",
}
"""Proven native: leaf -> requests and events, separated by commas."""

LESS: dict[str, tuple[Any, str]] = {
    "policy.enforcement": (
        degraded(
            "own_rules", "A subagent asks nobody for what its own entry in the agent's settings allows."
        ),
        "PATCH /session/{id} permission, permission.asked",
    ),
    "lifecycle.requests_survive_restart": (
        degraded("while_process_lives", "An open request ends with the agent's process, not with its owner."),
        "permission.asked",
    ),
}
"""Proven, but less than the leaf means."""

DELIVERED: dict[str, tuple[Any, str]] = {
    "tools.mcp_external": (mcp("stdio"), f"GET /mcp, {PART} tool"),
}

NOT: dict[str, str] = {
    "lifecycle.lazy_binding": "A thread is bound when it is created.",
    "lifecycle.attach": "Not driven: only conversations that were started here are continued.",
    "lifecycle.writing_load": "There is no load: a conversation is simply there.",
    "lifecycle.list_native": "Not driven: the adapter lists no conversations.",
    "lifecycle.clone": "Not driven: a fork serves instead.",
    "lifecycle.tree": "A fork does not say where it comes from.",
    "lifecycle.switch_by_handoff": "Not run.",
    "threads.rollback_returns_snapshot": "Not driven: the answer of a rollback is not read.",
    "threads.delete": "Not driven.",
    "turns.interrupt_keeps_background": "The agent ends its commands with the turn.",
    "input.audio": "Not run.",
    "input.structured_output": "Not driven: after one such prompt the agent cannot read its record any more.",
    "output.plan_text": "Not driven: the adapter does not enter the agent's plan mode.",
    "tools.app_tools": "Not run.",
    "tools.native_inspection": "Not driven.",
    "tools.native_yielding": "The agent's own tools cannot be handed over.",
    "tools.mcp_status": "Not driven: the state of tool servers is not told.",
    "tools.dynamic_callbacks": "The agent takes no tools from its client.",
    "approvals.file_read": "Only files that hold secrets by their name are asked for; not run.",
    "planning.proposed_plan": "Not driven: the adapter does not enter the agent's plan mode.",
    "planning.item_ids": "Steps of a plan carry no ids.",
    "planning.thread_goal": "The agent has none.",
    "subagents.wait": "Only the agent itself waits for its subagents.",
    "subagents.close": "Only the agent itself closes its subagents.",
    "subagents.background_jobs": "Children in the background are experimental there, and off.",
    "context.system": "Not driven.",
    "context.developer": "The agent has no such role.",
    "context.summarize": "Not run.",
    "context.clear_epoch": "The agent has no clearing of a conversation; a new thread serves instead.",
    "checkpoints.filesystem": "Not driven: Podium captures the files itself.",
    "checkpoints.nested_scopes": "Not driven: Podium captures the files itself.",
    "reasoning.supported": "Not driven: the adapter sends no variant.",
    "auth.status": "Not driven.",
    "maintenance.health": "Not driven beyond the handshake.",
    "maintenance.history": "Not driven.",
    "commands.catalog": "Not driven: a command is run by a request of its own.",
    "resources.skills": "Not run.",
    "resources.context_files": "Not run.",
}
"""Not offered, and why."""
