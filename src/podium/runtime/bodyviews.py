"""The text of bodies as readers get it: whole while short, head and tail when long, any part by range."""

from __future__ import annotations

import msgspec

from podium.contract.errors import BadInput, NotFound
from podium.contract.events import Body
from podium.domain.entities import BodyRef, Item
from podium.journal.store import Journal
from podium.runtime.live import LiveThread, text_of

BODY_INLINE_MAX = 256 * 1024
"""Longest body that is shown whole, in characters; a longer one has head and tail, and ranges (R6)."""

BODY_END = 64 * 1024
"""Characters of the head and of the tail of a long body."""

RANGE_MAX = 256 * 1024
"""Most characters of one range."""


class BodyView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A body as far as it is known. `text` is all of it, or its head if `tail` is set.

    Deltas apply on top if `from_part` is `parts` + 1 of the same epoch. `sha256` is of all of a closed body.
    """

    epoch: int
    parts: int
    chars: int
    text: str
    closed: bool
    tail: str | None = None
    sha256: str | None = None


class ItemView(msgspec.Struct, frozen=True):
    """An item with the text of its bodies."""

    item: Item
    text: dict[Body, BodyView]


class BodyRange(msgspec.Struct, frozen=True):
    """Characters `start` to `end` of a body that has `parts` parts and `chars` characters by now."""

    item: str
    field: Body
    epoch: int
    start: int
    end: int
    parts: int
    chars: int
    closed: bool
    text: str
    sha256: str | None = None


def bounded(ref: BodyRef, text: str) -> BodyView:
    """A body with its text, cut to head and tail if it is long."""
    head, tail = text, None
    if len(text) > BODY_INLINE_MAX:
        head, tail = text[:BODY_END], text[-BODY_END:]
    return BodyView(ref.epoch, ref.parts, len(text), head, ref.closed, tail, ref.sha256)


class BodyReader:
    """Reads bodies of one thread: from memory where text may still come, else as they are stored.

    What is shown of an open item is never behind the deltas that were published of it.
    """

    def __init__(self, journal: Journal, live: LiveThread | None) -> None:
        self._journal = journal
        self._live = live

    def _refs(self, item: Item) -> tuple[dict[Body, BodyRef], LiveThread | None]:
        live = self._live
        if live is None or (item.state != "open" and item.id not in live.state.items):
            return item.bodies, None
        return live.bodies.refs(item.id) or item.bodies, live

    def view(self, item: Item) -> ItemView:
        """An item with its texts."""
        refs, live = self._refs(item)
        return ItemView(
            item, {body: bounded(ref, self._text(item, body, ref, live)) for body, ref in refs.items()}
        )

    def _text(self, item: Item, body: Body, ref: BodyRef, live: LiveThread | None) -> str:
        if live is not None:
            return text_of(self._journal, live, item.id, body)
        return "".join(part.text for part in self._journal.parts(item.id, body, ref.epoch))

    def whole(self, item: Item, body: Body) -> str:
        """All of a body, empty if there is none."""
        refs, live = self._refs(item)
        ref = refs.get(body)
        return self._text(item, body, ref, live) if ref is not None else ""

    def range(self, item: Item, body: Body, start: int, end: int | None) -> BodyRange:
        """A part of a body, at most RANGE_MAX characters. Raises NotFound `body_unknown`, BadInput."""
        refs, live = self._refs(item)
        ref = refs.get(body)
        if ref is None:
            raise NotFound("body_unknown", f"The item {item.id} has no {body}.", fix="Read the item first.")
        text = self._text(item, body, ref, live)
        last = min(len(text), start + RANGE_MAX, len(text) if end is None else end)
        if start < 0 or start > len(text) or last < start:
            raise BadInput(
                "bad_range", f"The body has {len(text)} characters; {start} to {end} is no part of it."
            )
        return BodyRange(
            item=item.id,
            field=body,
            epoch=ref.epoch,
            start=start,
            end=last,
            parts=ref.parts,
            chars=len(text),
            closed=ref.closed,
            text=text[start:last],
            sha256=ref.sha256,
        )
