"""Which scenario proves which leaf (R8): a claim names the one that showed it.

A scenario is a play in product terms, run on the real program and on a saboteur that lacks exactly that leaf;
docs/capability-reference.md has them in words. A leaf stands in one scenario only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_SCENARIOS: dict[str, tuple[str, ...]] = {
    "text": (
        "input.text",
        "turns.started",
        "turns.completed",
        "output.text_delta",
        "output.message_completed",
        "output.raw",
    ),
    "usage": ("output.usage", "context.context_usage"),
    "reasoning": ("output.reasoning",),
    "two_turns": ("turns.queue", "identity.turn"),
    "ends": ("turns.terminal_quality",),
    "interrupt": ("turns.interrupt",),
    "interrupt_then_go_on": ("turns.steer_restart",),
    "steer": ("turns.steer_active",),
    "image": ("input.images",),
    "command": (
        "approvals.command",
        "tools.started",
        "tools.completed",
        "tools.output",
        "output.tool_output",
        "tools.item_ids",
        "identity.item",
    ),
    "edit": ("approvals.file_change", "approvals.patch", "output.diffs"),
    "requests": ("approvals.native_request_ids", "identity.request"),
    "read_only": ("policy.enforcement",),
    "modes": ("lifecycle.mode_switch",),
    "question": ("approvals.user_input", "planning.questions"),
    "plan": ("planning.plan_updates", "planning.todo_list"),
    "proposal": ("planning.proposed_plan", "output.plan_text"),
    "subagent": (
        "subagents.supported",
        "subagents.thread_ids",
        "subagents.lifecycle",
        "approvals.from_subagents",
    ),
    "background": ("subagents.background_jobs", "turns.interrupt_keeps_background"),
    "tool_server": ("tools.mcp_external",),
    "resume": ("lifecycle.persistent", "identity.thread"),
    "empty": ("lifecycle.empty_thread",),
    "two_threads": ("lifecycle.multi_thread_per_session",),
    "new_owner": ("lifecycle.reattach",),
    "new_owner_answers": ("lifecycle.requests_survive_restart",),
    "read_back": ("lifecycle.read_snapshot",),
    "fork": ("threads.fork",),
    "fork_from_turn": ("threads.fork_from_turn",),
    "fork_from_subagent": ("threads.fork_from_subagent", "subagents.fork"),
    "rollback": ("threads.rollback",),
    "models": ("models.catalog",),
    "model_switch": ("models.switch",),
    "slash_commands": ("commands.catalog",),
    "handoff": ("context.synthetic_user", "context.consume", "context.full"),
    "missed": ("context.delta",),
    "compaction": ("context.compaction",),
}

SCENARIOS: Mapping[str, tuple[str, ...]] = MappingProxyType(_SCENARIOS)
"""The leaves that each scenario proves."""

SCENARIO_OF: Mapping[str, str] = MappingProxyType(
    {leaf: name for name, leaves in _SCENARIOS.items() for leaf in leaves}
)
"""The scenario that proves a leaf; a leaf that is not here cannot be claimed as proven yet."""
