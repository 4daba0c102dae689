"""One step in the making: the next state, what was learned, what to send."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from podium.contract.adapter import Send, Step
from podium.contract.events import AskDone, DiagnosticSeen, OpaqueSeen, ProviderEvent, Ref, RequestClosed
from podium.contract.handles import Handle
from podium.providers.claude.reading import bounded
from podium.providers.claude.state import Pending, State, Talk, Turn, Waiting
from podium.transport import codec

EMPTY = "empty"
"""Note of a handle whose conversation had no turn yet: the agent has no record of it, and needs none."""


class Draft:
    """A private copy of a state that one step changes; the given state stays as it is."""

    def __init__(self, state: State, transport: str, agent_kind: str) -> None:
        self.transport = transport
        self.agent_kind = agent_kind
        self.nonce = state.nonce
        self.next_id = state.next_id
        self.frames = state.frames
        self.opaque = state.opaque
        self.talks = dict(state.talks)
        self.pending = dict(state.pending)
        self.waiting = dict(state.waiting)
        self.models = state.models
        self.events: list[ProviderEvent] = []
        self.sends: list[Send] = []

    def emit(self, *events: ProviderEvent) -> None:
        """Report what was learned, in order."""
        self.events.extend(events)

    def passed(self, name: str) -> None:
        """A known frame that changes nothing for us."""
        self.emit(DiagnosticSeen(name))

    def unknown(self, name: str, data: Any, thread: str | None = None, turn: str | None = None) -> None:
        """A frame that is not known: kept as it is."""
        self.opaque += 1
        self.emit(OpaqueSeen(name[:80], bounded(data), thread, turn))

    # ---- to the bridge

    def tell(self, op: str, *, ask_id: str | None = None, prompt: bool = False, **fields: Any) -> None:
        """One line for the bridge."""
        line = codec.encode_frame({"op": op, **fields})
        self.sends.append(Send(line, ask_id=ask_id, prompt=prompt))

    def send(
        self, of: str, frame: dict[str, Any], *, ask_id: str | None = None, prompt: bool = False
    ) -> None:
        """A frame for the agent of one conversation."""
        self.tell("send", ask_id=ask_id, prompt=prompt, of=of, frame=frame)

    def control(self, of: str, request: dict[str, Any], pending: Pending) -> None:
        """A control request, and whose it is."""
        name = f"podium-{self.next_id}"
        self.next_id += 1
        self.pending[name] = pending
        self.send(
            of, {"type": "control_request", "request_id": name, "request": request}, ask_id=pending.ask_id
        )

    def reply(self, of: str, request: str, response: dict[str, Any], ask_id: str | None = None) -> None:
        """The answer to a control request of the agent; its id goes back as it came."""
        inner = {"subtype": "success", "request_id": request, "response": response}
        self.send(of, {"type": "control_response", "response": inner}, ask_id=ask_id)

    def refuse(self, of: str, request: str, why: str) -> None:
        """A control request that we do not have."""
        inner = {"subtype": "error", "request_id": request, "error": why}
        self.send(of, {"type": "control_response", "response": inner})

    # ---- conversations

    def name_of(self, thread: str) -> str | None:
        """Under which name the bridge holds a conversation."""
        return next((of for of, talk in self.talks.items() if talk.session == thread), None)

    def change(self, of: str, **fields: Any) -> Talk:
        """The conversation with some fields changed."""
        talk = msgspec.structs.replace(self.talks[of], **fields)
        self.talks[of] = talk
        return talk

    def change_turn(self, of: str, **fields: Any) -> None:
        """The running turn with some fields changed; nothing where none runs."""
        turn: Turn | None = self.talks[of].turn
        if turn is not None:
            self.change(of, turn=msgspec.structs.replace(turn, **fields))

    def handle(self, of: str) -> Handle:
        """The durable name of a conversation."""
        talk = self.talks[of]
        return Handle(self.transport, self.agent_kind, talk.session, EMPTY if talk.empty else "")

    def ref(self, of: str, item: str | None = None) -> Ref:
        """A place in the running turn of a conversation."""
        talk = self.talks[of]
        return Ref(talk.session, talk.turn.id if talk.turn is not None else None, item)

    def made_id(self, *words: str) -> str:
        """An id in the form the agent wants, from what we know: the same words give the same id."""
        digest = bytearray(hashlib.sha256("\0".join((self.nonce or "", *words)).encode()).digest()[:16])
        digest[6] = digest[6] & 0x0F | 0x80
        digest[8] = digest[8] & 0x3F | 0x80
        text = digest.hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    # ---- requests of the agent

    def waits_of(self, of: str, turn: str | None = None) -> list[tuple[str, Waiting]]:
        """The open requests of a conversation, or of one turn."""
        return [(k, w) for k, w in self.waiting.items() if w.of == of and turn in (None, w.turn)]

    def close(self, key: str, reason: str) -> None:
        """A request is over: our answer was taken, or the agent waits no more."""
        found = self.waiting.pop(key, None)
        if found is not None and found.answered is not None:
            self.emit(RequestClosed(key, "answer"), AskDone(found.answered))
        elif found is not None:
            self.emit(RequestClosed(key, "agent", reason))

    def step(self) -> Step[State]:
        """The finished step."""
        state = State(
            nonce=self.nonce,
            next_id=self.next_id,
            frames=self.frames,
            opaque=self.opaque,
            talks=self.talks,
            pending=self.pending,
            waiting=self.waiting,
            models=self.models,
        )
        return Step(state, tuple(self.events), tuple(self.sends))
