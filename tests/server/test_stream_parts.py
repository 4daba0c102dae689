"""The parts of the stream by themselves: cursors, frames, one reader's queue, the hub over a journal."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, get_args

import anyio
import anyio.lowlevel
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.domain.entities import Thread
from podium.domain.events import Delta, Event
from podium.journal.rows import Batch, EventRow
from podium.journal.store import Journal
from podium.runtime.feed import Committed, Feed
from podium.server import stream
from podium.server.schema import ResetReason
from podium.server.stream import Framed, Hub, Opening, Reader, frame, framed, frames, read_cursor
from tests.journal.writing import event
from tests.runtime.house import until
from tests.server.following import Frame, Parser

HERE, THERE = "journal-1", "journal-2"


def line(frames_: bytes) -> list[Frame]:
    return Parser().feed(frames_)


# ---- cursors


@given(given=st.one_of(st.none(), st.text(max_size=30), st.integers(-5, 10**20).map(str)),
       named=st.sampled_from([None, HERE, THERE]), newest=st.integers(0, 200_000))  # fmt: skip
def test_a_cursor_is_used_exactly_or_refused_for_a_reason(
    given: str | None, named: str | None, newest: int
) -> None:
    cursor = read_cursor(given, named, journal=HERE, newest=newest)
    if cursor.reset is None:
        if given:
            assert str(int(given)) == given.lstrip("0") or int(given) == 0
            assert cursor.after == int(given) and named != THERE
            assert newest - stream.REPLAY_MAX <= cursor.after <= newest
        else:
            assert cursor.after == newest
    else:
        assert cursor.reset in get_args(ResetReason) and cursor.after == newest and given


@pytest.mark.behaviour("F243")
@pytest.mark.parametrize(
    ("given", "named", "reason"),
    [
        ("7", THERE, "journal_changed"), ("x", None, "cursor_malformed"), ("²", None, "cursor_malformed"),
        ("+7", None, "cursor_malformed"), ("7 ", None, "cursor_malformed"), ("1_0", None, "cursor_malformed"),
        ("101", HERE, "cursor_ahead"), ("100", HERE, None), ("0", None, None), ("007", None, None),
    ],
)  # fmt: skip
def test_cursors_one_by_one(given: str, named: str | None, reason: str | None) -> None:
    assert read_cursor(given, named, journal=HERE, newest=100).reset == reason


def test_too_far_behind_is_one_more_than_a_replay() -> None:
    newest = stream.REPLAY_MAX + 5
    assert read_cursor("5", None, journal=HERE, newest=newest).reset is None
    assert read_cursor("4", None, journal=HERE, newest=newest).reset == "too_far_behind"


# ---- frames

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@given(
    value=values, sequence=st.none() | st.integers(0, 10**15), cuts=st.lists(st.integers(1, 40), max_size=30)
)
def test_a_frame_is_one_whatever_it_holds_and_however_it_arrives(
    value: Any, sequence: int | None, cuts: list[int]
) -> None:
    data = frame("event", value, sequence) + frame("heartbeat", {"sequence": 1})
    assert not any((c < 0x20 and c != 0x0A) or c == 0x7F for c in data)
    parser, found, at = Parser(), list[Frame](), 0
    for size in (*cuts, len(data)):
        found += parser.feed(data[at : at + size])
        at += size
    assert found == [Frame("event", value, sequence), Frame("heartbeat", {"sequence": 1})]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_delta_keeps_its_text(text: str) -> None:
    entry = framed(Delta("thr", "itm", "text", 1, 2, 3, text))
    (found,) = line(entry.data)
    assert entry.sequence is None and found.id is None and found.data["text"] == text
    assert (found.event, found.data["from_part"], found.data["to_part"]) == ("delta", 2, 3)


# ---- one reader

entries = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60)
sets = st.none() | st.frozensets(st.sampled_from("abc"))


@given(entries=entries, threads=sets, live=st.frozensets(st.sampled_from(["a", "b", "c", "*"])))
def test_a_reader_gets_what_it_wants_in_order(
    entries: list[tuple[str, bool]], threads: frozenset[str] | None, live: frozenset[str]
) -> None:
    reader = Reader(threads, live)
    given = [Framed(t, b"%d" % n, n if durable else None) for n, (t, durable) in enumerate(entries)]
    for entry in given:
        reader.put(entry)
    reader.close()

    async def drain() -> list[Framed]:
        found: list[Framed] = []
        while batch := await reader.take(0):
            assert len(batch) <= stream.BATCH_MAX
            found += batch
        return found

    wanted = [
        e
        for e in given
        if (threads is None or e.thread_id in threads)
        and (e.sequence is not None or "*" in live or e.thread_id in live)
    ]
    assert anyio.run(drain) == wanted


def test_a_queue_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "READER_MAX", 3)
    reader = Reader(None, frozenset())
    for number in range(10):
        reader.put(Framed("t", b"", number))
        assert reader.behind == (number >= 3)
    assert anyio.run(reader.take, 0) == []


# ---- the hub over a journal


def thread(number: int) -> Thread:
    return Thread(id=f"thr_{number}", workspace="/w", agent="a", agent_kind="zz")


class Rig:
    """A hub over a journal that two write."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder)
        self.other = Journal(folder)
        self.feed = Feed()
        self.hub = Hub(self.journal, self.feed)
        self.made = 0

    def close(self) -> None:
        self.journal.close()
        self.other.close()

    def write(self, count: int = 1, *, foreign: bool = False, thread_id: str | None = None) -> None:
        """Commit events, and publish our own."""
        for _ in range(count):
            self.made += 1
            made = thread(self.made)
            row = msgspec.structs.replace(event(made), thread_id=thread_id or made.id)
            (self.other if foreign else self.journal).commit(Batch(events=[row]))
            if not foreign:
                told = Event(row.type, row.thread_id, made, row.at, row.actor)
                self.feed.publish(Committed(self.journal.sequence(), told))

    def open(
        self, after: object = None, *, threads: frozenset[str] | None = None, journal: str | None = None
    ) -> AsyncGenerator[bytes]:
        opening = Opening(threads, frozenset({"thr_1"}), None if after is None else str(after), journal)
        return frames(self.hub, opening, "rt", self.journal.identity(), lambda: [{"shown": 1}])


@pytest.fixture
def rig(tmp_path: Path) -> Any:
    made = Rig(tmp_path)
    yield made
    made.close()


async def upto(stream_: AsyncGenerator[bytes], sequence: int) -> list[Frame]:
    """Frames until one of this sequence."""
    found: list[Frame] = []
    with anyio.fail_after(20):
        async for data in stream_:
            found += line(data)
            if (
                found[-1].event in ("event", "heartbeat", "snapshot")
                and found[-1].data.get("sequence", 0) >= sequence
            ):
                return found
    raise AssertionError("the stream ended")


def numbers(found: list[Frame]) -> list[int]:
    return [f.data["sequence"] for f in found if f.event == "event"]


@pytest.mark.anyio
@pytest.mark.behaviour("F242")
async def test_a_snapshot_newer_than_the_hub_is_no_cursor_of_the_future(rig: Rig) -> None:
    rig.write(3, foreign=True)
    assert rig.hub.sequence == 0 and rig.journal.sequence() == 3
    async with anyio.create_task_group() as group, aclosing(rig.open(3)) as opened:
        hello = line(await anext(opened))
        assert hello[0].data["sequence"] == 3
        group.start_soon(rig.hub.run)
        rig.write(1, foreign=True)
        found = await upto(opened, 4)
        assert [f.event for f in found] == ["event"] and numbers(found) == [4]
        group.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.behaviour("F242", "F272")
async def test_own_and_foreign_events_come_in_order_and_once(rig: Rig) -> None:
    async with anyio.create_task_group() as group, aclosing(rig.open(0)) as opened:
        group.start_soon(rig.hub.run)
        assert line(await anext(opened))[0].event == "hello"
        for number in range(40):
            rig.write(1, foreign=number % 3 == 1)
            if number % 7 == 0:
                await anyio.lowlevel.checkpoint()
        rig.write(2, foreign=True)
        found = await upto(opened, 42)
        assert numbers(found) == list(range(1, 43))
        group.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.behaviour("F242", "F243")
@pytest.mark.parametrize("far", [False, True])
async def test_a_stalled_reader_goes_on_from_the_journal_or_is_reset(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, far: bool
) -> None:
    monkeypatch.setattr(stream, "READER_MAX", 10)
    async with anyio.create_task_group() as group, aclosing(rig.open()) as opened:
        await anext(opened)
        group.start_soon(rig.hub.run)
        rig.write(5)
        first = await upto(opened, 5)
        rig.write(60)
        await until(lambda: rig.hub.sequence == 65, "the hub")
        if far:
            monkeypatch.setattr(stream, "REPLAY_MAX", 20)
            reset = line(await anext(opened))
            assert [f.event for f in reset] == ["reset", "snapshot"]
            assert reset[0].data == {"reason": "reader_too_slow", "sequence": 65, "boot": "rt"}
            assert reset[0].id == 65
            rig.write(1)
            assert numbers(await upto(opened, 66)) == [66]
        else:
            rig.write(1)
            assert numbers(first + await upto(opened, 66)) == list(range(1, 67))
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_heartbeat_has_the_newest_sequence(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)
    async with anyio.create_task_group() as group, aclosing(rig.open(threads=frozenset({"thr_x"}))) as opened:
        await anext(opened)
        group.start_soon(rig.hub.run)
        rig.write(4)
        found = await upto(opened, 4)
        assert {f.event for f in found} == {"heartbeat"} and found[-1].id is None
        rig.write(1, thread_id="thr_x")
        assert numbers(await upto(opened, 5)) == [5]
        group.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.behaviour("F274")
async def test_what_was_compacted_keeps_its_place(rig: Rig) -> None:
    for _ in range(3):
        rig.journal.commit(Batch(events=[event(thread(1))]))
    assert rig.journal.compact(3) == 2
    async with anyio.create_task_group() as group, aclosing(rig.open(0)) as opened:
        group.start_soon(rig.hub.run)
        found = await upto(opened, 3)
        assert numbers(found) == [1, 2, 3]
        assert [f.data["entity"] is None for f in found if f.event == "event"] == [True, True, False]
        assert {f.data["thread_id"] for f in found if f.event == "event"} == {"thr_1"}
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_an_event_of_a_kind_that_a_newer_version_wrote_passes(rig: Rig) -> None:
    payload = b'{"kind":"hologram","id":"hol_1","thread_id":"thr_1","revision":1,"glow":7}'
    row = EventRow(
        type="hologram.created", thread_id="thr_1", run_id=None, entity_id="hol_1", entity_kind="hologram",
        revision=1, at=1.0, actor="system", command_id=None, payload=payload, open=False, position=0,
    )  # fmt: skip
    rig.other.commit(Batch(events=[row]))
    async with (
        anyio.create_task_group() as group,
        aclosing(rig.open(0)) as early,
        aclosing(rig.open()) as late,
    ):
        await anext(late)
        group.start_soon(rig.hub.run)
        replayed = await upto(early, 1)
        rig.other.commit(Batch(events=[msgspec.structs.replace(row, entity_id="hol_2")]))
        live = await upto(late, 2)
        for found in (replayed[-1], live[-1]):
            assert found.event == "event" and found.data["type"] == "hologram.created"
            assert found.data["entity"]["glow"] == 7
        rig.write(1)
        assert numbers(await upto(late, 3)) == [3]
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_an_unreadable_journal_ends_no_stream(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    from podium.contract.errors import StorageFailed

    monkeypatch.setattr(stream, "FOREIGN_POLL", 0.005)
    read, broken = rig.journal.sequence, [False]

    def sequence() -> int:
        if broken[0]:
            raise StorageFailed("storage_failed", "The disk is away.")
        return read()

    async with anyio.create_task_group() as group, aclosing(rig.open()) as opened:
        await anext(opened)
        group.start_soon(rig.hub.run)
        await anyio.sleep(0.02)
        monkeypatch.setattr(rig.journal, "sequence", sequence)
        broken[0] = True
        rig.write(2, foreign=True)
        await anyio.sleep(0.05)
        broken[0] = False
        assert numbers(await upto(opened, 2)) == [1, 2]
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_hub_that_lagged_goes_on_from_the_journal(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    from podium.runtime import feed

    monkeypatch.setattr(feed, "CHANNEL_MAX", 3)
    async with anyio.create_task_group() as group, aclosing(rig.open()) as opened:
        await anext(opened)
        group.start_soon(rig.hub.run)
        await anyio.sleep(0.01)
        rig.write(20)
        assert numbers(await upto(opened, 20)) == list(range(1, 21))
        rig.write(1)
        assert numbers(await upto(opened, 21)) == [21]
        group.cancel_scope.cancel()
