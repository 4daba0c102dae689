"""What the adapter remembers of one bridge, and what the bridge says."""

from __future__ import annotations

import msgspec

STATE_VERSION = 1


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The prompt that is being answered."""

    id: str
    ask_id: str
    client_id: str
    started: bool = False


class State(msgspec.Struct, frozen=True, omit_defaults=True):
    """`session` is what the bridge calls itself, good as long as it lives; `turns` counts its prompts."""

    state_version: int = STATE_VERSION
    opening: str = ""
    session: str = ""
    turns: int = 0
    turn: Turn | None = None


class Said(msgspec.Struct, frozen=True, tag_field="say"):
    """Anything the bridge says."""


class Ready(Said, frozen=True, tag="ready"):
    """It is there. `command` says whether it was given anything to run."""

    id: str
    session: str
    version: str
    command: bool


class Started(Said, frozen=True, tag="started"):
    """The command runs."""

    turn: str


class Refused(Said, frozen=True, tag="refused"):
    """The command could not be started, so it never saw the prompt."""

    turn: str
    code: str
    message: str


class Text(Said, frozen=True, tag="text"):
    """A piece of what the command prints."""

    turn: str
    text: str


class Ended(Said, frozen=True, tag="ended"):
    """The command is over: by its exit code or a signal. `why` is our reason where we ended it.

    `bytes` is how much it printed, `left` whether something that it left behind still held its output.
    """

    turn: str
    code: int | None
    signal: int | None
    why: str | None
    stderr: str
    bytes: int
    left: bool


class Unread(Said, frozen=True, tag="unread"):
    """A line of ours that the bridge could not read."""

    bytes: int


Known = Ready | Started | Refused | Text | Ended | Unread
