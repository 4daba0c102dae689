"""The adapter for OpenCode, an agent that is an HTTP server."""

from podium.providers.opencode.adapter import OpenCodeAdapter

adapter = OpenCodeAdapter()
"""The first generation, driven over its own routes and its event stream."""

__all__ = ["OpenCodeAdapter", "adapter"]
