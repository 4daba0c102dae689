"""The rehearsal agent on a stage: it needs no model, its prompts are scripts."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.testkit.conformance.moves import (
    Command,
    Delegate,
    Edit,
    Heard,
    Hold,
    Move,
    NameImage,
    NameModel,
    Propose,
    Question,
    Recall,
    Refuse,
    Say,
    Think,
    Todo,
    UseTool,
)
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.rehearsal.session import MODELS
from podium.testkit.rigs.place import make_workspace

Row = dict[str, Any]


class RehearsalStage:
    """A home of its own; scripts in the prompts."""

    models = MODELS

    def __init__(self, folder: Path) -> None:
        self.workspace = make_workspace(folder)
        self.home = folder / "home"
        (self.home / "released").mkdir(parents=True)

    @property
    def environment(self) -> Mapping[str, str]:
        """The agent's home, and the way to a shell."""
        return {"SCRIPTED_HOME": str(self.home), "PATH": os.environ.get("PATH", os.defpath)}

    def cannot(self, move: Move) -> str | None:
        """What no script does."""
        match move:
            case Propose() | UseTool() | NameImage():
                return f"the rehearsal has no play for {type(move).__name__}"
            case Command(background=True):
                return "the rehearsal leaves no command behind"
            case _:
                return None

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The words, then the script."""
        rows = [row for move in moves for row in self._rows(move)]
        return f"{words}\n{json.dumps({'play': rows})}".strip()

    def release(self, name: str) -> None:
        """A file that the agent waits for."""
        (self.home / "released" / name).touch()

    def _rows(self, move: Move) -> list[Row]:
        match move:
            case Say(text):
                return [{"do": "say", "text": text}]
            case Think(text):
                return [{"do": "think", "text": text}]
            case Command(command):
                return [{"do": "command", "command": command}]
            case Edit(path, before, after):
                return [{"do": "replace", "file": path, "before": before, "after": after}]
            case Question(text, options):
                return [{"do": "question", "text": text, "options": list(options)}]
            case Todo(steps):
                return [{"do": "plan", "steps": list(steps)}]
            case Delegate(moves):
                return [{"do": "delegate", "steps": [row for inner in moves for row in self._rows(inner)]}]
            case Hold(name):
                return [{"do": "hold", "name": name}]
            case Refuse():
                return [{"do": "say", "text": "I try."}, {"do": "error"}]
            case Recall():
                return [{"do": "recite"}]
            case NameModel():
                return [{"do": "name_model"}]
            case Heard():
                return []  # it says by itself what came while it played
            case _:
                return []


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """The stage; nothing has to be started for it."""
    yield RehearsalStage(folder)
