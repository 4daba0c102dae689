"""Between an agent's bytes and the core: lines, frames, masking, the adapter's step, the correlator (R1, R2).

No I/O and no clock: bytes and inputs in, reports and numbered sends out. All that it must remember over a
restart is in `dump`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from podium.contract.adapter import Adapter, AdapterFault, HttpSend, Machine, Send
from podium.contract.capabilities import Capabilities
from podium.contract.errors import Failure, failure
from podium.contract.events import (
    DiagnosticSeen,
    ItemSeen,
    Notice,
    OpaqueSeen,
    ProviderEvent,
    Ref,
    RequestClosed,
    Retrying,
    TextDelta,
    ThreadChanged,
    TurnEnded,
)
from podium.contract.inputs import Ask, Attached, Command, Exit, Frame, Input, OpenSession, Served, Timer
from podium.contract.serving import NotServed, Outcome, Serve
from podium.domain.commands import InternalCommand, NoteTrouble, Reported, SessionFailed
from podium.domain.state import ThreadState
from podium.journal.rows import ProcessRow, SendRow
from podium.runtime.correlator import Correlator, Counters, Grade
from podium.runtime.latest import Latest
from podium.runtime.storms import Storms
from podium.transport.codec import Decoded, Noise, decode_line
from podium.transport.courier import line_of, received
from podium.transport.lines import Line, LineReader, LostLine
from podium.transport.masking import Secrets, StreamMasker

Report = ProviderEvent | InternalCommand
"""What comes out of a pump: the adapter's events, and troubles of the stream itself."""

ALL = ""
"""How the keys of all bodies begin."""

QUIET = (Retrying, Notice, ThreadChanged, OpaqueSeen)
"""Events that are no progress: an agent that only says it retries is stuck all the same."""


MASKED = NotServed(
    failure(
        "validation",
        "holds_secret",
        "The request holds a secret, which does not pass through Podium.",
        fix="Use your own tools for it.",
    )
)
"""Why nothing is done for a request in which a secret was masked: it would be done with the mask."""


class Held(msgspec.Struct, frozen=True):
    """The tail of a body that may become a secret; its first `shown` characters went out already."""

    event: TextDelta
    text: str
    shown: int = 0


class PumpState(msgspec.Struct):
    """What the pump itself must not forget: ordinals, and text held back while it may be a secret."""

    counters: Counters = msgspec.field(default_factory=Counters)
    held: dict[str, Held] = msgspec.field(default_factory=dict[str, Held])
    storms: Storms = msgspec.field(default_factory=Storms)
    latest: Latest = msgspec.field(default_factory=Latest)


class TimerChange(msgspec.Struct, frozen=True):
    """An adapter's timer to set (seconds) or to cancel (None)."""

    name: str
    seconds: float | None


class Process(msgspec.Struct):
    """The stored facts of an agent process that do not change with each input."""

    id: str
    session_id: str
    thread_id: str
    runtime_id: str
    token: str
    folder: str
    address: str = ""
    generation: int = 0


class Pump:
    """One agent process as the core sees it."""

    def __init__(self, process: Process, adapter: Adapter[object], strength: Grade, secrets: Secrets) -> None:
        self.process = process
        self.adapter = adapter
        self.machine = Machine(adapter)
        self.correlator = Correlator(strength)
        self.masker = StreamMasker(secrets)
        self.secrets = secrets
        self.reader = LineReader()
        self.read_offset = 0
        self.inputs = 0
        self.next_send = 1
        self.closed = False
        self.dirty = True
        self.held: dict[str, Held] = {}
        self.storms = Storms()
        self.latest = Latest()
        self.options: dict[str, Any] = {}
        self.timers: dict[str, float] = {}
        self.timer_changes: list[TimerChange] = []
        self.outbox: list[SendRow] = []
        self.serves: list[Serve] = []
        self.counts: dict[str, int] = {}
        self.noise: list[str] = []
        self.progress = 0
        self.broken: Failure | None = None
        self._good = b""

    # ---- what is stored

    def row(self) -> ProcessRow:
        """The process as the next transaction stores it.

        An adapter that cannot say its state is broken from here on: the process is stored as closed, with the
        last state that it could say. Held text is stored masked: the beginning of what may become a secret
        stays, a secret that is whole already does not (F277).
        """
        p = self.process
        try:
            self._good = self.machine.dump()
        except AdapterFault as fault:
            self._break(fault)
            self.closed = True
        held = {key: self._stored(held) for key, held in self.held.items()}
        state = PumpState(self.correlator.counters, held, self.storms, self.latest)
        return ProcessRow(
            id=p.id,
            session_id=p.session_id,
            thread_id=p.thread_id,
            runtime_id=p.runtime_id,
            adapter=self.adapter.descriptor.adapter,
            token=p.token,
            folder=p.folder,
            address=p.address,
            generation=p.generation,
            read_offset=self.read_offset,
            inputs=self.inputs,
            state=self._good,
            correlator=msgspec.json.encode(state),
            timers=msgspec.json.encode(self.timers),
            closed=self.closed,
        )

    @classmethod
    def restore(
        cls, row: ProcessRow, adapter: Adapter[object], strength: Grade, secrets: Secrets, last_send: int
    ) -> Pump | None:
        """The pump as it was committed; None where the adapter cannot read its stored state (R1)."""
        machine = Machine.restore(adapter, row.state)
        if machine is None:
            return None
        process = Process(
            row.id,
            row.session_id,
            row.thread_id,
            row.runtime_id,
            row.token,
            row.folder,
            row.address,
            row.generation,
        )
        pump = cls(process, adapter, strength, secrets)
        state = msgspec.json.decode(row.correlator, type=PumpState)
        pump.machine = machine
        pump.correlator.counters = state.counters
        pump.held = state.held
        pump.storms = state.storms
        pump.latest = state.latest
        pump.timers = msgspec.json.decode(row.timers, type=dict[str, float])
        pump.reader = LineReader(row.read_offset)
        pump.read_offset = row.read_offset
        pump.inputs = row.inputs
        pump.next_send = last_send + 1
        pump.closed = row.closed
        pump.dirty = False
        pump._good = row.state
        return pump

    # ---- inputs

    def ask(self, command: Command) -> list[Report]:
        """Feed an ask of the core; the handshake is told the options of the instance."""
        if isinstance(command, OpenSession):
            command = msgspec.structs.replace(command, options={**self.options, **command.options})
        return self.feed(Ask(command))

    def timer(self, name: str) -> list[Report]:
        """A timer of the adapter is due."""
        self.timers.pop(name, None)
        return self.feed(Timer(name))

    def served(self, tag: str, outcome: Outcome) -> list[Report]:
        """Something that the agent wanted done is done, or was not."""
        return self.feed(Served(tag, outcome))

    def attached(self) -> list[Report]:
        """A new owner reads on where the last one committed."""
        return self.feed(Attached("replay"))

    def exit(self, code: int | None, signal: int | None, reason: str) -> list[Report]:
        """The process is gone and everything it wrote was read."""
        reports = self._lines([rest] if (rest := self.reader.finish()) else [])
        # Why a request ended with its process, the core knows better (F046).
        reports += [r for r in self.feed(Exit(code, signal, reason)) if not isinstance(r, RequestClosed)]
        return [*reports, *self.latest.release(), *self.release(ALL)]

    def lines(self, data: bytes) -> list[Line | LostLine]:
        """Cut bytes into lines; a line is consumed by `line`, one at a time."""
        return self.reader.feed(data)

    def line(self, line: Line | LostLine) -> list[Report]:
        """Consume one line: the read offset moves behind it."""
        return self._lines([line])

    def _lines(self, lines: Iterable[Line | LostLine]) -> list[Report]:
        out: list[Report] = []
        for line in lines:
            self.read_offset = line.end_offset
            self.dirty = True
            if isinstance(line, LostLine):
                self._count("lost")
                text = (
                    f"The agent wrote a line of {line.bytes_dropped} bytes, over the bound; it was dropped."
                )
                out.append(NoteTrouble("warning", "frame_too_long", text))
                continue
            for decoded in decode_line(line.data):
                out.extend(self._decoded(decoded, line.data))
        return out

    def _decoded(self, decoded: Decoded, line: bytes) -> list[Report]:
        if isinstance(decoded, Noise):
            self._count("noise")
            if decoded.text:
                self.noise.append(self.secrets.mask_text(decoded.text))
            return []
        data = decoded.value
        if self.secrets.suspicious(line):
            data = self.secrets.mask_json(data)
        told = self.storms.repaired() if decoded.repaired else None
        before = len(self.serves)
        given = received(data) if self.adapter.descriptor.http is not None else Frame(data)
        reports = [*([told] if told is not None else []), *self.feed(given)]
        if len(self.serves) > before and data != decoded.value:
            refused, self.serves[before:] = self.serves[before:], []
            reports += [report for serve in refused for report in self.served(serve.tag, MASKED)]
        return reports

    def feed(self, given: Input) -> list[Report]:
        """One step of the adapter, with what it reported and what it wants sent.

        An adapter that breaks its contract fails its own session, once; it is fed no more.
        """
        self.inputs += 1
        self.dirty = True
        if self.broken is not None:
            return []
        try:
            step = self.machine.feed(given)
            sends = [self._send(n, send) for n, send in enumerate(step.sends, self.next_send)]
        except AdapterFault as fault:
            return [SessionFailed(self.process.session_id, self._break(fault))]
        self._count(step.handled)
        self.outbox.extend(sends)
        self.next_send += len(sends)
        self.serves.extend(step.serves)
        self.timer_changes.extend(TimerChange(timer.name, timer.seconds) for timer in step.timers)
        kept = [latest for event in step.events for latest in self.latest.admit(event)]
        return [report for event in kept for report in self._report(event)]

    def _break(self, fault: AdapterFault) -> Failure:
        self.broken = failure("unknown", fault.code, fault.message, fix=fault.fix)
        return self.broken

    def _send(self, number: int, send: Send | HttpSend) -> SendRow:
        http = isinstance(send, HttpSend)
        if http != (self.adapter.descriptor.http is not None):
            raise AdapterFault(
                self.adapter.descriptor.adapter, "HTTP sends belong to HTTP agents, and no others"
            )
        line = line_of(send) if isinstance(send, HttpSend) else send.line
        return SendRow(self.process.id, number, send.ask_id, send.prompt, line)

    def take_sends(self) -> list[SendRow]:
        """The sends since the last call: they go out after their transaction (R2)."""
        rows, self.outbox = self.outbox, []
        return rows

    def take_serves(self) -> list[Serve]:
        """What the agent wants done since the last call: it is done after the transaction (R2)."""
        serves, self.serves = self.serves, []
        return serves

    def due(self, changes: list[TimerChange], now: float) -> None:
        """Remember when timers are due: stored with the input that set them, so that no crash forgets one."""
        for change in changes:
            if change.seconds is None:
                self.timers.pop(change.name, None)
            else:
                self.timers[change.name] = now + change.seconds

    def take_timers(self) -> list[TimerChange]:
        """The timer changes since the last call."""
        rows, self.timer_changes = self.timer_changes, []
        return rows

    # ---- reports

    def _stored(self, held: Held) -> Held:
        masked = self.secrets.mask_text(held.text)
        return held if masked == held.text else Held(held.event, masked)

    @property
    def holding(self) -> bool:
        """Whether there is held text that did not go out yet."""
        return any(held.shown < len(held.text) for held in self.held.values())

    def release(self, over: str | None = None) -> list[Report]:
        """Let go of text that was held back.

        Bodies whose key begins with `over` are done. The others go on: what went out of them is remembered,
        so that the rest of a secret is masked even where its beginning was let go.
        """
        held, self.held = self.held, {}
        out: list[Report] = []
        for key, kept in held.items():
            text = self.masker.release(kept.text)
            fresh = text[kept.shown :] if text == kept.text else text
            if fresh and kept.shown < len(kept.text):
                out.append(msgspec.structs.replace(kept.event, text=fresh))
            if text == kept.text and (over is None or not key.startswith(over)):
                self.held[key] = Held(kept.event, kept.text, len(kept.text))
        self.dirty = self.dirty or bool(out)
        return out

    def _text(self, event: TextDelta) -> list[Report]:
        key = _body_key(event.ref, event.body)
        before = self.held.pop(key, None) or Held(event, "")
        emit, tail = self.masker.feed(before.text, event.text)
        shown = before.shown
        if shown:
            emit, shown = _unseen(before.text + event.text, emit, shown)
        if tail:
            self.held[key] = Held(msgspec.structs.replace(event, text=""), tail, shown)
        return [msgspec.structs.replace(event, text=emit)] if emit else []

    def _report(self, event: ProviderEvent) -> list[Report]:
        if isinstance(event, TextDelta):
            self.progress += 1
            return self._text(event)
        if isinstance(event, DiagnosticSeen):
            self._count(f"frame:{event.name}")
            return []
        self.progress += not isinstance(event, QUIET)
        kept = self.storms.admit(event)
        if kept is None:
            self._count("storm")
            return []
        return [*self.release(_over(event)), kept]

    def reported(self, event: ProviderEvent, state: ThreadState) -> Reported:
        """The event with the id of its item, given what is known of the thread right now."""
        native = _native_thread(event)
        provider_thread = state.by_native(native) if native else state.main
        scope = provider_thread.id if provider_thread else f"{self.process.session_id}/{native or ''}"
        item_id, strength = self.correlator.item_of(scope, event)
        return Reported(self.process.session_id, event, item_id, strength)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def _unseen(whole: str, emit: str, shown: int) -> tuple[str, int]:
    """What is new of `emit`, the masked beginning of `whole`, and how much of the rest went out already."""
    pairs = enumerate(zip(whole, emit, strict=False))
    same = next((n for n, (one, other) in pairs if one != other), min(len(whole), len(emit)))
    if same >= shown:  # what went out stands at its beginning
        return emit[shown:], 0
    if same == len(emit):  # all of it went out
        return "", shown - same
    return emit[same:], 0  # what went out was the beginning of a secret: the mask follows it


def _over(event: ProviderEvent) -> str | None:
    """How the keys of the bodies begin that end with this event."""
    if isinstance(event, TurnEnded):
        return f"{event.thread}\0"
    if isinstance(event, ItemSeen) and event.state != "open":
        return _body_key(event.ref, "")
    return None


def _body_key(ref: Ref, body: str) -> str:
    return f"{ref.thread}\0{ref.turn}\0{ref.id}\0{body}"


def _native_thread(event: ProviderEvent) -> str | None:
    ref = getattr(event, "ref", None)
    if isinstance(ref, Ref):
        return ref.thread
    thread = getattr(event, "thread", None)
    return thread if isinstance(thread, str) else None


def identity_strength(capabilities: Capabilities) -> Grade:
    """How far item ids of this agent are trusted."""
    word = str(capabilities.strength("identity.item"))
    return "strong" if word == "strong" else "weak" if word == "weak" else "none"
