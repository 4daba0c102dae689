"""The live feed: everybody in order, nobody held up by another."""

from __future__ import annotations

import anyio
import pytest

from podium.domain.entities import Run
from podium.domain.events import Delta, Event
from podium.runtime import feed as module
from podium.runtime.feed import Committed, Entry, Feed

pytestmark = pytest.mark.anyio


def committed(sequence: int, thread: str = "thr") -> Committed:
    run = Run(id=f"run_{sequence}", thread_id=thread, ordinal=sequence)
    return Committed(sequence, Event("run.created", thread, run))


def delta(number: int, thread: str = "thr") -> Delta:
    return Delta(thread, "itm", "text", 1, number, number, "x")


async def test_a_reader_hears_its_thread_from_now_on_and_in_order() -> None:
    feed = Feed()
    feed.publish(committed(1))
    with feed.subscribe("thr") as mine, feed.subscribe() as everything:
        entries: list[Entry] = [
            committed(2),
            delta(1),
            committed(3, "other"),
            delta(1, "other"),
            committed(4),
        ]
        for entry in entries:
            feed.publish(entry)
        assert [await mine.next() for _ in range(3)] == [entries[0], entries[1], entries[4]]
        assert [await everything.next() for _ in entries] == entries
        assert feed.sequence == 4


@pytest.mark.behaviour("F272")
async def test_a_slow_reader_gets_what_it_had_and_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = Feed()
    with feed.subscribe() as fast:
        monkeypatch.setattr(module, "CHANNEL_MAX", 3)
        with feed.subscribe() as slow, feed.subscribe() as gone:
            gone._receive.close()  # pyright: ignore[reportPrivateUsage]
            for number in range(1, 10):
                feed.publish(committed(number))
            heard = [await slow.next() for _ in range(4)]
            assert heard == [committed(1), committed(2), committed(3), None] and slow.lagged
            assert [await fast.next() for _ in range(9)] == [committed(n) for n in range(1, 10)]
            assert not fast.lagged


async def test_the_end_of_a_feed_or_of_a_subscription_ends_the_waiting() -> None:
    feed = Feed()
    ended: list[str] = []

    async def wait(name: str, how: str) -> None:
        with feed.subscribe() as reader:
            if how == "left":
                reader.close()
            assert await reader.next() is None
            ended.append(name)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(wait, "one", "stays")
            group.start_soon(wait, "two", "left")
            await anyio.sleep(0.01)
            feed.close()
    assert sorted(ended) == ["one", "two"]
    feed.publish(committed(1))
