"""Reading a data folder without owning anything in it: no lock, no process, no write, nobody disturbed.

It works beside a living runtime and on a database that a newer Podium wrote (F284): an entity this version
cannot read is shown as what it is, never dropped.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.errors import NotFound
from podium.contract.events import Body
from podium.domain.entities import Checkpoint, Entity, Item, Message, Plan, Request, Run, Thread
from podium.domain.state import position_of
from podium.journal.database import FILE_NAME
from podium.journal.store import PAGE_MAX, Journal
from podium.runtime.ownership import FOLDER

LAST = "last"
"""Stands for the newest thread wherever a thread id is read."""

LOCKS = Path("/proc/locks")

_decoder = msgspec.json.Decoder(Entity)


class Unreadable(msgspec.Struct, frozen=True):
    """A stored entity of a kind or shape that this version does not know, with its data as it stands."""

    kind: str
    id: str
    data: dict[str, Any]


def read_entity(data: bytes) -> Entity | Unreadable:
    """A stored entity; unknown fields are passed over, an unknown kind or value makes it Unreadable."""
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError:
        plain = msgspec.json.decode(data, type=dict[str, Any])
        return Unreadable(str(plain.get("kind", "unknown")), str(plain.get("id", "")), plain)


class ThreadSummary(msgspec.Struct, frozen=True):
    """A thread with what a list of threads shows of it."""

    thread: Thread
    run: Run | None
    runs: int
    pending: tuple[Request, ...]
    state: str
    """idle, working, question, needs_input, ended; or left: something is open and no runtime has it."""


class Reading:
    """A data folder as it stands. Made by `open_reading`."""

    def __init__(self, folder: Path, journal: Journal | None) -> None:
        self.folder = folder
        self._journal = journal

    def _entities(self, kind: str, thread_id: str | None, **more: Any) -> list[Entity | Unreadable]:
        if self._journal is None:
            return []
        return [read_entity(r) for r in self._journal.entities(kind, thread_id=thread_id, **more)]

    def threads(self, *, limit: int = PAGE_MAX) -> list[Thread]:
        """Threads, newest first."""
        found = self._entities("thread", None, newest_first=True, limit=PAGE_MAX)
        threads = [t for t in found if isinstance(t, Thread)]
        return sorted(threads, key=lambda t: t.created_at, reverse=True)[:limit]

    def thread(self, thread_id: str) -> Thread:
        """A thread by its id, or the newest for `last`. Raises NotFound `thread_unknown`."""
        if thread_id == LAST:
            newest = self.threads(limit=1)
            if newest:
                return newest[0]
            raise NotFound("thread_unknown", "There is no thread yet.", fix="Begin one: podium run PROMPT")
        data = self._journal.entity(thread_id) if self._journal is not None else None
        found = read_entity(data) if data is not None else None
        if isinstance(found, Thread):
            return found
        if isinstance(found, Unreadable) and found.kind == "thread":
            raise NotFound(
                "thread_unreadable",
                f"The thread {thread_id} was written by a newer Podium.",
                fix="Use that version to read it.",
            )
        raise NotFound("thread_unknown", f"There is no thread {thread_id!r}.", fix="podium threads list")

    def summary(self, thread: Thread) -> ThreadSummary:
        """A thread as a list shows it."""
        newest = self._entities("run", thread.id, newest_first=True, limit=1)
        run = newest[0] if newest and isinstance(newest[0], Run) else None
        working = [r for r in self._entities("run", thread.id, open_only=True) if isinstance(r, Run)]
        pending = tuple(r for r in self.requests(thread_id=thread.id) if r.state == "pending")
        active = next((r for r in working if r.state != "queued"), None)
        return ThreadSummary(
            thread,
            run,
            run.ordinal if run else 0,
            pending,
            self._state(thread, active, bool(working), pending),
        )

    def _state(self, thread: Thread, active: Run | None, busy: bool, pending: tuple[Request, ...]) -> str:
        if thread.archived:
            return "ended"
        if busy and self._owner_alive(thread.id) is False:
            return "left"
        if active is None:
            return "working" if busy else "idle"
        if active.state != "waiting":
            return "working"
        return "question" if pending else "needs_input"

    def _owner_alive(self, thread_id: str) -> bool | None:
        owner = self._journal.owner(thread_id) if self._journal is not None else None
        return lock_held(self.folder, owner) if owner is not None else None

    def runs(self, thread_id: str) -> list[Run]:
        """Every run of a thread, in order."""
        return [r for r in self._pages("run", thread_id) if isinstance(r, Run)][::-1]

    def items(self, thread_id: str, *, limit: int | None = None) -> list[Item | Unreadable]:
        """The newest items of a thread in their stored order (F275); all of them without a limit."""
        found: list[Item | Unreadable] = []
        for entity in self._pages("item", thread_id):
            if limit is not None and len(found) >= limit:
                break
            if isinstance(entity, Item | Unreadable):
                found.append(entity)
        return found[::-1]

    def first_words(self, thread_id: str) -> str:
        """The text a thread began with."""
        found = self._entities("item", thread_id, limit=1)
        return self.text(found[0], "text") if found and isinstance(found[0], Item) else ""

    def _pages(
        self, kind: str, thread_id: str | None, run_id: str | None = None
    ) -> Iterator[Entity | Unreadable]:
        """Entities with a position from the newest on, page by page."""
        before: int | None = None
        while page := self._entities(
            kind, thread_id, run_id=run_id, newest_first=True, before=before, limit=PAGE_MAX
        ):
            yield from page
            before = min(_position(e) for e in page)
            if before <= 1:
                return

    def requests(self, *, thread_id: str | None = None) -> list[Request]:
        """Requests that wait, oldest first."""
        found = self._entities("request", thread_id, open_only=True)
        waiting = [r for r in found if isinstance(r, Request) and r.state == "pending"]
        return sorted(waiting, key=lambda r: (r.created_at, r.id))

    def all_requests(self, *, thread_id: str | None = None) -> list[Request]:
        """The newest requests, those that are over too, oldest first."""
        found = self._entities("request", thread_id, newest_first=True, limit=PAGE_MAX)
        return sorted((r for r in found if isinstance(r, Request)), key=lambda r: (r.created_at, r.id))

    def queued_words(self, thread_id: str) -> set[str]:
        """The items of the messages that waited, or wait, for the run before theirs."""
        found = self._entities("message", thread_id, newest_first=True, limit=PAGE_MAX)
        return {m.item_id for m in found if isinstance(m, Message) and m.intent == "queue"}

    def plans(self, thread_id: str) -> list[Plan]:
        """The plans of a thread."""
        return [p for p in self._entities("plan", thread_id) if isinstance(p, Plan)]

    def open_runs(self) -> list[Run]:
        """Every run of any thread that has not ended."""
        return [r for r in self._entities("run", None, open_only=True) if isinstance(r, Run)]

    def run(self, run_id: str) -> Run:
        """A run by its id. Raises NotFound `run_unknown`."""
        data = self._journal.entity(run_id) if self._journal is not None else None
        found = read_entity(data) if data is not None else None
        if isinstance(found, Run):
            return found
        raise NotFound("run_unknown", f"There is no run {run_id!r}.", fix="podium threads show THREAD --json")

    def file_changes(self, run_id: str) -> list[Item]:
        """The file changes that an agent reported as done in a run."""
        found = self._pages("item", None, run_id)
        return [
            i
            for i in found
            if isinstance(i, Item) and i.item_kind == "file_change" and i.state == "completed"
        ]

    def checkpoints(
        self,
        thread_id: str | None = None,
        *,
        run_id: str | None = None,
        since: float = 0.0,
        limit: int | None = None,
    ) -> list[Checkpoint]:
        """Checkpoints of all threads, one thread or one run, newest first, from a time on."""
        found = (c for c in self._pages("checkpoint", thread_id, run_id) if isinstance(c, Checkpoint))
        return list(islice(takewhile(lambda c: c.at >= since, found), limit))

    def checkpoint(self, checkpoint_id: str) -> Checkpoint:
        """A checkpoint by its id. Raises NotFound `checkpoint_unknown`."""
        data = self._journal.entity(checkpoint_id) if self._journal is not None else None
        found = read_entity(data) if data is not None else None
        if isinstance(found, Checkpoint):
            return found
        raise NotFound(
            "checkpoint_unknown", f"There is no checkpoint {checkpoint_id!r}.", fix="podium checkpoints list"
        )

    def works(self, thread_id: str) -> bool:
        """Whether somebody may be at work in a thread: its runtime, or an agent that was left behind."""
        if self._journal is None:
            return False
        return self._owner_alive(thread_id) is not False or bool(self._journal.processes(thread_id=thread_id))

    def others(self, kind: str, thread_id: str) -> list[Entity | Unreadable]:
        """Notices, degradations and the like, oldest first."""
        return self._entities(kind, thread_id)

    def text(self, item: Item, body: Body) -> str:
        """The text of a body as far as it is stored."""
        ref = item.bodies.get(body)
        if ref is None or self._journal is None:
            return ""
        return "".join(part.text for part in self._journal.parts(item.id, body, ref.epoch))


def _position(entity: Entity | Unreadable) -> int:
    if isinstance(entity, Unreadable):
        value = entity.data.get("position", entity.data.get("ordinal", 0))
        return value if isinstance(value, int) else 0
    return position_of(entity)


def lock_held(folder: Path, runtime_id: str) -> bool | None:
    """Whether a runtime lives, seen without touching its lock; None where the system does not tell."""
    try:
        inode = (folder / FOLDER / f"{runtime_id}.lock").stat().st_ino
    except OSError:
        return False
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    return any(line.split()[1] == "FLOCK" and line.split()[5].endswith(f":{inode}") for line in lines)


@contextmanager
def open_reading(folder: Path) -> Generator[Reading]:
    """Read a data folder; a missing one reads as empty. Raises StorageFailed for a broken database."""
    path = folder / FILE_NAME
    try:
        empty = path.stat().st_size == 0
    except OSError:
        empty = not path.exists()
    if empty:
        yield Reading(folder, None)
        return
    journal = Journal(folder, write=False)
    try:
        yield Reading(folder, journal)
    finally:
        journal.close()
