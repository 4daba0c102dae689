"""Moves as rounds of a scripted model: what every rig does alike, whatever its agent's tools are called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Protocol

from podium.testkit.conformance.moves import (
    MARK_PATTERN,
    Command,
    Delegate,
    Edit,
    Heard,
    Hold,
    Move,
    NameImage,
    NameModel,
    Propose,
    Question,
    Recall,
    Refuse,
    Say,
    Think,
    Todo,
    UseTool,
)
from podium.testkit.model_script import Action, Reasoning, Round, Status, Text, Usage, Wait
from podium.testkit.responses_server import ResponsesServer

REFUSAL = 400
"""The status of a model that refuses; agents do not try it again."""

PIECE_SECONDS = 0.02
"""Time between two pieces of an answer: some agents put together what comes at once."""

TOLD = "told"
IMAGE = "image"
IMAGE_PATTERN = r"data:(image/png);base64"

USED = Usage(input=120, cached=20, output=30, reasoning=10)

Tool = Command | Edit | Question | Todo | Propose | Delegate | UseTool
"""The moves that are calls of an agent's own tools."""


class Tools(Protocol):
    """How an agent's tools are called. A call ends its round: the model goes on when it has the result."""

    def rounds(self, tool: Tool) -> Sequence[Round]:
        """The rounds that call a tool."""
        ...


class Script:
    """A scripted model that plays moves; each prompt has a script of its own, named in it."""

    def __init__(self, server: ResponsesServer, tools: Tools) -> None:
        self.server, self.tools = server, tools
        self._numbers = count(1)
        server.capture(TOLD, MARK_PATTERN)
        server.capture(IMAGE, IMAGE_PATTERN)

    def prompt(self, moves: Sequence[Move], words: str = "") -> str:
        """The prompt that plays these moves."""
        name = f"play-{next(self._numbers)}"
        self.server.script(name, *self.rounds(moves))
        return f"{words} [[{name}]]".strip()

    def rounds(self, moves: Sequence[Move]) -> list[Round]:
        """The rounds of one turn."""
        done: list[Round] = []
        actions: list[Action] = []
        for move in moves:
            match move:
                case Command() | Edit() | Question() | Todo() | Propose() | Delegate() | UseTool():
                    first, *rest = self.tools.rounds(move)
                    done += [[*actions, *first, USED], *rest]
                    actions = []
                case Heard():
                    done.append([*actions, USED])
                    actions = [Text("I was told {{told}}.")]
                case Refuse():
                    actions = [Status(REFUSAL)]
                case _:
                    actions.append(_action(move))
        if actions:
            done.append(actions if isinstance(actions[0], Status) else [*actions, USED])
        return done


def _action(move: Say | Think | Recall | NameModel | NameImage | Hold) -> Action:
    match move:
        case Say(text):
            return Text(text, delay=PIECE_SECONDS)
        case Think(text):
            return Reasoning((text,))
        case Recall():
            return Text("I was told {{told}}.")
        case NameModel():
            return Text("I am {{model}}.")
        case NameImage():
            return Text("It is {{image}}.")
        case Hold(name):
            return Wait(name)
