"""What the adapter remembers of one process: its session, the turn, and commands that are not answered."""

from __future__ import annotations

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import ItemKind

STATE_VERSION = 1
"""The shape of `State`; a stored state of another version is refused."""

HELD_MAX = 32 * 1024
"""Largest prompt that may wait for a model to take hold, encoded, in bytes."""

TOOLS_MAX = 256
"""Most open tools that are remembered; a turn that has more open at once loses the names of the oldest."""


class Held(msgspec.Struct, frozen=True):
    """A prompt that waits for its model."""

    ask_id: str
    client_id: str
    text: str


class Pending(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that is not answered: what for, whose, and what comes next.

    `native_id` and `path` are the conversation that is wanted, `model` the model, `held` the prompt behind
    it. A steer has the turn that it is for as its `native_id`.
    """

    tag: str
    ask_id: str | None = None
    native_id: str = ""
    path: str = ""
    model: str = ""
    client_id: str = ""
    held: Held | None = None


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A running tool. `told` characters of its output were passed on, and `digest` tells them again."""

    kind: ItemKind
    told: int = 0
    digest: str = ""


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The running turn. `messages` counts those of the agent; `reason` is the newest one's stop reason.

    `stop` is the ask that wants it stopped as soon as it runs: before that there is nothing to stop.
    """

    id: str
    client_id: str | None = None
    started: bool = False
    stop: str | None = None
    messages: int = 0
    reason: str = ""
    failure: Failure | None = None


class State(msgspec.Struct, frozen=True):
    """All of it. `session` is the bound conversation, `current` the one that the process holds."""

    state_version: int = STATE_VERSION
    commands: int = 0
    session: str = ""
    current: str = ""
    path: str = ""
    model: str = ""
    window: int | None = None
    ready: bool = False
    pending: dict[str, Pending] = msgspec.field(default_factory=dict[str, Pending])
    turn: Turn | None = None
    tools: dict[str, Tool] = msgspec.field(default_factory=dict[str, Tool])
