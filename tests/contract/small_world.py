"""A made-up agent and the smallest core there is: contract and policy, and nothing else of Podium.

`whole_day` drives a conversation through both. It runs in a process of its own, see test_whole_agent.py.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from podium.contract.adapter import Adapter, Machine, Send
from podium.contract.capabilities import Capabilities
from podium.contract.events import ProviderEvent, RequestOpened, SessionReady, ThreadBound, TurnEnded
from podium.contract.handles import Handle, HandleChain, HandleLink, decode_handle, encode_handle
from podium.contract.inputs import (
    Ask,
    CloseSession,
    Command,
    EnsureThread,
    Exit,
    Frame,
    Input,
    InterruptTurn,
    ListModels,
    OpenSession,
    Respond,
    SendTurn,
    TextBlock,
)
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.contract.validation import check_declaration
from podium.policy import Refusal, guard
from tests.contract.small_agent import SmallAdapter

FORBIDDEN = ("sqlite3", "anyio", "http", "asyncio", "socket", "subprocess")
"""Modules that neither contract nor policy may bring along."""

ROOMS = ("contract", "policy")


class Program:
    """The agent itself: takes a line, says what it says. `saved` is what it keeps over a restart."""

    def __init__(self, saved: dict[str, list[str]] | None = None, *, can: tuple[str, ...] = ()) -> None:
        self.saved = {} if saved is None else saved
        self.can = can
        self.heard: list[str] = []
        self.turns = 0
        self.running: dict[str, str] = {}

    def take(self, line: str) -> list[dict[str, Any]]:
        said = json.loads(line)
        self.heard.append(said["op"])
        ask = {"id": said["id"]}
        match said["op"]:
            case "hello":
                return [{"op": "ready", **ask, "version": "1.0", "can": self.can}]
            case "open":
                return [self._open(said)]
            case "say":
                return self._say(said)
            case "answer":
                return [{"op": "done", **ask}, *self._act(said)]
            case "stop":
                return [{"op": "done", **ask}, *self._stop(said)]
            case "models":
                return [{"op": "models", **ask, "models": ["one", "two"]}]
            case _:
                return [{"op": "done", **ask}]

    def _open(self, said: dict[str, Any]) -> dict[str, Any]:
        named = said.get("thread")
        if named is not None and named not in self.saved:
            return {"op": "no_thread", "id": said["id"], "thread": named}
        thread = named or f"t{len(self.saved) + 1}"
        self.saved.setdefault(thread, [])
        return {"op": "opened", "id": said["id"], "thread": thread, "resumed": named is not None}

    def _say(self, said: dict[str, Any]) -> list[dict[str, Any]]:
        thread, text = said["thread"], said["text"]
        if thread in self.running:
            return [{"op": "refused", "id": said["id"], "why": "busy"}]
        self.saved[thread].append(text)
        self.turns += 1
        turn = f"{thread}.{self.turns}"
        where = {"thread": thread, "turn": turn}
        self.running[thread] = turn
        begun = [
            {"op": "started", "id": said["id"], **where},
            {"op": "tick"},
            {"op": "from_the_future", "x": 1},
        ]
        if text == "act":
            tool = {"item": f"{turn}.tool", "command": "ls"}
            return [
                *begun,
                {"op": "tool", **where, **tool, "state": "running"},
                {"op": "wants", "key": turn, **where, **tool},
            ]
        if text == "wait":
            return begun
        return [*begun, *self._finish(thread, f"heard {len(self.saved[thread])}")]

    def _act(self, said: dict[str, Any]) -> list[dict[str, Any]]:
        turn: str = said["key"]
        thread = turn.split(".", maxsplit=1)[0]
        state = "ok" if said["yes"] else "declined"
        tool = {"op": "tool", "thread": thread, "turn": turn, "item": f"{turn}.tool", "command": "ls"}
        return [{**tool, "state": state}, *self._finish(thread, state)]

    def _stop(self, said: dict[str, Any]) -> list[dict[str, Any]]:
        turn = self.running.pop(said["thread"], None)
        return [{"op": "ended", "thread": said["thread"], "turn": turn, "how": "stopped"}] if turn else []

    def _finish(self, thread: str, answer: str) -> list[dict[str, Any]]:
        turn = self.running.pop(thread)
        at = {"thread": thread, "turn": turn, "item": f"{turn}.said"}
        return [
            {"op": "text", **at, "text": answer[:3]},
            {"op": "text", **at, "text": answer[3:]},
            {"op": "message", **at, "text": answer},
            {"op": "ended", "thread": thread, "turn": turn, "how": "done"},
        ]


class CoreRefused(Exception):
    """The core stopped an ask before any adapter saw it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


class Core:
    """Guards asks, feeds inputs, keeps what was reported. `inputs` is everything the adapter ever saw."""

    def __init__(self, adapter: Adapter[Any], program: Program) -> None:
        self.machine = Machine(adapter)
        self.program = program
        self.capabilities: Capabilities = Capabilities.minimal("small")
        self.inputs: list[Input] = []
        self.events: list[ProviderEvent] = []
        self.asked = 0

    def feed(self, given: Input) -> list[ProviderEvent]:
        """One input, and everything that follows from it."""
        self.inputs.append(given)
        step = self.machine.feed(given)
        found = list(step.events)
        self.events += step.events
        for event in step.events:
            if isinstance(event, SessionReady):
                declared = self.machine.adapter.capabilities().narrowed(event.narrowed)
                self.capabilities = declared.effective(event.agent_version)
        for send in step.sends:
            assert isinstance(send, Send)
            for frame in self.program.take(send.line):
                found += self.feed(Frame(frame))
        return found

    def ask(self, command: Command) -> list[ProviderEvent]:
        """An ask, if the policy lets it through."""
        refusal = guard(str(command.__struct_config__.tag), self.capabilities)
        if refusal is not None:
            raise CoreRefused(refusal)
        return self.feed(Ask(command))

    def name(self) -> str:
        """The next ask id."""
        self.asked += 1
        return f"a{self.asked}"

    def opened(self) -> Core:
        """Past the handshake."""
        self.ask(OpenSession(self.name(), "/w"))
        return self

    def bind(self, handle: Handle | None = None) -> list[ProviderEvent]:
        """A conversation of the agent, or the reason why not."""
        return self.ask(EnsureThread(self.name(), "/w", handle=handle))

    def say(self, thread: str, text: str) -> list[ProviderEvent]:
        """One prompt."""
        return self.ask(SendTurn(self.name(), thread, "c", (TextBlock(text),)))


def whole_day() -> dict[str, Any]:
    """Two sessions of one conversation, with an approval, a decline, an interrupt and a resume."""
    adapter = SmallAdapter()
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []
    program = Program()
    core = Core(adapter, program).opened()
    bound = next(e for e in core.bind() if isinstance(e, ThreadBound))
    chain = HandleChain().append(HandleLink(bound.handle, "created", 1))
    core.say(bound.thread, "hello")
    for decision in (ACCEPT, DECLINE):
        request = next(e for e in core.say(bound.thread, "act") if isinstance(e, RequestOpened))
        core.ask(Respond(core.name(), request.key, Answer(decision)))
    core.say(bound.thread, "wait")
    core.ask(InterruptTurn(core.name(), bound.thread))
    core.ask(CloseSession(core.name()))
    core.feed(Exit(0))

    stored = encode_handle(bound.handle)
    later = Core(adapter, Program(program.saved)).opened()
    again = next(e for e in later.bind(decode_handle(stored)) if isinstance(e, ThreadBound))
    chain = chain.append(HandleLink(again.handle, "resumed", 2))
    later.say(again.thread, "more")
    events = core.events + later.events
    return {
        "events": msgspec.to_builtins(events),
        "outcomes": [e.outcome for e in events if isinstance(e, TurnEnded)],
        "links": len(chain.links),
        "threads": len(program.saved),
        "models": refused(later, ListModels(later.name())),
    }


def refused(core: Core, command: Command) -> dict[str, Any]:
    """The refusal of an ask that may not be sent."""
    before = len(core.inputs)
    try:
        core.ask(command)
    except CoreRefused as stop:
        assert len(core.inputs) == before
        return msgspec.to_builtins(stop.refusal)
    return {}


def intruders() -> list[str]:
    """Loaded modules that contract and policy must not need."""
    parts = [name.split(".") for name in sys.modules]
    rooms = {p[1] for p in parts if p[0] == "podium" and len(p) > 1} - set(ROOMS)
    return sorted({*rooms, *({p[0] for p in parts} & set(FORBIDDEN))})


if __name__ == "__main__":
    told = whole_day()
    print(json.dumps({**told, "intruders": intruders()}))
