"""What a reader of a thread sees at one moment: entities, text, and what can be done, with the sequence.

Everything is read after the sequence, so that events above it may repeat what is shown but nothing is missed;
a reader keeps the entity with the higher revision (F242).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from podium.contract.errors import NotFound
from podium.domain.affordances import Affordances, Seen, affordances
from podium.domain.entities import (
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
)
from podium.runtime.bodyviews import BodyRange, BodyReader, ItemView
from podium.runtime.incoming import unheld
from podium.runtime.live import decode_entity, load_thread

if TYPE_CHECKING:
    from podium.contract.events import Body, SlashCommand
    from podium.runtime.live import LiveThread
    from podium.runtime.runtime import Runtime

ITEMS_SHOWN = 60
"""Items of a snapshot, from the end; older ones come by page."""

ITEMS_MAX = 500
"""Most items of one page."""

RUNS_SHOWN = 100
REQUESTS_SHOWN = 100
NODES_SHOWN = 500
CHECKPOINTS_SHOWN = 50
MARKS_SHOWN = 200
"""Newest entities of each kind in a snapshot."""

TITLE_MAX = 120
"""Characters of the first message that stand for the title of a thread without one."""

State = Literal["idle", "working", "question", "needs_input", "ended", "left"]


class ThreadRow(msgspec.Struct, frozen=True):
    """A thread as a list shows it. `last_message_at` is when somebody last spoke to it (unix seconds)."""

    thread: Thread
    title: str
    state: State
    run: Run | None
    requests: tuple[Request, ...]
    queued: int
    last_message_at: float


class ThreadList(msgspec.Struct, frozen=True):
    """All threads, newest spoken to first. `boot` names the runtime that answers."""

    boot: str
    sequence: int
    threads: tuple[ThreadRow, ...]


class ItemPage(msgspec.Struct, frozen=True):
    """Items in their stored order (F275). `before` is the position to ask for next, None at the beginning."""

    sequence: int
    items: tuple[ItemView, ...]
    before: int | None


class Snapshot(msgspec.Struct, frozen=True):
    """One thread whole, as of `sequence`."""

    boot: str
    sequence: int
    thread: Thread
    title: str
    state: State
    runs: tuple[Run, ...]
    messages: tuple[Message, ...]
    nodes: tuple[Node, ...]
    requests: tuple[Request, ...]
    plans: tuple[Plan, ...]
    checkpoints: tuple[Checkpoint, ...]
    degradations: tuple[Degradation, ...]
    notices: tuple[NoticeEntry, ...]
    provider_threads: tuple[ProviderThread, ...]
    session: Session | None
    items: tuple[ItemView, ...]
    before: int | None
    affordances: Affordances


E = TypeVar("E", bound=Entity)


class Snapshots:
    """Makes snapshots of a runtime's data folder, also of threads that another runtime works with."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._journal = runtime.journal

    def _live(self, thread_id: str) -> LiveThread | None:
        return self._runtime.engine.live(thread_id) if self._runtime.owns(thread_id) else None

    def _newest(self, kind: type[E], name: str, thread_id: str, limit: int) -> tuple[E, ...]:
        rows = self._journal.entities(name, thread_id=thread_id, limit=limit, newest_first=True)
        return tuple(e for e in map(decode_entity, reversed(rows)) if isinstance(e, kind))

    def threads(self) -> ThreadList:
        """Every thread."""
        sequence = self._journal.sequence()
        rows = [self.row(t) for t in self._runtime.reading.threads()]
        rows.sort(key=lambda r: r.last_message_at, reverse=True)
        return ThreadList(self._runtime.id, sequence, tuple(rows))

    def row(self, thread: Thread) -> ThreadRow:
        """One thread as a list shows it."""
        found = self._runtime.reading.summary(thread)
        queued = sum(
            isinstance(r, Run) and r.state == "queued"
            for r in map(decode_entity, self._journal.entities("run", thread_id=thread.id, open_only=True))
        )
        spoken = found.run.created_at if found.run is not None else thread.created_at
        return ThreadRow(
            thread, self._title(thread), _state(found.state), found.run, found.pending, queued, spoken
        )

    def _title(self, thread: Thread) -> str:
        if thread.title:
            return thread.title
        words = self._runtime.reading.first_words(thread.id).strip()
        line = words.splitlines()[0] if words else ""
        return line if len(line) <= TITLE_MAX else line[: TITLE_MAX - 1] + "…"

    def thread(self, thread_id: str, *, items: int = ITEMS_SHOWN) -> Snapshot:
        """One thread. Raises NotFound `thread_unknown`."""
        sequence = self._journal.sequence()
        reading = self._runtime.reading
        thread = reading.thread(thread_id)
        live = self._live(thread_id)
        state = (live or load_thread(self._journal, thread_id)).state
        runs = self._newest(Run, "run", thread_id, RUNS_SHOWN)
        requests = self._newest(Request, "request", thread_id, REQUESTS_SHOWN)
        plans = self._newest(Plan, "plan", thread_id, MARKS_SHOWN)
        checkpoints = tuple(reversed(reading.checkpoints(thread_id, limit=CHECKPOINTS_SHOWN)))
        page = self.page(thread_id, limit=items)
        known = self._runtime.known
        capabilities, policy = known.capabilities(state), known.policy(state)
        held = None
        if thread.agent in self._runtime.registry.instances:
            held = unheld(thread, capabilities, policy)
        return Snapshot(
            boot=self._runtime.id,
            sequence=sequence,
            thread=thread,
            title=self._title(thread),
            state=_state(reading.summary(thread).state),
            runs=runs,
            messages=self._newest(Message, "message", thread_id, RUNS_SHOWN),
            nodes=self._newest(Node, "node", thread_id, NODES_SHOWN),
            requests=requests,
            plans=plans,
            checkpoints=checkpoints,
            degradations=self._newest(Degradation, "degradation", thread_id, MARKS_SHOWN),
            notices=self._newest(NoticeEntry, "notice", thread_id, MARKS_SHOWN),
            provider_threads=self._newest(ProviderThread, "provider_thread", thread_id, MARKS_SHOWN),
            session=state.session,
            items=page.items,
            before=page.before,
            affordances=affordances(
                state, capabilities, policy, Seen(runs, requests, checkpoints, bool(plans), held)
            ),
        )

    def page(self, thread_id: str, *, before: int | None = None, limit: int = ITEMS_SHOWN) -> ItemPage:
        """The newest items before a position, at most ITEMS_MAX. Raises NotFound `thread_unknown`."""
        self._runtime.reading.thread(thread_id)
        sequence = self._journal.sequence()
        most = max(1, min(limit, ITEMS_MAX))
        rows = self._journal.entities(
            "item", thread_id=thread_id, before=before, limit=most, newest_first=True
        )
        reader = BodyReader(self._journal, self._live(thread_id))
        found = [i for i in map(decode_entity, reversed(rows)) if isinstance(i, Item)]
        older = found[0].position if len(rows) == most and found and found[0].position > 1 else None
        return ItemPage(sequence, tuple(map(reader.view, found)), older)

    def nodes(self, thread_id: str) -> tuple[Node, ...]:
        """The newest actions of a thread, oldest first."""
        return self._newest(Node, "node", thread_id, NODES_SHOWN)

    def commands(self, thread_id: str) -> tuple[SlashCommand, ...]:
        """The slash commands that the agent offers in the thread's own conversation."""
        found = self._newest(ProviderThread, "provider_thread", thread_id, MARKS_SHOWN)
        roots = [p for p in found if p.parent_node_id is None]
        return roots[-1].offers.commands if roots else ()

    def messages(self, run: Run) -> tuple[Message, ...]:
        """The messages of a run, in the order they were sent."""
        rows = self._journal.entities("message", thread_id=run.thread_id, run_id=run.id)
        return tuple(m for m in map(decode_entity, rows) if isinstance(m, Message))

    def words(self, message: Message) -> str:
        """The text of a message, whole."""
        item = self._item(message.thread_id, message.item_id)
        reader = BodyReader(self._journal, self._live(message.thread_id))
        return reader.whole(item, "text")

    def item(self, thread_id: str, item_id: str) -> ItemView:
        """One item with its text. Raises NotFound `item_unknown`."""
        return BodyReader(self._journal, self._live(thread_id)).view(self._item(thread_id, item_id))

    def body(
        self, thread_id: str, item_id: str, field: Body, *, start: int = 0, end: int | None = None
    ) -> BodyRange:
        """A part of a body, by characters. Raises NotFound `item_unknown` or `body_unknown`, BadInput."""
        reader = BodyReader(self._journal, self._live(thread_id))
        return reader.range(self._item(thread_id, item_id), field, start, end)

    def _item(self, thread_id: str, item_id: str) -> Item:
        data = self._journal.entity(item_id)
        found = decode_entity(data) if data is not None else None
        if not isinstance(found, Item) or found.thread_id != thread_id:
            raise NotFound("item_unknown", f"The thread {thread_id} has no item {item_id!r}.")
        return found


def _state(word: str) -> State:
    return msgspec.convert(word, State)
