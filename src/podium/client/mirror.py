"""What a connected client knows of a server's threads: fed by snapshots and events, in any order.

An entity with a lower revision than the one that is known is passed over, so that a snapshot and the events
around it may come in any order (F242).
"""

from __future__ import annotations

from podium.domain.entities import Entity, ProviderThread, Request, Run, Thread
from podium.domain.state import ThreadState, apply_entity
from podium.runtime.feed import Committed
from podium.runtime.snapshot import Snapshot, ThreadList

REVISIONS_MAX = 100_000
"""Most entities whose revision is remembered; the oldest are forgotten first."""


class MirroredThread:
    """One thread: its open entities, and the runs that were seen."""

    def __init__(self) -> None:
        self.state = ThreadState()
        self.runs: dict[str, Run] = {}
        self.conversations: dict[str, ProviderThread] = {}

    def take(self, entity: Entity) -> None:
        """An entity as it now is."""
        self.state = apply_entity(self.state, entity)
        if isinstance(entity, Run):
            self.runs[entity.id] = entity
        elif isinstance(entity, ProviderThread):
            self.conversations[entity.id] = entity


class Mirror:
    """All threads of a server, as far as they were read."""

    def __init__(self) -> None:
        self.sequence = 0
        self.threads: dict[str, Thread] = {}
        self.requests: dict[str, Request] = {}
        self.held: dict[str, MirroredThread] = {}
        self._revisions: dict[str, int] = {}

    def take_list(self, found: ThreadList, requests: tuple[Request, ...]) -> None:
        """The lists that a connection begins with."""
        for row in found.threads:
            self._take(row.thread)
        for request in requests:
            self._take(request)

    def take_snapshot(self, found: Snapshot) -> None:
        """A thread whole. Entities that ended before it are what they were."""
        self.held.setdefault(found.thread.id, MirroredThread())
        session = (found.session,) if found.session is not None else ()
        items = tuple(view.item for view in found.items)
        for entity in (
            found.thread,
            *found.runs,
            *found.provider_threads,
            *session,
            *found.nodes,
            *found.messages,
            *found.plans,
            *found.checkpoints,
            *items,
            *found.requests,
        ):
            self._take(entity, again=True)

    def take_event(self, committed: Committed) -> None:
        """Something that is now true. A thread that begins is mirrored from its beginning."""
        entity = committed.event.entity
        self.sequence = max(self.sequence, committed.sequence)
        if isinstance(entity, Thread) and entity.revision == 1:
            self.held.setdefault(entity.id, MirroredThread())
        self._take(entity)

    def _take(self, entity: Entity, *, again: bool = False) -> None:
        known = self._revisions.get(entity.id, 0)
        if entity.revision < known or (entity.revision == known and not again):
            return
        self._revisions.pop(entity.id, None)
        self._revisions[entity.id] = entity.revision
        while len(self._revisions) > REVISIONS_MAX:
            del self._revisions[next(iter(self._revisions))]
        if isinstance(entity, Thread):
            self.threads[entity.id] = entity
            thread_id = entity.id
        else:
            thread_id = entity.thread_id
        if isinstance(entity, Request):
            self.requests[entity.id] = entity
        held = self.held.get(thread_id)
        if held is not None:
            held.take(entity)

    def pending(self) -> list[Request]:
        """Everything that waits for a person, oldest first."""
        found = [r for r in self.requests.values() if r.state == "pending"]
        return sorted(found, key=lambda r: (r.created_at, r.id))
