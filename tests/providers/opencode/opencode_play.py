"""Small made-up conversations with the adapter, played without a process, and the recordings of real ones."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from podium.contract.adapter import HttpSend, Machine, Step
from podium.contract.events import ProviderEvent
from podium.contract.inputs import (
    Ask,
    Command,
    EnsureThread,
    Exit,
    HttpReply,
    Input,
    OpenSession,
    SendTurn,
    SseEvent,
    TextBlock,
)
from podium.providers.opencode import adapter
from podium.providers.opencode.declaration import PROVEN_ON
from podium.testkit.cassettes import read_cassette

FOLDER = Path(__file__).resolve().parents[2] / "cassettes" / "opencode" / PROVEN_ON
NAMES = tuple(path.stem for path in sorted(FOLDER.glob("*.jsonl")))

S, M = "ses_1", "scripted/scripted-a"
RULES = [
    {"permission": "*", "pattern": "*", "action": "allow"},
    {"permission": "external_directory", "pattern": "*", "action": "ask"},
    {"permission": "bash", "pattern": "rm *", "action": "deny"},
]
PROVIDERS = {"providers": [{"id": "scripted", "models": {"scripted-a": {"limit": {"context": 1000}}}}]}

_T = TypeVar("_T")


def cassette(name: str) -> list[Input]:
    """A recording with the end of the process appended."""
    return [*read_cassette(FOLDER / f"{name}.jsonl"), Exit(0)]


class Play:
    """An adapter that is told what a program would say; what it makes of that is kept."""

    def __init__(self) -> None:
        self.machine = Machine(adapter)
        self.events: list[ProviderEvent] = []
        self.sends: list[HttpSend] = []
        self.timers: dict[str, float | None] = {}
        self._ids = count(1)

    def feed(self, given: Input) -> Step[Any]:
        """One input, over storage, as after a crash."""
        restored = Machine.restore(adapter, self.machine.dump())
        assert restored is not None
        self.machine = restored
        step = self.machine.feed(given)
        self.events += step.events
        self.sends += [send for send in step.sends if isinstance(send, HttpSend)]
        self.timers |= {timer.name: timer.seconds for timer in step.timers}
        return step

    def ask(self, command: Command) -> Step[Any]:
        return self.feed(Ask(command))

    def says(self, name: str, **properties: Any) -> Step[Any]:
        """An event of the stream, about the conversation unless it says otherwise."""
        given = {"sessionID": S, **properties}
        event = {"id": f"evt_{next(self._ids)}", "type": name, "properties": given}
        return self.feed(SseEvent("message", event))

    def answers(self, kind: str, status: int = 200, body: Any = None) -> Step[Any]:
        """The answer to the newest request of a kind that has none yet."""
        tag = [tag for tag in self.machine.state.calls if tag.startswith(f"{kind}:")][-1]
        return self.feed(HttpReply(tag, status, body))

    def of(self, kind: type[_T]) -> list[_T]:
        return [event for event in self.events if isinstance(event, kind)]

    def sent(self, kind: str) -> list[HttpSend]:
        """The requests of one kind."""
        return [send for send in self.sends if send.tag.startswith(f"{kind}:")]

    # ---- a conversation

    def opened(self, mode: Any = "ask") -> Play:
        """Shaken hands, with one conversation."""
        self.feed(SseEvent("open"))
        self.ask(OpenSession("open", "/work", mode))
        self.answers("health", body={"healthy": True, "version": PROVEN_ON})
        self.answers("agents", body=[{"name": "build", "permission": RULES}])
        self.answers("models", body=PROVIDERS)
        self.answers("servers", body={})
        self.ask(EnsureThread("thread", "/work", mode))
        self.answers("create", body={"id": S})
        return self

    def prompted(self, number: int = 1) -> Play:
        """A prompt is sent, and not seen."""
        self.ask(SendTurn(f"turn-{number}", S, f"client-{number}", (TextBlock("Hello."),)))
        return self

    def taken(self, number: int = 1) -> Play:
        """The agent shows the prompt."""
        self.message(f"msg_u{number}", "user")
        part = {"id": f"prt_u{number}", "messageID": f"msg_u{number}", "type": "text", "text": "Hello."}
        self.says("message.part.updated", part={**part, "metadata": {"podium": f"client-{number}"}})
        return self

    def message(self, name: str, role: str, **info: Any) -> Step[Any]:
        made = {"id": name, "sessionID": S, "role": role, "time": {"created": 1}, **info}
        return self.says("message.updated", info=made)

    def answer(
        self, number: int = 1, *, done: bool = True, finish: str | None = "stop", **info: Any
    ) -> Step[Any]:
        """An answer to the prompt."""
        time = {"created": 2, "completed": 3} if done else {"created": 2}
        told = {"parentID": f"msg_u{number}", "providerID": "scripted", "modelID": "scripted-a", "time": time}
        return self.message(
            f"msg_a{number}", "assistant", **told, **({"finish": finish} if done else {}), **info
        )

    def text(self, number: int = 1, said: str = "", *, done: bool = False) -> Step[Any]:
        time = {"start": 2, "end": 3} if done else {"start": 2}
        part = {
            "id": f"prt_t{number}",
            "messageID": f"msg_a{number}",
            "type": "text",
            "text": said,
            "time": time,
        }
        return self.says("message.part.updated", part=part)

    def record(self, number: int = 1, *rows: Any) -> list[Any]:
        """The agent's record of a turn."""
        part = {"id": "prt_x", "messageID": f"msg_u{number}", "type": "text", "text": "Hello."}
        user = {"id": f"msg_u{number}", "role": "user", "time": {"created": 1}}
        return [{"info": user, "parts": [{**part, "metadata": {"podium": f"client-{number}"}}]}, *rows]


def answered(number: int = 1, said: str = "All of it.", **info: Any) -> dict[str, Any]:
    """A whole answer as it stands in a record."""
    message = f"msg_a{number}"
    part = {
        "id": f"prt_t{number}",
        "messageID": message,
        "type": "text",
        "text": said,
        "time": {"start": 1, "end": 2},
    }
    told = {"id": message, "role": "assistant", "parentID": f"msg_u{number}", "finish": "stop"}
    return {"info": {**told, "time": {"created": 1, "completed": 2}, **info}, "parts": [part]}


def encoded(events: list[ProviderEvent]) -> list[bytes]:
    """Events as stored, to be compared."""
    return [msgspec.json.encode(event) for event in events]
