"""What a message leads to: events and text of its run until that ends or waits for a person."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

import msgspec

from podium.contract.events import Body
from podium.domain.entities import Run
from podium.domain.events import Delta, Event
from podium.runtime.feed import Committed, Subscription
from podium.runtime.receipts import Receipt


class Happening(msgspec.Struct, frozen=True):
    """One thing a reader of a thread sees: a durable event with its sequence, or text on the fast lane."""

    event: Event | None = None
    sequence: int | None = None
    delta: Delta | None = None


class Have(msgspec.Struct, frozen=True):
    """How far a reader is in a body: its parts, and the characters they make."""

    thread_id: str
    item: str
    field: Body
    epoch: int
    parts: int
    chars: int


class Followed(Protocol):
    """What following needs of a thread."""

    def subscribe(self) -> AbstractContextManager[Subscription]:
        """Listen to the thread."""
        ...

    async def events_after(self, after: int) -> list[Committed]:
        """A page of stored events above a sequence."""
        ...


async def follow(thread: Followed, run_id: str, reader: Subscription) -> AsyncIterator[Happening]:
    """What happens in the thread until the run has ended or waits for a person.

    A reader that fell behind goes on from what is stored: it misses deltas then, never an event.
    """
    seen = 0
    with ExitStack() as stack:
        while True:
            entry = await reader.next()
            if isinstance(entry, Delta):
                yield Happening(delta=entry)
                continue
            if entry is not None:
                found = [entry] if entry.sequence > seen else []
            elif reader.lagged:
                reader = stack.enter_context(thread.subscribe())
                found = await _stored(thread, run_id, seen)
            else:
                return
            for committed in found:
                seen = committed.sequence
                yield Happening(committed.event, seen)
                run = committed.event.entity
                if isinstance(run, Run) and run.id == run_id and run.state in ("ended", "waiting"):
                    return


async def _stored(thread: Followed, run_id: str, after: int) -> list[Committed]:
    """The events of the thread after a sequence, or of one run if none of it was seen."""
    whole = after > 0
    found: list[Committed] = []
    while page := await thread.events_after(after):
        found += [c for c in page if whole or c.event.run_id == run_id]
        after = page[-1].sequence
    return found


class Sending:
    """What a message leads to, until its run ends or waits. Leaving the iteration does not stop the run."""

    def __init__(self, thread: Followed, post: Callable[[], Awaitable[Receipt]]) -> None:
        self._thread = thread
        self._post = post

    async def __aiter__(self) -> AsyncIterator[Happening]:
        with self._thread.subscribe() as reader:
            receipt = await self._post()
            async for happening in follow(self._thread, receipt.result["run"], reader):
                yield happening
