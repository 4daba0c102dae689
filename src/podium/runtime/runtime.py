"""The runtime: one root task group that owns the engine, the sessions and their processes (R12)."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import anyio.lowlevel

from podium.contract.errors import BadInput, Conflict, StorageFailed
from podium.contract.serving import Serve
from podium.domain.commands import SendMessage, UserCommand
from podium.domain.outputs import CaptureFiles, SetDeadline, StartSession
from podium.journal.rows import SendRow
from podium.journal.store import Journal
from podium.runtime.agents import Registry
from podium.runtime.captures import Captures
from podium.runtime.deadlines import Deadlines, Work
from podium.runtime.engine import Engine
from podium.runtime.facts import Known
from podium.runtime.faults import Faults
from podium.runtime.gathering import Effect, Hook
from podium.runtime.handover import Portable, hand_over, take_handed_over
from podium.runtime.idling import IDLE_MIN, IDLE_RELEASE, watch_idle
from podium.runtime.incoming import check_held, check_same_workspace, readable
from podium.runtime.launching import Launcher
from podium.runtime.ownership import RuntimeLock, claiming, is_alive
from podium.runtime.pump import Pump, TimerChange
from podium.runtime.reading import Reading
from podium.runtime.receipts import Receipt
from podium.runtime.remains import sweep
from podium.runtime.restoring import Restores
from podium.runtime.sessions import Sessions
from podium.runtime.settings import Settings
from podium.runtime.steady import steady_clock
from podium.runtime.supervisor import END_MAX
from podium.workspace.workspaces import Workspaces

LINGER_MAX = 24 * 3600.0
"""Longest time a keeper waits for an owner, in seconds (R3)."""

INTERRUPT_MAX = 15.0
"""Seconds an agent gets to end an interrupted turn before the run is ended by force (F249)."""

REACH_POLL = 0.02

REACH_MAX = 20.0
"""Longest wait for a session's process to be in view again, in seconds."""

HANDED_RETRY = 5.0
"""Seconds before commands left by others are looked for again after the journal could not be read."""


class Runtime:
    """Runs threads of a data folder. Made by `open_runtime`; one for each process."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        journal: Journal,
        *,
        linger: float,
        idle: float,
        interrupt_max: float,
        faults: Faults,
    ) -> None:
        self.id = f"rt_{uuid.uuid4().hex[:16]}"
        self.settings = settings
        self.registry = registry
        self.journal = journal
        self.linger = linger
        self.idle = idle
        self.interrupt_max = interrupt_max
        self.fault = faults
        self.known = Known(settings, registry)
        self._lock = RuntimeLock(settings.data, self.id)
        self._mine: set[str] = set()
        self._taking: dict[str, anyio.Event] = {}
        newest = journal.events(max(0, journal.sequence() - 1))
        clock = self._clock = steady_clock(newest[-1].at if newest else 0.0)
        self.engine = Engine(
            journal,
            capabilities=self.known.capabilities,
            policy=self.known.policy,
            clock=clock,
            entropy=lambda: uuid.uuid4().hex,
            fault=faults,
            owner=self.id,
            captures=self.known.captures,
            hook=Hook(self._effect, self._send, self._timers, self._committed, self._dropped, self._serving),
        )
        self.sessions = Sessions(
            self.engine,
            Launcher(settings, registry, self.known, runtime_id=self.id, linger=linger),
            linger=linger,
            fault=faults,
            clock=clock,
            forget=self._mine.discard,
        )
        self._deadlines = Deadlines(self.engine, self._spawn, self._seconds)
        self.workspaces = Workspaces(settings.data, environ=settings.environ)
        self.reading = Reading(settings.data, journal)
        self.restores = Restores(self.engine, self.workspaces, self.reading, self.take_over)
        self.captures = Captures(
            self.engine, self.workspaces, self._spawn, self.sessions.quiet, self.owns, faults
        )

    # ---- commands

    async def submit(
        self, thread_id: str | None, command: UserCommand, *, actor: str, command_id: str | None = None
    ) -> Receipt:
        """Apply a command; takes a thread over first if its runtime is gone.

        Raises Conflict `thread_in_use`, BadInput `invalid_config` for new work under a broken project file,
        BadInput `workspace_missing` or `workspace_moved` for new work without its folder, StorageFailed
        `data_folder_gone` where nobody would find again what is written.
        """
        self.engine.check_open()
        self.journal.check_there()
        command = readable(command)
        if thread_id is not None:
            try:
                await self.take_over(thread_id)
            except Conflict:
                if not isinstance(command, Portable):
                    raise
                return await hand_over(self.journal, thread_id, command, actor=actor, command_id=command_id)
            await self._reachable(thread_id)
            known = command_id is not None and self.journal.receipt(command_id) is not None
            self._look_around(thread_id, new_work=isinstance(command, SendMessage) and not known)
        receipt = await self.engine.submit(thread_id, command, actor=actor, command_id=command_id)
        if thread_id is None and self.journal.owner(receipt.result["thread"]) == self.id:
            self._mine.add(receipt.result["thread"])
        return receipt

    def _look_around(self, thread_id: str, *, new_work: bool) -> None:
        """New work needs the folder it was meant for (B50), and a policy that can be read.

        A broken file never stops an interrupt or an answer: the agent may have written it.
        """
        state = self.engine.live(thread_id).state
        thread = state.thread
        if thread is None:
            return
        if new_work:
            check_same_workspace(thread.workspace)
            if thread.agent in self.registry.instances:
                check_held(thread, self.known.capabilities(state), self.known.policy(state))
        try:
            self.known.read_policy(thread.workspace)
        except BadInput:
            if new_work:
                raise

    def owns(self, thread_id: str) -> bool:
        """Whether this runtime works with the thread."""
        return thread_id in self._mine

    async def _reachable(self, thread_id: str) -> None:
        """Wait, bounded, until a ready session's process is at hand, or known to be gone.

        So an answer after a restart reaches the agent or is told that it cannot (F046).
        """
        with anyio.move_on_after(REACH_MAX):
            while True:
                session = self.engine.live(thread_id).state.session
                if session is None or session.state != "ready":
                    return
                supervisor = self.sessions.live.get(session.id)
                if supervisor is not None and supervisor.link is not None and not supervisor.stale:
                    return
                await anyio.sleep(REACH_POLL)

    async def take_over(self, thread_id: str) -> None:
        """Own a thread, with the processes an earlier runtime left for it. Raises Conflict."""
        while thread_id not in self._mine:
            underway = self._taking.get(thread_id)
            if underway is not None:
                await underway.wait()
                continue
            if self.journal.entity(thread_id) is None:
                return
            self._taking[thread_id] = done = anyio.Event()
            try:
                async with claiming(self.settings.data):
                    await self._claim(thread_id)
            finally:
                del self._taking[thread_id]
                done.set()
            self._recover(thread_id)
            await anyio.lowlevel.checkpoint()  # its process is in view before the next command speaks to it

    async def _claim(self, thread_id: str) -> None:
        owner = self.journal.owner(thread_id)
        if owner is not None and owner != self.id and is_alive(self.settings.data, owner):
            raise Conflict(
                "thread_in_use",
                "Another Podium on this machine works with this thread.",
                fix="Wait for it to end, or stop it first.",
                runtime=owner,
            )
        self.engine.threads.pop(thread_id, None)
        self.engine.claim(thread_id, self.id)
        await self.engine.settle()
        self._mine.add(thread_id)

    async def recover_all(self) -> list[str]:
        """Take over every thread of runtimes that are gone and left something open."""
        taken: list[str] = []
        for runtime_id in self.journal.runtimes():
            if runtime_id == self.id or is_alive(self.settings.data, runtime_id):
                continue
            for thread_id in self.journal.owned(runtime_id):
                with contextlib.suppress(Conflict):  # another runtime was quicker
                    await self.take_over(thread_id)
                    taken.append(thread_id)
            self.journal.end_runtime(runtime_id, time.time())
        return taken

    def _recover(self, thread_id: str) -> None:
        state = self.engine.live(thread_id).state
        self.captures.again(thread_id, state)
        self._deadlines.again(thread_id, state)
        self.sessions.recover(thread_id)

    async def _take_handed_over(self) -> None:
        while True:
            with contextlib.suppress(StorageFailed):  # the disk may come back
                await take_handed_over(self.journal, self._mine.__contains__, self._handed)
            await anyio.sleep(HANDED_RETRY)

    async def _handed(self, thread_id: str, command: Portable, actor: str, command_id: str) -> Receipt:
        return await self.submit(thread_id, command, actor=actor, command_id=command_id)

    # ---- hooks of the engine

    def _spawn(self, task: Work) -> None:
        if self.sessions.group is not None:
            self.sessions.group.start_soon(task)

    def _effect(self, thread_id: str, effect: Effect) -> None:
        self.fault(f"effect {type(effect).__name__}")
        match effect:
            case StartSession():
                self.sessions.open(thread_id, effect.session_id)
            case SetDeadline():
                self._deadlines.set(thread_id, effect)
            case CaptureFiles():
                self.captures.take(thread_id, effect.checkpoint_id)
            case _:
                self.sessions.stop(effect.session_id, effect.reason)

    def _send(self, row: SendRow) -> None:
        self.sessions.send(row)

    def _timers(self, session_id: str, changes: list[TimerChange]) -> None:
        self.sessions.timers(session_id, changes)

    def _serving(self, session_id: str, serve: Serve) -> None:
        self.sessions.serve(session_id, serve)

    def _committed(self, pump: Pump, offset: int) -> None:
        self.sessions.committed(pump, offset)

    def _dropped(self) -> None:
        self.sessions.dropped()

    def _seconds(self, thread_id: str, name: str) -> float:
        if name == "interrupt":
            return self.interrupt_max
        thread = self.engine.live(thread_id).state.thread
        instance = self.registry.instances.get(thread.agent) if thread else None
        return instance.adapter.descriptor.start_seconds if instance else 0.0

    # ---- life

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Runtime]:
        """Everything this runtime does happens inside this block. Its body's error leaves it as it is."""
        problem: Exception | None = None
        leave, left = anyio.Event(), anyio.Event()
        try:
            self.journal.start_runtime(self.id, time.time())
            async with anyio.create_task_group() as outer:
                await outer.start(self._serve, leave, left)
                try:
                    yield self
                except Exception as error:  # raised again below, outside of the group
                    problem = error
                finally:
                    leave.set()
                    with anyio.CancelScope(shield=True):
                        await left.wait()
        finally:
            self.engine.close()
            with contextlib.suppress(StorageFailed):  # then it is found gone by its lock
                self.journal.end_runtime(self.id, time.time())
            self._lock.release()
            self.journal.close()
        if problem is not None:
            raise problem

    async def _serve(
        self, leave: anyio.Event, left: anyio.Event, *, task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        """The tasks of this runtime, shielded: who cancels the block around it still leaves in good order."""
        try:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as writer:
                    writer.start_soon(self.engine.run)
                    async with anyio.create_task_group() as group:
                        self.sessions.group = group
                        group.start_soon(watch_idle, self.engine, self.sessions.live, self.idle, self._clock)
                        group.start_soon(self.sessions.reread, self._mine)
                        group.start_soon(sweep, self.journal, self.settings.data, self.id)
                        group.start_soon(self._take_handed_over)
                        group.start_soon(self.restores.resume)
                        task_status.started()
                        await leave.wait()
                        await self.sessions.close(self._mine)
                        await self.captures.idle(END_MAX)
                        self.sessions.group = None
                        group.cancel_scope.cancel()
                    writer.cancel_scope.cancel()
        finally:
            left.set()

    async def stop_agents(self, reason: str) -> int:
        """End every agent process of this runtime in good order, and wait for it; how many there were.

        What waits in a queue does not start another one meanwhile.
        """
        stopped = await self.sessions.stop_all(reason)
        await self.captures.idle(END_MAX)
        return stopped


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    linger: float = 0.0,
    idle: float = IDLE_RELEASE,
    interrupt_max: float = INTERRUPT_MAX,
    registry: Registry | None = None,
) -> AsyncGenerator[Runtime]:
    """A runtime on a data folder. `linger` 0 ends agents with it, above 0 they wait for the next owner (R3).

    `idle` and `interrupt_max` are bounds in seconds. Raises StorageFailed for a folder or database that
    cannot be used, BadInput for a configuration that names what does not exist.
    """
    registry = registry or Registry.installed(settings)
    faults = Faults(os.environ)
    journal = Journal(settings.data, fault=faults)
    try:
        runtime = Runtime(
            settings,
            registry,
            journal,
            linger=max(0.0, min(linger, LINGER_MAX)),
            idle=max(IDLE_MIN, idle),
            interrupt_max=max(0.0, interrupt_max),
            faults=faults,
        )
    except BaseException:
        journal.close()
        raise
    async with runtime.running():
        yield runtime
