"""Any command that reads a prompt and prints an answer: one run of it for each prompt, text in and text out.

The agent process is a bridge of ours (`bridge.py`), which runs the command; `step` speaks with the bridge.
"""

from __future__ import annotations

from podium.providers.oneshot.adapter import OneShotAdapter

adapter = OneShotAdapter()
"""The one that is registered; the command is configured."""

__all__ = ["OneShotAdapter", "adapter"]
