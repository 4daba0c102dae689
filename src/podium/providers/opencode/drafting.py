"""A step being made: the next state and what it brings, built up and then frozen."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import HTTP_SECONDS, HttpSend, SetTimer, Step
from podium.contract.errors import failure
from podium.contract.events import AskFailed, ProviderEvent, Ref
from podium.contract.handles import Handle
from podium.contract.inputs import Command
from podium.providers.opencode.reading import Json
from podium.providers.opencode.state import (
    CALLS_MAX,
    MESSAGES_MAX,
    PARTS_MAX,
    SESSIONS_MAX,
    Call,
    Part,
    Request,
    Session,
    State,
    Turn,
)


class Draft:
    """One step in the making. Only the draft changes; every state it holds is a new value."""

    def __init__(self, state: State, transport: str, agent_kind: str) -> None:
        self.state = state
        self.transport = transport
        self.agent_kind = agent_kind
        self.events: list[ProviderEvent] = []
        self.sends: list[HttpSend] = []
        self.timers: list[SetTimer] = []

    def done(self) -> Step[State]:
        """The finished step."""
        return Step(self.state, tuple(self.events), tuple(self.sends), tuple(self.timers))

    def set(self, **fields: Any) -> None:
        """Change fields of the state."""
        self.state = msgspec.structs.replace(self.state, **fields)

    def emit(self, event: ProviderEvent) -> None:
        """Report something."""
        self.events.append(event)

    def refuse(self, command: Command, code: str, message: str, fix: str = "") -> None:
        """Refuse an ask because of what it says."""
        self.emit(AskFailed(command.ask_id, failure("validation", code, message, fix=fix)))

    def handle(self, thread: str) -> Handle:
        """The durable pointer to a conversation."""
        return Handle(self.transport, self.agent_kind, thread)

    def call(
        self,
        call: Call,
        method: str,
        path: str,
        body: Any = None,
        *,
        prompt: bool = False,
        seconds: float = HTTP_SECONDS,
    ) -> None:
        """A request of ours, and what its answer will mean."""
        number = self.state.next_call
        tag = f"{call.kind}:{number}"
        calls = {**self.state.calls, tag: call}
        if len(calls) > CALLS_MAX:
            del calls[next(iter(calls))]
        self.set(next_call=number + 1, calls=calls)
        self.sends.append(HttpSend(tag, method, path, body, call.ask_id, prompt, seconds))

    def take_call(self, tag: str) -> Call | None:
        """The request that an answer belongs to; it is no longer open."""
        found = self.state.calls.get(tag)
        if found is not None:
            self.set(calls={name: call for name, call in self.state.calls.items() if name != tag})
        return found

    def waits_for(self, *kinds: str, thread: str = "") -> bool:
        """Whether a request of one of these kinds is under way for this conversation."""
        return any(call.kind in kinds and call.thread == thread for call in self.state.calls.values())

    def session(self, thread: str | None) -> Session | None:
        """A conversation we know."""
        return self.state.sessions.get(thread) if thread else None

    def root(self, session: Session) -> Session:
        """The conversation that a person opened, of which this one is a descendant or which it is."""
        for _ in range(SESSIONS_MAX):
            parent = self.session(session.parent)
            if parent is None:
                return session
            session = parent
        return session

    def room(self) -> bool:
        """Whether one more conversation fits; for that, a child that is done may be forgotten."""
        if len(self.state.sessions) < SESSIONS_MAX:
            return True
        done = (s.id for s in self.state.sessions.values() if s.parent is not None and s.turn is None)
        oldest = next(done, None)
        if oldest is None:
            return False
        self.set(sessions={k: s for k, s in self.state.sessions.items() if k != oldest})
        return True

    def put(self, session: Session, **fields: Any) -> Session:
        """Remember a conversation, with these fields changed."""
        changed = msgspec.structs.replace(session, **fields)
        self.set(sessions={**self.state.sessions, changed.id: changed})
        return changed

    def put_turn(self, session: Session, turn: Turn, **fields: Any) -> Session:
        """Remember the turn of a conversation, with these fields changed."""
        return self.put(session, turn=msgspec.structs.replace(turn, **fields))

    def put_message(self, session: Session, message: str, role: str) -> Session:
        """Remember whose a message is."""
        if message in session.messages:
            return session
        messages = {**session.messages, message: role}
        if sum(len(held.messages) for held in self.state.sessions.values()) >= MESSAGES_MAX:
            del messages[next(iter(messages))]
        return self.put(session, messages=messages)

    def put_part(self, session: Session, name: str, part: Part) -> Session:
        """Remember a part; past the bound the oldest ended one goes, else the oldest."""
        parts = {**session.parts, name: part}
        if sum(len(held.parts) for held in self.state.sessions.values()) >= PARTS_MAX and len(parts) > 1:
            ended = (key for key, held in parts.items() if not held.open and key != name)
            oldest = (key for key in parts if key != name)
            del parts[next(ended, next(oldest))]
        return self.put(session, parts=parts)

    def put_request(self, key: str, request: Request) -> None:
        """Remember an open request."""
        self.set(requests={**self.state.requests, key: request})

    def drop_request(self, key: str) -> Request | None:
        """Forget a request that is over."""
        found = self.state.requests.get(key)
        self.set(requests={name: held for name, held in self.state.requests.items() if name != key})
        return found

    def timer(self, name: str, seconds: float | None) -> None:
        """Set or cancel a timer."""
        self.timers.append(SetTimer(name, seconds))


def part_ref(session: Session, name: str, part: Part) -> Ref:
    """Where a part lives."""
    return Ref(session.id, part.turn, name)


def provider_model(name: str) -> Json:
    """A model of ours, PROVIDER/MODEL, as the agent names it."""
    provider, _, model = name.partition("/")
    return {"providerID": provider, "modelID": model}
