"""The engine: one synchronous apply on the loop thread, one transaction after it (R5).

`apply` decides, evolves and encodes with no await in between. What it made gathers in a batch; `run` hands
one batch at a time to the writer. Replies, publication, sends and effects happen after the commit, in order.
If a commit fails, every waiter is told, memory is dropped and read back from the journal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import anyio
import anyio.to_thread
import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.errors import Conflict, StorageFailed
from podium.contract.events import ProviderEvent
from podium.contract.inputs import Command, SendTurn, SteerTurn, TextBlock
from podium.domain.commands import DomainCommand, InternalCommand, SessionFailed, UserCommand
from podium.domain.decide import Decision, decide
from podium.domain.entities import Item, Turn
from podium.domain.events import Delta, Event
from podium.domain.naming import named
from podium.domain.outputs import (
    Append,
    AskAgent,
    CaptureFiles,
    CloseBodies,
    Facts,
    SetDeadline,
    Settle,
    StartSession,
    StopSession,
)
from podium.domain.state import ThreadState, evolve, is_open, position_of
from podium.journal.rows import Batch, EventRow, ProcessRow, ReceiptRow
from podium.journal.store import Journal
from podium.policy.config import Policy
from podium.runtime.feed import Committed, Feed
from podium.runtime.gathering import Gathered, Hook, Waiter, closed_error
from podium.runtime.live import LiveThread, load_thread, text_of
from podium.runtime.pump import Pump, Report
from podium.runtime.receipts import Receipt, command_fingerprint, receipt_of, refusal_error

FOLD_SECONDS = 0.25
"""Longest time text deltas stay uncommitted. A crash loses none of them: they are still in the spool (R7)."""

FOLD_CHARS = 16 * 1024
"""Most uncommitted delta text of one thread, in characters."""

FAILED_SECONDS = 30.0
"""How long a refused commit counts as the state of the disk when nothing was written since, in seconds."""

THREADS_IN_MEMORY = 200
"""Most idle threads kept in memory (R5)."""


class Engine:
    """Owns the memory of all threads of this runtime, and the only way to change it."""

    def __init__(
        self,
        journal: Journal,
        *,
        capabilities: Callable[[ThreadState], Capabilities],
        policy: Callable[[ThreadState], Policy],
        clock: Callable[[], float],
        entropy: Callable[[], str],
        fault: Callable[[str], None],
        hook: Hook,
        owner: str = "",
        captures: Callable[[ThreadState], bool] = lambda _: False,
    ) -> None:
        self.journal = journal
        self.owner = owner
        self.feed = Feed()
        self.threads: dict[str, LiveThread] = {}
        self.pumps: dict[str, Pump] = {}
        self._capabilities = capabilities
        self._policy = policy
        self._captures = captures
        self._clock = clock
        self._entropy = entropy
        self._fault = fault
        self._hook = hook
        self._batch = Gathered()
        self._in_flight: Gathered | None = None
        self._underway: dict[str, Waiter] = {}
        self.closed = False
        self._failed: tuple[float, StorageFailed] | None = None
        self._urgent = anyio.Event()
        self._lazy = anyio.Event()

    # ---- memory

    def live(self, thread_id: str) -> LiveThread:
        """The thread as it is now, read from the journal if it is not in memory."""
        held = self.threads.pop(thread_id, None)
        if held is None:
            held = load_thread(self.journal, thread_id)
            self._forget_idle()
        self.threads[thread_id] = held
        return held

    def _forget_idle(self) -> None:
        flying: set[str] = self._in_flight.threads if self._in_flight else set()
        busy = self._batch.threads | flying
        for thread_id, live in list(self.threads.items())[: max(0, len(self.threads) - THREADS_IN_MEMORY)]:
            state = live.state
            if state.session is None and not (state.runs or state.checkpoints) and thread_id not in busy:
                del self.threads[thread_id]

    # ---- commands

    async def submit(
        self, thread_id: str | None, command: UserCommand, *, actor: str, command_id: str | None = None
    ) -> Receipt:
        """Apply a user's command and wait until it is durable (F240).

        Raises the typed error of a refusal, Conflict `command_id_reused` for the same id with another
        payload, StorageFailed if it could not be written.
        """
        self.check_open()
        mark = command_fingerprint(thread_id, command)
        waiter = None
        if command_id is not None:
            waiter = self._underway.get(command_id)
            stored = self.journal.receipt(command_id) if waiter is None else None
            known = waiter.mark if waiter else stored.fingerprint if stored else mark
            if known != mark:
                raise Conflict(
                    "command_id_reused", "This command id was used for something else.", fix="Use a new id."
                )
            if stored is not None:
                return receipt_of(stored)
        if waiter is None:
            waiter = self._apply_user(thread_id, command, actor, command_id, mark)
        await waiter.done.wait()
        if waiter.error is not None:
            raise waiter.error
        if waiter.refusal is not None:
            raise refusal_error(waiter.refusal)
        assert waiter.receipt is not None
        return waiter.receipt

    def _apply_user(
        self, thread_id: str | None, command: UserCommand, actor: str, command_id: str | None, mark: str
    ) -> Waiter:
        seed = command_id or self._entropy()
        live = self.live(thread_id) if thread_id else LiveThread.empty(self.journal)
        self._know(live, command)
        decision = self._decide(live, command, seed=seed, actor=actor, command_id=command_id)
        if any(isinstance(o, AskAgent) and o.session_id not in self.pumps for o in decision.outputs):
            raise StorageFailed(
                "session_unreachable",
                "The agent's process is not in view right now.",
                fix="Try again; nothing was changed.",
            )
        if thread_id is None and decision.refusal is None:
            thread_id = decision.result["thread"]
            live.rename(thread_id)
            self._forget_idle()
            self.threads[thread_id] = live
            self._batch.rows.claims.append((thread_id, self.owner))
        waiter = Waiter(anyio.Event(), refusal=decision.refusal, mark=mark, command_id=command_id)
        self._carry(live, decision)
        waiter.event_count = len(self._batch.rows.events)
        waiter.receipt = Receipt(0, decision.result)
        if command_id is not None:
            answer = msgspec.json.encode({"result": decision.result, "refusal": decision.refusal})
            row = ReceiptRow(command_id, mark, thread_id, answer, waiter.event_count)
            self._batch.rows.receipts.append(row)
            self._underway[command_id] = waiter
        self._batch.waiters.append(waiter)
        self._urgent.set()
        return waiter

    def apply(self, thread_id: str, command: InternalCommand) -> None:
        """Apply a report of the shell."""
        live = self.live(thread_id)
        self._carry(live, self._decide(live, command, seed=self._entropy()))

    def claim(self, thread_id: str, runtime_id: str) -> None:
        """Record, with the next commit, that this runtime owns the thread."""
        self._batch.rows.claims.append((thread_id, runtime_id))
        self._urgent.set()

    def store(self, row: ProcessRow) -> None:
        """Store a process that nobody works with as it is given, with the next commit."""
        self._batch.rows.processes.append(row)
        self._urgent.set()

    def consume(self, pump: Pump, reports: list[Report]) -> None:
        """Take what a pump reported. Events and sends go with the pump's new read offset (R2)."""
        thread_id = pump.process.thread_id
        live = self.live(thread_id)
        self.touch(pump)
        work = deque(reports)
        index = 0
        while work:
            report = work.popleft()
            index += 1
            seed = f"{pump.process.id}:{pump.inputs}:{pump.read_offset}:{index}"
            command = pump.reported(report, live.state) if isinstance(report, ProviderEvent) else report
            self._know(live, command)
            decision = self._decide(live, command, seed=seed)
            work.extendleft(reversed(self._carry(live, decision, nested=True)))
        self._take_sends(pump)

    def _know(self, live: LiveThread, command: DomainCommand) -> None:
        """Bring what a late frame or answer names back into view, be it closed or not yet written (F250)."""
        for entity_id in named(live.state, command):
            if live.knows(entity_id):
                continue
            flying = self._in_flight.entities.get(entity_id) if self._in_flight else None
            live.recall(entity_id, self._batch.entities.get(entity_id) or flying)

    def _decide(
        self,
        live: LiveThread,
        command: DomainCommand,
        *,
        seed: str,
        actor: str = "system",
        command_id: str | None = None,
    ) -> Decision:
        facts = Facts(
            now=self._clock(),
            seed=seed,
            capabilities=self._capabilities(live.state),
            policy=self._policy(live.state),
            actor=actor,
            command_id=command_id,
            captures=self._captures(live.state),
        )
        return decide(live.state, command, facts)

    # ---- outputs

    def _carry(self, live: LiveThread, decision: Decision, *, nested: bool = False) -> list[Report]:
        """Take in a decision's outputs, and then what the asks in it made the adapter report.

        Nested, those reports are returned, for whoever works through them in order.
        """
        closed = live.state.known
        live.state = decision.state
        reports: list[Report] = []
        asked: Pump | None = None
        for output in decision.outputs:
            match output:
                case Event():
                    self._record(live, output)
                case Append():
                    self._delta(live, live.bodies.append(output.owner, output.body, output.text))
                case Settle():
                    delta, replaced = live.bodies.settle(
                        output.owner, output.body, output.text, close=output.close
                    )
                    if replaced:
                        live.replaced.add(output.owner)
                    self._delta(live, delta, silent=output.owner in closed)
                case CloseBodies():
                    live.bodies.close(output.owner)
                case AskAgent():
                    pump = self.pumps.get(output.session_id)
                    if pump is not None:
                        asked = pump
                        reports.extend(pump.ask(self._filled(live, output.ask)))
                case StartSession() | StopSession() | SetDeadline() | CaptureFiles():
                    self._batch.effects.append((live.thread_id, output))
                    self._urgent.set()
        self._record_replaced(live)
        if nested or asked is None:
            return reports
        self.consume(asked, reports)
        return []

    def _filled(self, live: LiveThread, ask: Command) -> Command:
        """A prompt with the text of its message, byte for byte as it was typed (J)."""
        if not isinstance(ask, SendTurn | SteerTurn):
            return ask
        message = live.state.messages[ask.client_id]
        text = text_of(self.journal, live, message.item_id)
        rest = tuple(b for b in ask.blocks if not isinstance(b, TextBlock))
        return msgspec.structs.replace(ask, blocks=(TextBlock(text), *rest))

    def _record(self, live: LiveThread, event: Event) -> None:
        entity = event.entity
        if isinstance(entity, Item | Turn):
            if entity.revision == 1:
                live.bodies.fresh(entity.id)
            entity = msgspec.structs.replace(entity, bodies=live.bodies.refs(entity.id))
            kind = "item.body_replaced" if entity.id in live.replaced else event.type
            live.replaced.discard(entity.id)
            event = msgspec.structs.replace(event, entity=entity, type=kind)
            live.state = evolve(live.state, event)
        row = EventRow(
            type=event.type,
            thread_id=event.thread_id,
            run_id=event.run_id,
            entity_id=entity.id,
            entity_kind=str(entity.__struct_config__.tag),
            revision=entity.revision,
            at=event.at,
            actor=event.actor,
            command_id=event.command_id,
            payload=msgspec.json.encode(entity),
            open=is_open(entity),
            position=position_of(entity),
        )
        self._batch.rows.events.append(row)
        self._batch.entities[entity.id] = entity
        self._batch.feed.append(event)
        self._batch.threads.add(live.thread_id)
        self._batch.ordered.add(live.thread_id)
        self._urgent.set()

    def _record_replaced(self, live: LiveThread) -> None:
        """A body that was replaced without another change of its owner still gets its event."""
        for owner in sorted(live.replaced):
            entity = live.state.items.get(owner) or live.state.turns.get(owner)
            if entity is None:
                known = live.state.known.get(owner)
                entity = known if isinstance(known, Item | Turn) else None
            if entity is None:
                continue
            changed = msgspec.structs.replace(entity, revision=entity.revision + 1)
            event = Event("item.body_replaced", live.thread_id, changed, self._clock(), run_id=changed.run_id)
            self._record(live, event)
        live.replaced.clear()

    def _delta(self, live: LiveThread, delta: Delta | None, *, silent: bool = False) -> None:
        """Publish text at once, or behind what made its item.

        Silent text comes after its item's end: it is stored, and readers meet it with the item (R7).
        """
        if delta is None:
            return
        self._batch.threads.add(live.thread_id)
        live.unfolded += len(delta.text)
        if live.unfolded >= FOLD_CHARS:
            self._urgent.set()
        self._lazy.set()
        if silent:
            return
        flying = self._in_flight.ordered if self._in_flight else ()
        if live.thread_id in self._batch.ordered or live.thread_id in flying:
            self._batch.ordered.add(live.thread_id)
            self._batch.feed.append(delta)
        else:
            self.feed.publish(delta)

    def _overtake(self) -> None:
        """Publish the text of the next batch that waited only for what has just been published."""
        waiting: list[Event | Delta] = []
        blocked: set[str] = set()
        for entry in self._batch.feed:
            if isinstance(entry, Event) or entry.thread_id in blocked:
                blocked.add(entry.thread_id)
                waiting.append(entry)
            else:
                self.feed.publish(entry)
        self._batch.feed = waiting
        self._batch.ordered = blocked

    def touch(self, pump: Pump) -> None:
        """Store the process as it stands with the next commit."""
        self._batch.pumps[pump.process.id] = pump
        self._lazy.set()

    def _take_sends(self, pump: Pump) -> None:
        sends = pump.take_sends()
        timers = pump.take_timers()
        if timers:
            pump.due(timers, self._clock())
            self._batch.timers.append((pump.process.session_id, timers))
        serves = [(pump.process.session_id, serve) for serve in pump.take_serves()]
        if sends or timers or serves:
            self._batch.rows.sends.extend(sends)
            self._batch.serves.extend(serves)
            self._urgent.set()

    # ---- committing

    async def run(self) -> None:
        """Write batches until cancelled; belongs to the runtime's root task group (R12)."""
        while True:
            await self._work()
            await self._flush()

    async def _work(self) -> None:
        await self._lazy_or_urgent()
        if not self._urgent.is_set():
            with anyio.move_on_after(FOLD_SECONDS):
                await self._urgent.wait()
        self._urgent = anyio.Event()
        self._lazy = anyio.Event()

    async def _lazy_or_urgent(self) -> None:
        if self._urgent.is_set() or self._lazy.is_set():
            return
        async with anyio.create_task_group() as group:

            async def until(event: anyio.Event) -> None:
                await event.wait()
                group.cancel_scope.cancel()

            group.start_soon(until, self._urgent)
            group.start_soon(until, self._lazy)

    def _collect(self) -> Gathered:
        rows, offsets = self._process_rows()
        batch, self._batch = self._batch, Gathered()
        batch.rows.processes.extend(rows)
        batch.offsets = offsets
        for thread_id in batch.threads:
            live = self.threads.get(thread_id)
            if live is not None:
                batch.rows.parts.extend(live.bodies.drain())
                live.unfolded = 0
        return batch

    def _process_rows(self) -> tuple[list[ProcessRow], dict[str, int]]:
        """The processes as they stand; one whose adapter cannot say its state fails alone, here (R1)."""
        rows: list[ProcessRow] = []
        offsets: dict[str, int] = {}
        for pump in list(self._batch.pumps.values()):
            was = pump.broken
            rows.append(pump.row())
            offsets[pump.process.id] = pump.read_offset
            if pump.broken is not None and was is None:
                self.apply(pump.process.thread_id, SessionFailed(pump.process.session_id, pump.broken))
        return rows, offsets

    async def _flush(self) -> None:
        batch = self._collect()
        if batch.rows.empty():
            told = any(w.receipt is not None for w in batch.waiters)
            self._after(batch, self.journal.sequence() if told else self.feed.sequence)
            return
        self._in_flight = batch
        try:
            base = await self._commit(batch.rows)
        except StorageFailed as error:
            self._failed = (self._clock(), error)
            self._drop(batch, error)
            return
        finally:
            self._in_flight = None
        self._failed = None
        self._fault("committed")
        self._after(batch, base)

    async def _commit(self, rows: Batch) -> int:
        with anyio.CancelScope(shield=True):
            return await anyio.to_thread.run_sync(self.journal.commit, rows)
        raise AssertionError("a shielded scope was left without a result")

    def _after(self, batch: Gathered, base: int) -> None:
        """Publish, answer and send, in the order of the commit."""
        sequence = base
        for entry in batch.feed:
            if isinstance(entry, Event):
                sequence += 1
                self.feed.publish(Committed(sequence, entry))
            else:
                self.feed.publish(entry)
        self._overtake()
        for waiter in batch.waiters:
            if waiter.receipt is not None:
                waiter.receipt = Receipt(base + waiter.event_count, waiter.receipt.result)
            waiter.finish(self._underway)
        for thread_id, effect in batch.effects:
            self._hook.effect(thread_id, effect)
        for session_id, changes in batch.timers:
            self._hook.timers(session_id, changes)
        for send in batch.rows.sends:
            self._hook.send(send)
        for session_id, serve in batch.serves:
            self._hook.serve(session_id, serve)
        for process_id, offset in batch.offsets.items():
            pump = self.pumps.get(batch.pumps[process_id].process.session_id)
            if pump is not None:
                self._hook.committed(pump, offset)

    def _drop(self, failed: Gathered, error: StorageFailed) -> None:
        """Nothing of this batch, or of what was decided on top of it, happened."""
        later, self._batch = self._batch, Gathered()
        self.threads.clear()
        self.pumps.clear()
        for waiter in (*failed.waiters, *later.waiters):
            waiter.error = error
            waiter.finish(self._underway)
        self._hook.dropped()

    def check_written(self) -> None:
        """Raise the StorageFailed of the newest commit, if that was refused a moment ago."""
        if self._failed is not None and self._clock() - self._failed[0] < FAILED_SECONDS:
            raise self._failed[1]

    def check_open(self) -> None:
        """Raise StorageFailed `closed` once this engine writes no more."""
        if self.closed:
            raise closed_error()

    def close(self) -> None:
        """No more is written: whoever waits is told, and nothing new is taken."""
        self.closed = True
        left, self._batch = self._batch, Gathered()
        for waiter in left.waiters:
            waiter.error = closed_error()
            waiter.finish(self._underway)
        self.feed.close()

    async def settle(self) -> None:
        """Return once everything applied so far is durable, or was refused by the disk."""
        self.check_open()
        waiter = Waiter(anyio.Event())
        self._batch.waiters.append(waiter)
        self._urgent.set()
        await waiter.done.wait()
        if waiter.error is not None:
            raise waiter.error
