"""A host dies in every state; the next one continues or settles what it left (F177, F245, R10)."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

from podium.contract.errors import Conflict, Gone
from podium.contract.requests import Answer
from podium.domain.entities import Message
from tests.runtime.hosting import host
from tests.runtime.house import House, asked, both, ended, native_ids, ran, said

pytestmark = pytest.mark.anyio


async def test_with_linger_the_same_turn_goes_on_and_nothing_is_sent_twice(house: House) -> None:
    one = await host(house, "long 300", linger=60)
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("STATE running")
    await one.kill()
    async with house.open(linger=60) as p:
        thread = p.threads.get(thread_id)
        assert await p.runtime.recover_all() == [thread_id]
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("completed", "provider")
        assert said(thread, run_id) == "".join(f"word {n} " for n in range(300))
        assert house.prompts() == ["long 300"]
        await p.runtime.stop_agents("done")


@pytest.mark.behaviour("F245", "F271")
async def test_without_linger_the_run_is_interrupted_and_the_conversation_goes_on(house: House) -> None:
    one = await host(house, "long 3000")
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("ITEM assistant_message")
    await one.kill()
    await house.empty()
    async with house.open() as p:
        thread = p.threads.get(thread_id)
        await thread.adopt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "host_lost")
        assert said(thread, run_id).startswith("word 0 ")
        assert [i.state for i in thread.items() if i.state == "open"] == []
        again = await ran(thread, "recall")
        assert "The first: long 3000" in said(thread, again.id)
        assert len(set(native_ids(thread))) == 1
        assert house.prompts() == ["long 3000", "recall"]


@pytest.mark.behaviour("F046")
async def test_a_request_of_a_lost_host_is_not_resumable(house: House) -> None:
    one = await host(house, "edit a.txt")
    thread_id = await one.word("THREAD")
    await one.word("STATE waiting")
    await one.kill()
    await house.empty()
    async with house.open() as p:
        [request] = p.requests.pending()
        with pytest.raises((Gone, Conflict)):
            await p.requests.answer(request.id, Answer("accept"))
        gone = p.requests.get(request.id)
        assert (gone.state, gone.reason) == ("expired", "not_resumable")
        assert (await ran(p.threads.get(thread_id), "hello")).outcome == "completed"
        assert not (house.workspace / "a.txt").exists()


async def test_a_lingering_request_is_answered_once_after_a_restart(house: House) -> None:
    one = await host(house, "edit a.txt", linger=60)
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("STATE waiting")
    await one.kill()
    async with house.open(linger=60) as p:
        [request] = await asked(p)
        answers = await both(
            lambda: p.requests.answer(request.id, Answer("accept")),
            lambda: p.requests.answer(request.id, Answer("decline")),
        )
        assert sum(isinstance(a, Conflict) for a in answers) == 1, answers
        assert (await ended(p.threads.get(thread_id), run_id)).outcome == "completed"
        [told] = [row["outcome"]["optionId"] for row in house.log("permission")]
        decided = p.requests.get(request.id).answer
        assert decided is not None
        assert told == {"accept": "yes", "decline": "no"}[decided.decision]
        await p.runtime.stop_agents("done")


async def test_a_queue_outlives_its_host(house: House) -> None:
    one = await host(house, "long 100", "say two", "say three", linger=60)
    thread_id = await one.word("THREAD")
    runs = [await one.word("RUN") for _ in range(3)]
    await one.word("STATE running")
    await one.kill()
    async with house.open() as p:
        await p.runtime.recover_all()
        thread = p.threads.get(thread_id)
        for run_id in runs:
            assert (await ended(thread, run_id)).outcome == "completed"
        assert house.prompts() == ["long 100", "say two", "say three"]


@pytest.mark.behaviour("F249")
async def test_an_interrupt_that_its_host_did_not_live_to_enforce_is_enforced(house: House) -> None:
    one = await host(house, "deaf 60", linger=60)
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("ITEM assistant_message")
    await one.kill()
    async with house.open(linger=60) as p:
        thread = p.threads.get(thread_id)
        await thread.interrupt()
        assert house.census()
    async with house.open(interrupt_max=0.5) as p:
        thread = p.threads.get(thread_id)
        await thread.adopt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "forced")


async def test_a_thread_of_a_living_runtime_is_left_alone(house: House) -> None:
    async with house.open() as first, house.open() as second:
        thread = await house.thread(first)
        run = await ran(thread, "hello")
        other = second.threads.get(thread.id)
        with pytest.raises(Conflict) as used:
            await other.post("hello")
        assert used.value.code == "thread_in_use"
        assert await second.runtime.recover_all() == []
        assert other.run(run.id).outcome == "completed"
        mine = await house.thread(second)
        assert (await ran(mine, "hello")).outcome == "completed"
    assert house.prompts() == ["hello", "hello"]


async def test_of_three_runtimes_one_takes_a_dead_ones_thread(house: House) -> None:
    one = await host(house, "long 200", linger=60)
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("STATE running")
    await one.kill()
    async with house.open() as a, house.open() as b, house.open() as c:
        runtimes = (a.runtime, b.runtime, c.runtime)
        results = await both(*[lambda r=r: r.take_over(thread_id) for r in runtimes])
        refused = [r for r in results if isinstance(r, Conflict)]
        assert [e.code for e in refused] == ["thread_in_use"] * 2, results
        [owner] = [p for p in (a, b, c) if p.runtime.owns(thread_id)]
        run = await ended(owner.threads.get(thread_id), run_id)
        assert run.outcome == "completed"
    assert house.prompts() == ["long 200"]


async def test_after_its_owner_died_a_thread_can_be_taken(house: House) -> None:
    one = await host(house, "hello", linger=60)
    thread_id = await one.word("THREAD")
    await one.word("STATE ended")
    async with house.open() as p:
        with pytest.raises(Conflict):
            await p.threads.get(thread_id).post("hello")
        await one.kill()
        assert (await ran(p.threads.get(thread_id), "recall")).outcome == "completed"


@pytest.mark.parametrize("moment", ["THREAD", "RUN", "STATE starting", "STATE running"])
@pytest.mark.parametrize("linger", [0.0, 60.0])
@pytest.mark.behaviour("F280")
async def test_killed_at_any_moment_a_prompt_arrives_once_or_is_not_said_to_have(
    house: House, moment: str, linger: float
) -> None:
    one = await host(house, "long 40", linger=linger)
    thread_id = await one.word("THREAD")
    if moment != "THREAD":
        await one.word(moment)
    await one.kill()
    async with house.open() as p:
        thread = p.threads.get(thread_id)
        await thread.adopt()
        runs = [await ended(thread, e.id) for e in thread.entities("run")]
        assert len(house.prompts()) <= 1
        for run in runs:
            message = next(m for m in thread.entities("message") if m.id == run.message_id)
            assert isinstance(message, Message)
            if run.outcome == "completed":
                assert message.delivery == "accepted"
                assert said(thread, run.id) == "".join(f"word {n} " for n in range(40))
            else:
                assert run.outcome in ("interrupted", "cancelled")
                assert run.evidence == "host_lost"
                if message.delivery == "rejected":
                    assert house.prompts() == []
        assert (await ran(thread, "recall")).outcome == "completed"


@pytest.mark.parametrize("seed", range(6))
async def test_an_agent_killed_at_random_fails_its_run_and_is_resumed(house: House, seed: int) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        assert (await ran(thread, "hello")).outcome == "completed"
        pid = house.log("prompt")[-1]["pid"]
        run_id = (await thread.post("long 60")).result["run"]
        await anyio.sleep(0.004 * seed**2)
        os.kill(pid, signal.SIGKILL)
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        [message] = [m for m in thread.entities("message") if m.id == run.message_id]
        assert isinstance(message, Message)
        if "long 60" not in house.prompts():
            assert message.delivery in ("unknown", "rejected")
        assert house.prompts().count("long 60") <= 1
        assert (await ran(thread, "recall")).outcome == "completed"
        assert len(set(native_ids(thread))) == 1


async def test_nothing_stays_behind_an_open_and_a_close(house: House) -> None:
    def files() -> set[str]:
        return {
            str(path.relative_to(house.root))
            for folder in (house.data, house.root / "tmp", house.root / "home")
            for path in folder.rglob("*")
        }

    async with house.open() as p:
        thread = await house.thread(p)
        assert (await ran(thread, "hello")).outcome == "completed"
    before = files()
    for _ in range(2):
        async with house.open() as p:
            assert (await ran(p.threads.get(thread.id), "hello")).outcome == "completed"
            assert house.census()
        await house.empty()
        new = {name for name in files() - before if "/refs/podium/" not in name}  # captures are kept
        assert new <= {"data/podium.db-wal", "data/podium.db-shm"}
    assert not [name for name in before if name.startswith("data/processes/")]


async def test_an_error_in_the_block_comes_out_as_it_is(house: House) -> None:
    with pytest.raises(LookupError, match="mine"):
        async with house.open() as p:
            thread = await house.thread(p)
            await thread.post("long 3000")
            raise LookupError("mine")
