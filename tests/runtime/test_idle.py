"""An idle agent is let go and its conversation resumed; what works or waits is never idle (F270, F271)."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import anyio
import pytest

from podium.contract.requests import Answer
from podium.runtime.idling import IDLE_RELEASE
from tests.runtime.house import House, asked, ended, native_ids, ran, said, sessions, started, until

pytestmark = pytest.mark.anyio


@pytest.mark.behaviour("F270", "F271")
async def test_an_idle_agent_is_let_go_and_the_same_conversation_goes_on(house: House) -> None:
    async with house.open(idle=0.2) as p:
        thread = await house.thread(p)
        for turn in range(3):
            run = await ran(thread, "recall")
            assert f"You wrote {turn} prompts before this one" in said(thread, run.id)
            await until(lambda: sessions(thread)[-1].state == "ended", "the release")
            assert sessions(thread)[-1].ended_reason == "ended:idle"
            await house.empty()
        assert len(sessions(thread)) == 3
        assert len(set(native_ids(thread))) == 1
        assert [row["kind"] for row in house.log() if row["kind"] in ("new", "load")] == [
            "new",
            "load",
            "load",
        ]


@pytest.mark.behaviour("F270")
async def test_work_and_open_requests_defer_the_release(house: House) -> None:
    async with house.open(idle=0.2) as p:
        thread = await house.thread(p)
        run_id = await started(thread, "slow 1")
        assert (await ended(thread, run_id)).outcome == "completed"
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        await anyio.sleep(1.0)
        assert p.requests.get(request.id).state == "pending"
        await p.requests.answer(request.id, Answer("accept"))
        assert (await ended(thread, run_id)).outcome == "completed"


@pytest.mark.behaviour("F270")
async def test_a_restart_does_not_begin_the_idle_time_anew(house: House) -> None:
    async with house.open(linger=600) as p:
        thread = await house.thread(p)
        await ran(thread, "hello")
    with closing(sqlite3.connect(house.data / "podium.db")) as db, db:  # it was long ago
        db.execute("update events set at = at - ?", (IDLE_RELEASE + 60,))
    async with house.open(linger=600) as p:
        thread = p.threads.get(thread.id)
        await thread.adopt()
        await until(lambda: sessions(thread)[-1].state == "ended", "the release")
        assert sessions(thread)[-1].ended_reason == "ended:idle"
    await house.empty()


async def test_a_restart_does_not_end_an_agent_that_worked_a_moment_ago(house: House) -> None:
    async with house.open(linger=600) as p:
        thread = await house.thread(p)
        await ran(thread, "hello")
    async with house.open(linger=0, idle=600) as p:
        thread = p.threads.get(thread.id)
        await thread.adopt()
        await anyio.sleep(0.1)
        await ran(thread, "recall")
        assert len(sessions(thread)) == 1


async def test_a_message_that_meets_the_release_is_never_lost(house: House) -> None:
    async with house.open(idle=0.1) as p:
        thread = await house.thread(p)
        for number in range(12):
            run = await ran(thread, f"say {number}")
            assert run.outcome == "completed", run
            await anyio.sleep(0.02 * number)
        assert house.prompts() == [f"say {number}" for number in range(12)]


async def test_a_stop_does_not_start_what_waits_in_the_queue(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "long 3000")
        waiting = (await thread.post("hello", intent="queue")).result["run"]
        assert await p.runtime.stop_agents("stopped") == 1
        assert (await ended(thread, run_id)).outcome == "interrupted"
        assert house.prompts() == ["long 3000"]
        assert (await ended(thread, waiting)).outcome == "completed"  # Podium stays open: it goes on
