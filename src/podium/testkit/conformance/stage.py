"""What a scenario needs of an agent: an isolated place, and a way to say what it shall do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import msgspec

from podium.contract.errors import Unavailable
from podium.testkit.conformance.moves import Move

ENTRY_POINTS = "podium.rigs"
"""Group in which a package names the rig of an agent: the entry's name is the agent's kind."""


class Setting(msgspec.Struct, frozen=True):
    """What a scenario wants of the agent's own configuration: a shape that only some agents have."""

    plans: bool = False
    tools: bool = False
    children: bool = False


class Stage(Protocol):
    """One agent, ready to be started in a place of its own, with a scripted model or none at all."""

    @property
    def workspace(self) -> Path:
        """The folder the agent works in, a git repository with the file `hello.txt`."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """The whole environment of the agent."""
        ...

    @property
    def models(self) -> tuple[str, str]:
        """Two models it can run with; the first is the one it runs with by itself."""
        ...

    def cannot(self, move: Move) -> str | None:
        """Why this agent cannot be made to do a move, or None."""
        ...

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt that makes the agent do these moves; it holds `words`."""
        ...

    def release(self, name: str) -> None:
        """Let `Hold(name)` go on."""
        ...


Rig = Callable[[Path, str, Setting], AbstractContextManager[Stage]]
"""Opens a stage in a folder of its own, for the program at a path."""


def rig_of(agent_kind: str) -> Rig:
    """The rig of an agent. Raises Unavailable `no_rig`."""
    for entry in metadata.entry_points(group=ENTRY_POINTS, name=agent_kind):
        found: Any = entry.load()
        return found
    raise Unavailable(
        "no_rig",
        f"There is no rig for {agent_kind!r}: it cannot be run offline, without an account.",
        fix="A package can bring one: docs/adapters.md says how.",
    )
