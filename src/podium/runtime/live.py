"""A thread in memory: its open entities and the counters of its bodies, read from the journal when needed."""

from __future__ import annotations

import msgspec

from podium.contract.events import Body
from podium.domain.entities import BodyRef, Checkpoint, Entity, Item, Message, Plan, Run, Turn
from podium.domain.state import ThreadState, apply_entity
from podium.journal.store import Journal
from podium.runtime.bodies import Bodies, OpenBody, restored

_decoder = msgspec.json.Decoder(Entity)
_body_decoder = msgspec.json.Decoder(Body)


def decode_entity(data: bytes) -> Entity:
    """An entity as stored."""
    return _decoder.decode(data)


class LiveThread:
    """State and bodies of one thread."""

    def __init__(self, journal: Journal, thread_id: str, state: ThreadState) -> None:
        self.thread_id = thread_id
        self.state = state
        self.journal = journal
        self.bodies = Bodies(thread_id, self._load_bodies)
        self.replaced: set[str] = set()
        self.unfolded = 0

    @classmethod
    def empty(cls, journal: Journal) -> LiveThread:
        """A thread that is about to be created."""
        return cls(journal, "", ThreadState())

    def rename(self, thread_id: str) -> None:
        """Give a new thread its id."""
        self.thread_id = thread_id
        self.bodies.thread_id = thread_id

    def knows(self, entity_id: str) -> bool:
        """Whether memory holds this entity, open or closed."""
        state = self.state
        held = (state.items, state.turns, state.nodes, state.requests, state.known)
        return any(entity_id in h for h in held)

    def recall(self, entity_id: str, unwritten: Entity | None = None) -> None:
        """Bring something closed back into view: as it is, not yet written, or as it is stored."""
        data = self.journal.entity(entity_id) if unwritten is None else None
        entity = decode_entity(data) if data is not None else unwritten
        if entity is not None and getattr(entity, "thread_id", None) == self.thread_id:
            self.state = apply_entity(self.state, entity)

    def _load_bodies(self, owner: str) -> dict[Body, OpenBody]:
        data = self.journal.entity(owner)
        refs: dict[Body, BodyRef] = {}
        if data is not None:
            entity = decode_entity(data)
            refs = entity.bodies if isinstance(entity, Item | Turn) else {}
        found: dict[Body, OpenBody] = {}
        for name, epoch in self.journal.epochs(owner):
            body = msgspec.convert(name, Body)
            found[body] = restored(epoch, self.journal.parts(owner, name, epoch), refs.get(body))
        for body, ref in refs.items():
            if body not in found or found[body].epoch < ref.epoch:  # a body without any text has no parts
                found[body] = restored(ref.epoch, [], ref)
        return found


def load_thread(journal: Journal, thread_id: str) -> LiveThread:
    """A thread's memory as its journal says: live and rebuilt are the same (F273)."""
    state = ThreadState()
    for data in journal.open_entities(thread_id):
        state = apply_entity(state, decode_entity(data))
    for run_id in state.runs:
        for kind in ("message", "plan", "checkpoint"):
            for data in journal.entities(kind, thread_id=thread_id, run_id=run_id):
                entity = decode_entity(data)
                assert isinstance(entity, Message | Plan | Checkpoint)
                state = apply_entity(state, entity)
    state = msgspec.structs.replace(
        state,
        items_seen=journal.highest(thread_id, "item"),
        runs_seen=journal.highest(thread_id, "run"),
        last_run=_last_run(journal, thread_id, len(state.runs)),
    )
    return LiveThread(journal, thread_id, state)


def _last_run(journal: Journal, thread_id: str, unended: int) -> Run | None:
    """The newest run that has ended; as many newer ones as are open may stand before it."""
    for data in journal.entities("run", thread_id=thread_id, limit=unended + 1, newest_first=True):
        run = decode_entity(data)
        if isinstance(run, Run) and run.state == "ended":
            return run
    return None


def text_of(journal: Journal, live: LiveThread, item_id: str, body: Body = "text") -> str:
    """The whole text of a body, with what is just being written and what is not written yet."""
    held = live.bodies.of(item_id).get(body)
    if held is None:
        return ""
    rows = journal.parts(item_id, body, held.epoch)
    last = rows[-1].to_part if rows else 0
    rows += [row for row in held.flying if row.from_part > last]
    return "".join((*(row.text for row in rows), *held.pending))
