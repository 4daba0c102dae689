"""A thread's stored projection without times and ids: two runs of the same work can be compared."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

from podium.transport.codec import is_array, is_object

TIMES = {"at", "created_at", "started_at", "ended_at", "closed_at", "duration_ms", "interrupt_requested_at"}
VOLATILE = {"fence", "quiescent"}
"""Whether an agent's processes are known to be quiet is forgotten with the runtime that saw them start."""

NATIVE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:ses|msg|prt|per)_[0-9A-Za-z]{26}|(?:rs|msg|call|fc|ctc)_[0-9a-z]+|sess-[0-9a-f]+|call-[0-9]+-[0-9a-f]+|\b[0-9a-f]{32}\b"
)
OURS = re.compile(r"\b(?:thr|run|att|nod|trn|msg|itm|req|ses|pth|pln|deg|not|chk)_[0-9a-f]{24}\b")
CAPTURED = re.compile(r"(?<=>)\.[0-9a-f]{8}\b|(?<=refs/podium/)[0-9a-f]{12}/[0-9a-f]{16}|^[0-9a-f]{16}$")
"""The names of a capture's try, of the data folder and of the checkout; the trees themselves are compared."""


class Names:
    """Gives each id a name by the order it is met in."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def text(self, text: str) -> str:
        for pattern in (OURS, NATIVE):
            text = pattern.sub(lambda m: self.known.setdefault(m.group(), f"<{len(self.known)}>"), text)
        return CAPTURED.sub("<C>", text)

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if is_array(value):
            return [self.value(v) for v in value]
        if is_object(value):
            return {self.text(k): self.value(v) for k, v in value.items() if k not in TIMES | VOLATILE}
        return value


def plain(text: str, paths: dict[str, str]) -> str:
    """The text without the names of this run's folders."""
    for path, word in paths.items():
        text = text.replace(path, word)
    return text


def projection(data: Path, *, paths: dict[str, str] | None = None) -> list[Any]:
    """Every entity in the order it was first seen, and every body's text."""
    with sqlite3.connect(f"file:{data / 'podium.db'}?mode=ro", uri=True) as db:
        first = dict(db.execute("select entity_id, min(sequence) from events group by entity_id"))
        rows = db.execute("select id, payload from entities").fetchall()
        parts = db.execute(
            "select owner, body, epoch, group_concat(text, '') from"
            " (select * from parts order by owner, body, epoch, from_part) group by owner, body, epoch"
        ).fetchall()
    db.close()
    names = Names()
    out: list[Any] = []
    for entity_id, payload in sorted(rows, key=lambda r: first[r[0]]):
        out.append(names.value(json.loads(plain(payload.decode(), paths or {}))))
        mine = sorted((b, e, t) for o, b, e, t in parts if o == entity_id)
        out.extend([b, e, names.text(plain(t, paths or {}))] for b, e, t in mine)
    return out
