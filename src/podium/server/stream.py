"""The event stream: every committed event once, in order; deltas at once; one bounded queue a reader (R7).

The hub listens to the runtime once, encodes each entry once, and looks into the journal for what other
processes on this data folder wrote. A reader that falls behind goes on from the journal and misses deltas
only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import msgspec

from podium.contract.errors import StorageFailed
from podium.domain.events import Delta
from podium.journal.rows import StoredEvent
from podium.journal.store import Journal
from podium.runtime.eventlines import delta_data, event_data, json_line, stored_event
from podium.runtime.feed import Committed, Entry, Feed, Subscription
from podium.runtime.reading import Unreadable, read_entity
from podium.server.schema import ResetReason

HEARTBEAT_SECONDS = 10.0
"""Longest silence on a stream, in seconds."""

FOREIGN_POLL = 0.25
"""Seconds between looks for events that another process wrote."""

READER_MAX = 20_000
"""Most frames that wait for one reader; then it reads on from the journal."""

REPLAY_MAX = 50_000
"""Most events that are replayed; further behind, a snapshot is cheaper."""

BATCH_MAX = 200
"""Most frames of one write."""

MERGED_MAX = 64
"""Most pieces of a text that wait together and go out as one."""

ALL = "*"


class Framed(msgspec.Struct, frozen=True):
    """An entry as it goes out. Deltas have no sequence."""

    thread_id: str
    data: bytes
    sequence: int | None = None


def frame(event: str, value: Any, sequence: int | None = None) -> bytes:
    """One frame; its JSON stands in one line."""
    head = b"" if sequence is None else b"id: %d\n" % sequence
    return head + b"event: " + event.encode() + b"\ndata: " + json_line(value) + b"\n"


def framed(entry: Entry) -> Framed:
    """An entry of the feed."""
    if isinstance(entry, Delta):
        return Framed(entry.thread_id, frame("delta", delta_data(entry)))
    data = event_data(entry.sequence, entry.event)
    return Framed(entry.event.thread_id, frame("event", data, entry.sequence), entry.sequence)


def framed_stored(stored: StoredEvent) -> Framed:
    """An event of the journal; one whose payload was compacted away has no entity, and keeps its place."""
    entity = read_entity(stored.payload) if stored.payload is not None else None
    if entity is not None and not isinstance(entity, Unreadable):
        return framed(Committed(stored.sequence, stored_event(stored, entity)))
    data = {
        "sequence": stored.sequence,
        "type": stored.type,
        "thread_id": stored.thread_id,
        "run_id": stored.run_id,
        "at": stored.at,
        "actor": stored.actor,
        "command_id": stored.command_id,
        "entity": entity.data if entity is not None else None,
    }
    return Framed(stored.thread_id, frame("event", data, stored.sequence), stored.sequence)


def merged(entries: Iterable[Entry]) -> Generator[Entry]:
    """The entries; between two events, the pieces of each text become one, up to MERGED_MAX of them."""
    waiting: dict[tuple[str, str, int], list[Delta]] = {}
    for entry in entries:
        if not isinstance(entry, Delta):
            yield from map(_joined, waiting.values())
            waiting.clear()
            yield entry
            continue
        run = waiting.setdefault((entry.item, entry.field, entry.body_epoch), [])
        if run and (entry.from_part != run[-1].to_part + 1 or len(run) >= MERGED_MAX):
            yield _joined(run)
            run.clear()
        run.append(entry)
    yield from map(_joined, waiting.values())


def _joined(run: list[Delta]) -> Delta:
    if len(run) == 1:
        return run[0]
    return msgspec.structs.replace(run[0], to_part=run[-1].to_part, text="".join(d.text for d in run))


class Page(msgspec.Struct, frozen=True):
    """The frames of stored events up to a sequence."""

    upto: int
    data: bytes


class Reader:
    """One stream's queue. `threads` None means all; `live` are those whose deltas are wanted."""

    def __init__(self, threads: frozenset[str] | None, live: frozenset[str]) -> None:
        self._threads = threads
        self._live = live
        self._frames: deque[Framed] = deque()
        self._ready = anyio.Event()
        self.behind = False
        self.closed = False

    def wants(self, thread_id: str, *, delta: bool) -> bool:
        """Whether an entry of the thread goes to this reader."""
        if self._threads is not None and thread_id not in self._threads:
            return False
        return not delta or ALL in self._live or thread_id in self._live

    def put(self, entry: Framed) -> None:
        """Queue a frame, or note that the reader fell behind."""
        if self.behind or not self.wants(entry.thread_id, delta=entry.sequence is None):
            return
        if len(self._frames) >= READER_MAX:
            self._frames.clear()
            self.behind = True
        else:
            self._frames.append(entry)
        self._ready.set()

    def close(self) -> None:
        """No more frames come."""
        self.closed = True
        self._ready.set()

    async def take(self, seconds: float) -> list[Framed]:
        """What waits, at most BATCH_MAX; nothing if nothing came in time."""
        if not self._frames and not self.behind and not self.closed:
            self._ready = anyio.Event()
            with anyio.move_on_after(seconds):
                await self._ready.wait()
        return [self._frames.popleft() for _ in range(min(BATCH_MAX, len(self._frames)))]


class Hub:
    """Gives every reader what is committed, whoever committed it."""

    def __init__(self, journal: Journal, feed: Feed) -> None:
        self._journal = journal
        self._feed = feed
        self._readers: set[Reader] = set()
        self._foreign = 0
        self.sequence = journal.sequence()

    @property
    def readers(self) -> int:
        """How many streams are open."""
        return len(self._readers)

    async def run(self) -> None:
        """Work until cancelled; then every stream ends."""
        try:
            while True:
                with self._feed.subscribe() as own:
                    self.catch_up(self._journal.sequence())
                    await self._listen(own)
                if not own.lagged:
                    return
        finally:
            self.close()

    def close(self) -> None:
        """End every stream; the server leaves."""
        for reader in self._readers:
            reader.close()

    async def _listen(self, own: Subscription) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._poll, own)
            while found := await own.several():
                for entry in merged(found):
                    self._take(entry)
            group.cancel_scope.cancel()

    def _take(self, entry: Entry) -> None:
        if isinstance(entry, Committed):
            if entry.sequence <= self.sequence:
                return
            try:
                self.catch_up(entry.sequence - 1)
            except StorageFailed:
                return  # it stands in the journal; a later look finds it and what is before it
            self.sequence = entry.sequence
        self._give(framed(entry))

    async def _poll(self, own: Subscription) -> None:
        """Find what others wrote. An event of ours is given a whole poll to come through the feed first."""
        while True:
            await anyio.sleep(FOREIGN_POLL)
            if own.waiting == 0 and self._foreign > self.sequence:
                with suppress(StorageFailed):
                    self.catch_up(self._foreign)
            with suppress(StorageFailed):  # the disk may come back; nothing was passed over
                self._foreign = self._journal.sequence()

    def newest(self) -> int:
        """The newest sequence that a reader can have seen, in a snapshot or a receipt, published or not."""
        return max(self.sequence, self._journal.sequence())

    def catch_up(self, upto: int) -> None:
        """Publish what the journal holds above what was published."""
        while self.sequence < upto:
            page = [s for s in self._journal.events(self.sequence) if s.sequence <= upto]
            if not page:
                return
            for stored in page:
                self.sequence = stored.sequence
                self._give(framed_stored(stored))

    def _give(self, entry: Framed) -> None:
        for reader in self._readers:
            reader.put(entry)

    @contextmanager
    def listen(self, threads: frozenset[str] | None, live: frozenset[str]) -> Generator[Reader]:
        """A reader of what is published from now on."""
        reader = Reader(threads, live)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def replay(self, after: int, upto: int, reader: Reader) -> Generator[Page]:
        """What the journal holds above `after`, page by page."""
        while after < upto:
            page = [s for s in self._journal.events(after) if s.sequence <= upto]
            if not page:
                return
            after = page[-1].sequence
            wanted = (framed_stored(s).data for s in page if reader.wants(s.thread_id, delta=False))
            yield Page(after, b"".join(wanted))


class Cursor(msgspec.Struct, frozen=True):
    """Where a reader wants to go on: after a sequence, or why it cannot."""

    after: int
    reset: ResetReason | None = None


def read_cursor(given: str | None, named: str | None, *, journal: str, newest: int) -> Cursor:
    """Judge a cursor and the journal it names (F243). Without one, the stream begins at the newest."""
    if given is None or given == "":
        return Cursor(newest)
    if named is not None and named != journal:
        return Cursor(newest, "journal_changed")
    if not (given.isascii() and given.isdecimal()) or len(given) > 18:
        return Cursor(newest, "cursor_malformed")
    after = int(given)
    if after > newest:
        return Cursor(newest, "cursor_ahead")
    if newest - after > REPLAY_MAX:
        return Cursor(newest, "too_far_behind")
    return Cursor(after)


class Opening(msgspec.Struct, frozen=True):
    """What a client asked a stream for."""

    threads: frozenset[str] | None
    live: frozenset[str]
    cursor: str | None
    journal: str | None


Snapshotting = Callable[[], Iterable[Any]]
"""Makes the snapshots that follow a reset."""


async def frames(
    hub: Hub, opening: Opening, boot: str, identity: str, snapshots: Snapshotting
) -> AsyncGenerator[bytes]:
    """One stream: who speaks, then what was missed, then what happens."""
    with hub.listen(opening.threads, opening.live) as reader:
        newest = hub.newest()
        cursor = read_cursor(opening.cursor, opening.journal, journal=identity, newest=newest)
        yield frame("hello", {"boot": boot, "journal": identity, "sequence": newest})
        seen = cursor.after
        if cursor.reset is not None:
            yield reset(cursor.reset, seen, boot, snapshots)
        for page in hub.replay(seen, hub.sequence, reader):
            seen = page.upto
            yield page.data
        while not reader.closed:
            found = await reader.take(HEARTBEAT_SECONDS)
            if reader.behind:
                reader.behind = False
                if hub.sequence - seen > REPLAY_MAX:
                    seen = hub.sequence
                    yield reset("reader_too_slow", seen, boot, snapshots)
                for page in hub.replay(seen, hub.sequence, reader):
                    seen = page.upto
                    yield page.data
                continue
            fresh = [f for f in found if f.sequence is None or f.sequence > seen]
            if fresh:
                seen = max((f.sequence for f in fresh if f.sequence is not None), default=seen)
                yield b"".join(f.data for f in fresh)
            elif not found:
                seen = max(seen, hub.sequence)
                yield frame("heartbeat", {"sequence": seen})


def reset(reason: ResetReason, sequence: int, boot: str, snapshots: Snapshotting) -> bytes:
    """Why the cursor cannot be used, and everything as it is now."""
    head = frame("reset", {"reason": reason, "sequence": sequence, "boot": boot}, sequence)
    return head + b"".join(frame("snapshot", s) for s in snapshots())
