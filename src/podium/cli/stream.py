"""The events of one thread in sequence order, none missing and none twice, with whole texts."""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack

from podium.contract.events import Body
from podium.domain.entities import Item
from podium.domain.events import Delta
from podium.runtime.feed import Committed, Subscription
from podium.runtime.following import Have
from podium.runtime.interface import AnyPodium

Entry = Committed | Delta


class Texts:
    """What of each body was passed on; a gap is filled from what is stored (R7)."""

    def __init__(self, podium: AnyPodium) -> None:
        self._podium = podium
        self._seen: dict[tuple[str, str], tuple[int, int, int]] = {}
        self._wanted: set[str] = set()

    def want(self, item_id: str) -> None:
        """Pass on the whole text of this item, from its beginning."""
        self._wanted.add(item_id)

    async def take(self, delta: Delta) -> list[Delta]:
        """The delta if it is the next of its body, with what was missed before it; nothing if it is old."""
        if delta.item not in self._wanted:
            return [delta]
        out: list[Delta] = []
        have = self._have(delta.thread_id, delta.item, delta.field, delta.body_epoch)
        if delta.from_part > have.parts + 1:
            out = await self._missed(have)
            have = self._have(delta.thread_id, delta.item, delta.field, delta.body_epoch)
        if delta.from_part == have.parts + 1:
            out.append(self._pass(delta))
        return out

    async def close(self, item: Item) -> list[Delta]:
        """What was missed of an item that is closed: all of it is stored by now."""
        if item.id not in self._wanted or item.state == "open":
            return []
        self._wanted.discard(item.id)
        out: list[Delta] = []
        for body, ref in item.bodies.items():
            have = self._have(item.thread_id, item.id, body, ref.epoch)
            if have.parts < ref.parts:
                out.extend(await self._missed(have))
        return out

    def _have(self, thread_id: str, item: str, body: Body, epoch: int) -> Have:
        seen = self._seen.get((item, body))
        parts, chars = (seen[1], seen[2]) if seen is not None and seen[0] == epoch else (0, 0)
        return Have(thread_id, item, body, epoch, parts, chars)

    def _pass(self, delta: Delta) -> Delta:
        have = self._have(delta.thread_id, delta.item, delta.field, delta.body_epoch)
        chars = have.chars + len(delta.text)
        self._seen[delta.item, delta.field] = (delta.body_epoch, delta.to_part, chars)
        return delta

    async def _missed(self, have: Have) -> list[Delta]:
        found = await self._podium.missed(have)
        return [self._pass(found)] if found is not None else []


class Stream:
    """Made before its thread exists, so that nothing of it is missed."""

    def __init__(self, podium: AnyPodium) -> None:
        self._podium = podium
        self._stack = ExitStack()
        self._reader: Subscription = self._stack.enter_context(podium.subscribe())
        self._texts = Texts(podium)
        self._stored: deque[Entry] = deque()
        self._ready: deque[Entry] = deque()
        self._behind = False
        self.thread_id = ""
        self.sequence = podium.sequence

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of(self, thread_id: str) -> None:
        """The thread this stream is about; the others are passed over."""
        self.thread_id = thread_id

    def want(self, item_id: str) -> None:
        """Pass on the whole text of an item that was open before this stream began."""
        self._texts.want(item_id)

    async def next(self) -> Entry | None:
        """The next entry of the thread; None once the runtime is closed."""
        while not self._ready:
            if self._behind and not self._stored:
                await self._read_on()
            entry = self._stored.popleft() if self._stored else await self._reader.next()
            if entry is not None:
                self._ready.extend(await self._expand(entry))
            elif not self._reader.lagged:
                return None
            else:
                self._stack.close()
                self._reader = self._stack.enter_context(self._podium.subscribe())
                self._behind = True
        return self._ready.popleft()

    async def _read_on(self) -> None:
        """We were too slow for the feed: read the next page of what is stored."""
        page = await self._podium.events_after(self.sequence, self.thread_id)
        self._behind = bool(page)
        self._stored.extend(page)

    async def _expand(self, entry: Entry) -> list[Entry]:
        if isinstance(entry, Delta):
            return [*await self._texts.take(entry)] if entry.thread_id == self.thread_id else []
        if entry.event.thread_id != self.thread_id or entry.sequence <= self.sequence:
            return []
        self.sequence = entry.sequence
        item = entry.event.entity
        if not isinstance(item, Item):
            return [entry]
        if item.revision == 1:
            self._texts.want(item.id)
        return [*await self._texts.close(item), entry]
