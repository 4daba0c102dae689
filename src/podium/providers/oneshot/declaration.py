"""What a one-shot command can do, the proof of it, and why it does nothing else (F035).

The claims rest on the bridge, which is ours: they are proven on its version. The version of the command is
its own affair, and where it is unknown or another one, they are carried.
"""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Evidence, EvidenceClass, Source
from podium.contract.leaves import LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.values import NATIVE, Degraded, Strength, bottom, degraded

NAME = "oneshot"
"""The adapter, its transport and, until somebody names one, the brand."""

BRIDGE_VERSION = "bridge-1.0.0"
"""The version of the bridge on which every scenario of these claims was played."""

PROVEN_DATE = "2026-12-01"


class Claim(msgspec.Struct, frozen=True):
    """One leaf: its value, and what the bridge says that it rests on."""

    value: Any
    native: tuple[str, ...]


CLAIMS: dict[str, Claim] = {
    "input.text": Claim(NATIVE, ("run", "started")),
    "turns.started": Claim(NATIVE, ("started",)),
    "turns.completed": Claim(NATIVE, ("ended",)),
    "turns.terminal_quality": Claim(Strength.STRONG, ("ended code", "ended signal")),
    "output.message_completed": Claim(NATIVE, ("ended",)),
    "turns.queue": Claim(
        degraded("no_memory", "each prompt is a run of its own that knows nothing of the one before"),
        ("run",),
    ),
    "lifecycle.reattach": Claim(NATIVE, ("text", "ended")),
}

GROUP_REASONS: dict[str, str] = {
    "lifecycle": "the command keeps no conversation: each prompt is a run of its own",
    "threads": "the command keeps no conversation that could be branched or taken back",
    "turns": "a running command takes its one prompt and nothing more",
    "input": "the prompt is text on the command's stdin",
    "output": "the command's output is its answer, and nothing in it is read as anything else",
    "tools": "what the command does is not told to Podium",
    "approvals": "the command asks nobody before it acts",
    "policy": "the command runs with your rights, and nothing holds it to a mode",
    "planning": "the command tells no plans, and prose is not read as one",
    "subagents": "what the command starts is not told to Podium",
    "context": "the command takes its prompt and knows nothing else",
    "checkpoints": "the command captures nothing; Podium captures the workspace around each run by itself",
    "identity": "the command names nothing",
    "models": "the command offers no choice of models; name one among its arguments",
    "reasoning": "the command offers no choice of efforts; name one among its arguments",
    "auth": "the command does not say whether somebody is signed in",
    "maintenance": "the command is asked for nothing but answers",
    "commands": "the command has no slash commands",
    "resources": "nothing is delivered to the command but its prompt",
}
"""Why a leaf of a group is not there, unless it has a reason that is more its own."""

REASONS: dict[str, str] = {
    "turns.interrupt": "ending the process is no interrupt; the policy may stop the whole session instead",
    "turns.interrupt_keeps_background": "with the command, everything in its process group ends",
    "turns.steer_active": "the command's input is closed behind its one prompt",
    "turns.steer_restart": "a command that cannot be interrupted cannot be begun anew in the same run",
    "lifecycle.persistent": "nothing is kept from one prompt to the next; a restart begins anew",
    "lifecycle.mode_switch": "there is one mode: the command has all your rights",
    "lifecycle.requests_survive_restart": "the command opens no requests",
    "input.images": "an image cannot stand in the text on the command's stdin",
    "input.audio": "sound cannot stand in the text on the command's stdin",
    "output.text_delta": "whether an answer comes in parts is up to the command, so it is not promised",
    "output.reasoning": "a thought-like passage in an answer is no reasoning event",
    "output.usage": "the command reports no tokens",
    "output.diffs": "the command reports no changes; see those that Podium captures around the run",
    "output.raw": "stderr reaches the diagnostics, frames do not",
    "tools.mcp_external": "no server is passed on: what the command is configured with is its own",
    "resources.skills": "mentioning a skill in a prompt would not deliver it",
    "maintenance.history": "the command keeps no record of its own that could be read",
}
"""The reasons that are a leaf's own."""


def record() -> Capabilities:
    """A fresh record."""
    leaves: dict[str, Any] = {
        path: bottom(leaf.kind, REASONS.get(path, GROUP_REASONS[leaf.group]))
        for path, leaf in LEAVES.items()
        if not leaf.derived
    }
    leaves |= {path: claim.value for path, claim in CLAIMS.items()}
    return Capabilities.build(
        leaves,
        evidence={path: proof(path, claim) for path, claim in CLAIMS.items()},
        adapter=NAME,
        agent_kind=NAME,
        transport=NAME,
    )


def proof(path: str, claim: Claim) -> Evidence:
    """The evidence of a claim."""
    lesser = isinstance(claim.value, Degraded)
    return Evidence(
        evidence_class=EvidenceClass.DEGRADED if lesser else EvidenceClass.PROVEN_NATIVE,
        native=claim.native,
        source=Source.PROTOCOL,
        proven_on=(BRIDGE_VERSION,),
        scenario=SCENARIO_OF[path],
        date=PROVEN_DATE,
    )
