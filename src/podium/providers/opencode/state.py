"""What the adapter remembers of one agent process: open ids and counters, never text (R1)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import ItemKind
from podium.contract.inputs import Mode

STATE_VERSION = 1

PARTS_MAX = 400
"""Parts of messages remembered in all conversations together; the oldest that have ended go first."""

MESSAGES_MAX = 1000
"""Messages remembered in all conversations together; the oldest are forgotten first."""

SESSIONS_MAX = 32
"""Conversations remembered; a child past this is not adopted."""

REQUESTS_MAX = 32
"""Open requests remembered; more are declined at once."""

CALLS_MAX = 64
"""Our own requests without an answer that are remembered."""

MODELS_MAX = 300
"""Models of the catalog that are remembered, by name and window."""

RULES_MAX = 200
"""Rules of the agent's own that are remembered; with more of them everything is asked for."""


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request of ours that was not answered yet. `data` is what its answer will need."""

    kind: str
    ask_id: str | None = None
    thread: str = ""
    data: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A prompt that was sent and is not seen among the messages yet.

    `stop` is the ask of an interrupt that waits for it; `looks`, how often it was looked for.
    """

    ask_id: str
    client_id: str
    steers: bool = False
    stop: str | None = None
    looks: int = 0


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn: the user messages that it answers, the first of which names it, and its newest answer.

    `answer` is the newest assistant message, `open` whether that one goes on, `word` how it ended. `empty`
    counts answers in a row that said nothing and named no reason to stop.
    """

    id: str
    users: tuple[str, ...]
    answer: str | None = None
    open: bool = False
    word: str | None = None
    aborted: bool = False
    stopping: bool = False
    failure: Failure | None = None
    empty: int = 0


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a message. `shown` and `digest`: how much of an output was passed on, and what it was."""

    kind: ItemKind
    message: str
    turn: str
    call: str | None = None
    open: bool = True
    shown: int = 0
    digest: str = ""
    child: str | None = None


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    """A conversation. `messages` maps the ids of messages to their roles; `model` is what the core wants.
    `introduced`: the core knows of this child.
    """

    id: str
    mode: Mode = "ask"
    parent: str | None = None
    introduced: bool = False
    model: str | None = None
    told_model: str | None = None
    prompt: Prompt | None = None
    turn: Turn | None = None
    messages: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    parts: dict[str, Part] = msgspec.field(default_factory=dict[str, Part])


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """An open request. `chosen`: our answer is on its way."""

    kind: Literal["permission", "question"]
    thread: str
    questions: int = 0
    chosen: bool = False


class Opening(msgspec.Struct, frozen=True, omit_defaults=True):
    """A handshake under way: what is still to be read."""

    ask_id: str
    waits: tuple[str, ...]


class State(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything. `rules` are the permissions of the agent that works, as it states them."""

    state_version: int = STATE_VERSION
    next_call: int = 1
    version: str | None = None
    agent: str = "build"
    opening: Opening | None = None
    lost: bool = False
    calls: dict[str, Call] = msgspec.field(default_factory=dict[str, Call])
    sessions: dict[str, Session] = msgspec.field(default_factory=dict[str, Session])
    requests: dict[str, Request] = msgspec.field(default_factory=dict[str, Request])
    rules: tuple[tuple[str, str, str], ...] = ()
    models: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    servers: tuple[str, ...] = ()
