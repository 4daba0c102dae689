"""Much at once: nothing is lost, mixed or doubled. Rates are printed for whoever wants them (pytest -s)."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest

from podium.domain.events import Delta
from podium.runtime.feed import CHANNEL_MAX
from podium.runtime.podium import Happening, ThreadHandle
from tests.runtime.house import House, ended, items_of, ran, said

pytestmark = pytest.mark.anyio

LOAD_MAX = 120.0
"""Seconds after which a load counts as hanging."""


@contextmanager
def told(what: str, count: int, unit: str) -> Generator[None]:
    """Print how fast something was; no verdict."""
    begun = time.perf_counter()
    yield
    seconds = time.perf_counter() - begun
    print(f"\n{what}: {count} {unit} in {seconds:.2f} s, {count / seconds:,.0f} {unit}/s")


def whole(deltas: list[Delta], item_id: str) -> str:
    """The text of an item's deltas; they must be dense and in order."""
    mine = [d for d in deltas if d.item == item_id]
    have = 0
    for delta in mine:
        assert delta.from_part == have + 1, (have, delta)
        have = delta.to_part
    return "".join(d.text for d in mine)


async def test_a_flood_of_ten_thousand_pieces_arrives_whole_and_in_order(house: House) -> None:
    count = 10_000
    wanted = "".join(f"word {n} " for n in range(count))
    async with house.open() as p:
        thread = await house.thread(p)
        await ran(thread, "hello")
        deltas: list[Delta] = []
        run_id = ""
        with told("flood", count, "pieces"):
            async for happening in thread.send(f"flood {count}"):
                if happening.delta is not None:
                    deltas.append(happening.delta)
                elif happening.event is not None:
                    run_id = happening.event.run_id or run_id
        assert thread.run(run_id).outcome == "completed"
        assert said(thread, run_id) == wanted
        [item] = items_of(thread, run_id, "assistant_message")
        assert whole(deltas, item.id) == wanted
        assert item.bodies["text"].parts == count
        assert item.bodies["text"].chars == len(wanted)
        rows = p.runtime.journal.parts(item.id, "text", item.bodies["text"].epoch)
        assert [r.from_part for r in rows] == [1, *[r.to_part + 1 for r in rows[:-1]]]


async def test_ten_megabytes_of_output_are_complete_and_cost_less_than_two_and_a_half_times_that(
    house: House,
) -> None:
    size = 10 * 1024 * 1024
    async with house.open() as p:
        thread = await house.thread(p)
        await ran(thread, "hello")
        before = p.runtime.journal.size()
        with told("output", size >> 10, "KiB"):
            receipt = await thread.post(f"output {size}")
            run = await ended(thread, receipt.result["run"], LOAD_MAX)
        grown = p.runtime.journal.size() - before
        assert run.outcome == "completed"
        [item] = items_of(thread, run.id, "command")
        text = thread.text(item.id, "output")
        line = "0123456789abcdef" * 4 + "\n"
        assert text == (line * (size // len(line) + 1))[:size]
        print(f"database grew {grown / size:.2f} times")
        assert grown < 2.5 * size


async def test_two_thousand_updates_of_one_tool(house: House) -> None:
    count = 2000
    async with house.open() as p:
        thread = await house.thread(p)
        with told("tool updates", count, "updates"):
            run = await ran(thread, f"tools {count}")
        assert run.outcome == "completed"
        [item] = items_of(thread, run.id, "tool_call")
        assert thread.text(item.id, "output") == "".join(f"update {n}\n" for n in range(count))
        events = list(p.runtime.journal.all_events(thread_id=thread.id))
        assert len(events) < 100, "an update of text is no event"
        sequences = [e.sequence for e in p.runtime.journal.all_events()]
        assert sequences == list(range(1, len(sequences) + 1))


async def test_twenty_five_agents_at_once_lose_and_mix_nothing(house: House) -> None:
    agents, pieces, at_once = 25, 200, 8
    threads: list[ThreadHandle] = []
    async with house.open() as p:
        for _ in range(agents):
            threads.append(await house.thread(p))
        gate = anyio.CapacityLimiter(at_once)  # how many programs start at the same time

        async def begin(thread: ThreadHandle) -> None:
            async with gate:
                assert (await ran(thread, f"say I am {thread.id}")).outcome == "completed"

        async def work(thread: ThreadHandle) -> None:
            receipt = await thread.post(f"flood {pieces}")
            run = await ended(thread, receipt.result["run"], LOAD_MAX)
            assert run.outcome == "completed"
            assert said(thread, run.id) == "".join(f"word {n} " for n in range(pieces))

        with told("starts", agents, "agents"):
            async with anyio.create_task_group() as group:
                for thread in threads:
                    group.start_soon(begin, thread)
        with told("turns at once", agents * pieces, "pieces"):
            async with anyio.create_task_group() as group:
                for thread in threads:
                    group.start_soon(work, thread)
        assert len(house.prompts()) == 2 * agents
        assert sorted(set(house.prompts())) == sorted(
            {f"say I am {t.id}" for t in threads} | {f"flood {pieces}"}
        )
        sequences = [e.sequence for e in p.runtime.journal.all_events()]
        assert sequences == list(range(1, len(sequences) + 1))


async def test_a_reader_that_falls_behind_misses_no_event(house: House) -> None:
    """It is cut off at its bound and goes on from the journal."""
    count = CHANNEL_MAX + 2_000
    async with house.open() as p:
        thread = await house.thread(p)
        await ran(thread, "hello")
        seen: list[Happening] = []
        async for happening in thread.send(f"flood {count}"):
            if not seen:
                run = thread.state.active or thread.state.queue[0]
                await ended(thread, run.id, LOAD_MAX)
            seen.append(happening)
        sequences = [h.sequence for h in seen if h.sequence is not None]
        last = seen[-1].event
        assert last is not None and last.run_id is not None
        assert thread.run(last.run_id).outcome == "completed"
        stored = [e.sequence for e in p.runtime.journal.all_events(thread_id=thread.id)]
        assert sequences == stored[-len(sequences) :]
        assert len(said(thread, last.run_id).split()) == 2 * count
