"""An isolated home for the Codex program, wired to a scripted model server.

Approval policy and sandbox are not set here: they are the adapter's parameters.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from podium.testkit.conformance.moves import Command, Delegate, Edit, Move, Propose, Question, Todo, UseTool
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.model_script import Call, CustomCall, Round
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs.place import OFFLINE, make_workspace
from podium.testkit.rigs.scripts import Script, Tool

CONFIG = "config.toml"
IDLE_MS = 20_000
"""Silence of the model server after which the program gives a stream up, in milliseconds."""

Value = str | bool | int | Sequence[str]


def write_home(
    folder: Path,
    base_url: str,
    *,
    model: str = "gpt-5.5",
    update_plan: bool = False,
    ask_in_default_mode: bool = False,
    multi_agent: bool = False,
    raw_reasoning: bool = False,
    instant_interrupt: bool | None = None,
    auto_compact_tokens: int | None = None,
    env_key: str | None = None,
    retries: int = 0,
    idle_ms: int = IDLE_MS,
    extra: Mapping[str, Mapping[str, Value]] | None = None,
) -> Path:
    """Write the configuration into `folder` (0700), which becomes CODEX_HOME; return its path.

    `update_plan` switches the plan tool on, `ask_in_default_mode` questions outside of plan mode,
    `multi_agent` the second generation of subagents. `extra` adds tables, such as
    {"mcp_servers.x": {"command": ...}}.
    """
    top: dict[str, Value] = {
        "model": model,
        "model_provider": "scripted",
        "check_for_update_on_startup": False,
    }
    if raw_reasoning:
        top["show_raw_agent_reasoning"] = True
    if auto_compact_tokens is not None:
        top["model_auto_compact_token_limit"] = auto_compact_tokens
    provider: dict[str, Value] = {
        "name": "Scripted loopback",
        "base_url": base_url,
        "wire_api": "responses",
        "requires_openai_auth": False,
        "request_max_retries": retries,
        "stream_max_retries": retries,
        "stream_idle_timeout_ms": idle_ms,
    }
    if env_key is not None:
        provider["env_key"] = env_key
    features: dict[str, Value] = {"apps": False, "plugins": False}
    if ask_in_default_mode:
        features["default_mode_request_user_input"] = True
    if instant_interrupt is not None:
        features["instant_interrupt"] = instant_interrupt
    tables: dict[str, dict[str, Value]] = {
        "": top,
        "model_providers.scripted": provider,
        "features": features,
        "analytics": {"enabled": False},
    }
    if update_plan:
        tables["tools.update_plan"] = {"enabled": True}
    if multi_agent:
        tables["features.multi_agent_v2"] = {"enabled": True}
    for name, settings in (extra or {}).items():
        tables[name] = {**tables.get(name, {}), **settings}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = "\n".join(_table(name, settings) for name, settings in tables.items())
    with os.fdopen(os.open(folder / CONFIG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    return folder


def environment(home: Path, folder: Path) -> dict[str, str]:
    """What the program needs of an environment: its home, a HOME of its own, a temporary folder beside it.

    Nothing but loopback is within reach. Commands run in login shells, so an empty HOME keeps a person's
    profile out of their output.
    """
    own, temporary = folder / "home", folder / "tmp"
    for place in (own, temporary):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "CODEX_HOME": str(home),
        "HOME": str(own),
        "TMPDIR": str(temporary),
        "PATH": os.environ.get("PATH", os.defpath),
        **OFFLINE,
    }


def _table(name: str, settings: Mapping[str, Value]) -> str:
    """One TOML table; a JSON string, number or boolean is a TOML one too."""
    lines = [f"[{name}]"] if name else []
    lines += [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


PATCH = """\
*** Begin Patch
*** Update File: {path}
@@
-{before}
+{after}
*** End Patch
"""

NAMESPACE = "collaboration"
CHILD_MS = 20_000
YIELD_MS = 300
"""How long a command may run before its call returns and it goes on in the background."""


class CodexTools:
    """How the program's tools are called."""

    def __init__(self) -> None:
        self.script: Script | None = None

    def rounds(self, tool: Tool) -> Sequence[Round]:
        """The rounds that call a tool."""
        match tool:
            case Command(command, background):
                more = {"yield_time_ms": YIELD_MS} if background else {}
                return [[Call("exec_command", {"cmd": command, **more})]]
            case Edit(path, before, after):
                return [[CustomCall("apply_patch", PATCH.format(path=path, before=before, after=after))]]
            case Question(text, options):
                rows = [{"label": label, "description": label.lower()} for label in options]
                asked = {"id": "choice", "header": "Choice", "question": text, "options": rows}
                return [[Call("request_user_input", {"questions": [asked]})]]
            case Todo(steps):
                states = ["in_progress", *["pending"] * (len(steps) - 1)]
                plan = [{"step": s, "status": state} for s, state in zip(steps, states, strict=True)]
                return [[Call("update_plan", {"plan": plan})]]
            case UseTool(word):
                return [[Call("echo", {"word": word}, namespace="mcp__proofs")]]
            case Delegate(moves):
                assert self.script is not None
                task = {"task_name": "worker", "message": self.script.prompt(moves)}
                spawn = Call("spawn_agent", task, namespace=NAMESPACE)
                return [[spawn], [Call("wait_agent", {"timeout_ms": CHILD_MS}, namespace=NAMESPACE)]]
            case Propose():
                return [[]]


class CodexStage:
    """The program with a scripted model and a home of its own."""

    models = ("gpt-5.5", "gpt-5.4")

    def __init__(self, folder: Path, server: ResponsesServer, setting: Setting) -> None:
        self.workspace = make_workspace(folder)
        extra = {"mcp_servers.proofs": tool_server()} if setting.tools else None
        home = write_home(
            folder / "agent",
            server.base_url,
            model=self.models[0],
            update_plan=setting.plans,
            ask_in_default_mode=setting.plans,
            multi_agent=setting.children,
            extra=extra,
        )
        self.environment = environment(home, folder)
        self.server = server
        tools = CodexTools()
        self.script = tools.script = Script(server, tools)

    def cannot(self, move: Move) -> str | None:
        """What the program is not made to do."""
        return "plan mode is not entered" if isinstance(move, Propose) else None

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt whose script plays the moves."""
        return self.script.prompt(moves, words)

    def release(self, name: str) -> None:
        """Let the model go on."""
        self.server.release(name)


def tool_server() -> dict[str, Any]:
    """The configuration of the tool server of proofs."""
    place = Path(__file__).resolve().parents[1] / "tool_server.py"
    return {"command": sys.executable, "args": ["-I", str(place)]}


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """The program with its scripted model."""
    with ResponsesServer() as server:
        yield CodexStage(folder, server, setting)
