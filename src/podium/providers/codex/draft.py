"""One step in the making: the next state, what was learned, what to send."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import Send, SetTimer, Step
from podium.contract.events import AskDone, ProviderEvent, ThreadBound, TurnEnded, TurnStarted
from podium.contract.handles import Handle
from podium.providers.codex.edges import size
from podium.providers.codex.state import (
    ENDED_MAX,
    ITEMS_BYTES_MAX,
    NAME_MAX,
    THREADS_BYTES_MAX,
    TURNS_BYTES_MAX,
    Conversation,
    OpenItem,
    OpenTurn,
    Pending,
    State,
    Waiting,
    item_key,
    turn_key,
)
from podium.transport import codec


def _fit(kept: dict[str, Any], limit: int, victims: list[str]) -> None:
    """Forget victims, the first ones first, until the rest is within its bound."""
    for name in victims:
        if size(kept) <= limit:
            return
        del kept[name]


METHOD_NOT_FOUND = -32601
"""JSON-RPC: the method does not exist or is not available."""


STOP_TIMER = "stop:"

STOP_WAIT = 1.0
"""Seconds a stop waits for the start of its turn to be said."""


class Draft:
    """A private copy of a state that one step changes; the given state stays as it is."""

    def __init__(self, state: State, transport: str, agent_kind: str) -> None:
        self.base = state
        self.transport = transport
        self.agent_kind = agent_kind
        self.next_id = state.next_id
        self.agent_version = state.agent_version
        self.frames = state.frames
        self.opaque = state.opaque
        self.pending = dict(state.pending)
        self.threads = dict(state.threads)
        self.turns = dict(state.turns)
        self.items = dict(state.items)
        self.waiting = dict(state.waiting)
        self.ended = state.ended
        self.newest_request = state.newest_request
        self.armed = state.armed
        self.events: list[ProviderEvent] = []
        self.sends: list[Send] = []
        self.timers: list[SetTimer] = []

    def emit(self, *events: ProviderEvent) -> None:
        """Report what was learned, in order."""
        self.events.extend(events)

    def request(self, method: str, params: dict[str, Any], pending: Pending, *, prompt: bool = False) -> None:
        """Send a request and remember whose it is."""
        number = self.next_id
        self.next_id += 1
        self.pending[str(number)] = pending
        line = codec.encode_frame(codec.request(number, method, params))
        self.sends.append(Send(line, ask_id=pending.ask_id, prompt=prompt))

    def interrupt(self, thread: str, turn: str, ask_id: str | None) -> None:
        """Ask the agent to stop a turn, once it has started it."""
        known = self.turns.get(turn_key(thread, turn))
        if known is not None and not known.started and ask_id is not None:
            self.turns[turn_key(thread, turn)] = msgspec.structs.replace(known, stop=ask_id)
            self.timers.append(SetTimer(STOP_TIMER + thread, STOP_WAIT))
            return
        pending = Pending("interrupt_turn", ask_id, thread, turn)
        self.request("turn/interrupt", {"threadId": thread, "turnId": turn}, pending)

    def stop_now(self, thread: str) -> None:
        """The start of a turn that is to be stopped was not said in time: ask for the stop all the same."""
        for turn in self.turns_of(thread):
            if turn.stop is not None and not turn.started:
                key = turn_key(thread, turn.id)
                self.turns[key] = msgspec.structs.replace(turn, stop=None)
                self.request(
                    "turn/interrupt",
                    {"threadId": thread, "turnId": turn.id},
                    Pending("interrupt_turn", turn.stop, thread, turn.id),
                )

    def prompt_of(self, thread: str) -> str | None:
        """The key of our prompt to this conversation that is not answered yet."""
        return next((k for k, p in self.pending.items() if p.tag == "send_turn" and p.thread == thread), None)

    def notify(self, method: str) -> None:
        """Send a notification."""
        self.sends.append(Send(codec.encode_frame(codec.notification(method))))

    def reply(self, native: int | str, result: Any, *, ask_id: str | None = None) -> None:
        """Answer a request of the agent; its id goes back as it came."""
        self.sends.append(Send(codec.encode_frame(codec.result(native, result)), ask_id=ask_id))

    def refuse(self, native: int | str, message: str, *, ask_id: str | None = None) -> None:
        """Refuse a request of the agent as a method we do not have."""
        line = codec.encode_frame(codec.error(native, METHOD_NOT_FOUND, message))
        self.sends.append(Send(line, ask_id=ask_id))

    def handle(self, thread: str, note: str = "") -> Handle:
        """The durable name of a conversation."""
        return Handle(self.transport, self.agent_kind, thread, note)

    def thread(self, thread: str) -> Conversation:
        """What is known of a conversation."""
        return self.threads.get(thread) or Conversation()

    def keep_thread(self, thread: str, known: Conversation) -> None:
        """Remember a conversation, within the bound."""
        if known.model is not None:
            known = msgspec.structs.replace(known, model=known.model[:NAME_MAX])
        self.threads.pop(thread, None)
        self.threads[thread] = known
        if size(self.threads) > THREADS_BYTES_MAX:
            busy = {turn.thread for turn in self.turns.values()}
            others = [name for name in self.threads if name != thread]
            others.sort(key=lambda name: (name in busy, self.threads[name].parent is None))
            _fit(self.threads, THREADS_BYTES_MAX, others)

    def has_ended(self, thread: str, turn: str) -> bool:
        """Whether this turn is known to be over."""
        return turn_key(thread, turn) in self.ended

    def open_turn(self, thread: str, turn: str, client_id: str | None = None) -> OpenTurn:
        """The open turn of this id, remembered from now on."""
        key = turn_key(thread, turn)
        found = self.turns.get(key)
        if found is None:
            found = OpenTurn(thread, turn, client_id=client_id)
        elif client_id is not None and found.client_id is None:
            found = msgspec.structs.replace(found, client_id=client_id)
        self.turns[key] = found
        _fit(self.turns, TURNS_BYTES_MAX, [other for other in self.turns if other != key])
        return found

    def start_turn(self, thread: str, turn: str, root: str | None = None) -> bool:
        """Report the start of a turn once; False where it was known or is over."""
        if self.has_ended(thread, turn):
            return False
        found = self.open_turn(thread, turn)
        if found.started:
            return False
        self.turns[turn_key(thread, turn)] = msgspec.structs.replace(found, started=True)
        self.emit(TurnStarted(thread, turn, found.client_id, root if root != turn else None))
        if found.stop is not None:
            self.interrupt(thread, turn, found.stop)
        known = self.threads.get(thread)
        if known is not None and known.empty:
            # From its first turn on the conversation is on disk, and its handle says so.
            self.threads[thread] = msgspec.structs.replace(known, empty=False)
            self.emit(ThreadBound(None, thread, self.handle(thread), resumed=True, model=known.model))
        return True

    def end_turn(self, ended: TurnEnded) -> None:
        """Report the end of a turn and forget what was open in it; the core closes that (B25)."""
        key = turn_key(ended.thread, ended.turn)
        known = self.turns.pop(key, None)
        if known is not None and known.stop is not None and not known.started:
            self.emit(AskDone(known.stop))
        self.remember_ended(key)
        for name in [n for n, i in self.items.items() if (i.thread, i.turn) == (ended.thread, ended.turn)]:
            del self.items[name]
        self.emit(ended)

    def remember_ended(self, key: str) -> None:
        """Note that a turn is over, within the bound."""
        if key not in self.ended:
            self.ended = (*self.ended, key)[-ENDED_MAX:]

    def turns_of(self, thread: str) -> list[OpenTurn]:
        """The open turns of a conversation, oldest first."""
        return [turn for turn in self.turns.values() if turn.thread == thread]

    def keep_item(self, item: OpenItem) -> None:
        """Remember an open item, within the bound."""
        key = item_key(item.thread, item.turn, item.id)
        self.items[key] = item
        _fit(self.items, ITEMS_BYTES_MAX, [other for other in self.items if other != key])

    def waits_of(self, thread: str, turn: str | None = None) -> list[tuple[str, Waiting]]:
        """The open requests of a conversation, or of one turn."""
        return [(k, w) for k, w in self.waiting.items() if w.thread == thread and turn in (None, w.turn)]

    def step(self) -> Step[State]:
        """The finished step."""
        state = State(
            next_id=self.next_id,
            agent_version=self.agent_version,
            frames=self.frames,
            opaque=self.opaque,
            pending=self.pending,
            threads=self.threads,
            turns=self.turns,
            items=self.items,
            waiting=self.waiting,
            ended=self.ended,
            newest_request=self.newest_request,
            armed=self.armed,
        )
        return Step(state, tuple(self.events), tuple(self.sends), tuple(self.timers))
