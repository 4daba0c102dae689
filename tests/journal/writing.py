"""Rows for tests of the journal, and a small program that writes until it is stopped."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from podium.domain.entities import Entity, Item, Run, Thread
from podium.domain.state import is_open, position_of
from podium.journal.rows import Batch, EventRow, PartRow, ProcessRow, ReceiptRow, SendRow
from podium.journal.store import Journal


def event(entity: Entity, *, run_id: str | None = None, command_id: str | None = None) -> EventRow:
    """An event that carries this entity."""
    kind = str(entity.__struct_config__.tag)
    return EventRow(
        type=f"{kind}.updated",
        thread_id=entity.id if isinstance(entity, Thread) else entity.thread_id,
        run_id=run_id,
        entity_id=entity.id,
        entity_kind=kind,
        revision=entity.revision,
        at=1.5,
        actor="test",
        command_id=command_id,
        payload=msgspec.json.encode(entity),
        open=is_open(entity),
        position=position_of(entity),
    )


def process(name: str, *, closed: bool = False) -> ProcessRow:
    """A process row."""
    return ProcessRow(
        name, "ses", "thr", "rt", "zz", "token", "/f", "", 1, 7, 3, b"state", b"counters", b"{}", closed
    )


def full_batch(number: int) -> Batch:
    """A batch with a row of every kind."""
    thread = Thread(id=f"thr_{number}", workspace="/w", agent="a", agent_kind="zz")
    run = Run(id=f"run_{number}", thread_id=thread.id, ordinal=1)
    item = Item(id=f"itm_{number}", thread_id=thread.id, item_kind="command", position=1, run_id=run.id)
    return Batch(
        events=[event(thread), event(run, run_id=run.id), event(item, run_id=run.id)],
        parts=[PartRow(thread.id, item.id, "text", 1, 1, 2, f"text {number}")],
        receipts=[ReceiptRow(f"cmd_{number}", "mark", thread.id, b"{}", 3)],
        processes=[process(f"pr_{number}", closed=True)],
        sends=[SendRow(f"pr_{number}", 1, "ask", True, "line")],
        claims=[(thread.id, "rt")],
    )


def main(folder: Path, name: str, count: int) -> None:
    """Commit batches and say after each one what is durable."""
    journal = Journal(folder)
    print("ready", flush=True)
    for number in range(count):
        base = journal.commit(full_batch_named(name, number))
        print(base + 3, flush=True)
    journal.close()


def full_batch_named(name: str, number: int) -> Batch:
    """A batch whose ids no other writer uses."""
    thread = Thread(id=f"thr_{name}_{number}", workspace="/w", agent="a", agent_kind="zz")
    return Batch(
        events=[event(msgspec.structs.replace(thread, revision=n)) for n in (1, 2, 3)],
        parts=[PartRow(thread.id, f"itm_{name}_{number}", "text", 1, 1, 1, "x" * 2000)],
        receipts=[ReceiptRow(f"cmd_{name}_{number}", "mark", thread.id, b"{}", 3)],
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
