"""What gathers between two commits, and what follows one: replies, publication, sends, effects (R5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from podium.contract.errors import PodiumError, StorageFailed
from podium.contract.serving import Serve
from podium.domain.entities import Entity
from podium.domain.events import Delta, Event
from podium.domain.outputs import CaptureFiles, Refusal, SetDeadline, StartSession, StopSession
from podium.journal.rows import Batch, SendRow
from podium.runtime.pump import Pump, TimerChange
from podium.runtime.receipts import Receipt

Effect = StartSession | StopSession | SetDeadline | CaptureFiles


@dataclass
class Hook:
    """What the shell does after a commit, in order."""

    effect: Callable[[str, Effect], None]
    send: Callable[[SendRow], None]
    timers: Callable[[str, list[TimerChange]], None]
    committed: Callable[[Pump, int], None]
    dropped: Callable[[], None]
    serve: Callable[[str, Serve], None]


@dataclass
class Waiter:
    """Somebody who waits for a command to be durable."""

    done: anyio.Event
    receipt: Receipt | None = None
    refusal: Refusal | None = None
    error: PodiumError | None = None
    event_count: int = 0
    mark: str = ""
    command_id: str | None = None

    def finish(self, underway: dict[str, Waiter]) -> None:
        """Wake whoever waits; the same command id finds the stored receipt from now on."""
        if self.command_id is not None:
            underway.pop(self.command_id, None)
        self.done.set()


@dataclass
class Gathered:
    """A batch with everything that follows its commit."""

    rows: Batch = field(default_factory=Batch)
    feed: list[Event | Delta] = field(default_factory=list[Event | Delta])
    waiters: list[Waiter] = field(default_factory=list[Waiter])
    effects: list[tuple[str, Effect]] = field(default_factory=list[tuple[str, Effect]])
    timers: list[tuple[str, list[TimerChange]]] = field(default_factory=list[tuple[str, list[TimerChange]]])
    serves: list[tuple[str, Serve]] = field(default_factory=list[tuple[str, Serve]])
    threads: set[str] = field(default_factory=set[str])
    ordered: set[str] = field(default_factory=set[str])
    entities: dict[str, Entity] = field(default_factory=dict[str, Entity])
    pumps: dict[str, Pump] = field(default_factory=dict[str, Pump])
    offsets: dict[str, int] = field(default_factory=dict[str, int])


def closed_error() -> StorageFailed:
    """What a caller of a closed engine is told."""
    return StorageFailed("closed", "This Podium is closed.", fix="Open it again.")
