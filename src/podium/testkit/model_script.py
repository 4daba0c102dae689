"""What a scripted model does: the language that every scripted model server plays, whatever its wire format.

A user message that contains `[[name]]` plays the script of that name: a list of rounds, one for each request
the agent makes for it (the last round repeats). A round is a list of actions that make one response. A server
refuses what its format has no word for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

WAIT_SECONDS = 30.0
"""Longest wait for an event of a script."""

STALL_SECONDS = 60.0
"""Longest silence of a stalled response."""

KEY = re.compile(r"\[\[([A-Za-z0-9_.-]+)\]\]")
HOLE = re.compile(r"\{\{([a-z_]+)\}\}")
MODEL_HOLE = "model"
"""The hole that the model of the request fills."""


class Text(msgspec.Struct, frozen=True, tag_field="do", tag="text"):
    """An assistant message in pieces of `chunk` characters. `hold` names an event awaited after the first.

    Holes are filled as in a call.
    """

    text: str
    chunk: int = 8
    delay: float = 0.0
    phase: str | None = None
    hold: str | None = None


class Reasoning(msgspec.Struct, frozen=True, tag_field="do", tag="reasoning"):
    """A reasoning item: summary parts, and raw text where given."""

    summary: tuple[str, ...]
    raw: str | None = None


class Call(msgspec.Struct, frozen=True, tag_field="do", tag="call"):
    """A function call. `{{name}}` in the arguments is filled with what `capture(name, ...)` finds."""

    name: str
    arguments: dict[str, Any] | str
    namespace: str | None = None
    call_id: str | None = None


class CustomCall(msgspec.Struct, frozen=True, tag_field="do", tag="custom_call"):
    """A call of a tool with free text as its input."""

    name: str
    input: str
    call_id: str | None = None


class Item(msgspec.Struct, frozen=True, tag_field="do", tag="item"):
    """Any other output item, word for word."""

    item: dict[str, Any]


class Wait(msgspec.Struct, frozen=True, tag_field="do", tag="wait"):
    """Go on when the test calls `release(event)`; comments keep the connection alive meanwhile."""

    event: str
    seconds: float = WAIT_SECONDS


class Sleep(msgspec.Struct, frozen=True, tag_field="do", tag="sleep"):
    """A pause inside the response."""

    seconds: float


class Status(msgspec.Struct, frozen=True, tag_field="do", tag="status"):
    """An HTTP error instead of a response; it must stand first in its round."""

    code: int
    body: dict[str, Any] | None = None
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Cut(msgspec.Struct, frozen=True, tag_field="do", tag="cut"):
    """Drop the connection here."""


class Fail(msgspec.Struct, frozen=True, tag_field="do", tag="fail"):
    """End the response as failed."""

    code: str
    message: str = "A scripted failure"


class Stall(msgspec.Struct, frozen=True, tag_field="do", tag="stall"):
    """Send nothing more, not even comments, then drop the connection."""

    seconds: float = STALL_SECONDS


class Usage(msgspec.Struct, frozen=True, tag_field="do", tag="usage"):
    """The token counts of this response."""

    input: int = 100
    cached: int = 20
    output: int = 30
    reasoning: int = 10


Action = Text | Reasoning | Call | CustomCall | Item | Wait | Sleep | Status | Cut | Fail | Stall | Usage
Round = Sequence[Action]


DEFAULT: Round = (Text("A scripted answer."),)
"""What a prompt without a script gets."""
