"""A step being made: the next state and what it brings, built up and then frozen."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import Send, SetTimer, Step
from podium.contract.errors import failure
from podium.contract.events import AskFailed, ProviderEvent
from podium.contract.handles import Handle
from podium.contract.inputs import Command
from podium.contract.serving import Serve
from podium.providers.acp.flavour import Flavour
from podium.providers.acp.state import CALLS_MAX, SESSIONS_MAX, TOOLS_MAX, Call, Request, Session, State, Tool
from podium.transport.codec import encode_frame

TRANSPORT = "acp"
"""The protocol whose id space the native ids live in."""


class Draft:
    """One step in the making. Only the draft changes; every state it holds is a new value."""

    def __init__(self, state: State, flavour: Flavour, agent_kind: str) -> None:
        self.state = state
        self.flavour = flavour
        self.agent_kind = agent_kind
        self.events: list[ProviderEvent] = []
        self.sends: list[Send] = []
        self.timers: list[SetTimer] = []
        self.serves: list[Serve] = []

    def done(self) -> Step[State]:
        """The finished step."""
        outputs = (tuple(self.events), tuple(self.sends), tuple(self.timers), tuple(self.serves))
        return Step(self.state, *outputs)

    def emit(self, event: ProviderEvent) -> None:
        """Report something."""
        self.events.append(event)

    def refuse(self, command: Command, code: str, message: str, fix: str = "") -> None:
        """Refuse an ask because of what it says."""
        self.emit(AskFailed(command.ask_id, failure("validation", code, message, fix=fix)))

    def handle(self, thread: str) -> Handle:
        """The durable pointer to a conversation."""
        return Handle(TRANSPORT, self.agent_kind, thread)

    def send(self, frame: dict[str, Any], ask_id: str | None = None, *, prompt: bool = False) -> None:
        """One JSON-RPC line."""
        line = encode_frame({"jsonrpc": "2.0", **frame})
        self.sends.append(Send(line, ask_id, prompt))

    def call(self, method: str, params: dict[str, Any], call: Call) -> int:
        """A request of ours, and what its answer will mean."""
        number = self.state.next_id
        calls = {**self.state.calls, number: call}
        if len(calls) > CALLS_MAX:
            del calls[next(iter(calls))]
        self.state = msgspec.structs.replace(self.state, next_id=number + 1, calls=calls)
        frame = {"id": number, "method": method, "params": params}
        self.send(frame, call.ask_id, prompt=call.kind == "prompt")
        return number

    def take_call(self, number: int) -> Call | None:
        """The call that an answer belongs to; it is no longer open."""
        found = self.state.calls.get(number)
        if found is not None:
            rest = {n: c for n, c in self.state.calls.items() if n != number}
            self.state = msgspec.structs.replace(self.state, calls=rest)
        return found

    def session(self, thread: str) -> Session | None:
        """A conversation we know."""
        return self.state.sessions.get(thread)

    def room(self) -> bool:
        """Whether one more conversation fits; for that, a child that is done may be forgotten."""
        if len(self.state.sessions) < SESSIONS_MAX:
            return True
        done = (s.id for s in self.state.sessions.values() if s.parent is not None and s.turn is None)
        oldest = next(done, None)
        if oldest is None:
            return False
        rest = {k: s for k, s in self.state.sessions.items() if k != oldest}
        self.state = msgspec.structs.replace(self.state, sessions=rest)
        return True

    def put(self, session: Session) -> Session:
        """Remember a conversation."""
        sessions = {**self.state.sessions, session.id: session}
        self.state = msgspec.structs.replace(self.state, sessions=sessions)
        return session

    def put_tool(self, session: Session, key: str, tool: Tool) -> Session:
        """Remember a tool call; past the bound the oldest ended one goes, else the oldest."""
        tools = {**session.tools, key: tool}
        if sum(len(s.tools) for s in self.state.sessions.values()) >= TOOLS_MAX and len(tools) > 1:
            ended = (k for k, t in tools.items() if t.state != "open" and k != key)
            del tools[next(ended, next(iter(tools)))]
        return self.put(msgspec.structs.replace(session, tools=tools))

    def put_request(self, key: str, request: Request) -> None:
        """Remember an open request."""
        requests = {**self.state.requests, key: request}
        self.state = msgspec.structs.replace(self.state, requests=requests)

    def drop_request(self, key: str) -> None:
        """Forget a request that is over."""
        rest = {k: r for k, r in self.state.requests.items() if k != key}
        self.state = msgspec.structs.replace(self.state, requests=rest)

    def timer(self, name: str, seconds: float | None) -> None:
        """Set or cancel a timer."""
        self.timers.append(SetTimer(name, seconds))
