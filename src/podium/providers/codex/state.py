"""What the adapter remembers of one process: open ids and how to answer them, never text bodies (R1)."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import TurnEnded

STATE_VERSION = 1
"""The shape of `State`; a stored state of another version is upgraded or refused."""

ENDED_MAX = 64
"""How many ended turns are remembered, so that a late frame neither reopens nor ends one again."""

THREADS_BYTES_MAX = 32 * 1024
"""Most that the conversations may take, encoded; the oldest idle child goes first."""

TURNS_BYTES_MAX = 32 * 1024
"""Most that the open turns may take, encoded; the oldest goes first."""

ITEMS_BYTES_MAX = 64 * 1024
"""Most that the open items may take, encoded; the oldest goes first."""

WAITING_BYTES_MAX = 64 * 1024
"""Most that the open server requests may take, encoded; one more is refused at once, in words."""

NAME_MAX = 128
"""Longest name of a model or version kept, in characters."""

PATHS_MAX = 50
"""Most changed paths kept of an open file change, for its approval card."""

PATH_MAX = 512
"""Longest changed path kept, in characters."""


class Conversation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A native thread. `parent*` say which call made a child; `quiet` is the agent's own idle word.

    `empty` marks one without any turn: the agent has written nothing of it yet.
    """

    parent: str | None = None
    parent_turn: str | None = None
    parent_item: str | None = None
    model: str | None = None
    mode: str | None = None
    loaded: bool = False
    quiet: bool = False
    empty: bool = False


class OpenTurn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn that has not ended. `reads` counts how often its end was looked up.

    `refused`: the agent is not logged in, as its `failure` says, and tries again. `stop` is an ask to
    interrupt that waits for the start: before it the agent knows of no turn to stop, and would go on.
    """

    thread: str
    id: str
    started: bool = False
    client_id: str | None = None
    failure: Failure | None = None
    reads: int = 0
    refused: bool = False
    stop: str | None = None


class OpenItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An item that has not ended. `summary_part` and `raw_part` are the newest parts of a reasoning.

    `process` marks a command that has one, `spawns` a call that makes a child. `told` is the size of the
    changes that were passed on last.
    """

    thread: str
    turn: str
    id: str
    kind: str
    summary_part: int = 0
    raw_part: int = 0
    paths: tuple[str, ...] = ()
    process: bool = False
    spawns: bool = False
    told: int = 0


class Pending(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request of ours that is not answered. `ask_id` is None for one that the adapter makes itself.

    `anew` are the settings to start over with, should a resumed conversation turn out never written. `stop`
    is the ask that wants the turn of this prompt interrupted as soon as it has a name. `over` is the end of a
    turn that no frame had named before: of this prompt's own turn, if the answer names the same one.
    `mode` and `model` are what was asked for, `place` is the workspace.
    """

    tag: str
    ask_id: str | None = None
    thread: str | None = None
    turn: str | None = None
    client_id: str | None = None
    anew: dict[str, Any] | None = None
    stop: str | None = None
    over: TurnEnded | None = None
    mode: str | None = None
    model: str | None = None
    place: str | None = None


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question of a form and the JSON type its answer must have."""

    id: str
    type: str = "string"
    required: bool = True


class Waiting(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request of the agent that is open. `replies` maps our option ids to what the agent expects."""

    id: int | str
    form: str
    thread: str
    turn: str | None = None
    item: str | None = None
    replies: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    fields: tuple[Field, ...] = ()
    answered: str | None = None


class State(msgspec.Struct, frozen=True):
    """All of it. `ended` holds keys of ended turns, oldest first; `armed` the threads whose timer runs;
    `newest_request` is the highest id of the agent's requests.
    """

    state_version: int = STATE_VERSION
    next_id: int = 1
    agent_version: str | None = None
    frames: int = 0
    opaque: int = 0
    pending: dict[str, Pending] = msgspec.field(default_factory=dict[str, Pending])
    threads: dict[str, Conversation] = msgspec.field(default_factory=dict[str, Conversation])
    turns: dict[str, OpenTurn] = msgspec.field(default_factory=dict[str, OpenTurn])
    items: dict[str, OpenItem] = msgspec.field(default_factory=dict[str, OpenItem])
    waiting: dict[str, Waiting] = msgspec.field(default_factory=dict[str, Waiting])
    ended: tuple[str, ...] = ()
    newest_request: int = -1
    armed: tuple[str, ...] = ()


def turn_key(thread: str, turn: str) -> str:
    """A turn id is unique within its thread only: forks repeat it."""
    return f"{thread}|{turn}"


def item_key(thread: str, turn: str, item: str) -> str:
    """An item id comes from the model's server, so its turn belongs to the key."""
    return f"{thread}|{turn}|{item}"


def request_key(native: int | str) -> str:
    """Our key of a server request: the JSON type stands in it, so that 0 and "0" stay two."""
    return f"n:{native}" if isinstance(native, int) else f"s:{native}"


def same_id(one: int | str, other: Any) -> bool:
    """Whether two request ids are the same id."""
    return type(one) is type(other) and one == other
