"""What each shape of the rehearsal agent can do, and the proof of it."""

from __future__ import annotations

from typing import Any

from podium.contract.evidence import EvidenceClass
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.values import NATIVE, Degraded, Strength, degraded
from podium.providers.acp.declaring import Claim, Claims
from podium.providers.acp.flavour import Flavour

AGENT_VERSION = "1.0.0"
"""The version of the rehearsal agent on which the scenarios of this package's tests pass."""

PROVEN_DATE = "2026-12-01"

NATIVE_NAMES: dict[str, tuple[str, ...]] = {
    "input.text": ("session/prompt",),
    "turns.queue": ("session/prompt",),
    "context.consume": ("session/prompt",),
    "context.full": ("session/prompt",),
    "context.delta": ("session/prompt",),
    "context.synthetic_user": ("session/prompt",),
    "lifecycle.reattach": ("session/update",),
    "lifecycle.empty_thread": ("session/new",),
    "lifecycle.multi_thread_per_session": ("session/new",),
    "lifecycle.persistent": ("session/load",),
    "lifecycle.mode_switch": ("session/set_mode",),
    "lifecycle.requests_survive_restart": ("session/request_permission",),
    "models.switch": ("session/set_config_option",),
    "turns.started": ("session/update user_message_chunk",),
    "turns.completed": ("session/prompt stopReason",),
    "turns.terminal_quality": ("session/prompt stopReason",),
    "turns.interrupt": ("session/cancel",),
    "turns.steer_restart": ("session/cancel", "session/prompt"),
    "turns.steer_active": ("_session/steering",),
    "output.text_delta": ("session/update agent_message_chunk",),
    "output.reasoning": ("session/update agent_thought_chunk",),
    "output.tool_output": ("session/update tool_call_update _meta.terminal_output_delta",),
    "output.message_completed": ("session/update messageId",),
    "output.usage": ("session/prompt usage",),
    "output.diffs": ("session/update tool_call content diff",),
    "output.raw": ("session/update",),
    "tools.item_ids": ("toolCallId",),
    "tools.started": ("session/update tool_call",),
    "tools.completed": ("session/update tool_call_update",),
    "tools.output": ("session/update tool_call_update",),
    "approvals.command": ("session/request_permission",),
    "approvals.file_change": ("session/request_permission",),
    "approvals.native_request_ids": ("session/request_permission",),
    "approvals.from_subagents": ("session/request_permission",),
    "approvals.user_input": ("elicitation/create",),
    "policy.enforcement": ("session/set_mode", "session/request_permission"),
    "planning.plan_updates": ("session/update plan",),
    "planning.todo_list": ("session/update plan",),
    "planning.questions": ("elicitation/create",),
    "subagents.supported": ("session/update tool_call _meta.childSessionId",),
    "subagents.thread_ids": ("session/update tool_call _meta.childSessionId",),
    "subagents.lifecycle": ("session/update tool_call_update _meta.childSessionId",),
    "identity.thread": ("session/new sessionId",),
    "identity.turn": ("session/prompt",),
    "identity.item": ("toolCallId", "messageId"),
    "identity.request": ("session/request_permission id",),
}
"""The names in the protocol that each claim rests on."""

BASE: dict[str, Any] = {
    "input.text": NATIVE,
    "turns.queue": NATIVE,
    "context.consume": NATIVE,
    "context.full": NATIVE,
    "context.synthetic_user": NATIVE,
    "lifecycle.reattach": NATIVE,
    "lifecycle.empty_thread": degraded("volatile", "an empty conversation lives in its process only"),
    "output.raw": NATIVE,
    "turns.completed": NATIVE,
    "turns.terminal_quality": Strength.STRONG,
    "identity.turn": Strength.WEAK,
    "identity.thread": Strength.WEAK,
}
"""What every shape does."""

STREAMING: dict[str, Any] = {
    "lifecycle.multi_thread_per_session": NATIVE,
    "turns.interrupt": NATIVE,
    "turns.steer_restart": NATIVE,
    "output.text_delta": NATIVE,
    "output.reasoning": NATIVE,
    "output.tool_output": NATIVE,
    "output.diffs": NATIVE,
    "tools.started": NATIVE,
    "tools.completed": NATIVE,
    "tools.output": NATIVE,
    "planning.plan_updates": NATIVE,
    "planning.todo_list": NATIVE,
}
"""What the shapes that show their work do."""

RICH_ONLY: dict[str, Any] = {
    "lifecycle.persistent": NATIVE,
    "lifecycle.empty_thread": NATIVE,
    "lifecycle.mode_switch": NATIVE,
    "lifecycle.requests_survive_restart": NATIVE,
    "models.switch": NATIVE,
    "context.delta": NATIVE,
    "turns.started": NATIVE,
    "turns.steer_active": NATIVE,
    "output.message_completed": NATIVE,
    "output.usage": NATIVE,
    "tools.item_ids": NATIVE,
    "approvals.command": NATIVE,
    "approvals.file_change": NATIVE,
    "approvals.native_request_ids": NATIVE,
    "approvals.from_subagents": NATIVE,
    "approvals.user_input": NATIVE,
    "policy.enforcement": NATIVE,
    "planning.questions": NATIVE,
    "subagents.supported": NATIVE,
    "subagents.thread_ids": NATIVE,
    "subagents.lifecycle": NATIVE,
    "identity.thread": Strength.STRONG,
    "identity.item": Strength.STRONG,
    "identity.request": Strength.STRONG,
}
"""What only the rich shape does."""

WEAK_ENDS: dict[str, Any] = {
    "turns.completed": degraded("inferred", "the agent falls silent instead of saying that a turn is over"),
    "turns.terminal_quality": Strength.WEAK,
    "identity.item": Strength.WEAK,
}
"""Where the weak shape is less: ends are inferred, tool calls have titles instead of ids."""


def leaves_of(shape: Flavour) -> dict[str, Any]:
    """The leaves a shape declares."""
    declared = dict(BASE)
    if shape.streams:
        declared |= STREAMING
    if shape.has_ids:
        declared |= RICH_ONLY
    if shape.infers_end:
        declared |= WEAK_ENDS
    return declared


def claims(shape: Flavour) -> Claims:
    """What a shape claims; whatever it does not is unsupported."""
    return Claims(
        leaves={
            path: Claim(
                value,
                NATIVE_NAMES[path],
                SCENARIO_OF[path],
                EvidenceClass.DEGRADED if isinstance(value, Degraded) else EvidenceClass.PROVEN_NATIVE,
            )
            for path, value in leaves_of(shape).items()
        },
        proven_on=(AGENT_VERSION,),
        date=PROVEN_DATE,
        reason=f"the {shape.name} rehearsal agent does not do this",
    )
