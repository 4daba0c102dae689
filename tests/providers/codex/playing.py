"""Cassettes of this adapter and small made-up conversations, played without a process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from podium.contract.adapter import Machine, Send, Step
from podium.contract.events import ProviderEvent
from podium.contract.inputs import (
    Ask,
    EnsureThread,
    Exit,
    Frame,
    Input,
    OpenSession,
    Respond,
    SendTurn,
    TextBlock,
)
from podium.contract.requests import Answer
from podium.providers.codex import CodexAdapter, State
from podium.testkit.cassettes import read_cassette

CASSETTES = Path(__file__).resolve().parents[2] / "cassettes" / "codex" / "0.171.0"
EXPECTED = CASSETTES / "expected"
NAMES = tuple(sorted(path.stem for path in CASSETTES.glob("*.jsonl")))

_T = TypeVar("_T")


def cassette(name: str) -> list[Input]:
    """A recorded conversation with the end of the process appended."""
    return [*read_cassette(CASSETTES / f"{name}.jsonl"), Exit(0)]


class Play:
    """One conversation: feed frames and asks, look at what came of them."""

    def __init__(self, adapter: CodexAdapter | None = None) -> None:
        self.adapter = adapter or CodexAdapter()
        self.machine = Machine(self.adapter)
        self.events: list[ProviderEvent] = []
        self.lines: list[dict[str, Any]] = []
        self.steps: list[Step[State]] = []

    @property
    def state(self) -> State:
        """The state now."""
        state = self.machine.state
        assert isinstance(state, State)
        return state

    def feed(self, given: Input) -> Step[State]:
        """One input."""
        step: Step[State] = self.machine.feed(given)
        self.steps.append(step)
        self.events += step.events
        self.lines += [json.loads(send.line) for send in step.sends if isinstance(send, Send)]
        return step

    def frame(self, method: str, params: dict[str, Any], **members: Any) -> Step[State]:
        """One notification, or with `id` one request of the agent."""
        return self.feed(Frame({"method": method, "params": params, **members}))

    def result(self, number: int, result: Any) -> Step[State]:
        """The answer to our request of this number."""
        return self.feed(Frame({"id": number, "result": result}))

    def feed_error(self, number: int, message: str) -> Step[State]:
        """The refusal of our request of this number."""
        return self.feed(Frame({"id": number, "error": {"code": -32600, "message": message}}))

    def opened(self) -> Play:
        """Past the handshake and the start of thread th-1."""
        self.feed(Ask(OpenSession("a1", ".")))
        self.result(1, {"userAgent": "fake/0", "platformFamily": "unix", "platformOs": "linux"})
        self.feed(Ask(EnsureThread("a2", ".")))
        self.result(2, {"thread": {"id": "th-1", "turns": [], "status": {"type": "idle"}}, "model": "m-1"})
        return self

    def running(self) -> Play:
        """Past the start of turn tu-1."""
        self.opened()
        self.feed(Ask(SendTurn("a3", "th-1", "c-1", (TextBlock("go"),))))
        self.result(3, {"turn": {"id": "tu-1", "items": [], "status": "inProgress", "error": None}})
        self.frame("turn/started", {"threadId": "th-1", "turn": {"id": "tu-1", "status": "inProgress"}})
        return self

    def item(self, phase: str, item: dict[str, Any], thread: str = "th-1", turn: str = "tu-1") -> Step[State]:
        """`item/started` or `item/completed`."""
        return self.frame(f"item/{phase}", {"item": item, "threadId": thread, "turnId": turn})

    def ended(self, status: str = "completed", error: Any = None, turn: str = "tu-1") -> Step[State]:
        """`turn/completed` of thread th-1."""
        native: dict[str, Any] = {"id": turn, "items": [], "status": status, "error": error}
        return self.frame("turn/completed", {"threadId": "th-1", "turn": native})

    def status(self, word: str, thread: str = "th-1") -> Step[State]:
        """`thread/status/changed`."""
        return self.frame("thread/status/changed", {"threadId": thread, "status": {"type": word}})

    def respond(self, key: str, answer: Answer, ask_id: str = "r1") -> Step[State]:
        """A person's answer."""
        return self.feed(Ask(Respond(ask_id, key, answer)))

    def of(self, kind: type[_T]) -> list[_T]:
        """All events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]


def encoded(events: list[ProviderEvent]) -> list[bytes]:
    """Events as stored, to be compared."""
    return [msgspec.json.encode(event) for event in events]
