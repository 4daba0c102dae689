"""A one-shot command on a stage: a command of ours that plays the moves it is given.

It proves the bridge and its adapter, which is what the claims rest on. It is no rig for `podium certify`:
nobody knows beforehand what a person's own command answers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.testkit import one_shot_command
from podium.testkit.conformance.moves import Hold, Move, Recall, Refuse, Say
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.rigs.place import OFFLINE, make_workspace

PROGRAM = sys.executable
OPTIONS: dict[str, Any] = {"arguments": ["-I", one_shot_command.__file__]}
"""The command: our interpreter, which plays what stands in the prompt."""


class OneShotStage:
    """Scripts in the prompts, as a command gets them on its stdin."""

    models = ("", "")

    def __init__(self, folder: Path) -> None:
        self.workspace = make_workspace(folder)
        self.released = folder / "released"
        self.released.mkdir()

    @property
    def environment(self) -> Mapping[str, str]:
        """What the command finds out about its stage."""
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": path, one_shot_command.RELEASED: str(self.released), **OFFLINE}

    def cannot(self, move: Move) -> str | None:
        """A command answers and does nothing else that Podium is told of."""
        known = isinstance(move, Say | Recall | Hold | Refuse)
        return None if known else f"a command has no {type(move).__name__}"

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The words, then the script."""
        return f"{words}\n{json.dumps({'play': [_row(move) for move in moves]})}".strip()

    def release(self, name: str) -> None:
        """A file that the command waits for."""
        (self.released / name).touch()


def _row(move: Move) -> dict[str, str]:
    match move:
        case Say(text):
            return {"do": "say", "text": text}
        case Recall():
            return {"do": "recite"}
        case Hold(name):
            return {"do": "hold", "name": name}
        case _:
            return {"do": "refuse"}


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """The stage; nothing has to be started for it."""
    yield OneShotStage(folder)
