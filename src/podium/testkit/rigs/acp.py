"""Isolated homes for agents that speak the Agent Client Protocol, wired to a scripted chat server."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from podium.testkit.chat_server import MODELS, ChatServer
from podium.testkit.conformance.moves import (
    Command,
    Delegate,
    Edit,
    Move,
    NameImage,
    Propose,
    Question,
    Todo,
    UseTool,
)
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.model_script import Call, Round
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs.place import OFFLINE, make_workspace
from podium.testkit.rigs.scripts import Script, Tool

GROK_CONFIG = """\
[cli]
auto_update = false
[models]
default = "scripted-a"
[model.scripted-a]
model = "scripted-a"
base_url = "{url}"
name = "Scripted A"
api_key = "x"
api_backend = "chat_completions"
context_window = 128000
[model.scripted-b]
model = "scripted-b"
base_url = "{url}"
name = "Scripted B"
api_key = "x"
api_backend = "chat_completions"
context_window = 128000
[features]
telemetry = false
"""

VIBE_CONFIG = """\
active_model = "scripted-a"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
[[providers]]
name = "loop"
api_base = "{url}"
api_key_env_var = "MISTRAL_API_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "scripted-a"
provider = "loop"
alias = "scripted-a"
thinking = "off"
supports_images = true
[[models]]
name = "scripted-b"
provider = "loop"
alias = "scripted-b"
"""


def write_grok_home(folder: Path, base_url: str) -> dict[str, str]:
    """A GROK_HOME below `folder`; the variables that make the program use it and nothing else."""
    home = write_home(folder, "grok", "config.toml", GROK_CONFIG.format(url=base_url))
    return {**alone(folder), "GROK_HOME": str(home), "XAI_API_KEY": "x", "GROK_DISABLE_AUTOUPDATER": "1"}


def write_vibe_home(folder: Path, base_url: str) -> dict[str, str]:
    """A VIBE_HOME below `folder`; the variables that make the program use it and nothing else."""
    home = write_home(folder, "vibe", "config.toml", VIBE_CONFIG.format(url=base_url))
    return {**alone(folder), "VIBE_HOME": str(home), "MISTRAL_API_KEY": "x"}


def write_home(folder: Path, name: str, place: str, config: str) -> Path:
    """A folder for an agent's configuration below `folder`, with its one file in it."""
    home = folder / name
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(home / place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(config)
    return home


def alone(folder: Path) -> Mapping[str, str]:
    """A HOME and a temporary folder of its own, and no way out."""
    own, temporary = folder / "home", folder / "tmp"
    for place in (own, temporary):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {"HOME": str(own), "TMPDIR": str(temporary), **OFFLINE}


class AcpTools(msgspec.Struct):
    """What the tools of one agent are called. A file must be read before it is edited."""

    shell: str
    read: str
    edit: str
    path_of: str
    todo: str = ""
    child: str = ""
    shell_more: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    edit_args: tuple[str, str, str] = ("file_path", "old_string", "new_string")
    edit_more: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    todo_more: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    child_more: dict[str, Any] = msgspec.field(default_factory=lambda: {"background": False})
    workspace: Path = Path()
    script: Script | None = None

    def rounds(self, tool: Tool) -> Sequence[Round]:
        """The rounds that call a tool."""
        match tool:
            case Command(command):
                return [[Call(self.shell, {"command": command, **self.shell_more})]]
            case Edit(path, before, after):
                place = str(self.workspace / path)
                change = dict(zip(self.edit_args, (place, before, after), strict=True)) | self.edit_more
                return [[Call(self.read, {self.path_of: place})], [Call(self.edit, change)]]
            case Question(text, options):
                rows = [{"label": label, "description": label.lower()} for label in options]
                asked = {"question": text, "header": "Choice", "options": rows}
                return [[Call("ask_user_question", {"questions": [asked]})]]
            case Todo(steps):
                states = ["in_progress", *["pending"] * (len(steps) - 1)]
                todos = [
                    {"id": str(number), "content": step, "status": state}
                    for number, (step, state) in enumerate(zip(steps, states, strict=True))
                ]
                return [[Call(self.todo, {**self.todo_more, "todos": todos})]]
            case Delegate(moves):
                assert self.script is not None
                task = {
                    "prompt": self.script.prompt(moves),
                    "description": "a child",
                    **self.child_more,
                }
                return [[Call(self.child, task)]]
            case Propose() | UseTool():
                return [[]]


class AcpStage:
    """An agent with a scripted chat server and a home of its own."""

    def __init__(
        self,
        folder: Path,
        server: ResponsesServer,
        home: Callable[[Path, str], dict[str, str]],
        tools: AcpTools,
        models: tuple[str, str] = MODELS,
    ) -> None:
        self.workspace = tools.workspace = make_workspace(folder)
        self.environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            **home(folder / "agent", server.base_url),
        }
        self.server, self.tools = server, tools
        self.script = tools.script = Script(server, tools)
        one, other = models
        self.models = (server.spelling.format(one), server.spelling.format(other))

    def cannot(self, move: Move) -> str | None:
        """What the agent is not made to do."""
        match move:
            case Delegate() if not self.tools.child:
                return "this agent has no tool that starts a subagent"
            case Todo() if not self.tools.todo:
                return "this agent has no tool that writes a list of steps"
            case Propose() | UseTool() | NameImage() | Command(background=True):
                return f"{type(move).__name__} is not staged for this agent"
            case _:
                return None

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt whose script plays the moves."""
        return self.script.prompt(moves, words)

    def release(self, name: str) -> None:
        """Let the model go on."""
        self.server.release(name)


@contextmanager
def grok_rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """Grok with its scripted model."""
    tools = AcpTools(
        "run_terminal_command",
        "read_file",
        "search_replace",
        "target_file",
        "todo_write",
        child="spawn_subagent",
        shell_more={"description": "a command", "background": False},
        todo_more={"merge": False},
    )
    with ChatServer() as server:
        yield AcpStage(folder, server, write_grok_home, tools)


@contextmanager
def vibe_rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """Mistral Vibe with its scripted model."""
    tools = AcpTools("bash", "read_file", "edit", "file_path", "todo", todo_more={"action": "write"})
    with ChatServer() as server:
        yield AcpStage(folder, server, write_vibe_home, tools)
