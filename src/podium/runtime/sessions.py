"""The agents of one runtime: each works in a task of its own, whose error ends it and nothing else (R12)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel
import msgspec

from podium.contract.errors import PodiumError, StorageFailed, failure
from podium.contract.serving import Serve
from podium.domain.commands import EndSession, SessionEnded, SessionFailed
from podium.domain.state import ThreadState
from podium.journal.rows import ProcessRow, SendRow
from podium.runtime.agents import Instance
from podium.runtime.deadlines import Work
from podium.runtime.engine import Engine
from podium.runtime.launching import Launcher
from podium.runtime.pump import Pump, TimerChange
from podium.runtime.remains import launched_by, reap, there
from podium.runtime.supervisor import END_MAX, Supervisor
from podium.transport.spool import discard_folder

STUCK_SECONDS = 600.0
"""Seconds without progress after which a run is ended, unless agent or user say otherwise."""

REREAD_FIRST, REREAD_MAX = 0.2, 5.0
"""Seconds before sessions are read again after a failed commit: at first, and while it goes on."""


class Sessions:
    """Starts, adopts, brings back and ends sessions. `forget` is told of a thread another runtime took."""

    def __init__(
        self,
        engine: Engine,
        launcher: Launcher,
        *,
        linger: float,
        fault: Callable[[str], None],
        clock: Callable[[], float],
        forget: Callable[[str], None],
    ) -> None:
        self.engine = engine
        self.live: dict[str, Supervisor] = {}
        self.closing = False
        self.group: anyio.abc.TaskGroup | None = None
        self._launcher = launcher
        self._linger = linger
        self._fault = fault
        self._clock = clock
        self._forget = forget
        self._at_work: dict[str, str] = {}
        self._halted: anyio.Event | None = None
        self._memory_lost = anyio.Event()
        self._whole = anyio.Event()

    # ---- beginning

    def open(self, thread_id: str, session_id: str) -> None:
        """Start an agent program for an opening session."""
        self._work(thread_id, session_id, lambda: self._start(thread_id, session_id))

    def recover(self, thread_id: str) -> None:
        """Bring a thread's process back, or settle what it left; nothing if it is at work."""
        session = self.engine.live(thread_id).state.session
        if session is None or session.id in self._at_work:
            return
        rows = self.engine.journal.processes(thread_id=thread_id)
        current = next((r for r in rows if r.session_id == session.id), None)
        if current is None:
            self.open(thread_id, session.id)
        else:
            self._work(thread_id, session.id, lambda: self._adopt(current))

    def _work(self, thread_id: str, session_id: str, work: Work) -> None:
        if session_id in self._at_work or self.group is None:
            return
        self._at_work[session_id] = thread_id
        self.group.start_soon(self._session, thread_id, session_id, work)

    async def _session(self, thread_id: str, session_id: str, work: Work) -> None:
        try:
            await work()
        except* StorageFailed:
            self._lose_memory()
        except* Exception as problems:  # whatever a session meets stays its own
            await self._broken(thread_id, session_id, problems.exceptions[0])
        finally:
            supervisor = self.live.pop(session_id, None)
            del self._at_work[session_id]
            if supervisor is not None and supervisor.fenced:
                self.engine.threads.pop(thread_id, None)
                self.engine.pumps.pop(session_id, None)
                self._forget(thread_id)

    def _opening(self, thread_id: str, session_id: str) -> ThreadState | None:
        """The thread as it is now, if this session of it still wants a program."""
        state = self.engine.live(thread_id).state
        session = state.session
        if session is None or session.id != session_id or state.thread is None:
            return None
        if session.state == "ending":  # told to stop before there was anything to stop
            self.engine.apply(thread_id, SessionEnded(session_id, f"ended:{session.ended_reason}"))
            return None
        return state

    async def _start(self, thread_id: str, session_id: str) -> None:
        while self._halted is not None:
            await self._halted.wait()
        state = self._opening(thread_id, session_id)
        if state is None or state.thread is None or self.closing:
            return
        program = await self._launcher.find(state.thread)
        state = self._opening(thread_id, session_id)
        if state is None or self.closing:
            return
        pump, spec = self._launcher.fresh(program, state, session_id)
        await self._supervise(pump, program.instance).start(spec)

    async def _adopt(self, row: ProcessRow) -> None:
        """Continue with a process of an earlier runtime, or of before a failed commit."""
        state = self.engine.live(row.thread_id).state
        pump, instance = self._launcher.restored(row, state, self.engine.journal.last_send(row.id))
        if pump is None:  # the adapter cannot read its stored state: the end cannot be verified (R1)
            await self._give_up(row)
            self.engine.apply(row.thread_id, SessionEnded(row.session_id, "state_unreadable"))
            return
        supervisor = self._supervise(pump, instance)
        launched = await launched_by(Path(row.folder))
        if launched is None and not there(Path(row.folder)) and pump.inputs == 0:  # it never was started
            self.engine.pumps.pop(row.session_id, None)
            self.live.pop(row.session_id, None)
            await self._give_up(row)
            await self._start(row.thread_id, row.session_id)
            return
        await supervisor.adopt(launched.address if launched else None)

    def _supervise(self, pump: Pump, instance: Instance) -> Supervisor:
        session_id = pump.process.session_id
        stuck = instance.settings.stuck_seconds or instance.adapter.descriptor.stuck_seconds or STUCK_SECONDS
        supervisor = Supervisor(
            self.engine, pump, linger=self._linger, stuck_seconds=stuck, fault=self._fault, clock=self._clock
        )
        self.engine.pumps[session_id] = pump
        self.live[session_id] = supervisor
        return supervisor

    async def quiet(self, thread_id: str) -> bool:
        """Whether the thread's agent has no living process besides those it had when it was ready (R11)."""
        for supervisor in list(self.live.values()):
            if supervisor.thread_id == thread_id and not await supervisor.census.quiet():
                return False
        return True

    # ---- what follows a commit

    def send(self, row: SendRow) -> None:
        """Hand a committed send to its process."""
        for supervisor in self.live.values():
            if supervisor.pump.process.id == row.process_id:
                supervisor.send(row)

    def timers(self, session_id: str, changes: list[TimerChange]) -> None:
        """Set and cancel an adapter's timers."""
        supervisor = self.live.get(session_id)
        if supervisor is not None:
            supervisor.timers(changes)

    def serve(self, session_id: str, serve: Serve) -> None:
        """Do in the workspace what an agent asked for; nobody waits for it once the session is gone."""
        supervisor = self.live.get(session_id)
        if supervisor is not None:
            supervisor.serving.take(serve)

    def committed(self, pump: Pump, offset: int) -> None:
        """The journal holds a process's output up to here."""
        supervisor = self.live.get(pump.process.session_id)
        if supervisor is not None:
            supervisor.committed(offset)

    def stop(self, session_id: str, reason: str) -> None:
        """End one session's process."""
        supervisor = self.live.get(session_id)
        if supervisor is not None and self.group is not None:
            self.group.start_soon(supervisor.stop, reason)

    # ---- trouble

    async def _broken(self, thread_id: str, session_id: str, error: Exception) -> None:
        """End a session that met an error of ours, with its process."""
        if isinstance(error, PodiumError):
            why = failure("process", error.code, error.message, fix=error.fix)
        else:
            text = f"{type(error).__name__}: {error}"
            why = failure("unknown", "session_broken", text, fix="Report it with `podium doctor --bundle`.")
        try:
            for row in self.engine.journal.processes(thread_id=thread_id):
                if row.session_id == session_id:
                    await self._give_up(row)
            self.engine.pumps.pop(session_id, None)
            self.engine.apply(thread_id, SessionFailed(session_id, why))
        except StorageFailed:
            self._lose_memory()

    async def _give_up(self, row: ProcessRow) -> None:
        """End a process nobody can work with, and close its record."""
        await reap(row.token)
        self.engine.store(msgspec.structs.replace(row, closed=True))
        await self.engine.settle()
        discard_folder(Path(row.folder))

    def dropped(self) -> None:
        """The journal refused a commit and memory is gone: sessions are read again (R5)."""
        for supervisor in self.live.values():
            supervisor.wake()
        self._lose_memory()

    def _lose_memory(self) -> None:
        if self._whole.is_set():
            self._whole = anyio.Event()
        self._memory_lost.set()

    async def reread(self, mine: Iterable[str]) -> None:
        """Bring sessions back once the old ones have let go, for as long as the disk needs. Runs for ever."""
        wait = REREAD_FIRST
        while True:
            if not self._memory_lost.is_set():
                self._whole.set()
            await self._memory_lost.wait()
            self._memory_lost = anyio.Event()
            await anyio.sleep(wait)
            try:
                await self._bring_back(mine)
                wait = REREAD_FIRST
            except StorageFailed:
                self._lose_memory()
            if self._memory_lost.is_set():
                wait = min(2 * wait, REREAD_MAX)

    async def _bring_back(self, mine: Iterable[str]) -> None:
        for supervisor in list(self.live.values()):
            if supervisor.stale:
                with anyio.move_on_after(END_MAX):
                    await supervisor.ended.wait()
                if not supervisor.ended.is_set():
                    self._lose_memory()  # it still holds its process: look again
        await anyio.lowlevel.checkpoint()  # an ended session is out of view
        for thread_id in list(mine):
            self.recover(thread_id)

    # ---- the end

    async def stop_all(self, reason: str) -> int:
        """End every agent process in good order, and wait for it; how many there were.

        What waits in a queue does not start another one meanwhile.
        """
        halted = self._halted = self._halted or anyio.Event()
        supervisors = list(self.live.values())
        try:
            for session_id, thread_id in list(self._at_work.items()):
                self.engine.apply(thread_id, EndSession(session_id, reason))
            with anyio.move_on_after(END_MAX):
                for supervisor in supervisors:
                    await supervisor.ended.wait()
        finally:
            self._halted = None
            halted.set()
        return len(supervisors)

    async def close(self, mine: Iterable[str]) -> None:
        """Leave agents to their keepers if they may linger, else end them; each wait bounded."""
        with anyio.move_on_after(END_MAX):  # what a failed commit took comes back first
            while not self._whole.is_set():
                await self._whole.wait()
        self.closing = True
        async with anyio.create_task_group() as group:
            for supervisor in list(self.live.values()):
                group.start_soon(self._let_go, supervisor)
        await self._settled()
        if self._linger <= 0:
            await self._reap_rest(mine)

    async def _let_go(self, supervisor: Supervisor) -> None:
        if self._linger > 0:
            await self._settled()
            await supervisor.leave()
        else:
            await supervisor.stop("no_host")
        with anyio.move_on_after(END_MAX):
            await supervisor.ended.wait()

    async def _settled(self) -> None:
        """Until what was decided is durable, or the disk refused it; bounded."""
        with anyio.move_on_after(END_MAX), contextlib.suppress(StorageFailed):
            await self.engine.settle()

    async def _reap_rest(self, mine: Iterable[str]) -> None:
        """Agents that did not end in good order, because the disk or a keeper failed: none outlives us."""
        with contextlib.suppress(StorageFailed):
            for thread_id in mine:
                for row in self.engine.journal.processes(thread_id=thread_id):
                    await reap(row.token)
