"""What `podium.open()` and `podium.connect()` have in common: code written against it runs on both (R12)."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from podium.contract.events import Body
from podium.contract.inputs import Mode
from podium.contract.requests import Answer
from podium.domain.entities import Checkpoint, ProviderThread, Request, Run, Thread
from podium.domain.events import Delta
from podium.domain.state import ThreadState
from podium.runtime.bodyviews import BodyRange
from podium.runtime.changes import Changes
from podium.runtime.feed import Committed, Subscription
from podium.runtime.following import Happening, Have
from podium.runtime.receipts import Receipt
from podium.runtime.snapshot import ItemPage, Snapshot
from podium.workspace.values import RestorePlan


class AnyThread(Protocol):
    """One thread, to read and to drive."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def state(self) -> ThreadState:
        """The open entities as of now; of a thread that was begun or adopted here."""
        ...

    @property
    def mine(self) -> bool:
        """Whether the Podium behind this handle works with the thread."""
        ...

    async def read(self) -> None:
        """Read the thread, so that its `state` can be asked; whoever works with it goes on with it."""
        ...

    async def adopt(self) -> None:
        """Make the thread ready to be driven: take it over, or read it."""
        ...

    def run(self, run_id: str) -> Run:
        """A run by its id. Raises NotFound `run_unknown`."""
        ...

    def provider_threads(self) -> list[ProviderThread]:
        """The agent's own conversations behind this thread."""
        ...

    async def snapshot(self) -> Snapshot:
        """The thread whole, with what can be done."""
        ...

    async def page(self, *, before: int | None = None, limit: int = 60) -> ItemPage:
        """The newest items before a position, with their text (F275)."""
        ...

    async def body(self, item_id: str, field: Body = "text", *, start: int = 0) -> BodyRange:
        """A part of a body, from a character on. Raises NotFound."""
        ...

    async def diff(self, run_id: str | None = None, *, text: bool = True) -> Changes:
        """What the thread, or one run of it, changed (R11)."""
        ...

    def subscribe(self) -> AbstractContextManager[Subscription]:
        """Listen to this thread from now on."""
        ...

    async def post(
        self,
        text: str,
        *,
        client_id: str | None = None,
        model: str | None = None,
        images: tuple[str, ...] = (),
        intent: str = "auto",
        fresh: bool = False,
    ) -> Receipt:
        """Send a message; returns once it is durable. The same `client_id` again: the same receipt (F281)."""
        ...

    def send(self, text: str, *, client_id: str | None = None, **options: Any) -> AsyncIterable[Happening]:
        """Send a message and iterate over what happens until its run ends or waits."""
        ...

    async def interrupt(self, run_id: str | None = None) -> Receipt:
        """Ask the active run to stop (F249)."""
        ...

    async def archive(self, archived: bool = True) -> Receipt:
        """Put the thread away, or back."""
        ...


class AnyThreads(Protocol):
    """Threads of a data folder."""

    async def create(
        self,
        *,
        workspace: str | Path,
        agent: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        title: str | None = None,
        command_id: str | None = None,
    ) -> AnyThread:
        """Begin a thread in a folder; without an agent, with the default one. Raises BadInput."""
        ...

    def get(self, thread_id: str) -> AnyThread:
        """A thread by its id. Raises NotFound `thread_unknown`."""
        ...

    def list(self) -> Sequence[Thread]:
        """Threads, newest first."""
        ...


class AnyRequests(Protocol):
    """Requests of all threads."""

    def pending(self) -> Sequence[Request]:
        """Everything that waits for a person, oldest first."""
        ...

    async def read(self, request_id: str) -> Request:
        """A request as it is now. Raises NotFound `request_unknown`."""
        ...

    async def answer(self, request_id: str, answer: Answer, *, command_id: str | None = None) -> Receipt:
        """Decide a request. Raises Conflict `request_answered`, Gone `request_expired`, or BadInput."""
        ...


class AnyCheckpoints(Protocol):
    """Captured files, and taking back what was changed since (R11)."""

    async def plan(self, target: str, *, force: bool = False) -> RestorePlan:
        """What taking back would do; nothing is touched."""
        ...

    async def undo_plan(self, checkpoint_id: str, *, force: bool = False) -> RestorePlan:
        """What taking a restore back would do."""
        ...

    async def restore(self, plan: RestorePlan) -> Checkpoint:
        """Carry a plan out; the safety checkpoint that undoes it."""
        ...


class AnyPodium(Protocol):
    """An open data folder, in this process or behind a server."""

    @property
    def threads(self) -> AnyThreads:
        """Threads."""
        ...

    @property
    def requests(self) -> AnyRequests:
        """Requests."""
        ...

    @property
    def checkpoints(self) -> AnyCheckpoints:
        """Checkpoints."""
        ...

    @property
    def sequence(self) -> int:
        """The newest sequence."""
        ...

    def subscribe(self, thread_id: str | None = None) -> AbstractContextManager[Subscription]:
        """Listen to committed events and deltas of one thread or of all."""
        ...

    async def events_after(self, after: int, thread_id: str) -> list[Committed]:
        """Stored events of a thread above a sequence, a page of them, oldest first."""
        ...

    async def missed(self, have: Have) -> Delta | None:
        """The stored text of a body behind what a reader has; None where there is no more."""
        ...

    async def is_rehearsal(self, agent: str) -> bool:
        """Whether an agent only plays, without a model."""
        ...

    async def stop_agents(self, reason: str) -> int:
        """End the agents of this process; how many there were. A server's agents are its own."""
        ...
