"""Podium: one contract over every coding agent.

`podium.open()` opens a data folder in this process, `podium.connect(url, token)` one behind a server; both
are loaded on first use, so that `podium.contract` and `podium.policy` stay light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.client.connected import connect as connect
    from podium.runtime.podium import open as open

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "open":
        from podium.runtime.podium import open as opened

        return opened
    if name == "connect":
        from podium.client.connected import connect as connected

        return connected
    raise AttributeError(f"module 'podium' has no attribute {name!r}")
