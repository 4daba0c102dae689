"""What is claimed of the proven agents and of an agent nobody has met, each claim with its proof (R8).

The proofs are scenarios played on the real programs; `contract/scenarios.py` says which shows what. What was
not run is not claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from podium.contract.evidence import EvidenceClass
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.values import NATIVE, Strength, degraded
from podium.providers.acp.declaring import Claim, Claims

PROVEN_AT = "2026-12-01"
"""The day of the proofs."""

GROK_VERSION, VIBE_VERSION = "1.0.41", "3.0.2"
"""The versions that every proof was made with."""

PROMPT = "session/prompt"
PERMISSION = "session/request_permission"
OPTION = "session/set_config_option"
CALL, CALL_UPDATE = "session/update tool_call", "session/update tool_call_update"

Table = dict[str, tuple[Any, tuple[str, ...]]]

SHARED: Table = {
    "input.text": (NATIVE, (PROMPT,)),
    "turns.queue": (NATIVE, (PROMPT,)),
    "turns.completed": (NATIVE, (f"{PROMPT} stopReason",)),
    "turns.interrupt": (NATIVE, ("session/cancel", f"{PROMPT} stopReason")),
    "turns.steer_restart": (NATIVE, ("session/cancel", PROMPT)),
    "turns.terminal_quality": (Strength.STRONG, (f"{PROMPT} stopReason",)),
    "lifecycle.empty_thread": (NATIVE, ("session/new",)),
    "lifecycle.multi_thread_per_session": (NATIVE, ("session/new",)),
    "lifecycle.reattach": (NATIVE, ("session/update",)),
    "output.text_delta": (NATIVE, ("session/update agent_message_chunk",)),
    "output.reasoning": (NATIVE, ("session/update agent_thought_chunk",)),
    "output.usage": (NATIVE, (f"{PROMPT} usage",)),
    "output.diffs": (NATIVE, (f"{CALL_UPDATE} content diff",)),
    "output.raw": (NATIVE, ("session/update",)),
    "tools.item_ids": (NATIVE, ("toolCallId",)),
    "tools.started": (NATIVE, (CALL,)),
    "tools.completed": (NATIVE, (CALL_UPDATE,)),
    "tools.output": (NATIVE, (f"{CALL_UPDATE} content",)),
    "approvals.command": (NATIVE, (PERMISSION,)),
    "approvals.file_change": (NATIVE, (PERMISSION,)),
    "approvals.native_request_ids": (NATIVE, (f"{PERMISSION} id",)),
    "context.consume": (NATIVE, (PROMPT,)),
    "context.full": (NATIVE, (PROMPT,)),
    "context.delta": (NATIVE, (PROMPT,)),
    "context.synthetic_user": (NATIVE, (PROMPT,)),
    "identity.thread": (Strength.STRONG, ("sessionId",)),
    "identity.turn": (Strength.WEAK, (PROMPT,)),
    "identity.request": (Strength.STRONG, (f"{PERMISSION} id",)),
    "planning.plan_updates": (NATIVE, ("session/update plan",)),
    "planning.todo_list": (NATIVE, ("session/update plan",)),
    "models.switch": (NATIVE, (OPTION,)),
    "commands.catalog": (NATIVE, ("session/update available_commands_update",)),
}
"""What the first two proven agents do: leaf -> (value, names)."""

REQUESTS_LIVE = degraded("while_process_lives", "An open request ends with the agent's process.")

GROK_MORE: Table = {
    "lifecycle.persistent": (NATIVE, ("session/resume", "session/load")),
    "approvals.user_input": (NATIVE, ("_x.ai/ask_user_question",)),
    "planning.questions": (NATIVE, ("_x.ai/ask_user_question",)),
    "subagents.supported": (NATIVE, ("_x.ai/session_notification subagent_spawned",)),
    "subagents.thread_ids": (NATIVE, ("session/update sessionId",)),
    "subagents.lifecycle": (NATIVE, ("_x.ai/session_notification subagent_finished",)),
}
GROK_LESS: Table = {
    "output.message_completed": (
        degraded("inferred", "Messages carry no ids: one ends where something else begins."),
        ("session/update agent_message_chunk",),
    ),
    "identity.item": (Strength.WEAK, ("toolCallId",)),
    "policy.enforcement": (
        degraded("agent_rules", "The agent asks by rules of its own: harmless commands run unasked."),
        (PERMISSION, "session/new _meta.yoloMode"),
    ),
}

VIBE_MORE: Table = {
    "lifecycle.persistent": (NATIVE, ("session/load",)),
    "lifecycle.mode_switch": (NATIVE, ("session/set_mode",)),
    "output.message_completed": (NATIVE, ("session/update messageId",)),
    "approvals.user_input": (NATIVE, ("elicitation/create",)),
    "planning.questions": (NATIVE, ("elicitation/create",)),
    "context.context_usage": (NATIVE, ("session/update usage_update",)),
    "identity.item": (Strength.STRONG, ("toolCallId", "messageId")),
    "threads.fork": (NATIVE, ("session/fork",)),
}
VIBE_LESS: Table = {
    "lifecycle.empty_thread": (
        degraded("volatile", "A conversation without a turn ends with the agent's process."),
        ("session/new",),
    ),
    "policy.enforcement": (
        degraded("agent_rules", "The agent asks by rules of its own: reading and its own notes run unasked."),
        (PERMISSION, "session/set_mode"),
    ),
}

BOTH_LESS: Table = {
    "turns.started": (
        degraded("inferred", "There is no start event: a turn has begun with the first sign of work on it."),
        ("session/update",),
    ),
    "lifecycle.requests_survive_restart": (REQUESTS_LIVE, (PERMISSION,)),
}

ABSENT: dict[str, str] = {
    "lifecycle.lazy_binding": "A thread is bound when it is created.",
    "lifecycle.attach": "Not driven: only conversations that were started here are continued.",
    "lifecycle.writing_load": "Not run: what a load writes into the agent's record was not compared.",
    "lifecycle.list_native": "Not driven: the adapter sends no session/list.",
    "lifecycle.clone": "The protocol has none.",
    "lifecycle.tree": "The protocol has no tree of branches.",
    "lifecycle.read_snapshot": "The protocol has no method that reads; a load replays into the conversation.",
    "lifecycle.switch_by_handoff": "Not run.",
    "lifecycle.mode_switch": "The agent advertises no modes; its mode is set when a conversation begins.",
    "threads.fork": "Not advertised, or not proven.",
    "threads.fork_from_turn": "The protocol branches whole conversations only.",
    "threads.fork_from_subagent": "Not run.",
    "threads.rollback": "The protocol has none.",
    "threads.rollback_returns_snapshot": "The protocol has no rollback.",
    "threads.delete": "Not driven: the adapter sends no session/delete.",
    "turns.interrupt_keeps_background": "Not run.",
    "turns.steer_active": "The agent takes no message for a running turn; a second prompt waits.",
    "input.images": "The protocol carries an image's bytes in the prompt, and the adapter reads no files.",
    "input.audio": "The protocol carries the bytes in the prompt, and the adapter reads no files.",
    "input.structured_output": "The protocol has none.",
    "output.tool_output": "Only the whole output was seen, when the call had ended.",
    "output.plan_text": "A plan has steps and no text.",
    "output.message_completed": "Messages may carry no ids.",
    "tools.app_tools": "Not driven: the adapter offers no MCP servers.",
    "tools.native_inspection": "The protocol does not list the agent's tools.",
    "tools.native_yielding": "The agent's own tools cannot be handed over.",
    "tools.mcp_external": "Not driven: the adapter offers no MCP servers.",
    "tools.mcp_status": "The protocol has none.",
    "tools.dynamic_callbacks": "The protocol has none.",
    "approvals.file_read": "Reading was asked for in no run.",
    "approvals.patch": "An edit is asked for as a change of a file.",
    "approvals.from_subagents": "No subagent was seen to ask; its parent is asked before it starts one.",
    "approvals.user_input": "Agents ask by extensions of their own, if at all.",
    "planning.questions": "Agents ask by extensions of their own, if at all.",
    "planning.proposed_plan": "The protocol has none.",
    "planning.item_ids": "Steps of a plan carry no ids.",
    "planning.thread_goal": "The protocol has none.",
    "subagents.supported": "The agent shows none.",
    "subagents.thread_ids": "The agent shows none.",
    "subagents.lifecycle": "The agent shows none.",
    "subagents.wait": "Only the agent itself waits for its subagents.",
    "subagents.close": "Only the agent itself closes its subagents.",
    "subagents.fork": "Not run.",
    "subagents.background_jobs": "A child that outlives its turn is shown, other work is not.",
    "context.system": "The protocol takes user text only.",
    "context.developer": "The protocol takes user text only.",
    "context.summarize": "Not driven.",
    "context.clear_epoch": "The protocol has none.",
    "context.compaction": "A slash command of the agent's, not driven.",
    "context.context_usage": "Not told by every agent.",
    "checkpoints.filesystem": "Podium captures the files itself; the protocol has none.",
    "checkpoints.nested_scopes": "Podium captures the files itself; the protocol has none.",
    "models.catalog": "The list comes with a conversation; there is no method that reads it.",
    "reasoning.supported": "Not driven: efforts are options of the agent's own.",
    "auth.status": "The protocol tells ways to sign in, not who is.",
    "maintenance.health": "The protocol has none.",
    "maintenance.history": "Not driven: the adapter sends no session/list.",
    "resources.skills": "Not driven.",
    "resources.context_files": "Not driven.",
    "policy.enforcement": "Whether this agent holds to its mode was not tried.",
}
"""Why a leaf is not claimed, where it is not."""


def _made(native: Table, lesser: Table) -> dict[str, Claim]:
    """The claims of an agent; a lesser one has evidence that says so."""
    return {
        path: Claim(value, names, SCENARIO_OF[path], kind)
        for table, kind in ((native, EvidenceClass.PROVEN_NATIVE), (lesser, EvidenceClass.DEGRADED))
        for path, (value, names) in table.items()
    }


def proven(
    version: str, more: Table, lesser: Table, absent: Mapping[str, str] = MappingProxyType({})
) -> Claims:
    """What every proven agent does, and `more`, less what is `absent`; each shown on this version."""
    leaves = _made(SHARED | more, BOTH_LESS | lesser)
    return Claims(
        leaves={path: claim for path, claim in leaves.items() if path not in absent},
        absent={**ABSENT, **absent},
        proven_on=(version,),
        date=PROVEN_AT,
        reason="not driven",
    )


GROK_CLAIMS = proven(GROK_VERSION, GROK_MORE, GROK_LESS)
VIBE_CLAIMS = proven(VIBE_VERSION, VIBE_MORE, VIBE_LESS)

NOT_GENERAL = frozenset({"threads.fork", "policy.enforcement"})
"""Leaves that want proof on the very agent, so that nothing is claimed of one nobody has met."""

GENERAL_CLAIMS = Claims(
    leaves={
        path: claim
        for path, claim in _made(SHARED | GROK_MORE, GROK_LESS | BOTH_LESS).items()
        if path not in NOT_GENERAL
    },
    absent=ABSENT,
    elsewhere=f"Grok {GROK_VERSION} and Mistral Vibe {VIBE_VERSION}, through this adapter",
    date=PROVEN_AT,
    reason="not driven",
)
"""The most that was seen of any agent; a handshake takes away what it does not offer."""
