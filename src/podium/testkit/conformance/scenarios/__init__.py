"""The scenarios, by what they are about. Importing this package registers them all."""

from __future__ import annotations

from podium.testkit.conformance.scenarios import (
    asking,
    branches,
    context,
    conversations,
    output,
    tools,
    turns,
)

__all__ = ["asking", "branches", "context", "conversations", "output", "tools", "turns"]
