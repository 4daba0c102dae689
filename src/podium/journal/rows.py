"""What one transaction writes (R2): plain rows, in the order they were decided."""

from __future__ import annotations

import msgspec


class EventRow(msgspec.Struct, frozen=True):
    """An event and, with it, the projection of its entity. The sequence is given by the writer."""

    type: str
    thread_id: str
    run_id: str | None
    entity_id: str
    entity_kind: str
    revision: int
    at: float
    actor: str
    command_id: str | None
    payload: bytes
    open: bool
    position: int


class PartRow(msgspec.Struct, frozen=True):
    """Some parts of a body, written once (R6)."""

    thread_id: str
    owner: str
    body: str
    epoch: int
    from_part: int
    to_part: int
    text: str


class ReceiptRow(msgspec.Struct, frozen=True):
    """The answer a command got; the same command id gets it again (F240).

    `after` counts the events of the batch that came before the answer, so that the writer can name the
    sequence it holds for.
    """

    command_id: str
    fingerprint: str
    thread_id: str | None
    payload: bytes
    after: int


class ProcessRow(msgspec.Struct, frozen=True):
    """An agent process as far as it is consumed: adapter state and read offset belong together (R2)."""

    id: str
    session_id: str
    thread_id: str
    runtime_id: str
    adapter: str
    token: str
    folder: str
    address: str
    generation: int
    read_offset: int
    inputs: int
    state: bytes
    correlator: bytes
    timers: bytes
    closed: bool


class SendRow(msgspec.Struct, frozen=True):
    """A numbered line for an agent's input; the keeper writes it once (R2)."""

    process_id: str
    n: int
    ask_id: str | None
    prompt: bool
    line: str


class Batch(msgspec.Struct):
    """One transaction. Rows are appended on the loop thread and written by the writer, in order."""

    events: list[EventRow] = msgspec.field(default_factory=list[EventRow])
    parts: list[PartRow] = msgspec.field(default_factory=list[PartRow])
    receipts: list[ReceiptRow] = msgspec.field(default_factory=list[ReceiptRow])
    processes: list[ProcessRow] = msgspec.field(default_factory=list[ProcessRow])
    sends: list[SendRow] = msgspec.field(default_factory=list[SendRow])
    claims: list[tuple[str, str]] = msgspec.field(default_factory=list[tuple[str, str]])

    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.events or self.parts or self.receipts or self.processes or self.sends or self.claims)


class StoredEvent(msgspec.Struct, frozen=True):
    """An event as read back, with its dense global sequence. A compacted one has no payload (F274)."""

    sequence: int
    type: str
    thread_id: str
    run_id: str | None
    entity_id: str
    at: float
    actor: str
    command_id: str | None
    payload: bytes | None


class ProjectionRow(msgspec.Struct, frozen=True):
    """The projection of one entity as a row: its newest state, and where it is found."""

    id: str
    kind: str
    thread_id: str
    run_id: str | None
    open: bool
    position: int
    revision: int
    sequence: int
    payload: bytes


class StoredReceipt(msgspec.Struct, frozen=True):
    """A receipt as read back."""

    command_id: str
    fingerprint: str
    thread_id: str | None
    sequence: int
    payload: bytes
