"""Requests of an agent: decided exactly once, or expired with a reason, whoever answers when (C13, B28)."""

from __future__ import annotations

import os
import signal

import pytest

from podium.contract.errors import BadInput, Conflict, Gone, NotFound
from podium.contract.requests import Answer
from podium.runtime.receipts import Receipt
from tests.runtime.house import House, asked, both, ended, ran, said, started, until

pytestmark = pytest.mark.anyio


def outcomes(house: House) -> list[str]:
    """The options the agent was told, in order."""
    return [row["outcome"].get("optionId", "none") for row in house.log("permission")]


async def test_two_contradicting_answers_at_the_same_moment_have_one_winner(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        results = await both(
            lambda: p.requests.answer(request.id, Answer("accept"), actor="one"),
            lambda: p.requests.answer(request.id, Answer("decline"), actor="two"),
            lambda: p.requests.answer(request.id, Answer("accept"), actor="three"),
        )
        won = [r for r in results if isinstance(r, Receipt)]
        lost = [r for r in results if isinstance(r, Conflict)]
        assert (len(won), len(lost)) == (1, 2)
        assert {(e.code, e.detail["decision"]) for e in lost} == {("request_answered", "accept")}
        assert (await ended(thread, run_id)).outcome == "completed"
        assert outcomes(house) == ["yes"]
        stored = p.requests.get(request.id)
        assert (stored.state, stored.answered_by, stored.delivery) == ("answered", "one", "accepted")
        with pytest.raises(Conflict) as late:
            await p.requests.answer(request.id, Answer("decline"))
        assert late.value.detail["decision"] == "accept"


async def test_the_same_command_again_gets_the_same_receipt(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        answers = await both(
            *[lambda: p.requests.answer(request.id, Answer("accept"), command_id="c1") for _ in range(3)]
        )
        assert all(isinstance(a, Receipt) for a in answers), answers
        assert len({str(a) for a in answers}) == 1
        await ended(thread, run_id)
        assert await p.requests.answer(request.id, Answer("accept"), command_id="c1") == answers[0]
        with pytest.raises(Conflict) as other:
            await p.requests.answer(request.id, Answer("decline"), command_id="c1")
        assert other.value.code == "command_id_reused"
        assert outcomes(house) == ["yes"]


async def test_what_is_not_offered_or_does_not_fit_is_refused_and_changes_nothing(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "question")
        [request] = await asked(p)
        with pytest.raises(BadInput) as unknown:
            await p.requests.answer(request.id, Answer("perhaps"))
        assert unknown.value.code == "option_not_offered"
        assert "accept" in unknown.value.message
        for answers in ((), (("Red",),), (("Red",), ("taste",), ("more",))):
            with pytest.raises(BadInput) as count:
                await p.requests.answer(request.id, Answer("accept", answers=answers))
            assert count.value.code == "wrong_answer_count"
        with pytest.raises(NotFound):
            await p.requests.answer("req_000000000000000000000000", Answer("accept"))
        assert p.requests.get(request.id).state == "pending"
        await p.requests.answer(request.id, Answer("accept", answers=(("Blue",), ("it is calm",))))
        assert (await ended(thread, run_id)).outcome == "completed"
        assert said(thread, run_id) == "You chose Blue."
        assert len(house.log("question")) == 1


@pytest.mark.behaviour("F046")
async def test_a_request_expires_with_its_agent_and_the_thread_goes_on(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        os.kill(house.log("prompt")[-1]["pid"], signal.SIGKILL)
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        gone = p.requests.get(request.id)
        assert (gone.state, gone.reason) == ("expired", "process_exit")
        with pytest.raises((Gone, Conflict)):
            await p.requests.answer(request.id, Answer("accept"))
        assert (await ran(thread, "hello")).outcome == "completed"
        assert not (house.workspace / "a.txt").exists()


async def test_a_host_that_leaves_and_keeps_nothing_expires_its_requests(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        await started(thread, "edit a.txt")
        [request] = await asked(p)
    async with house.open() as p:
        gone = p.requests.get(request.id)
        assert (gone.state, gone.reason) == ("expired", "no_host")
        run = p.threads.get(thread.id).run(gone.run_id or "")
        assert (run.outcome, run.evidence) == ("interrupted", "host_lost")
        with pytest.raises((Gone, Conflict)):
            await p.requests.answer(request.id, Answer("accept"))


async def test_a_host_that_lets_agents_linger_keeps_its_requests_answerable(house: House) -> None:
    async with house.open(linger=60) as p:
        thread = await house.thread(p)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
    assert house.census()
    async with house.open(linger=60) as p:
        await p.requests.answer(request.id, Answer("accept"))
        assert (await ended(p.threads.get(thread.id), run_id)).outcome == "completed"
        assert outcomes(house) == ["yes"]
        assert (house.workspace / "a.txt").read_text()
        await p.runtime.stop_agents("done")


@pytest.mark.behaviour("F141", "F293")
async def test_a_childs_request_waits_the_root_run(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "subagent")
        [request] = await asked(p)
        assert request.run_id == run_id
        assert thread.run(run_id).state == "waiting"
        await p.requests.answer(request.id, Answer("accept"))
        await ended(thread, run_id)
        assert (house.workspace / "child.txt").exists()


TWO_ASK = '{"play": [{"do": "edit", "file": "a.txt"}, {"do": "edit", "file": "b.txt", "order": "ask_only"}]}'


async def test_one_after_the_other_each_is_its_own(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, TWO_ASK)
        [first] = await asked(p)
        await p.requests.answer(first.id, Answer("accept"))
        await until(lambda: [r.id for r in p.requests.pending()] not in ([], [first.id]))
        [second] = p.requests.pending()
        assert thread.run(run_id).state == "waiting"
        await p.requests.answer(second.id, Answer("decline"))
        assert (await ended(thread, run_id)).outcome == "completed"
        assert outcomes(house) == ["yes", "no"]
        assert sorted(path.name for path in house.workspace.iterdir()) == ["a.txt"]


async def test_two_threads_ask_at_once_and_each_gets_its_own_answer(house: House) -> None:
    async with house.open() as p:
        one, two = await house.thread(p), await house.thread(p)
        runs = [await started(one, "edit a.txt"), await started(two, "edit b.txt")]
        requests = {r.thread_id: r for r in await asked(p, 2)}
        await both(
            lambda: p.requests.answer(requests[one.id].id, Answer("decline")),
            lambda: p.requests.answer(requests[two.id].id, Answer("accept")),
        )
        assert (await ended(one, runs[0])).outcome == "completed"
        assert (await ended(two, runs[1])).outcome == "completed"
        assert sorted(path.name for path in house.workspace.iterdir()) == ["b.txt"]
