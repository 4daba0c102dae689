"""The disk fails while agents work: callers are told, and afterwards everything is as if it had not (R5)."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import anyio.lowlevel
import pytest

from podium.contract.errors import StorageFailed
from podium.contract.requests import Answer
from podium.journal.rows import Batch
from podium.runtime.podium import Podium, ThreadHandle
from podium.runtime.receipts import Receipt
from tests.runtime.house import House, asked, ended, ran, said, started, until

pytestmark = pytest.mark.anyio


class Disk:
    """Refuses chosen commits of an open Podium."""

    def __init__(self, p: Podium, patch: pytest.MonkeyPatch) -> None:
        self.failing: Callable[[], bool] = lambda: False
        self.refused = 0
        commit = p.runtime.journal.commit

        def refusing(batch: Batch) -> int:
            if self.failing():
                self.refused += 1
                raise StorageFailed("storage_failed", "The journal could not be written: disk full.")
            return commit(batch)

        patch.setattr(p.runtime.journal, "commit", refusing)

    def next(self, count: int) -> None:
        """The next commits fail."""
        wanted = self.refused + count
        self.failing = lambda: self.refused < wanted


async def insisting(work: Callable[[], Awaitable[Receipt]]) -> Receipt:
    """Do it again until the disk lets it."""
    while True:
        try:
            return await work()
        except StorageFailed:
            await anyio.lowlevel.checkpoint()


def shape(thread: ThreadHandle, run_id: str) -> list[object]:
    """What a run left, without ids and times."""
    run = thread.run(run_id)
    items = [(i.item_kind, i.state, i.closed_by) for i in thread.items() if i.run_id == run_id]
    return [(run.outcome, run.evidence), said(thread, run_id), items]


async def test_a_caller_is_told_and_nothing_of_its_command_happened(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        disk = Disk(p, monkeypatch)
        disk.next(1)
        with pytest.raises(StorageFailed) as failed:
            await thread.post("hello", client_id="m1")
        assert failed.value.code == "storage_failed"
        assert thread.entities("run") == []
        run = await ran(thread, "hello", client_id="m1")
        assert run.outcome == "completed"
        assert house.prompts() == ["hello"]


@pytest.mark.parametrize("linger", [0.0, 60.0])
async def test_commits_that_fail_during_a_turn_change_nothing_of_its_result(
    house: House, linger: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open(linger=linger) as p:
        thread = await house.thread(p)
        undisturbed = await ran(thread, "long 120")
        disk = Disk(p, monkeypatch)
        run_id = await started(thread, "long 120")
        for count in (1, 3):
            disk.next(count)
            await until(lambda: not disk.failing(), "the failures")
        await ended(thread, run_id)
        assert shape(thread, run_id) == shape(thread, undisturbed.id)
        assert disk.refused >= 4
        assert house.prompts() == ["long 120", "long 120"]
        assert (await ran(thread, "hello")).outcome == "completed"
        await p.runtime.stop_agents("done")


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_commit_fails_no_prompt_and_no_answer_is_sent_twice(
    house: House, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    async with house.open() as p:
        thread = await house.thread(p)
        disk = Disk(p, monkeypatch)
        disk.failing = lambda: chance.random() < 0.15
        post = await insisting(lambda: thread.post("edit a.txt", client_id="m1"))
        run_id = post.result["run"]
        await until(lambda: p.requests.pending() or thread.run(run_id).state == "ended", "the request")
        for request in p.requests.pending():
            await insisting(lambda r=request: p.requests.answer(r.id, Answer("accept"), command_id="a1"))
        run = await ended(thread, run_id)
        disk.failing = lambda: False
        assert (run.outcome, run.evidence) == ("completed", "provider")
        assert house.prompts() == ["edit a.txt"]
        assert [row["outcome"]["optionId"] for row in house.log("permission")] == ["yes"]
        assert said(thread, run_id) == "I changed 1 lines of a.txt."
        assert (await ran(thread, "hello")).outcome == "completed"


async def test_a_disk_that_fails_for_good_still_lets_podium_be_closed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "long 3000")
        Disk(p, monkeypatch).failing = lambda: True
    await house.empty()
    async with house.open() as p:
        thread = p.threads.get(thread.id)
        await thread.adopt()
        run = await ended(thread, run_id)
        assert run.outcome in ("interrupted", "failed")
        assert (await ran(thread, "hello")).outcome == "completed"


async def test_a_request_stays_answerable_over_a_failed_commit(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        disk = Disk(p, monkeypatch)
        disk.next(1)
        with pytest.raises(StorageFailed):
            await p.requests.answer(request.id, Answer("accept"))
        await p.requests.answer(request.id, Answer("decline"))
        assert (await ended(thread, run_id)).outcome == "completed"
        assert [row["outcome"]["optionId"] for row in house.log("permission")] == ["no"]
