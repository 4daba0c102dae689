"""A workspace, homes and a scripted model for a real agent that speaks ACP, all inside a temporary folder."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import podium
from podium.runtime.podium import Podium
from podium.testkit.chat_server import ChatServer
from podium.testkit.model_script import Call, Round, Text
from podium.testkit.rigs.acp import write_grok_home, write_vibe_home
from tests.agents.paths import grok_binary, vibe_binary

TEXT = "alpha\nsecond\n"


@dataclass(frozen=True)
class Real:
    """What the tests must know of a real agent: its program, its home, and what its tools are called."""

    name: str
    binary: Callable[[], Path]
    home: Callable[[Path, str], dict[str, str]]
    shell: str
    edit: str
    path_of: str

    def command(self, cmd: str) -> Call:
        """The model's call of the agent's shell."""
        more = {"description": "a command", "background": False} if self.name == "grok" else {}
        return Call(self.shell, {"command": cmd, **more})

    def change(self, path: Path, old: str, new: str) -> tuple[Round, Round]:
        """The model reads a file, then changes it: agents edit only what they have read."""
        read = Call("read_file", {self.path_of: str(path)})
        edit = Call(self.edit, {"file_path": str(path), "old_string": old, "new_string": new})
        return [read], [edit]


GROK = Real("grok", grok_binary, write_grok_home, "run_terminal_command", "search_replace", "target_file")
VIBE = Real("vibe", vibe_binary, write_vibe_home, "bash", "edit", "file_path")


class AcpWorld:
    """Everything one of them needs to run offline."""

    def __init__(self, folder: Path, server: ChatServer, real: Real) -> None:
        self.folder, self.server, self.real = folder, server, real
        self.workspace = folder / "ws"
        self.data = folder / "data"
        self.workspace.mkdir(parents=True)
        (self.workspace / "hello.txt").write_text(TEXT)
        binary = real.binary()
        self.env = {
            "PATH": f"{binary.parent}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "PODIUM_CONFIG": str(folder / "config"),
            **real.home(folder / "agent", server.base_url),
        }

    def script(self, key: str, *rounds: Round, said: str = "Done.") -> None:
        """Rounds of the model, closed by an answer."""
        self.server.script(key, *rounds, [Text(said)])

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncGenerator[Podium]:
        """Podium on this world's data folder."""
        async with podium.open(self.data, environ=self.env, **options) as p:
            yield p
