"""What the engine holds in memory of one thread, and evolve.

Only open entities are held (R5): runs, items, requests and the like leave when they end. `known` holds closed
ones that a late frame may name or did name, so that decide can tell a correction from a resurrection.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from podium.domain.entities import (
    Attempt,
    Checkpoint,
    Degradation,
    Entity,
    Item,
    Message,
    Node,
    NoticeEntry,
    Plan,
    ProviderThread,
    Request,
    Run,
    Session,
    Thread,
    Turn,
)
from podium.domain.events import Event

KNOWN_MAX = 256
"""Most closed items, turns, nodes and requests remembered for late frames; older ones are read when named."""

E = TypeVar("E")


class ThreadState(msgspec.Struct, frozen=True):
    """One thread's open entities. A plain value: evolve returns a new one."""

    thread: Thread | None = None
    runs: dict[str, Run] = msgspec.field(default_factory=dict[str, Run])
    attempts: dict[str, Attempt] = msgspec.field(default_factory=dict[str, Attempt])
    nodes: dict[str, Node] = msgspec.field(default_factory=dict[str, Node])
    turns: dict[str, Turn] = msgspec.field(default_factory=dict[str, Turn])
    messages: dict[str, Message] = msgspec.field(default_factory=dict[str, Message])
    items: dict[str, Item] = msgspec.field(default_factory=dict[str, Item])
    requests: dict[str, Request] = msgspec.field(default_factory=dict[str, Request])
    plans: dict[str, Plan] = msgspec.field(default_factory=dict[str, Plan])
    checkpoints: dict[str, Checkpoint] = msgspec.field(default_factory=dict[str, Checkpoint])
    provider_threads: dict[str, ProviderThread] = msgspec.field(default_factory=dict[str, ProviderThread])
    session: Session | None = None
    known: dict[str, Entity] = msgspec.field(default_factory=dict[str, Entity])
    last_run: Run | None = None
    items_seen: int = 0
    runs_seen: int = 0

    @property
    def active(self) -> Run | None:
        """The run that holds the thread: neither queued nor ended. There is never more than one."""
        return next((r for r in self.runs.values() if r.state not in ("queued", "ended")), None)

    @property
    def working(self) -> Run | None:
        """The active run, unless its end is decided and only its files are still being captured."""
        active = self.active
        return active if active is not None and active.ending is None else None

    def open_run(self, run_id: str | None) -> Run | None:
        """A run that something may still happen in: neither ended nor about to be."""
        run = self.runs.get(run_id or "")
        return run if run is not None and run.ending is None else None

    @property
    def queue(self) -> list[Run]:
        """Queued runs in order."""
        return sorted((r for r in self.runs.values() if r.state == "queued"), key=lambda r: r.ordinal)

    @property
    def main(self) -> ProviderThread | None:
        """The provider thread that backs this thread itself: the newest epoch without a parent node."""
        roots = [p for p in self.provider_threads.values() if p.parent_node_id is None]
        return max(roots, key=lambda p: p.epoch, default=None)

    def by_native(self, native: str) -> ProviderThread | None:
        """The provider thread whose current handle names this native conversation: the thread's own before a
        child's, the newest epoch before an older one.
        """
        found = [
            p
            for p in self.provider_threads.values()
            if (handle := p.chain.current) is not None and handle.native_id == native
        ]
        return max(found, key=lambda p: (p.parent_node_id is None, p.epoch, p.id), default=None)

    def conversational_state(self) -> str:
        """The five-value projection: idle, working, needs_input, question, ended (F224)."""
        if self.thread is not None and self.thread.archived:
            return "ended"
        active = self.active
        if active is None:
            return "working" if self.queue else "idle"
        if active.state != "waiting":
            return "working"
        return "question" if self.requests else "needs_input"


def _put(held: dict[str, E], key: str, value: E, keep: bool) -> dict[str, E]:
    if keep:
        return {**held, key: value}
    if key not in held:
        return held
    left = held.copy()
    del left[key]
    return left


def _remember(known: dict[str, Entity], key: str, value: Entity) -> dict[str, Entity]:
    grown = known.copy()  # many times faster than to build it from its rows
    grown.pop(key, None)
    grown[key] = value
    while len(grown) > KNOWN_MAX:
        del grown[next(iter(grown))]
    return grown


def _run(state: ThreadState, run: Run) -> ThreadState:
    ended = run.state == "ended"
    keep = not ended
    changed = msgspec.structs.replace(
        state, runs=_put(state.runs, run.id, run, keep), runs_seen=max(state.runs_seen, run.ordinal)
    )
    if not ended:
        return changed
    newest = state.last_run is None or state.last_run.ordinal <= run.ordinal
    return msgspec.structs.replace(
        changed,
        last_run=run if newest else state.last_run,
        attempts={k: v for k, v in state.attempts.items() if v.run_id != run.id},
        messages={k: v for k, v in state.messages.items() if v.run_id != run.id},
        plans={k: v for k, v in state.plans.items() if v.run_id != run.id},
        checkpoints={
            k: v for k, v in state.checkpoints.items() if v.run_id != run.id or v.state == "pending"
        },
    )


def _item(state: ThreadState, item: Item) -> ThreadState:
    seen = max(state.items_seen, item.position)
    if item.state == "open":
        return msgspec.structs.replace(
            state,
            items={**state.items, item.id: item},
            known=_put(state.known, item.id, item, False),
            items_seen=seen,
        )
    return msgspec.structs.replace(
        state,
        items=_put(state.items, item.id, item, False),
        known=_remember(state.known, item.id, item),
        items_seen=seen,
    )


def apply_entity(state: ThreadState, entity: Entity) -> ThreadState:
    """The state with this entity as it now is."""
    replace = msgspec.structs.replace
    match entity:
        case Thread():
            return replace(state, thread=entity)
        case Run():
            return _run(state, entity)
        case Attempt():
            keep = entity.state not in ("ended", "superseded")
            return replace(state, attempts=_put(state.attempts, entity.id, entity, keep))
        case Node():
            running = entity.state == "running"
            known = state.known if running else _remember(state.known, entity.id, entity)
            return replace(state, nodes=_put(state.nodes, entity.id, entity, running), known=known)
        case Turn():
            running = entity.state == "running"
            known = state.known if running else _remember(state.known, entity.id, entity)
            return replace(state, turns=_put(state.turns, entity.id, entity, running), known=known)
        case Message():
            if entity.run_id not in state.runs:
                return replace(state, known=_remember(state.known, entity.id, entity))
            return replace(state, messages={**state.messages, entity.id: entity})
        case Item():
            return _item(state, entity)
        case Request():
            keep = is_open(entity)
            known = state.known if keep else _remember(state.known, entity.id, entity)
            return replace(state, requests=_put(state.requests, entity.id, entity, keep), known=known)
        case Session():
            return replace(state, session=None if entity.state == "ended" else entity)
        case ProviderThread():
            return replace(state, provider_threads={**state.provider_threads, entity.id: entity})
        case Plan():
            return replace(state, plans={**state.plans, entity.id: entity})
        case Checkpoint():
            keep = entity.state == "pending" or entity.run_id in state.runs
            known = _remember(state.known, entity.id, entity) if entity.moment == "safety" else state.known
            return replace(state, checkpoints=_put(state.checkpoints, entity.id, entity, keep), known=known)
        case Degradation() | NoticeEntry():
            return state


def is_open(entity: Entity) -> bool:
    """Whether a thread's memory needs this entity after a restart by itself (R5).

    Messages, plans and finished checkpoints are found through their open run.
    """
    match entity:
        case Thread() | ProviderThread():
            return True
        case Run():
            return entity.state != "ended"
        case Attempt():
            return entity.state not in ("ended", "superseded")
        case Node() | Turn():
            return entity.state == "running"
        case Item():
            return entity.state == "open"
        case Request():
            return entity.state == "pending" or (entity.state == "answered" and entity.delivery == "pending")
        case Session():
            return entity.state != "ended"
        case Checkpoint():
            return entity.state == "pending"
        case Message() | Plan() | Degradation() | NoticeEntry():
            return False


def position_of(entity: Entity) -> int:
    """Where an entity stands among those of its kind in its thread; 0 where that has no meaning (F275)."""
    if isinstance(entity, Item):
        return entity.position
    if isinstance(entity, Checkpoint):  # in the order of time, over all threads of a checkout
        return int(entity.at * 1_000_000)
    return entity.ordinal if isinstance(entity, Run | Attempt) else 0


def evolve(state: ThreadState, event: Event) -> ThreadState:
    """The state after an event: nothing but the entity it carries."""
    return apply_entity(state, event.entity)
