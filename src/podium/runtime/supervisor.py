"""One agent process, from spawn to its last byte: the shell around a pump (R2, R3, R12).

Bytes come from the keeper's spool, sends go to the keeper after their commit. Nothing is sent twice: the
keeper takes send n only after n-1, and on attach what is above its `last_sent` comes from the journal.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.lowlevel

from podium.contract.errors import Failure, StorageFailed, failure
from podium.contract.events import AskFailed, ThreadMissing
from podium.contract.serving import Outcome
from podium.domain.commands import DeadlinePassed, NoteTrouble, SessionEnded, SessionFailed, SessionOpened
from podium.domain.state import ThreadState
from podium.journal.rows import SendRow
from podium.runtime.census import Census
from podium.runtime.engine import Engine
from podium.runtime.pump import Pump, Report, TimerChange
from podium.runtime.remains import reap
from podium.runtime.serving import Serving
from podium.runtime.waits import HOLD_BACK, HeldText, Timers, watch_progress
from podium.transport.launch import LaunchError, LaunchSpec, launch_keeper
from podium.transport.link import (
    Attached,
    Exited,
    Fenced,
    FencedOut,
    KeeperLink,
    LinkLost,
    SpoolFull,
    StdinClosed,
    StdinReady,
)
from podium.transport.rings import DiagnosticRing
from podium.transport.spool import (
    ExitRecord,
    SpoolReader,
    SpoolTrimmed,
    discard_folder,
    read_exit,
    read_sends,
    read_stderr,
    spool_end,
)

SPAWN_TRIES = 3
"""Most attempts to start a program; nothing was sent before one succeeded."""

SPAWN_BACKOFF = 0.5
"""Seconds before the second attempt, doubled for the next."""

LINES_A_TURN = 256
"""Most frames consumed before other tasks get their turn."""

ACK_BYTES = 1024 * 1024
"""Consumed output is acknowledged, and so deleted, in steps of this many bytes."""

END_GRACE = 3.0
"""Seconds an agent gets to leave by itself before it is told, and again before it is killed."""

END_MAX = 20.0
"""Longest wait for a process to be gone after it was told to end."""

STDERR_TAIL = 2000
"""Characters of the agent's stderr shown with a failure."""

REREAD_LINGER = 600.0
"""Seconds a keeper waits while the journal fails and its session is about to be read again (R5)."""

UNSAID = (AskFailed, ThreadMissing)
"""What an adapter may not conclude from an exit: what became of open asks is the core's to say (R10)."""

FOLDER = "diagnostics"


class Supervisor:
    """Runs as one task of the runtime; its errors become the session's end and never leave it."""

    def __init__(
        self,
        engine: Engine,
        pump: Pump,
        *,
        linger: float,
        stuck_seconds: float | None,
        fault: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self.engine = engine
        self.pump = pump
        self.linger = linger
        self.stuck_seconds = stuck_seconds
        self.fault = fault
        self.folder = Path(pump.process.folder)
        self.link: KeeperLink | None = None
        self.ended = anyio.Event()
        self.census = Census(pump.process.token)
        self.ring = DiagnosticRing(_diagnostics(self.folder), pump.secrets, name=pump.process.thread_id)
        self._sends: deque[SendRow] = deque()
        self._send_news = anyio.Event()
        self._news = anyio.Event()
        self._stdin_ready = anyio.Event()
        self._exit: ExitRecord | None = None
        self._fresh = False
        self._lost = False
        self.fenced = False
        self._left = False
        self._ending: str | None = None
        self._acked = 0
        self._consumed = 0
        self._timers = Timers(pump, clock, self._fire)
        self._held_text = HeldText(pump, self._release)
        self.serving = Serving(pump, lambda: self._state().thread, self._served, fault)

    @property
    def thread_id(self) -> str:
        """The thread this process works for."""
        return self.pump.process.thread_id

    @property
    def stale(self) -> bool:
        """Whether a failed commit took the memory this session works with: it is read again (R5)."""
        return self.engine.pumps.get(self.pump.process.session_id) is not self.pump

    def _check_memory(self) -> None:
        if self.stale:
            raise StorageFailed("memory_dropped", "This session is read again from the journal.")

    def _feed(self, given: Callable[[], list[Report]]) -> None:
        """Give the pump an input and the core what comes of it, never beside the journal."""
        self._check_memory()
        self.engine.consume(self.pump, given())
        self._held_text.look()

    # ---- life

    async def start(self, spec: LaunchSpec) -> None:
        """Start the program under a keeper and work with it until it is gone."""
        try:
            self._fresh = True
            self.pump.process.generation = 1
            self.engine.touch(self.pump)
            await self.engine.settle()
            self.fault("process recorded")
            launched = await self._launch(spec)
            self.fault("launched")
            self.pump.process.address = launched
            await self._attach_and_run(launched, fresh=True)
        except LaunchError as error:
            why = failure("process", error.code, error.message, fix=error.fix)
            await self._failed(why)
        finally:
            self.ended.set()

    async def adopt(self, address: str | None) -> None:
        """Continue with a process an earlier runtime started, or settle what it left behind (R10)."""
        try:
            self.pump.process.generation += 1
            self.engine.touch(self.pump)
            await self.engine.settle()
            self.fault("generation recorded")
            if address is None:
                self._lost = True
                await self._drain_and_end()
            else:
                await self._attach_and_run(address, fresh=False)
        finally:
            self.ended.set()

    async def _launch(self, spec: LaunchSpec) -> str:
        for attempt in range(1, SPAWN_TRIES + 1):
            try:
                return (await launch_keeper(self.folder, spec)).address
            except LaunchError as error:
                passing = error.code in ("spawn_timeout", "spawn_failed", "keeper_failed")
                if not passing or attempt == SPAWN_TRIES:
                    raise
                await reap(self.pump.process.token)  # one that came up late, after all
                discard_folder(self.folder)
            await anyio.sleep(SPAWN_BACKOFF * 2 ** (attempt - 1))
        raise AssertionError("the loop above returns or raises")

    async def _failed(self, why: Failure) -> None:
        self.pump.closed = True
        self.engine.touch(self.pump)
        self.engine.apply(self.thread_id, SessionFailed(self.pump.process.session_id, why))
        await self.engine.settle()
        self.engine.pumps.pop(self.pump.process.session_id, None)
        await reap(self.pump.process.token)
        discard_folder(self.folder)

    async def _attach_and_run(self, address: str, *, fresh: bool) -> None:
        try:
            link = await KeeperLink.attach(address, self.pump.process.generation)
            async with link:
                await self._attached(link, fresh=fresh)
        except LinkLost:
            self._lost = True
        except Fenced:
            self.fenced = True
        self.link = None
        if not self._left and not self.fenced:
            await self._drain_and_end()

    async def _attached(self, link: KeeperLink, *, fresh: bool) -> None:
        self.fault("attached")
        self.link = link
        self.census.program = link.attached.agent_pid
        try:
            await link.set_linger(self.linger)
            self._check_memory()
            self._catch_up(link.attached)
            if self.pump.inputs == 0:
                self.engine.apply(self.thread_id, SessionOpened(self.pump.process.session_id))
            elif not fresh:
                if self.engine.live(self.thread_id).state.working is None:
                    await self.census.take()
                self._feed(self.pump.attached)
            if self._ending is not None:  # told to stop before it was attached
                await link.end(self._ending, grace=END_GRACE)
            await self._run(link)
        finally:
            if self.stale and not self._lost:
                await self._hold(link)

    async def _hold(self, link: KeeperLink) -> None:
        """Ask the keeper to wait until this session has been read again."""
        with anyio.move_on_after(END_MAX, shield=True), contextlib.suppress(LinkLost, Fenced):
            await link.set_linger(max(self.linger, REREAD_LINGER))

    def _catch_up(self, attached: Attached) -> None:
        """Send again what the keeper has not taken: it is in the journal (R2)."""
        self._sends.clear()
        self._sends.extend(self.engine.journal.sends(self.pump.process.id, attached.last_sent))
        self._exit = attached.exit

    async def _run(self, link: KeeperLink) -> None:
        tasks: list[Callable[[], Awaitable[None]]] = [
            lambda: self._notices(link),
            lambda: self._sender(link),
            self._stuck_watch,
            self._held_text.watch,
            self.serving.watch,
        ]
        try:
            async with anyio.create_task_group() as group:
                self._timers.begin(group)
                for task in tasks:
                    group.start_soon(self._guarded, task)
                await self._reader(link)
                group.cancel_scope.cancel()
        finally:
            self._timers.end()
        if not (self._left or self.fenced):
            self._check_memory()

    async def _guarded(self, task: Callable[[], Awaitable[None]]) -> None:
        """A task of this session may find the keeper gone; that is news for the reader, not an error."""
        try:
            await task()
        except (LinkLost, Fenced) as gone:
            self._lost = self._lost or isinstance(gone, LinkLost)
            self.fenced = self.fenced or isinstance(gone, Fenced)
            self.wake()

    def wake(self) -> None:
        """Look around: something changed."""
        self._news.set()

    # ---- reading

    async def _notices(self, link: KeeperLink) -> None:
        async for notice in link:
            match notice:
                case Exited():
                    self._exit = notice.record
                case FencedOut():
                    self.fenced = True
                case StdinClosed():
                    await self._input_gone(link)
                case StdinReady():
                    self._stdin_ready.set()
                case SpoolFull() if notice.full:
                    text = "The agent wrote faster than its output could be kept; reading paused for a while."
                    self.engine.apply(self.thread_id, NoteTrouble("warning", "spool_full", text))
                case _:
                    pass
            self.wake()
        self._lost = True
        self.wake()

    async def _reader(self, link: KeeperLink) -> None:
        """Consume output until the process is gone and everything it wrote was read, or until we leave."""
        with SpoolReader(self.folder, self.pump.read_offset) as spool:
            while not (self._left or self.fenced or self.stale):
                gone = self._lost  # before the read: what a keeper wrote is complete once it has left
                if await self._consume(spool):
                    await self._acknowledge(link)
                    continue
                record = self._exit
                if gone or (record is not None and spool.offset >= record.offset):
                    return
                await self._news.wait()
                self._news = anyio.Event()

    async def _consume(self, spool: SpoolReader) -> bool:
        """Read once. True if there was something."""
        try:
            data = spool.read()
        except SpoolTrimmed as gone:
            text = f"Output between {gone.wanted} and {gone.kept_from} is no longer there."
            self.engine.apply(self.thread_id, NoteTrouble("error", "output_lost", text))
            spool.offset = gone.kept_from
            return True
        if not data:
            return False
        for number, line in enumerate(self.pump.lines(data), 1):
            self._feed(lambda line=line: self.pump.line(line))
            if number % LINES_A_TURN == 0:
                await anyio.lowlevel.checkpoint()
        for text in self.pump.noise:
            self.ring.add("noise", text)
        self.pump.noise.clear()
        if self._fresh and not self.census.taken and self._bound():
            await self.census.take()
        await anyio.lowlevel.checkpoint()
        return True

    def _bound(self) -> bool:
        """Whether the agent has just made itself ready for the first prompt."""
        main = self.engine.live(self.thread_id).state.main
        return main is not None and main.session_id == self.pump.process.session_id and main.state == "bound"

    async def _acknowledge(self, link: KeeperLink) -> None:
        if self._consumed - self._acked < ACK_BYTES:
            return
        self._acked = self._consumed
        self.fault("acknowledge")
        try:
            await link.acknowledge(self._acked)
        except (LinkLost, Fenced):
            self.wake()

    def committed(self, offset: int) -> None:
        """The journal holds everything up to this offset."""
        self._consumed = offset

    # ---- sending

    def send(self, row: SendRow) -> None:
        """Take a committed send."""
        self._sends.append(row)
        self._send_news.set()

    async def _sender(self, link: KeeperLink) -> None:
        while True:
            while self._sends:
                await self._send_one(link, self._sends[0])
                self._sends.popleft()
            self._send_news = anyio.Event()
            await self._send_news.wait()

    async def _send_one(self, link: KeeperLink, row: SendRow) -> None:
        while True:
            self.fault(f"send {row.n}")
            self._stdin_ready = anyio.Event()
            sent = await link.send(row.n, row.line)
            self.fault(f"sent {row.n}")
            if sent.refused == "stdin_full":
                await self._stdin_ready.wait()
                continue
            if sent.refused == "stdin_closed":
                await self._input_gone(link)
            elif sent.refused is not None:
                text = f"The agent's input refused a line ({sent.refused})."
                self.engine.apply(self.thread_id, NoteTrouble("error", "send_refused", text))
            return

    async def _input_gone(self, link: KeeperLink) -> None:
        """The agent closed its input and something for it is lost: it can be told nothing more (B32)."""
        if self._ending is None and self._exit is None:
            self._ending = "stdin_closed"
            await link.end(self._ending, grace=END_GRACE)

    # ---- waiting

    def timers(self, changes: list[TimerChange]) -> None:
        """Set and cancel the adapter's timers."""
        self._timers.take(changes)
        self.engine.touch(self.pump)

    def _fire(self, name: str) -> None:
        self._feed(lambda: self.pump.timer(name))

    def _served(self, tag: str, outcome: Outcome) -> None:
        self._feed(lambda: self.pump.served(tag, outcome))

    def _release(self) -> None:
        self._feed(self.pump.release)

    async def _stuck_watch(self) -> None:
        if self.stuck_seconds is not None:
            await watch_progress(self.pump, self._state, self.stuck_seconds, self._stuck)

    def _state(self) -> ThreadState:
        return self.engine.live(self.thread_id).state

    def _stuck(self, run_id: str) -> None:
        self.engine.apply(self.thread_id, DeadlinePassed("stuck", run_id))

    # ---- the end

    async def stop(self, reason: str) -> None:
        """End the agent process: in good order, then by force, each wait bounded."""
        self._ending = reason
        link = self.link
        if link is None:
            return
        try:
            await link.end(reason, grace=END_GRACE)
        except (LinkLost, Fenced):
            self.wake()

    async def leave(self) -> None:
        """Let go of a process that goes on working: the keeper waits for its next owner."""
        with anyio.move_on_after(END_MAX, shield=True):
            await self._delivered()
        self._left = True
        if self.link is not None:
            with anyio.move_on_after(END_MAX, shield=True):
                with contextlib.suppress(LinkLost, Fenced):
                    await self.link.release()
        self.wake()

    async def _delivered(self) -> None:
        """Until the keeper has everything that was decided for this process, an answer for example."""
        while True:
            gone = self.ended.is_set() or self._lost or self.fenced
            if gone or (self.link is not None and not self._sends):
                return
            await anyio.sleep(HOLD_BACK)

    async def _drain_and_end(self) -> None:
        """Read what is left, then give everything open its legal end (R10)."""
        with anyio.CancelScope(shield=True):
            self._check_memory()
            record = self._exit or read_exit(self.folder)
            if record is None:
                await reap(self.pump.process.token)
                record = read_exit(self.folder)
            with SpoolReader(self.folder, self.pump.reader.offset) as spool:
                while spool.offset < spool_end(self.folder) and await self._consume(spool):
                    pass
            await self.engine.settle()  # every send is in the journal now; what follows is one transaction
            code, signal = (record.code, record.signal) if record else (None, None)
            reason = record.reason if record else "keeper_lost"
            self._feed(self._last_line)
            self._feed(lambda: [r for r in self.pump.exit(code, signal, reason) if not isinstance(r, UNSAID)])
            self._stderr_tail()
            last = max((s.n for s in read_sends(self.folder)), default=record.last_sent if record else 0)
            unsent = [s.ask_id for s in self.engine.journal.sends(self.pump.process.id, last) if s.prompt]
            self.pump.closed = True
            self.engine.touch(self.pump)
            self.engine.apply(
                self.thread_id,
                SessionEnded(
                    self.pump.process.session_id, reason, code, signal, tuple(a for a in unsent if a)
                ),
            )
            await self.engine.settle()
            self.fault("end recorded")
            self.engine.pumps.pop(self.pump.process.session_id, None)
            await reap(self.pump.process.token)
            discard_folder(self.folder)

    def _last_line(self) -> list[Report]:
        rest = self.pump.reader.finish()
        return self.pump.line(rest) if rest is not None else []

    def _stderr_tail(self) -> None:
        tail = read_stderr(self.folder).decode("utf-8", "replace")[-STDERR_TAIL:]
        for line in tail.splitlines():
            self.ring.add("stderr", line)


def _diagnostics(process: Path) -> Path:
    """The folder of the rings, beside the one of the processes; without it their lines are only counted."""
    folder = process.parent.parent / FOLDER
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder
