"""What an agent shall do in a turn, in product terms: a stage makes its agent do it."""

from __future__ import annotations

import msgspec

MARK = "MARK-{}"
"""A word that a conversation can be asked about: `Recall` names the last one that the agent was told."""

MARK_PATTERN = r"MARK-\w+"


class Say(msgspec.Struct, frozen=True):
    """Say a text."""

    text: str


class Think(msgspec.Struct, frozen=True):
    """Think, visibly."""

    text: str


class Command(msgspec.Struct, frozen=True):
    """Run a shell command in the workspace. In the `background` it goes on when its call returns."""

    command: str
    background: bool = False


class Edit(msgspec.Struct, frozen=True):
    """Change one line of a file that is there: `before` becomes `after`."""

    path: str
    before: str
    after: str


class Question(msgspec.Struct, frozen=True):
    """Ask the person one question with two answers to choose from."""

    text: str
    options: tuple[str, str]


class Todo(msgspec.Struct, frozen=True):
    """Write a to-do list: the first step is being worked on, the others are not."""

    steps: tuple[str, ...]


class Propose(msgspec.Struct, frozen=True):
    """Propose a plan for acceptance, as text."""

    text: str


class Delegate(msgspec.Struct, frozen=True):
    """Give moves to a subagent and wait for it."""

    moves: tuple[Move, ...]


class UseTool(msgspec.Struct, frozen=True):
    """Call the tool `echo` of the person's MCP server with a word; it answers with that word."""

    word: str


class Recall(msgspec.Struct, frozen=True):
    """Say the newest mark that this conversation was told before."""


class Heard(msgspec.Struct, frozen=True):
    """Say the mark of the message that came during this turn."""


class NameModel(msgspec.Struct, frozen=True):
    """Say which model answers."""


class NameImage(msgspec.Struct, frozen=True):
    """Say the media type of the image that came with the prompt."""


class Hold(msgspec.Struct, frozen=True):
    """Wait until the stage releases this name."""

    name: str


class Refuse(msgspec.Struct, frozen=True):
    """The model refuses the request: the turn fails."""


Move = (
    Say
    | Think
    | Command
    | Edit
    | Question
    | Todo
    | Propose
    | Delegate
    | UseTool
    | Recall
    | Heard
    | NameModel
    | NameImage
    | Hold
    | Refuse
)
