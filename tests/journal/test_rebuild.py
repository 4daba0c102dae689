"""Projections follow from events, whatever was compacted (F273, F274)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.errors import StorageFailed
from podium.contract.requests import RequestContent
from podium.domain.entities import Entity, Item, Request, Run, Thread
from podium.domain.outputs import derived
from podium.journal.database import FILE_NAME
from podium.journal.rebuild import rebuild, verify
from podium.journal.rows import Batch
from podium.journal.store import PAGE_MAX, Journal
from tests.journal.writing import event

small = st.integers(0, 5)


def entity(kind: int, number: int, word: int, revision: int) -> Entity:
    """One of a few entities in one of a few states."""
    match kind:
        case 0:
            return Thread(
                id=f"thr_{number}", workspace="/w", agent="a", agent_kind="zz", archived=word % 2 == 0
            )
        case 1:
            state = ("queued", "running", "ended")[word % 3]
            return Run(
                id=f"run_{number}", thread_id="thr_0", ordinal=number + 1, state=state, revision=revision
            )
        case 2:
            item_state = ("open", "completed")[word % 2]
            return Item(
                id=f"itm_{number}",
                thread_id="thr_0",
                item_kind="command",
                position=number + 1,
                state=item_state,
                revision=revision,
            )
        case _:
            request_state = ("pending", "answered", "expired")[word % 3]
            return Request(
                f"req_{number}", "thr_0", "ses", "k", "question", RequestContent(), (),
                state=request_state,
            )  # fmt: skip


story = st.lists(st.tuples(st.integers(0, 3), small, small), min_size=1, max_size=40)


@pytest.mark.behaviour("F273", "F274")
@settings(max_examples=40)
@given(story=story, cut=st.integers(0, 50), size=st.integers(1, 7))
def test_compacting_and_rebuilding_change_no_projection(
    tmp_path_factory: pytest.TempPathFactory, story: list[tuple[int, int, int]], cut: int, size: int
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(folder)
    rows = [event(entity(k, n, w, r), run_id="run_0") for r, (k, n, w) in enumerate(story, 1)]
    for start in range(0, len(rows), size):
        journal.commit(Batch(events=rows[start : start + size]))
    whole = list(journal.projections())
    assert verify(journal) == []
    journal.compact(cut)
    assert list(journal.projections()) == whole and verify(journal) == []
    assert [e.sequence for e in journal.all_events()] == list(range(1, len(rows) + 1))
    db = sqlite3.connect(folder / FILE_NAME)
    db.execute("update entities set payload = x'00', open = 1 - open, position = 99")
    db.execute("delete from entities where id in (select id from entities limit 1)")
    db.commit()
    db.close()
    assert {d.entity_id for d in verify(journal)} == {p.id for p in whole}
    assert rebuild(journal) == len(whole)
    assert list(journal.projections()) == whole and rebuild(journal) == 0
    journal.close()


def test_more_entities_than_a_page_are_all_compared(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    runs = [Run(id=derived("run", str(n)), thread_id="thr", ordinal=n) for n in range(1, PAGE_MAX + 30)]
    journal.commit(Batch(events=[event(run, run_id=run.id) for run in runs]))
    assert len(list(journal.projections())) == len(runs) and verify(journal) == []
    db = sqlite3.connect(tmp_path / FILE_NAME)
    last = max(run.id for run in runs)
    db.execute("update entities set revision = 7 where id = ?", (last,))
    db.execute("insert into entities values ('zzz', 'run', 'thr', null, 1, 1, 1, 1, x'7b7d')")
    db.commit()
    db.close()
    assert [d.entity_id for d in verify(journal)] == [last, "zzz"]
    assert rebuild(journal) == 2 and verify(journal) == []
    journal.close()


@pytest.mark.behaviour("F241")
def test_a_rebuild_that_fails_changes_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.commit(Batch(events=[event(Thread(id="thr", workspace="/w", agent="a", agent_kind="zz"))]))
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute("update events set payload = x'6e6f'")
    db.commit()
    db.close()
    before = list(journal.projections())
    with pytest.raises(StorageFailed) as unreadable:
        rebuild(journal)
    assert unreadable.value.code == "event_unreadable"
    assert list(journal.projections()) == before
    journal.close()
