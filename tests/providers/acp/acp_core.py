"""Plays a recorded ACP conversation through the real core, as `tests/providers/codex/core_player.py` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from podium.contract.handles import Handle
from podium.contract.inputs import Exit, SendTurn, TextBlock
from tests.providers.acp.acp_play import FOLDERS, cassette
from tests.providers.codex.core_player import CorePlayer, Pairs


class AcpCorePlayer(CorePlayer):
    """The same player for the other protocol: how an earlier session looked, and how a load is over."""

    THREAD_KEY = "sessionId"

    async def earlier_session(self, handle: Handle) -> None:
        """The session in which the conversation that the recording resumes was made."""
        await self.message(SendTurn("", "", "earlier", (TextBlock("earlier"),)))
        offers: Any = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
        self.answer("initialize", {"protocolVersion": 1, "agentCapabilities": offers})
        self.answer("session/new", {"sessionId": handle.native_id})
        self.answer("session/prompt", {"stopReason": "end_turn"})
        self.end(Exit(0))
        self.engine.pumps.clear()
        self.pairs = Pairs(thread_key=self.THREAD_KEY)

    def answer(self, method: str, result: dict[str, Any]) -> None:
        """Answer the core's newest request of this method."""
        key = self.pairs.waits(method)
        if key is not None:
            self.say({"jsonrpc": "2.0", "id": self.pairs.played[key].pop(0), "result": result})


@dataclass
class Played:
    """A finished play."""

    folder: Path
    thread_id: str
    counts: dict[str, int]


def play(folder: Path, name: str) -> Played:
    """Play a recording into a fresh data folder."""
    folder.mkdir(parents=True)
    _, of, version = FOLDERS[name.partition("/")[0]]
    player = AcpCorePlayer(folder, of, of.descriptor.adapter, cassette(name), None, version)
    anyio.run(player.play)
    return Played(folder, player.thread_id, player.counts)
