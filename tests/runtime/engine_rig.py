"""An engine with a real journal and a puppet for an agent: its frames say which events it reports."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from podium.contract.adapter import Descriptor, LaunchPlan, LaunchSettings, Send, SetTimer, Step
from podium.contract.capabilities import Capabilities
from podium.contract.events import ProviderEvent, SessionReady, ThreadBound
from podium.contract.handles import Handle
from podium.contract.inputs import Ask, EnsureThread, Frame, Input, SendTurn
from podium.contract.serving import Serve
from podium.domain.commands import CreateThread, SendMessage, SessionOpened
from podium.domain.outputs import SetDeadline, StartSession, StopSession
from podium.domain.state import ThreadState
from podium.journal.rows import SendRow
from podium.journal.store import Journal
from podium.policy.config import Policy
from podium.runtime.engine import Engine
from podium.runtime.gathering import Effect, Hook
from podium.runtime.pump import Process, Pump, TimerChange
from podium.runtime.receipts import Receipt
from podium.transport.masking import Secrets

ABLE = Capabilities.build({"turns.interrupt": {"support": "native"}}, adapter="puppet")
NOBODY = Secrets({})
WAIT = 30.0

_events = msgspec.json.Decoder(tuple[ProviderEvent, ...])


class Puppet:
    """An adapter without a will: a frame's `events` are reported, an ask is sent as it is.

    A frame may also `raise`, set a `timer`, or make the state as large as `size` says.
    """

    descriptor = Descriptor("puppet", "zz-fake", "Puppet", "zz", ("puppet",))

    def capabilities(self) -> Capabilities:
        return ABLE

    def asks(self) -> frozenset[str]:
        return frozenset()

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        return LaunchPlan(("puppet",))

    def new(self) -> Any:
        return b"1"

    def step(self, state: Any, given: Input) -> Step[Any]:
        if isinstance(given, Ask):
            ask = given.command
            line = msgspec.json.encode(ask).decode()
            return Step(state, sends=(Send(line, ask.ask_id, isinstance(ask, SendTurn)),))
        if not isinstance(given, Frame):
            return Step(state)
        if "raise" in given.data:
            raise RuntimeError(given.data["raise"])
        events = _events.decode(msgspec.json.encode(given.data.get("events", [])))
        timers = (SetTimer("t", given.data["timer"]),) if "timer" in given.data else ()
        return Step(b"1" * int(given.data.get("size", len(state))), events, timers=timers)

    def dump(self, state: Any) -> bytes:
        return state

    def load(self, data: bytes) -> Any:
        return data or None


def frame(*events: ProviderEvent, **more: Any) -> bytes:
    """One line of the puppet."""
    return msgspec.json.encode({"events": [msgspec.to_builtins(e) for e in events], **more}) + b"\n"


def handle(native: str) -> Handle:
    return Handle("zz", "zz-fake", native)


class Rig:
    """The shell of a runtime, reduced to lists: what was sent, started, stopped and published."""

    def __init__(self, folder: Path) -> None:
        self.captures = False
        """Whether the core is told to capture files."""
        self.failing: set[int] = set()
        """Numbers of the commits that fail."""
        self.slow = 0.0
        """Seconds that each commit takes longer."""
        self.commits = 0
        self.journal = Journal(folder, fault=self.fault)
        self.sends: list[SendRow] = []
        self.serves: list[tuple[str, Serve]] = []
        self.effects: list[tuple[str, Effect]] = []
        self.timers: list[tuple[str, list[TimerChange]]] = []
        self.drops = 0
        self.offsets: dict[str, int] = {}
        self.output: dict[str, bytes] = {}
        """All that each session's puppet ever wrote."""
        self.moment = 1000.0
        self.count = 0
        self.engine = Engine(
            self.journal,
            capabilities=self.capabilities,
            policy=lambda _: Policy(),
            clock=lambda: self.moment,
            entropy=self.entropy,
            fault=lambda _: None,
            hook=Hook(
                effect=lambda thread, effect: self.effects.append((thread, effect)),
                send=self.sends.append,
                timers=lambda session, changes: self.timers.append((session, changes)),
                committed=lambda pump, offset: self.offsets.__setitem__(pump.process.session_id, offset),
                dropped=self.dropped,
                serve=lambda session, serve: self.serves.append((session, serve)),
            ),
            owner="rt",
            captures=lambda _: self.captures,
        )

    def capabilities(self, state: ThreadState) -> Capabilities:
        narrowed = state.session.narrowed if state.session else {}
        return ABLE.narrowed(narrowed) if narrowed else ABLE

    def entropy(self) -> str:
        self.count += 1
        return f"e{self.count}"

    def dropped(self) -> None:
        self.drops += 1

    def fault(self, point: str) -> None:
        """Called by the journal inside each commit."""
        if point != "before commit":
            return
        self.commits += 1
        if self.slow:
            time.sleep(self.slow)
        if self.commits in self.failing:
            raise sqlite3.OperationalError("database or disk is full")

    # ---- a thread's life

    async def thread(self, name: str = "create") -> str:
        receipt = await self.engine.submit(
            None, CreateThread("/w", "agent", "zz-fake"), actor="user", command_id=name
        )
        return receipt.result["thread"]

    async def send(self, thread: str, client: str, text: str = "hello") -> Receipt:
        command = SendMessage(client, text)
        return await self.engine.submit(thread, command, actor="user", command_id=f"{thread}:{client}")

    def attach(self, thread: str) -> Pump:
        """A new puppet for the thread's session."""
        session = self.engine.live(thread).state.session
        assert session is not None
        process = Process(f"pr_{session.id}", session.id, thread, "rt", "token", "/f")
        pump = Pump(process, Puppet(), "strong", NOBODY)
        self.engine.pumps[session.id] = pump
        self.output.setdefault(session.id, b"")
        return pump

    def reattach(self, thread: str) -> Pump:
        """The thread's puppet as the journal knows it."""
        row = self.journal.processes(thread_id=thread)[0]
        pump = Pump.restore(row, Puppet(), "strong", NOBODY, self.journal.last_send(row.id))
        assert pump is not None
        self.engine.pumps[row.session_id] = pump
        return pump

    def pump(self, thread: str) -> Pump:
        session = self.engine.live(thread).state.session
        assert session is not None
        return self.engine.pumps[session.id]

    def write(self, thread: str, *lines: bytes) -> None:
        """The puppet writes, and the engine reads it."""
        pump = self.pump(thread)
        data = b"".join(lines)
        self.output[pump.process.session_id] += data
        self.read(pump, data)

    def read(self, pump: Pump, data: bytes) -> None:
        for line in pump.lines(data):
            self.engine.consume(pump, pump.line(line))

    async def working(self, name: str = "create", native: str = "n1") -> str:
        """A thread whose first prompt was sent."""
        thread = await self.thread(name)
        await self.send(thread, "m1")
        pump = self.attach(thread)
        self.engine.apply(thread, SessionOpened(pump.process.session_id))
        self.write(thread, frame(SessionReady("open")))
        self.bind(thread, native)
        await self.engine.settle()
        return thread

    def bind(self, thread: str, native: str = "n1") -> None:
        """Answer what asks for the conversation."""
        asked = [s for s in self.taken(thread) if s["ask"] == "ensure_thread"]
        self.write(thread, frame(ThreadBound(asked[-1]["ask_id"], native, handle(native))))

    def taken(self, thread: str) -> list[dict[str, Any]]:
        """The asks of the thread's session, those not yet written among them."""
        process = self.pump(thread).process.id
        held = self.engine._batch.rows.sends  # pyright: ignore[reportPrivateUsage]
        rows = {s.n: s for s in (*self.sends, *held) if s.process_id == process}
        return [msgspec.json.decode(rows[n].line) for n in sorted(rows)]

    def deadlines(self) -> list[SetDeadline]:
        return [e for _, e in self.effects if isinstance(e, SetDeadline)]

    def started(self) -> list[StartSession]:
        return [e for _, e in self.effects if isinstance(e, StartSession)]

    def stopped(self) -> list[StopSession]:
        return [e for _, e in self.effects if isinstance(e, StopSession)]


@asynccontextmanager
async def running(folder: Path) -> AsyncGenerator[Rig]:
    """A rig whose engine runs while the block does."""
    rig = Rig(folder)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(rig.engine.run)
            with anyio.fail_after(WAIT):
                yield rig
            group.cancel_scope.cancel()
    finally:
        rig.journal.close()


def asks(sends: Iterable[SendRow], word: str) -> list[dict[str, Any]]:
    """The asks of one kind among sends."""
    found = [msgspec.json.decode(s.line) for s in sends]
    return [a for a in found if a["ask"] == word]


__all__ = ["EnsureThread", "Puppet", "Rig", "asks", "frame", "handle", "running"]
