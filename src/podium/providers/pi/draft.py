"""One step in the making: the next state, what was learned, what to write."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import Send, Step
from podium.contract.errors import failure
from podium.contract.events import AskFailed, ProviderEvent, Ref
from podium.contract.handles import NOTE_MAX, Handle
from podium.contract.inputs import Command
from podium.providers.pi.state import Pending, State, Turn
from podium.transport.codec import encode_frame

NAME = "pi"
"""The adapter and the brand."""

TRANSPORT = "pi-rpc"
"""The protocol whose id space the native ids live in."""


class Draft:
    """What one step changes; the state that was given stays as it is."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[ProviderEvent] = []
        self.sends: list[Send] = []

    def emit(self, *events: ProviderEvent) -> None:
        """Report what was learned, in order."""
        self.events.extend(events)

    def change(self, **fields: Any) -> None:
        """Put other values into the state."""
        self.state = msgspec.structs.replace(self.state, **fields)

    def turn(self, turn: Turn, **fields: Any) -> Turn:
        """Put the running turn, with other values."""
        turn = msgspec.structs.replace(turn, **fields)
        self.change(turn=turn)
        return turn

    def command(self, name: str, pending: Pending, *, prompt: bool = False, **fields: Any) -> None:
        """Write a command and remember what it is for."""
        number = self.state.commands + 1
        key = f"podium-{number}"
        self.change(commands=number, pending={**self.state.pending, key: pending})
        line = encode_frame({"id": key, "type": name, **fields})
        self.sends.append(Send(line, pending.ask_id, prompt=prompt))

    def take(self, key: str | None) -> Pending | None:
        """The command that is answered, which is open no more."""
        found = self.state.pending.get(key or "")
        if found is not None:
            self.change(pending={k: p for k, p in self.state.pending.items() if k != key})
        return found

    def refuse(self, command: Command, code: str, message: str, fix: str = "") -> None:
        """Nothing is written, and the reason is told."""
        self.emit(AskFailed(command.ask_id, failure("validation", code, message, fix=fix)))

    def handle(self, native_id: str, path: str) -> Handle:
        """The durable name of a conversation; its file is the note."""
        return Handle(TRANSPORT, NAME, native_id, path if len(path) <= NOTE_MAX else "")

    def ref(self, turn: Turn, native: str) -> Ref:
        """Where something of a turn stands."""
        return Ref(self.state.session, turn.id, native)

    def step(self) -> Step[State]:
        """The finished step."""
        return Step(self.state, tuple(self.events), tuple(self.sends))
