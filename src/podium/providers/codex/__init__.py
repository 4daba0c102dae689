"""The adapter for the Codex app server (JSON-RPC over stdio)."""

from podium.providers.codex.adapter import CodexAdapter
from podium.providers.codex.state import State

adapter = CodexAdapter()
"""The registered instance."""

__all__ = ["CodexAdapter", "State", "adapter"]
