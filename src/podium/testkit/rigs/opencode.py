"""An isolated home for OpenCode, wired to a scripted chat server."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from podium.testkit.chat_server import MODELS, ChatServer, messages, texts
from podium.testkit.conformance.moves import Command, Delegate, Edit, Move, Propose, Question, Todo, UseTool
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.model_script import KEY, Call, Round, Status
from podium.testkit.rigs.place import OFFLINE, make_workspace
from podium.testkit.rigs.scripts import Script, Tool

PROVIDER = "scripted"
WINDOW = 128_000
OFF = (
    "AUTOUPDATE",
    "CLAUDE_CODE",
    "DEFAULT_PLUGINS",
    "EXTERNAL_SKILLS",
    "LSP_DOWNLOAD",
    "MODELS_FETCH",
    "SHARE",
)
"""What the program would fetch, read or send by itself."""


REFUSED = {"error": {"message": "A scripted refusal", "type": "invalid_request_error"}}
"""What a model says that refuses: the program tries again after an error of the server's."""


class ModelServer(ChatServer):
    """The scripted model, as this program meets it."""

    def script(self, key: str, *rounds: Round) -> None:
        """Rounds of the model, refusing in words that are none of a server's error."""
        told = [
            [
                Status(one.code, REFUSED) if isinstance(one, Status) and one.body is None else one
                for one in actions
            ]
            for actions in rounds
        ]
        super().script(key, *told)

    def key_of(self, body: Mapping[str, Any]) -> str | None:
        """The script of the newest keyed message, also where a message without a key came behind an answer.

        So it looks when a turn is steered. What the program asks its model aside has no tools.
        """
        named = [
            name
            for message in messages(body)
            if message.get("role") == "user"
            for said in texts(message)
            for name in KEY.findall(said)
        ]
        return named[-1] if named and body.get("tools") else None


def write_home(folder: Path, base_url: str, more: dict[str, Any] | None = None) -> dict[str, str]:
    """A configuration below `folder`; the variables that make the program use it and nothing else.

    A model is asked for under its whole name, PROVIDER/MODEL, so that an answer can say which one it is.
    """
    models = {
        name: {
            "id": f"{PROVIDER}/{name}",
            "name": name,
            "tool_call": True,
            "reasoning": True,
            "attachment": True,
            "limit": {"context": WINDOW, "output": 4000},
            "modalities": {"input": ["text", "image"], "output": ["text"]},
        }
        for name in MODELS
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": base_url, "apiKey": "x"},
        "models": models,
    }
    first = f"{PROVIDER}/{MODELS[0]}"
    config: dict[str, Any] = {
        "autoupdate": False,
        "share": "disabled",
        "model": first,
        "small_model": first,
        "enabled_providers": [PROVIDER],
        "provider": {PROVIDER: provider},
        **(more or {}),
    }
    homes = {name: folder / name for name in ("config", "data", "cache", "state", "home", "tmp")}
    for place in homes.values():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = homes["config"] / "opencode" / "opencode.json"
    place.parent.mkdir(mode=0o700, exist_ok=True)
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(config))
    return {
        "HOME": str(homes["home"]),
        "TMPDIR": str(homes["tmp"]),
        **{f"XDG_{name.upper()}_HOME": str(homes[name]) for name in ("config", "data", "cache", "state")},
        **{f"OPENCODE_DISABLE_{name}": "1" for name in OFF},
        **OFFLINE,
    }


class OpenCodeTools:
    """How the tools of the first generation are called. A file must be read before it is edited."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.script: Script | None = None

    def rounds(self, tool: Tool) -> Sequence[Round]:
        """The rounds that call a tool."""
        match tool:
            case Command(command):
                return [[Call("bash", {"command": command, "description": "a command"})]]
            case Edit(path, before, after):
                place = str(self.workspace / path)
                change = {"filePath": place, "oldString": before, "newString": after}
                return [[Call("read", {"filePath": place})], [Call("edit", change)]]
            case Question():
                return [[Call("question", {"questions": [asked(tool)]})]]
            case Todo(steps):
                states = ["in_progress", *["pending"] * (len(steps) - 1)]
                rows = [
                    {"content": step, "status": state, "priority": "high"}
                    for step, state in zip(steps, states, strict=True)
                ]
                return [[Call("todowrite", {"todos": rows})]]
            case Delegate(moves):
                assert self.script is not None
                task = {
                    "description": "a child",
                    "prompt": self.script.prompt(moves),
                    "subagent_type": "general",
                }
                return [[Call("task", task)]]
            case UseTool(word):
                return [[Call("proofs_echo", {"word": word})]]
            case Propose():
                return [[]]


def asked(question: Question) -> dict[str, Any]:
    """One question of a call."""
    rows = [{"label": label, "description": label.lower()} for label in question.options]
    return {"question": question.text, "header": "Choice", "options": rows}


class OpenCodeStage:
    """The program with a scripted model and a home of its own."""

    models = (f"{PROVIDER}/{MODELS[0]}", f"{PROVIDER}/{MODELS[1]}")

    def __init__(self, folder: Path, server: ChatServer, setting: Setting) -> None:
        self.workspace = make_workspace(folder)
        more = {"mcp": {"proofs": tool_server()}} if setting.tools else None
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            **write_home(folder / "agent", server.base_url, more),
        }
        self.server = server
        tools = OpenCodeTools(self.workspace)
        self.script = tools.script = Script(server, tools)

    def cannot(self, move: Move) -> str | None:
        """What the program is not made to do."""
        match move:
            case Propose():
                return "plan mode is not entered"
            case Command(background=True):
                return "the program has no commands in the background"
            case _:
                return None

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt whose script plays the moves."""
        return self.script.prompt(moves, words)

    def release(self, name: str) -> None:
        """Let the model go on."""
        self.server.release(name)


def tool_server() -> dict[str, Any]:
    """The configuration of the tool server of proofs."""
    place = Path(__file__).resolve().parents[1] / "tool_server.py"
    return {"type": "local", "command": [sys.executable, "-I", str(place)], "enabled": True}


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """The program with its scripted model."""
    with ModelServer() as server:
        yield OpenCodeStage(folder, server, setting)
