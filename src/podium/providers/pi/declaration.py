"""What this adapter can drive of Pi, each claim with its proof, and why the rest is not there (R8)."""

from __future__ import annotations

from typing import Any

from podium.contract.capabilities import (
    NATIVE,
    Capabilities,
    Evidence,
    EvidenceClass,
    Strength,
    degraded,
    unsupported,
)
from podium.contract.leaves import LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.providers.pi.draft import NAME, TRANSPORT

PROVEN_ON = "1.6.0"
"""The program version that every proof was made with."""

PROVEN_AT = "2026-12-01"
"""The day of the proofs."""

CLAIMS: dict[str, tuple[Any, str]] = {
    "lifecycle.persistent": (NATIVE, "switch_session get_state"),
    "lifecycle.reattach": (NATIVE, "get_state"),
    "lifecycle.read_snapshot": (NATIVE, "get_messages"),
    "turns.started": (NATIVE, "agent_start"),
    "turns.completed": (NATIVE, "agent_settled"),
    "turns.terminal_quality": (Strength.STRONG, "agent_settled message_end"),
    "turns.interrupt": (NATIVE, "clear_queue abort"),
    "turns.steer_active": (NATIVE, "steer"),
    "turns.steer_restart": (NATIVE, "abort prompt"),
    "turns.queue": (NATIVE, "prompt"),
    "input.text": (NATIVE, "prompt"),
    "output.text_delta": (NATIVE, "message_update text_delta"),
    "output.message_completed": (NATIVE, "message_update text_end"),
    "output.reasoning": (NATIVE, "message_update thinking_delta"),
    "output.usage": (NATIVE, "message_end usage"),
    "output.raw": (NATIVE, "rpc"),
    "output.tool_output": (
        degraded("lossy_deltas", "Of a long output the pieces stop; the end has what the agent kept."),
        "tool_execution_update",
    ),
    "tools.started": (NATIVE, "tool_execution_start"),
    "tools.completed": (NATIVE, "tool_execution_end"),
    "tools.output": (NATIVE, "tool_execution_end result"),
    "tools.item_ids": (NATIVE, "toolCallId"),
    "context.context_usage": (NATIVE, "message_end usage model.contextWindow"),
    "context.synthetic_user": (NATIVE, "prompt"),
    "context.consume": (NATIVE, "prompt"),
    "context.full": (NATIVE, "prompt"),
    "context.delta": (NATIVE, "prompt"),
    "identity.thread": (Strength.STRONG, "sessionId"),
    "identity.turn": (Strength.WEAK, "prompt"),
    "identity.item": (Strength.WEAK, "toolCallId contentIndex"),
    "models.catalog": (NATIVE, "get_available_models"),
    "models.switch": (NATIVE, "set_model"),
    "commands.catalog": (NATIVE, "get_commands"),
}
"""Leaf -> its value, and the names of commands, events and fields that it rests on."""

GROUP_REASONS: dict[str, str] = {
    "lifecycle": "Not driven.",
    "threads": "Not driven: a clone or a fork takes the place of the conversation in its process.",
    "turns": "Not driven.",
    "input": "Not driven: the adapter sends text.",
    "output": "The protocol has no such event.",
    "tools": "The protocol has no such call; tool servers are the agent's own configuration.",
    "approvals": "The agent has no permission system: it asks nobody before it acts.",
    "policy": "The agent has no permission system; what holds it is the sandbox that it is started in.",
    "planning": "The agent has no plans, todo lists or questions of its own.",
    "subagents": "The agent has no subagents of its own.",
    "context": "Not driven.",
    "checkpoints": "The agent takes back conversations, never files.",
    "identity": "The protocol opens no requests.",
    "models": "Not driven.",
    "reasoning": "Not driven.",
    "auth": "The protocol does not say who is signed in.",
    "maintenance": "Not driven.",
    "commands": "Not driven.",
    "resources": "Not driven: skills and context files are the agent's own configuration.",
}
"""Why a leaf of a group is not there, unless it has a reason that is more its own."""

REASONS: dict[str, str] = {
    "lifecycle.multi_thread_per_session": "A process holds one conversation at a time.",
    "lifecycle.empty_thread": "It is written with its first answer; an empty one ends with its process.",
    "lifecycle.mode_switch": "There is one mode: the agent has all your rights.",
    "lifecycle.requests_survive_restart": "The agent opens no requests.",
    "lifecycle.lazy_binding": "The conversation is there when the process is.",
    "turns.interrupt_keeps_background": "The agent runs no commands in the background.",
    "input.images": "Not driven: the protocol takes images inline, and an adapter reads no files.",
    "output.diffs": "Changes come with each edit; the protocol has no diff of a turn.",
    "tools.mcp_external": "The protocol takes no servers; the agent has those of its configuration.",
    "context.compaction": "Not driven; what the agent shortens by itself is shown.",
}
"""The reasons that are a leaf's own."""


def record() -> Capabilities:
    """A fresh record."""
    leaves: dict[str, Any] = {
        path: unsupported(REASONS.get(path, GROUP_REASONS[leaf.group]))
        for path, leaf in LEAVES.items()
        if not leaf.derived and path not in CLAIMS and leaf.kind == "support"
    }
    leaves |= {path: value for path, (value, _) in CLAIMS.items()}
    return Capabilities.build(
        leaves,
        evidence={path: proof(path) for path in CLAIMS},
        adapter=NAME,
        agent_kind=NAME,
        transport=TRANSPORT,
    )


def proof(path: str) -> Evidence:
    """The evidence of a claim."""
    value, native = CLAIMS[path]
    lesser = value is Strength.WEAK or not (value is NATIVE or isinstance(value, Strength))
    return Evidence(
        evidence_class=EvidenceClass.DEGRADED if lesser else EvidenceClass.PROVEN_NATIVE,
        native=tuple(native.split()),
        proven_on=(PROVEN_ON,),
        scenario=SCENARIO_OF[path],
        date=PROVEN_AT,
    )
