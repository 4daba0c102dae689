"""What the adapter remembers of one bridge: its conversations, open ids and how to answer them (R1)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import ItemKind

STATE_VERSION = 1
"""The shape of `State`; a stored state of another version is refused."""

TALKS_MAX = 8
"""Most conversations of one bridge; it holds as many processes."""

TOOLS_MAX = 32
"""Most open tool calls remembered of one conversation; the oldest goes first."""

CHILDREN_MAX = 32
"""Most subagents remembered of one conversation; the oldest goes first."""

PROMPTS_MAX = 16
"""Most prompts of one conversation that the agent has not taken yet; one more is refused."""

WAITING_BYTES_MAX = 64 * 1024
"""Most that the open requests may take, encoded; one more is declined at once, in words."""

MODELS_MAX = 50
"""Most models kept of the agent's list."""

NAME_MAX = 128
"""Longest name of a model, mode or version kept, in characters."""

PATH_MAX = 512
"""Longest changed path kept, in characters."""

PromptKind = Literal["turn", "steer", "compact"]


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A user message of ours that the agent has not taken yet, by our id of it. `stop`: it shall not run."""

    uuid: str
    kind: PromptKind
    ask_id: str
    client_id: str | None = None
    stop: bool = False


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The turn that runs. `seen`: the agent repeated its prompt, so that it is surely this one.

    `stopping`: we asked for its end. `failure` is what the agent said of an API error. `ask_id` is the ask to
    shorten the conversation, which the turn was begun for.
    """

    id: str
    client_id: str | None = None
    prompted: bool = False
    seen: bool = False
    stopping: bool = False
    failure: Failure | None = None
    ask_id: str | None = None


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """The message being streamed. `blocks` are the kinds of its open blocks by their index; `given` counts
    the whole blocks that came; `input` and `cached` are the tokens that went in.
    """

    id: str
    blocks: dict[int, str] = msgspec.field(default_factory=dict[int, str])
    given: int = 0
    input: int | None = None
    cached: int | None = None


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call without its result. `declined`: a person said no. `background`: it outlives its call."""

    kind: ItemKind
    turn: str
    name: str
    thread: str
    declined: bool = False
    background: bool = False


class Child(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subagent by the call that made it. `thread` is the agent's own id of it."""

    thread: str
    turn: str
    over: bool = False


class Talk(msgspec.Struct, frozen=True, omit_defaults=True):
    """One conversation and its process. `session` is the agent's id of it; `opening` what the ask wants.

    `exact`: it says which prompt it begins with, as newer versions do.

    `empty`: the agent has written nothing of it yet. `resumes`: the process was started on a record. `mode`
    and `model` are what was asked for, `real_mode` and `real_model` the agent's own words.
    """

    session: str
    ask_id: str | None = None
    opening: Literal["created", "resumed", "forked"] | None = None
    resumes: bool = False
    mode: str = "ask"
    real_mode: str = ""
    model: str | None = None
    real_model: str | None = None
    empty: bool = False
    exact: bool = False
    error: str | None = None
    turn: Turn | None = None
    prompts: tuple[Prompt, ...] = ()
    message: Message | None = None
    tools: dict[str, Tool] = msgspec.field(default_factory=dict[str, Tool])
    children: dict[str, Child] = msgspec.field(default_factory=dict[str, Child])
    todos: dict[str, tuple[str, str]] = msgspec.field(default_factory=dict[str, tuple[str, str]])
    window: int | None = None


class Pending(msgspec.Struct, frozen=True, omit_defaults=True):
    """A control request of ours that is not answered."""

    tag: Literal["open", "interrupt", "cancel", "cancel_steer", "mode", "model"]
    of: str
    ask_id: str | None = None
    prompt: str | None = None


class Waiting(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request of the agent that is open. `rules` are what it proposes; `input` goes back with an answer."""

    of: str
    form: Literal["tool", "question", "plan"]
    tool: str | None = None
    turn: str | None = None
    rules: tuple[dict[str, Any], ...] = ()
    input: dict[str, Any] | None = None
    questions: tuple[str, ...] = ()
    answered: str | None = None


class Model(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model as the agent lists it."""

    id: str
    name: str | None = None


class State(msgspec.Struct, frozen=True):
    """All of it. `nonce` is drawn by the bridge; ids of new conversations are made of it."""

    state_version: int = STATE_VERSION
    nonce: str | None = None
    next_id: int = 1
    frames: int = 0
    opaque: int = 0
    talks: dict[str, Talk] = msgspec.field(default_factory=dict[str, Talk])
    pending: dict[str, Pending] = msgspec.field(default_factory=dict[str, Pending])
    waiting: dict[str, Waiting] = msgspec.field(default_factory=dict[str, Waiting])
    models: tuple[Model, ...] = ()
