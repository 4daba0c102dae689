"""Bodies of items: append-only parts, folded before they are written; a differing text is a new epoch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from podium.contract.events import Body
from podium.domain.entities import BodyRef
from podium.domain.events import Delta
from podium.journal.rows import PartRow

PART_MAX = 64 * 1024
"""Longest text of one stored row, in characters; longer text becomes several parts.

Seen under a flood of 10,000 chunks and a 10 MB output: rows of 64 Ki keep the overhead of a row below 1 %.
"""

BODIES_KEPT = 512
"""Most owners whose counters stay in memory after their item closed."""


class OpenBody:
    """The counters of one body: enough to number the next part and to judge a final text."""

    def __init__(self, epoch: int = 1) -> None:
        self.epoch = epoch
        self.parts = 0
        self.chars = 0
        self.hash = hashlib.sha256()
        self.closed = False
        self.pending: list[str] = []
        self.pending_from = 1
        self.flying: list[PartRow] = []

    def append(self, text: str) -> tuple[int, int]:
        """Number this text; returns its first and last part."""
        first = self.parts + 1
        for start in range(0, len(text), PART_MAX):
            piece = text[start : start + PART_MAX]
            if not self.pending:
                self.pending_from = self.parts + 1
            self.parts += 1
            self.pending.append(piece)
        self.chars += len(text)
        self.hash.update(text.encode())
        return first, self.parts

    def ref(self) -> BodyRef:
        """How the body stands now."""
        digest = self.hash.hexdigest() if self.closed else None
        return BodyRef(self.epoch, self.parts, self.chars, digest, self.closed)


class Bodies:
    """All bodies of one thread that may still grow. `load` reads a stored one back when it is named late."""

    def __init__(self, thread_id: str, load: Callable[[str], dict[Body, OpenBody]]) -> None:
        self.thread_id = thread_id
        self._load = load
        self._flying: list[OpenBody] = []
        self._owners: dict[str, dict[Body, OpenBody]] = {}
        self._dirty: set[tuple[str, Body]] = set()
        self._touched: set[str] = set()
        self._rows: list[PartRow] = []

    def fresh(self, owner: str) -> None:
        """An owner that is new: nothing of it is stored."""
        self._owners[owner] = {}
        self._touched.add(owner)

    def of(self, owner: str) -> dict[Body, OpenBody]:
        """The bodies of an owner."""
        held = self._owners.pop(owner, None)
        if held is None:
            held = self._load(owner)
        self._owners[owner] = held
        self._touched.add(owner)
        return held

    def refs(self, owner: str) -> dict[Body, BodyRef]:
        """How the bodies of an owner stand."""
        return {body: held.ref() for body, held in self.of(owner).items()}

    def append(self, owner: str, body: Body, text: str) -> Delta | None:
        """Add text; None for an empty one."""
        if not text:
            return None
        bodies = self.of(owner)
        held = bodies.setdefault(body, OpenBody())
        first, last = held.append(text)
        self._dirty.add((owner, body))
        return Delta(self.thread_id, owner, body, held.epoch, first, last, text)

    def settle(self, owner: str, body: Body, text: str, *, close: bool) -> tuple[Delta | None, bool]:
        """Take the agent's whole text. Returns the text that is new, and whether a new epoch began."""
        bodies = self.of(owner)
        held = bodies.get(body)
        replaced = False
        delta = None
        if held is None or held.parts == 0:
            delta = self.append(owner, body, text)
        elif held.chars != len(text) or held.hash.digest() != hashlib.sha256(text.encode()).digest():
            self._rows.extend(self._fold(owner, body))
            bodies[body] = OpenBody(held.epoch + 1)
            delta = self.append(owner, body, text)
            replaced = True
        if close:
            bodies.setdefault(body, OpenBody()).closed = True
        return delta, replaced

    def close(self, owner: str) -> None:
        """No more text comes for this owner."""
        for held in self.of(owner).values():
            held.closed = True

    def pending_chars(self) -> int:
        """Characters that no transaction holds yet."""
        return sum(len(t) for owner, body in self._dirty for t in self._owners[owner][body].pending)

    def drain(self) -> list[PartRow]:
        """The rows not written yet, folded; forgets closed owners that nothing named since the last drain.

        What the last drain gave out is written by now, so that a forgotten owner can be read back whole.
        """
        rows = self._rows
        self._rows = []
        for written in self._flying:
            written.flying = []
        self._flying = []
        for owner, body in sorted(self._dirty):
            rows.extend(self._fold(owner, body))
        self._dirty.clear()
        if len(self._owners) > BODIES_KEPT:
            for owner in list(self._owners)[: len(self._owners) - BODIES_KEPT]:
                if owner not in self._touched and all(b.closed for b in self._owners[owner].values()):
                    del self._owners[owner]
        self._touched.clear()
        return rows

    def _fold(self, owner: str, body: Body) -> list[PartRow]:
        held = self._owners[owner][body]
        rows: list[PartRow] = []
        texts: list[str] = []
        first, size, number = held.pending_from, 0, held.pending_from - 1
        for text in held.pending:
            if texts and size + len(text) > PART_MAX:
                rows.append(self._row(owner, body, held.epoch, first, number, texts))
                texts, first, size = [], number + 1, 0
            texts.append(text)
            size += len(text)
            number += 1
        if texts:
            rows.append(self._row(owner, body, held.epoch, first, number, texts))
        held.pending = []
        held.flying = rows  # being written: a reader takes what the journal does not show yet from here
        self._flying.append(held)
        return rows

    def _row(self, owner: str, body: Body, epoch: int, first: int, last: int, texts: list[str]) -> PartRow:
        return PartRow(self.thread_id, owner, body, epoch, first, last, "".join(texts))


def restored(epoch: int, rows: list[PartRow], ref: BodyRef | None) -> OpenBody:
    """A body as its stored parts say."""
    held = OpenBody(epoch)
    for row in rows:
        held.chars += len(row.text)
        held.hash.update(row.text.encode())
        held.parts = row.to_part
    held.closed = ref is not None and ref.closed
    return held
