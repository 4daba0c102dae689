"""What a play left in the journal, short enough to be read and checked in."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from podium.domain.entities import (
    Entity,
    Item,
    Node,
    NoticeEntry,
    Plan,
    ProviderThread,
    Request,
    Run,
    Turn,
)
from podium.journal.store import Journal
from podium.runtime.live import decode_entity

DIGEST = 12
"""Hexadecimal digits kept of a hash."""


def digest(data: bytes) -> str:
    """A short name of these bytes."""
    return hashlib.sha256(data).hexdigest()[:DIGEST]


PREFIX: dict[type[Entity], str] = {Item: "i", Request: "q", Run: "r", Turn: "t", Plan: "p"}


class Names:
    """Our ids by the order in which they were met: i1, r1, ..."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def of(self, prefix: str, key: str | None) -> str | None:
        """The short name of an id."""
        if key is None:
            return None
        count = sum(name.startswith(prefix) for name in self.known.values())
        return self.known.setdefault(key, f"{prefix}{count + 1}")


def projection(folder: Path, thread_id: str) -> dict[str, Any]:
    """Items in order, runs, turns, requests, plans, children, notices, and the order of their changes."""
    journal = Journal(folder, write=False)
    try:
        return _projection(journal, thread_id)
    finally:
        journal.close()


def _projection(journal: Journal, thread_id: str) -> dict[str, Any]:
    names = Names()
    opened: dict[str, str] = {}
    order = _order(journal, thread_id, names, opened)

    def all_of(kind: str) -> list[Entity]:
        return [decode_entity(data) for data in journal.entities(kind, thread_id=thread_id)]

    notices: dict[str, int] = {}
    for notice in all_of("notice"):
        assert isinstance(notice, NoticeEntry)
        notices[notice.code] = notices.get(notice.code, 0) + 1
    return {
        "runs": [_run(e) for e in all_of("run") if isinstance(e, Run)],
        "turns": [_turn(e, journal, names) for e in all_of("turn") if isinstance(e, Turn)],
        "items": [_item(e, journal, names, opened) for e in all_of("item") if isinstance(e, Item)],
        "requests": [_request(e, names) for e in all_of("request") if isinstance(e, Request)],
        "plans": [_plan(e) for e in all_of("plan") if isinstance(e, Plan)],
        "children": [
            [e.state, e.title, e.provider_thread_id is not None]
            for e in all_of("node")
            if isinstance(e, Node) and e.node_kind == "subagent"
        ],
        "conversations": [_conversation(e) for e in all_of("provider_thread")],
        "notices": notices,
        "order": order,
    }


def _order(journal: Journal, thread_id: str, names: Names, opened: dict[str, str]) -> str:
    """Each change of state in its order: `i2 open i2 completed`. What only fills in a field is left out.

    `opened` gets what was known of each item when it was opened.
    """
    last: dict[str, str] = {}
    words: list[str] = []
    for event in journal.all_events(thread_id=thread_id):
        assert event.payload is not None
        entity = decode_entity(event.payload)
        if not isinstance(entity, Item | Request | Run | Turn | Plan):
            continue
        if isinstance(entity, Item) and entity.revision == 1:
            opened[entity.id] = known(entity)
        state = entity.state if not isinstance(entity, Plan) else str(entity.revision)
        name = names.of(PREFIX[type(entity)], entity.id)
        if last.get(entity.id) != state:
            words.append(f"{name} {state}")
        last[entity.id] = state
    return " ".join(words)


def _run(run: Run) -> list[Any]:
    why = run.failure.code if run.failure else None
    return [run.ordinal, run.origin, run.state, run.outcome, run.evidence, why, _usage(run)]


def _usage(held: Run | Turn) -> list[int | None] | None:
    return list(msgspec.structs.astuple(held.usage)) if held.usage else None


def _turn(turn: Turn, journal: Journal, names: Names) -> list[Any]:
    name = names.of("t", turn.id)
    return [name, turn.root, turn.state, turn.outcome, turn.evidence, turn.word, _bodies(turn, journal)]


def known(item: Item) -> str:
    """A short name of what is known of an item besides its bodies, empty for nothing."""
    content = msgspec.json.encode(item.content, order="deterministic")
    return digest(content) if content != b"{}" else ""


def _item(item: Item, journal: Journal, names: Names, opened: dict[str, str]) -> list[Any]:
    return [
        names.of("i", item.id),
        item.item_kind,
        item.state,
        item.closed_by,
        names.of("t", item.turn_id),
        opened[item.id],
        known(item),
        _bodies(item, journal),
    ]


def _bodies(owner: Item | Turn, journal: Journal) -> dict[str, list[Any]]:
    """Of each body its epoch, its length in characters, the hash of what is stored, whether it is closed."""
    found: dict[str, list[Any]] = {}
    for body, ref in sorted(owner.bodies.items()):
        text = "".join(part.text for part in journal.parts(owner.id, body, ref.epoch))
        assert len(text) == ref.chars
        found[body] = [ref.epoch, len(text), digest(text.encode()), ref.closed]
    return found


def _request(request: Request, names: Names) -> list[Any]:
    decision = request.answer.decision if request.answer else None
    card = digest(msgspec.json.encode([request.content, request.options], order="deterministic"))
    item = names.of("i", request.item_id)
    return [request.request_kind, request.state, request.reason, request.delivery, decision, item, card]


def _plan(plan: Plan) -> list[Any]:
    return [plan.plan_kind, [[step.state, step.text] for step in plan.steps], len(plan.text or "")]


def _conversation(held: Entity) -> list[Any]:
    assert isinstance(held, ProviderThread)
    return [held.state, held.parent_node_id is not None, [link.origin for link in held.chain.links]]
