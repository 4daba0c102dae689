"""The live feed: committed events in order, text deltas at once; every channel is bounded (R12)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress

import anyio
import msgspec

from podium.domain.events import Delta, Event

CHANNEL_MAX = 20_000
"""Most undelivered entries of one subscriber; one that falls behind is cut off and told so."""

SEVERAL_MAX = 500
"""Most entries that are taken at once."""


class Committed(msgspec.Struct, frozen=True):
    """An event with its dense global sequence."""

    sequence: int
    event: Event


Entry = Committed | Delta


class Subscription:
    """One reader. When it ends with `lagged` set it was too slow, and reads on from the journal."""

    def __init__(self, thread_id: str | None) -> None:
        self.thread_id = thread_id
        self.lagged = False
        self.send, self._receive = anyio.create_memory_object_stream[Entry](CHANNEL_MAX)

    def wants(self, entry: Entry) -> bool:
        """Whether this reader listens to the entry's thread."""
        owner = entry.event.thread_id if isinstance(entry, Committed) else entry.thread_id
        return self.thread_id is None or self.thread_id == owner

    @property
    def waiting(self) -> int:
        """How many entries were published and not yet taken."""
        return self._receive.statistics().current_buffer_used

    async def next(self) -> Entry | None:
        """The next entry, or None once there will be no more."""
        try:
            return await self._receive.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return None

    async def several(self) -> list[Entry]:
        """What waits, at least one entry and at most SEVERAL_MAX; nothing once there will be no more."""
        first = await self.next()
        found = [] if first is None else [first]
        with suppress(anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
            while found and len(found) < SEVERAL_MAX:
                found.append(self._receive.receive_nowait())
        return found

    def close(self) -> None:
        """Stop listening."""
        self.send.close()
        self._receive.close()


class Feed:
    """Publishes to whoever listens; a failing or slow listener never holds up the others (F272)."""

    def __init__(self) -> None:
        self._listeners: dict[int, Subscription] = {}
        self._next = 0
        self.sequence = 0
        self._closed = False

    @contextmanager
    def subscribe(self, thread_id: str | None = None) -> Generator[Subscription]:
        """Listen to one thread, or to all, from now on."""
        self._next += 1
        key, listener = self._next, Subscription(thread_id)
        self._listeners[key] = listener
        if self._closed:
            listener.send.close()
        try:
            yield listener
        finally:
            self._listeners.pop(key, None)
            listener.close()

    def publish(self, entry: Entry) -> None:
        """Give an entry to every listener of its thread."""
        if isinstance(entry, Committed):
            self.sequence = entry.sequence
        for key, listener in list(self._listeners.items()):
            if not listener.wants(entry):
                continue
            try:
                listener.send.send_nowait(entry)
            except anyio.WouldBlock:
                listener.lagged = True
                self._listeners.pop(key, None)
                listener.send.close()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._listeners.pop(key, None)

    def close(self) -> None:
        """End every subscription; later ones are over at once."""
        self._closed = True
        for listener in self._listeners.values():
            listener.send.close()
        self._listeners.clear()
