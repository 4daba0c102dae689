"""The adapter for Claude Code: its stream of JSON lines, with one process for each conversation."""

from podium.providers.claude.adapter import ClaudeAdapter
from podium.providers.claude.state import State

adapter = ClaudeAdapter()
"""The registered instance."""

__all__ = ["ClaudeAdapter", "State", "adapter"]
