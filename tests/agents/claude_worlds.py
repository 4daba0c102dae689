"""A workspace, homes and a scripted model for the real Claude Code, all inside a temporary folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import podium
from podium.runtime.podium import Podium
from podium.testkit.messages_server import MessagesServer
from podium.testkit.rigs.claude import environment, write_home


class ClaudeWorld:
    """Everything the real program needs to run offline."""

    def __init__(self, folder: Path, server: MessagesServer, binary: Callable[[], Path]) -> None:
        self.server = server
        self.workspace = (folder / "ws").resolve()
        self.workspace.mkdir(parents=True)
        self.data = folder / "data"
        home = write_home(folder / "agent", self.workspace)
        self.env = environment(home, folder, server.origin)
        self.env["PATH"] = f"{binary().parent}:{self.env['PATH']}"
        self.env["PODIUM_CONFIG"] = str(folder / "config")

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncGenerator[Podium]:
        """Podium on this world's data folder."""
        async with podium.open(self.data, environ=self.env, **options) as p:
            yield p
