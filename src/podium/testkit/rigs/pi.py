"""An isolated home for Pi, wired to a scripted chat server."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from podium.testkit.chat_server import MODELS, ChatServer, messages, texts
from podium.testkit.conformance.moves import Command, Edit, Move, NameImage
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.model_script import KEY, Call, Round
from podium.testkit.rigs.place import OFFLINE, make_workspace
from podium.testkit.rigs.scripts import Script, Tool

PROVIDER = "loop"

WINDOW = 128_000
"""The context window that the scripted models are said to have, in tokens."""


def write_home(folder: Path, base_url: str) -> dict[str, str]:
    """A home below `folder`; the variables that make the program use it and nothing else."""
    home, config, temporary = (folder / name for name in ("home", "pi", "tmp"))
    for place in (home, config, temporary):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    models = [
        {"id": name, "name": name, "reasoning": True, "input": ["text"], "contextWindow": WINDOW}
        for name in MODELS
    ]
    provider = {"baseUrl": base_url, "api": "openai-completions", "apiKey": "x", "models": models}
    settings = {
        "defaultProvider": PROVIDER,
        "defaultModel": MODELS[0],
        "defaultThinkingLevel": "medium",
        "enableInstallTelemetry": False,
    }
    for name, content in (("models.json", {"providers": {PROVIDER: provider}}), ("settings.json", settings)):
        with os.fdopen(os.open(config / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(content, file)
    return {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "PI_CODING_AGENT_DIR": str(config),
        "PI_OFFLINE": "1",
        **OFFLINE,
    }


class PiModels(ChatServer):
    """Pi asks its model nothing aside: the newest script goes on, also behind a message that names none."""

    def key_of(self, body: Mapping[str, Any]) -> str | None:
        """The script that the newest keyed message of the user's names."""
        own = [text for one in messages(body) if one.get("role") == "user" for text in texts(one)]
        named = [name for text in own for name in KEY.findall(text)]
        return named[-1] if named else None


class PiTools(msgspec.Struct):
    """What Pi's tools are called."""

    workspace: Path

    def rounds(self, tool: Tool) -> Sequence[Round]:
        """The rounds that call a tool."""
        match tool:
            case Command(command):
                return [[Call("bash", {"command": command})]]
            case Edit(path, before, after):
                edits = [{"oldText": before, "newText": after}]
                return [[Call("edit", {"path": str(self.workspace / path), "edits": edits})]]
            case _:
                return [[]]


class PiStage:
    """Pi with a scripted chat server and a home of its own."""

    models = (f"{PROVIDER}/{MODELS[0]}", f"{PROVIDER}/{MODELS[1]}")

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.workspace = make_workspace(folder)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            **write_home(folder / "agent", server.base_url),
        }
        self.server = server
        self.script = Script(server, PiTools(self.workspace))

    def cannot(self, move: Move) -> str | None:
        """What the agent has no tool for."""
        if isinstance(move, Command) and move.background:
            return "this agent runs no commands in the background"
        known = isinstance(move, Command | Edit) or not isinstance(move, Tool | NameImage)
        return None if known else f"this agent has no {type(move).__name__}"

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt whose script plays the moves."""
        return self.script.prompt(moves, words)

    def release(self, name: str) -> None:
        """Let the model go on."""
        self.server.release(name)


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """Pi with its scripted model."""
    with PiModels() as server:
        yield PiStage(folder, server)
