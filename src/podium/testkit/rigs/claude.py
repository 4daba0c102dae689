"""An isolated home for Claude Code, wired to a scripted model server.

The mode and the tools it may use unasked are not set here: they are the adapter's parameters.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from podium.testkit.conformance.moves import (
    Command,
    Delegate,
    Edit,
    Heard,
    Move,
    Propose,
    Question,
    Recall,
    Todo,
    UseTool,
)
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.messages_server import MessagesServer
from podium.testkit.model_script import Call, Round, Text
from podium.testkit.rigs.codex import tool_server
from podium.testkit.rigs.place import OFFLINE, make_workspace
from podium.testkit.rigs.scripts import IMAGE, Script, Tool

CONFIG = ".claude.json"

MODELS = ("claude-sonnet-4-5", "claude-haiku-4-5")
"""Two models of the program's; the newest one has no to-do list."""

RETRIES = "0"

BOUNDARY = "echo on"
"""A command that needs no permission in any mode."""

PLAN_PATTERN = r"(/[^\s\"\\`]*/plans/[A-Za-z0-9_-]+\.md)"
"""Where the program wants a plan to be written."""

IMAGE_PATTERN = r'"media_type":"(image/png)"'


def write_home(folder: Path, workspace: Path, *, tools: bool = False) -> Path:
    """Write the configuration into `folder` (0700), which becomes CLAUDE_CONFIG_DIR; return its path."""
    config: dict[str, Any] = {
        "hasCompletedOnboarding": True,
        "projects": {str(workspace): {"hasTrustDialogAccepted": True}},
    }
    if tools:
        config["mcpServers"] = {"proofs": {"type": "stdio", **tool_server()}}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = msgspec.json.encode(config)
    with os.fdopen(os.open(folder / CONFIG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(text)
    return folder


def environment(home: Path, folder: Path, origin: str) -> dict[str, str]:
    """What the program needs of an environment: its home, a HOME of its own, a temporary folder beside it.

    Nothing but loopback is within reach, and nothing else is asked for.
    """
    own, temporary = folder / "home", folder / "tmp"
    for place in (own, temporary):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "CLAUDE_CONFIG_DIR": str(home),
        "HOME": str(own),
        "TMPDIR": str(temporary),
        "CLAUDE_CODE_TMPDIR": str(temporary),
        "PATH": os.environ.get("PATH", os.defpath),
        "ANTHROPIC_BASE_URL": origin,
        "ANTHROPIC_API_KEY": "x",
        "ANTHROPIC_MODEL": MODELS[0],
        "CLAUDE_CODE_MAX_RETRIES": RETRIES,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",
        **OFFLINE,
    }


class ClaudeTools:
    """How the program's tools are called. A file must be read before it is edited."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.script: Script | None = None

    def rounds(self, tool: Tool) -> Sequence[Round]:
        """The rounds that call a tool."""
        match tool:
            case Command(command, background):
                more = {"run_in_background": True} if background else {}
                return [[Call("Bash", {"command": command, "description": "a command", **more})]]
            case Edit(path, before, after):
                place = str(self.workspace / path)
                change = {"file_path": place, "old_string": before, "new_string": after}
                return [[Call("Read", {"file_path": place})], [Call("Edit", change)]]
            case Question(text, options):
                rows = [{"label": label, "description": label.lower()} for label in options]
                asked = {"question": text, "header": "Choice", "options": rows, "multiSelect": False}
                return [[Call("AskUserQuestion", {"questions": [asked]})]]
            case Todo(steps):
                states = ["in_progress", *["pending"] * (len(steps) - 1)]
                todos = [
                    {"content": step, "status": state, "activeForm": step}
                    for step, state in zip(steps, states, strict=True)
                ]
                return [[Call("TodoWrite", {"todos": todos})]]
            case UseTool(word):
                return [[Call("echo", {"word": word}, namespace="mcp__proofs")]]
            case Delegate(moves):
                assert self.script is not None
                task = {
                    "description": "a child",
                    "prompt": self.script.prompt(moves),
                    "subagent_type": "general-purpose",
                    "run_in_background": False,
                }
                return [[Call("Agent", task)]]
            case Propose(text):
                # In its plan mode the program says where the plan belongs, and reads it from there.
                write = Call("Write", {"file_path": "{{plan}}", "content": text})
                leave = Call("ExitPlanMode", {"plan": text})
                return [[Call("EnterPlanMode", {})], [write], [leave], [Text("So be it.")]]


class ClaudeScript(Script):
    """A message for a running turn is taken where a tool has ended: the model uses one before it goes on."""

    def rounds(self, moves: Sequence[Move]) -> list[Round]:
        """The rounds of one turn."""
        told: list[Move] = []
        for move in moves:
            told += [Command(BOUNDARY), Recall()] if isinstance(move, Heard) else [move]
        return super().rounds(told)


class ClaudeStage:
    """The program with a scripted model and a home of its own."""

    models = MODELS

    def __init__(self, folder: Path, server: MessagesServer, setting: Setting) -> None:
        self.workspace = make_workspace(folder)
        home = write_home(folder / "agent", self.workspace, tools=setting.tools)
        self.environment = environment(home, folder, server.origin)
        self.server = server
        tools = ClaudeTools(self.workspace)
        self.script = tools.script = ClaudeScript(server, tools)
        server.capture("plan", PLAN_PATTERN)
        server.capture(IMAGE, IMAGE_PATTERN)

    def cannot(self, move: Move) -> str | None:
        """There is nothing that it is not made to do."""
        return None

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt whose script plays the moves."""
        return self.script.prompt(moves, words)

    def release(self, name: str) -> None:
        """Let the model go on."""
        self.server.release(name)


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """The program with its scripted model."""
    with MessagesServer() as server:
        yield ClaudeStage(folder, server, setting)
