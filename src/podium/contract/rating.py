"""Full or partial: what an agent must be proven to do to be called full (F034).

Full means the whole of what the product needs, not every leaf: an optional one may be missing and said so.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Standing


class Need(msgspec.Struct, frozen=True):
    """One part of a full agent: every one of these leaves, proven on the installed version."""

    name: str
    leaves: tuple[str, ...]


FULL: tuple[Need, ...] = (
    Need("persistence", ("lifecycle.persistent", "identity.thread")),
    Need("inputs", ("input.text",)),
    Need("answers as they come", ("output.text_delta", "output.message_completed", "output.reasoning")),
    Need("tools as they run", ("tools.started", "tools.completed", "tools.output")),
    Need("usage", ("output.usage",)),
    Need("ends that can be trusted", ("turns.completed", "turns.terminal_quality")),
    Need("stopping", ("turns.interrupt",)),
    Need("models", ("models.switch",)),
    Need("approvals", ("approvals.command", "approvals.file_change", "policy.enforcement")),
    Need("questions", ("approvals.user_input",)),
    Need("tools of Podium", ("tools.app_tools",)),
    Need("tools of the person", ("tools.mcp_external",)),
    Need("skills and context files", ("resources.skills", "resources.context_files")),
    Need("stored conversations", ("maintenance.history",)),
    Need("health and sign-in", ("maintenance.health", "auth.status")),
)
"""What a full agent is proven to do."""


class Missing(msgspec.Struct, frozen=True):
    """A part that is not there, with the leaves that are not proven."""

    name: str
    leaves: tuple[str, ...]


class Rating(msgspec.Struct, frozen=True):
    """Full, or partial with what is missing. A partial agent is useful for what it is proven to do."""

    word: Literal["full", "partial"]
    missing: tuple[Missing, ...] = ()


def rate(record: Capabilities) -> Rating:
    """Rate an effective record: a leaf counts if it is usable and proven on the installed version."""
    missing: list[Missing] = []
    for need in FULL:
        lacking = tuple(
            leaf
            for leaf in need.leaves
            if not (record.has(leaf) and record.standing(leaf) is Standing.PROVEN)
        )
        if lacking:
            missing.append(Missing(need.name, lacking))
    return Rating("partial" if missing else "full", tuple(missing))
