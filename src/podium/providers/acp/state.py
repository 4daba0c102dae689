"""What the adapter remembers of one agent process: open ids and counters, never text (R1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from podium.contract.events import ItemContent, ItemKind, SlashCommand
from podium.contract.inputs import Mode

STATE_VERSION = 1
ID_MAX = 128
"""Longest native id or name kept as it is, in encoded bytes; a longer one is known by its digest."""

TOOLS_MAX = 64
"""Tool calls remembered in all conversations together; the oldest ended ones are forgotten first."""

REQUESTS_MAX = 24
"""Open requests remembered; more are answered as cancelled at once."""

SERVES_MAX = 16
"""Requests for files that may be under way at once; more are refused."""

SESSIONS_MAX = 32
"""Conversations remembered; a child past this is not adopted."""

CALLS_MAX = 64
"""Our own calls without an answer that are remembered; a later answer to an older one is only counted."""

HELD_MAX = 32 * 1024
"""Longest prompt that can wait for a setting, in encoded bytes."""

CONTENT_KEPT_MAX = 768
"""Longest encoded content kept for a tool call, in bytes; of a longer one only the short fields are kept."""


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request of ours that the agent has not answered."""

    kind: Literal["initialize", "new", "load", "resume", "fork", "prompt", "mode", "model", "steer"]
    ask_id: str | None = None
    thread: str = ""
    mode: str | None = None
    model: str | None = None
    wanted: Mode | None = None


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call. `running`: it was seen to act, so that its text is output and no description. `chars` and
    `crc`: how much of its output was passed on, and what text that was.
    """

    turn: str
    kind: ItemKind
    native_id: str | None = None
    fingerprint: str | None = None
    state: Literal["open", "completed", "failed", "declined"] = "open"
    declined: bool = False
    running: bool = False
    streamed: bool = False
    chars: int = 0
    crc: int = 0
    child: str | None = None
    content: ItemContent = ItemContent()


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """The message that is being written, or the last one that was. `of`: the id that the agent gave, where
    the message has another because a thought has the same.
    """

    turn: str
    kind: ItemKind
    native_id: str | None = None
    fingerprint: str | None = None
    open: bool = True
    of: str | None = None


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn we asked for, or one that the agent began by itself (no `call`). `shown`: work was seen.

    `answers` counts the answers of the model whose usage was told one by one. `error` is the code of the
    error that its newest text tells.
    """

    id: str
    ask_id: str | None = None
    call: int | None = None
    clients: tuple[str, ...] = ()
    started: bool = False
    cancelled: bool = False
    shown: bool = False
    answers: int = 0
    error: str = ""


class Spent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of a conversation so far."""

    input: int = 0
    cached: int = 0
    output: int = 0
    thought: int = 0
    total: int = 0


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """A prompt that waits until the settings it wants have taken hold; at most one, and bounded."""

    ask_id: str
    client_id: str
    texts: tuple[str, ...]


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    """One conversation of the agent; `parent` where it belongs to a child of another one.

    `resumed` is the ask that brought it back: it keeps its turns apart from those of an earlier process.
    `mode` and `model` are in the agent's words, `wanted` is our mode. `mode_by` and `model_by` name the
    config option that sets them, "" where an older method does. `settling` is the ask that is done once the
    settings took hold. `used` is what the conversation has used, None where that cannot be known.
    """

    id: str
    parent: str | None = None
    parent_tool: str | None = None
    mode: str | None = None
    modes: tuple[str, ...] = ()
    model: str | None = None
    wanted: Mode | None = None
    mode_by: str = ""
    model_by: str = ""
    settling: Call | None = None
    held: Held | None = None
    used: Spent | None = None
    resumed: str = ""
    turns: int = 0
    ordinal: int = 0
    turn: Turn | None = None
    message: Message | None = None
    loading: Call | None = None
    tools: dict[str, Tool] = msgspec.field(default_factory=dict[str, Tool])


class Field(msgspec.Struct, frozen=True):
    """One field of a form, so that positional answers find their names and types."""

    name: str
    type: str


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request the agent opened. `choices` maps our option ids to the agent's.

    A form is an elicitation of the protocol, an ask a question by an extension of the agent's own, a pick one
    that comes as a permission.
    """

    rpc_id: int | str
    thread: str
    kind: Literal["permission", "form", "ask", "pick"]
    tool: str | None = None
    choices: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    fields: tuple[Field, ...] = ()


class Errand(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something the agent has its client do and that is under way; what it is about is not kept."""

    rpc_id: int | str
    thread: str
    turn: str | None = None


class State(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything about one live agent process.

    `loads`, `resumes`, `forks`, `steers`: what the handshake offered; `offered`: the methods that we did.
    `flavour` is the agent that it showed, "" for the one that the adapter was made for. `models` and
    `commands` are the lists that were told last. `errands`: what is under way for the agent.
    """

    state_version: int = STATE_VERSION
    next_id: int = 1
    flavour: str = ""
    loads: bool = False
    resumes: bool = False
    forks: bool = False
    steers: bool = False
    models: tuple[str, ...] = ()
    commands: tuple[SlashCommand, ...] = ()
    workspace: str = ""
    newest_request: int = -1
    requests_seen: int = 0
    calls: dict[int, Call] = msgspec.field(default_factory=dict[int, Call])
    sessions: dict[str, Session] = msgspec.field(default_factory=dict[str, Session])
    offered: tuple[str, ...] = ()
    errands: dict[str, Errand] = msgspec.field(default_factory=dict[str, Errand])
    requests: dict[str, Request] = msgspec.field(default_factory=dict[str, Request])
