"""Recordings of agents that speak ACP, and small made-up conversations, played without a process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from podium.contract.adapter import Machine, Send, Step
from podium.contract.events import ProviderEvent
from podium.contract.inputs import Ask, EnsureThread, Exit, Frame, Input, OpenSession, SendTurn, TextBlock
from podium.providers.acp import AcpAdapter, adapter, copilot, gemini, grok, qwen, vibe
from podium.providers.acp.claims import GROK_VERSION, VIBE_VERSION
from podium.providers.acp.copilot import COPILOT_VERSION
from podium.providers.acp.gemini import GEMINI_VERSION
from podium.providers.acp.qwen import QWEN_VERSION
from podium.providers.acp.state import State
from podium.testkit.cassettes import read_cassette

CASSETTES = Path(__file__).resolve().parents[2] / "cassettes" / "acp"
FOLDERS: dict[str, tuple[Path, AcpAdapter, str]] = {
    "copilot": (CASSETTES / "copilot" / COPILOT_VERSION, copilot, COPILOT_VERSION),
    "gemini": (CASSETTES / "gemini" / GEMINI_VERSION, gemini, GEMINI_VERSION),
    "grok": (CASSETTES / "grok" / GROK_VERSION, grok, GROK_VERSION),
    "qwen": (CASSETTES / "qwen" / QWEN_VERSION, qwen, QWEN_VERSION),
    "vibe": (CASSETTES / "vibe" / VIBE_VERSION, vibe, VIBE_VERSION),
    "others": (CASSETTES / "others", adapter, "1.0"),
}
"""Where the recordings lie, the adapter that they are of, and the version of the agent."""

NAMES = tuple(
    f"{agent}/{path.stem}"
    for agent, (folder, _, _) in FOLDERS.items()
    for path in sorted(folder.glob("*.jsonl"))
)

_T = TypeVar("_T")


def place_of(name: str, kind: str = "") -> Path:
    """The file of a recording, or of what is expected of it."""
    agent, _, stem = name.partition("/")
    folder = FOLDERS[agent][0]
    return folder / kind / f"{stem}.json{'' if kind == 'projections' else 'l'}"


def adapter_of(name: str) -> AcpAdapter:
    """The adapter that a recording is of."""
    return FOLDERS[name.partition("/")[0]][1]


def cassette(name: str) -> list[Input]:
    """A recording with the end of the process appended."""
    return [*read_cassette(place_of(name)), Exit(0)]


def encoded(events: list[ProviderEvent]) -> list[bytes]:
    """Events as stored, to be compared."""
    return [msgspec.json.encode(event) for event in events]


class Play:
    """One conversation: feed frames and asks, look at what came of them."""

    def __init__(self, of: AcpAdapter = adapter) -> None:
        self.machine = Machine(of)
        self.events: list[ProviderEvent] = []
        self.lines: list[dict[str, Any]] = []

    @property
    def state(self) -> State:
        """The state now."""
        state = self.machine.state
        assert isinstance(state, State)
        return state

    def feed(self, given: Input) -> Step[State]:
        """One input."""
        step: Step[State] = self.machine.feed(given)
        self.events += step.events
        self.lines += [json.loads(send.line) for send in step.sends if isinstance(send, Send)]
        return step

    def frame(self, method: str, params: dict[str, Any], **members: Any) -> Step[State]:
        """One notification, or with `id` one request of the agent."""
        return self.feed(Frame({"jsonrpc": "2.0", "method": method, "params": params, **members}))

    def update(self, kind: str, /, thread: str = "s", **members: Any) -> Step[State]:
        """One `session/update`."""
        return self.frame(
            "session/update", {"sessionId": thread, "update": {"sessionUpdate": kind, **members}}
        )

    def reply(self, result: Any) -> Step[State]:
        """The answer to the newest request of ours."""
        return self.feed(Frame({"jsonrpc": "2.0", "id": self.lines[-1]["id"], "result": result}))

    def fail(self, code: int, message: str, data: Any = None) -> Step[State]:
        """The refusal of the newest request of ours."""
        error = {"code": code, "message": message, "data": data}
        return self.feed(Frame({"jsonrpc": "2.0", "id": self.lines[-1]["id"], "error": error}))

    def ready(self, *, offers: dict[str, Any] | None = None, **more: Any) -> Play:
        """Past the handshake."""
        self.feed(Ask(OpenSession("open", "/w")))
        self.reply({"protocolVersion": 1, "agentCapabilities": offers or {}, **more})
        return self

    def bound(self, mode: Any = "ask", model: str | None = None, **result: Any) -> Play:
        """Past the start of conversation s."""
        self.feed(Ask(EnsureThread("bind", "/w", mode, model=model)))
        self.reply({"sessionId": "s", **result})
        return self

    def prompted(self, **more: Any) -> Play:
        """Past a prompt."""
        self.feed(Ask(SendTurn("turn", "s", "c", (TextBlock("go"),), **more)))
        return self

    def of(self, kind: type[_T]) -> list[_T]:
        """All events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]
