"""Pi over its own JSON lines (`pi --mode rpc`): commands with ids, and news of a session without."""

from __future__ import annotations

from podium.providers.pi.adapter import PiAdapter

adapter = PiAdapter()
"""The one that is registered."""

__all__ = ["PiAdapter", "adapter"]
