"""The library: `async with podium.open() as p`. The same interface a connected client has (R12)."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from podium.contract.errors import BadInput, NotFound
from podium.contract.events import Body
from podium.contract.inputs import Mode
from podium.contract.requests import Answer
from podium.domain.commands import AnswerRequest, ArchiveThread, CreateThread, InterruptRun, SendMessage
from podium.domain.entities import Checkpoint, Entity, Item, ProviderThread, Request, Run, Thread
from podium.domain.events import Delta
from podium.domain.state import ThreadState
from podium.journal.store import PAGE_MAX, Journal
from podium.runtime.agents import REHEARSAL
from podium.runtime.bodyviews import BodyRange
from podium.runtime.changes import Changes, Changing
from podium.runtime.eventlines import stored_event
from podium.runtime.feed import Committed, Subscription
from podium.runtime.following import Happening, Have, Sending, follow
from podium.runtime.images import check_images
from podium.runtime.incoming import check_workspace
from podium.runtime.live import LiveThread, decode_entity, text_of
from podium.runtime.receipts import Receipt
from podium.runtime.runtime import Runtime, open_runtime
from podium.runtime.settings import load_settings
from podium.runtime.snapshot import ITEMS_SHOWN, ItemPage, Snapshot, Snapshots
from podium.workspace.values import RestorePlan

ACTOR = "user"


C = TypeVar("C")


def _checked(fields: dict[str, Any], kind: type[C]) -> C:
    """A command made of a caller's values. Raises BadInput `invalid_value` naming the field."""
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise BadInput("invalid_value", f"{error}.", fix="Correct the value; nothing was done.") from error


class Threads:
    """Threads of this data folder."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def create(
        self,
        *,
        workspace: str | Path,
        agent: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        title: str | None = None,
        actor: str = ACTOR,
        command_id: str | None = None,
    ) -> ThreadHandle:
        """Begin a thread in a folder. Raises BadInput `unknown_agent`, `workspace_missing` and its kin.

        Without an agent the default one is taken. Mode and model default to the instance's own, then to
        `ask` and the agent's choice.
        """
        registry = self._runtime.registry
        instance = registry.instance(agent or registry.default())
        command = _checked(
            {
                "command": "thread.create",
                "workspace": str(check_workspace(Path(workspace))),
                "agent": instance.id,
                "agent_kind": instance.kind,
                "mode": mode or instance.settings.mode or "ask",
                "model": model or instance.settings.model,
                "title": title,
            },
            CreateThread,
        )
        receipt = await self._runtime.submit(None, command, actor=actor, command_id=command_id)
        return ThreadHandle(self._runtime, receipt.result["thread"], receipt)

    def get(self, thread_id: str) -> ThreadHandle:
        """A thread by its id. Raises NotFound `thread_unknown`."""
        if self._runtime.journal.entity(thread_id) is None:
            raise NotFound(
                "thread_unknown", f"There is no thread {thread_id!r}.", fix="List them: podium threads list"
            )
        return ThreadHandle(self._runtime, thread_id)

    def list(self, *, limit: int = PAGE_MAX) -> list[Thread]:
        """Threads, newest first."""
        return self._runtime.reading.threads(limit=limit)


class Requests:
    """Requests of all threads."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def pending(self) -> list[Request]:
        """Everything that waits for a person, oldest first."""
        rows = self._runtime.journal.entities("request", open_only=True)
        found = [r for r in map(decode_entity, rows) if isinstance(r, Request) and r.state == "pending"]
        return sorted(found, key=lambda r: (r.created_at, r.id))

    def get(self, request_id: str) -> Request:
        """A request by its id. Raises NotFound `request_unknown`."""
        data = self._runtime.journal.entity(request_id)
        found = decode_entity(data) if data is not None else None
        if not isinstance(found, Request):
            raise NotFound(
                "request_unknown", f"There is no request {request_id!r}.", fix="podium requests list"
            )
        return found

    async def read(self, request_id: str) -> Request:
        """A request as it is now. Raises NotFound `request_unknown`."""
        return self.get(request_id)

    async def answer(
        self, request_id: str, answer: Answer, *, actor: str = ACTOR, command_id: str | None = None
    ) -> Receipt:
        """Decide a request. Raises Conflict `request_answered`, Gone `request_expired`, or BadInput."""
        request = self.get(request_id)
        command = AnswerRequest(request_id, answer)
        return await self._runtime.submit(request.thread_id, command, actor=actor, command_id=command_id)


class ThreadHandle:
    """One thread, to read and to drive."""

    def __init__(self, runtime: Runtime, thread_id: str, receipt: Receipt | None = None) -> None:
        self._runtime = runtime
        self.id = thread_id
        self.receipt = receipt or Receipt(0, {"thread": thread_id})
        """Of the command that began the thread, where this handle is from it."""

    # ---- reading

    @property
    def state(self) -> ThreadState:
        """The open entities as of now."""
        return self._live().state

    def _live(self) -> LiveThread:
        return self._runtime.engine.live(self.id)

    def entities(self, kind: str, *, run_id: str | None = None) -> list[Entity]:
        """Every stored entity of a kind, in order."""
        rows = self._runtime.journal.entities(kind, thread_id=self.id, run_id=run_id)
        return [decode_entity(r) for r in rows]

    def items(self, *, before: int | None = None, limit: int = PAGE_MAX) -> list[Item]:
        """The newest items before a position, in order (F275)."""
        rows = self._runtime.journal.entities(
            "item", thread_id=self.id, before=before, limit=limit, newest_first=True
        )
        return [i for i in map(decode_entity, reversed(rows)) if isinstance(i, Item)]

    def run(self, run_id: str) -> Run:
        """A run by its id. Raises NotFound `run_unknown`."""
        data = self._runtime.journal.entity(run_id)
        found = decode_entity(data) if data is not None else None
        if not isinstance(found, Run):
            raise NotFound("run_unknown", f"There is no run {run_id!r}.")
        return found

    def text(self, item_id: str, body: Body = "text") -> str:
        """The whole text of an item's body."""
        return text_of(self._runtime.journal, self._live(), item_id, body)

    def checkpoints(self) -> list[Checkpoint]:
        """The checkpoints of this thread, newest first."""
        return self._runtime.reading.checkpoints(self.id)

    async def diff(self, run_id: str | None = None, *, text: bool = True) -> Changes:
        """What this thread, or one run of it, changed: paths with owners, and the text of it (R11).

        Raises NotFound `run_unknown`, StorageFailed `changes_unreadable`.
        """
        reading = self._runtime.reading
        runs = [reading.run(run_id)] if run_id is not None else reading.runs(self.id)
        return await Changing(reading, self._runtime.workspaces).of(runs, text=text)

    def subscribe(self) -> AbstractContextManager[Subscription]:
        """Listen to this thread from now on."""
        return self._runtime.engine.feed.subscribe(self.id)

    def follow(self, run_id: str, reader: Subscription) -> AsyncIterator[Happening]:
        """What happens in the thread until the run has ended or waits for a person."""
        return follow(self, run_id, reader)

    async def events_after(self, after: int) -> list[Committed]:
        """A page of stored events of this thread above a sequence; those compacted away are passed over."""
        return stored_events(self._runtime.journal, after, self.id)

    async def snapshot(self) -> Snapshot:
        """The thread whole, with what can be done (F242)."""
        return Snapshots(self._runtime).thread(self.id)

    async def page(self, *, before: int | None = None, limit: int = ITEMS_SHOWN) -> ItemPage:
        """The newest items before a position, with their text (F275)."""
        return Snapshots(self._runtime).page(self.id, before=before, limit=limit)

    async def body(self, item_id: str, field: Body = "text", *, start: int = 0) -> BodyRange:
        """A part of a body, from a character on. Raises NotFound `item_unknown` or `body_unknown`."""
        return Snapshots(self._runtime).body(self.id, item_id, field, start=start)

    def provider_threads(self) -> list[ProviderThread]:
        """The agent's own conversations behind this thread."""
        return [p for p in self.entities("provider_thread") if isinstance(p, ProviderThread)]

    # ---- driving

    async def post(
        self,
        text: str,
        *,
        client_id: str | None = None,
        model: str | None = None,
        images: tuple[str, ...] = (),
        intent: str = "auto",
        fresh: bool = False,
        actor: str = ACTOR,
    ) -> Receipt:
        """Send a message; returns once it is durable. The same `client_id` again: the same receipt (F281)."""
        client_id = client_id or uuid.uuid4().hex
        command = _checked(
            {
                "command": "message.send",
                "client_id": client_id,
                "text": text,
                "intent": intent,
                "model": model,
                "fresh": fresh,
                "attachments": check_images(images),
            },
            SendMessage,
        )
        return await self._runtime.submit(self.id, command, actor=actor, command_id=f"{self.id}:{client_id}")

    def send(self, text: str, *, client_id: str | None = None, **options: Any) -> Sending:
        """Send a message and iterate over what happens. Options as for `post`."""
        chosen = client_id or uuid.uuid4().hex
        return Sending(self, lambda: self.post(text, client_id=chosen, **options))

    async def interrupt(
        self, run_id: str | None = None, *, actor: str = ACTOR, command_id: str | None = None
    ) -> Receipt:
        """Ask the active run to stop (F249)."""
        return await self._runtime.submit(self.id, InterruptRun(run_id), actor=actor, command_id=command_id)

    async def archive(
        self, archived: bool = True, *, actor: str = ACTOR, command_id: str | None = None
    ) -> Receipt:
        """Put the thread away, or back."""
        return await self._runtime.submit(
            self.id, ArchiveThread(archived), actor=actor, command_id=command_id
        )

    @property
    def mine(self) -> bool:
        """Whether this Podium works with the thread, or another one on this machine does."""
        return self._runtime.owns(self.id)

    async def read(self) -> None:
        """Nothing to do here: what is open is read when `state` is asked."""

    async def adopt(self) -> None:
        """Take the thread over from a runtime that is gone, with the agent it left working."""
        await self._runtime.take_over(self.id)


class Checkpoints:
    """Captured files, and taking back what was changed since (R11)."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def list(self, thread_id: str | None = None, *, limit: int = PAGE_MAX) -> list[Checkpoint]:
        """Checkpoints, newest first."""
        return self._runtime.reading.checkpoints(thread_id, limit=limit)

    def get(self, checkpoint_id: str) -> Checkpoint:
        """A checkpoint by its id. Raises NotFound `checkpoint_unknown`."""
        return self._runtime.reading.checkpoint(checkpoint_id)

    async def plan(self, target: str, *, force: bool = False) -> RestorePlan:
        """What taking back the changes of a run, of a thread, or of a thread since a checkpoint would do.

        Nothing is touched. `force` also takes back what is shared or was changed since. Raises BadInput
        `nothing_to_restore`, `checkpoint_not_ready`, NotFound.
        """
        return await self._runtime.restores.plan(target, force=force)

    async def restore(self, plan: RestorePlan | str, *, force: bool = False) -> Checkpoint:
        """Carry a plan out, or plan and carry out; the safety checkpoint made before it, with the result.

        Raises Conflict `checkout_busy`, `git_busy`, `thread_in_use`, and what `plan` raises.
        """
        found = await self.plan(plan, force=force) if isinstance(plan, str) else plan
        return await self._runtime.restores.carry_out(found)

    async def undo_plan(self, checkpoint_id: str, *, force: bool = False) -> RestorePlan:
        """What taking a restore back would do, named by its safety checkpoint. Raises as `plan` does."""
        return await self._runtime.restores.undo_plan(checkpoint_id, force=force)

    async def undo(self, checkpoint_id: str, *, force: bool = False) -> Checkpoint:
        """Take a restore back, named by its safety checkpoint. This can be undone like any other."""
        found = await self.undo_plan(checkpoint_id, force=force)
        return await self._runtime.restores.carry_out(found)


class Podium:
    """An open data folder. Made by `podium.open()`."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.threads = Threads(runtime)
        self.requests = Requests(runtime)
        self.checkpoints = Checkpoints(runtime)

    @property
    def sequence(self) -> int:
        """The newest sequence."""
        return self.runtime.journal.sequence()

    def subscribe(self, thread_id: str | None = None) -> AbstractContextManager[Subscription]:
        """Listen to committed events and deltas of one thread or of all."""
        return self.runtime.engine.feed.subscribe(thread_id)

    async def events_after(self, after: int, thread_id: str) -> list[Committed]:
        """A page of stored events of a thread above a sequence; those compacted away are passed over."""
        return stored_events(self.runtime.journal, after, thread_id)

    async def missed(self, have: Have) -> Delta | None:
        """The stored text of a body behind what a reader has; None where there is no more."""
        rows = self.runtime.journal.parts(have.item, have.field, have.epoch)
        if not rows or rows[-1].to_part <= have.parts:
            return None
        text = "".join(r.text for r in rows)[have.chars :]
        return Delta(
            have.thread_id, have.item, have.field, have.epoch, have.parts + 1, rows[-1].to_part, text
        )

    async def is_rehearsal(self, agent: str) -> bool:
        """Whether an agent only plays, without a model."""
        return self.runtime.registry.instance(agent).adapter.descriptor.role == REHEARSAL

    async def stop_agents(self, reason: str) -> int:
        """End the agents of this process; how many there were."""
        return await self.runtime.stop_agents(reason)


def stored_events(journal: Journal, after: int, thread_id: str) -> list[Committed]:
    """A page of stored events; those whose payload was compacted away are superseded by a later one."""
    while page := journal.events(after, thread_id=thread_id):
        found = [
            Committed(s.sequence, stored_event(s, decode_entity(s.payload)))
            for s in page
            if s.payload is not None
        ]
        if found:
            return found
        after = page[-1].sequence
    return []


@asynccontextmanager
async def open(
    data: str | Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    linger: float = 0.0,
    **options: Any,
) -> AsyncGenerator[Podium]:
    """Open Podium in this process. `linger` above 0 leaves agents working when the block is left (R3).

    Raises StorageFailed if the data folder cannot be used.
    """
    settings = load_settings(environ, data=Path(data) if data is not None else None)
    async with open_runtime(settings, linger=linger, **options) as runtime:
        yield Podium(runtime)


__all__ = ["Committed", "Happening", "Podium", "ThreadHandle", "open"]
