"""What a dead host left is gone after the next start, and nothing else is touched (B11, B13, B20)."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from podium.runtime.ownership import RuntimeLock, claiming, is_alive
from tests.kill.remains import kill, launched
from tests.runtime.hosting import host
from tests.runtime.house import House, asked, both, ended, ran, until

pytestmark = pytest.mark.anyio

LEAVING = "command setsid sleep 600 >/dev/null 2>&1 & echo on"
"""Leaves a process in a session of its own."""


@contextmanager
def innocent() -> Generator[subprocess.Popen[bytes]]:
    """A process with a token of somebody else; it must survive everything."""
    process = subprocess.Popen(
        ["sleep", "600"], env={"PODIUM_PROCESS": "token-of-somebody-else", "PATH": "/usr/bin:/bin"}
    )
    try:
        yield process
        assert process.poll() is None, "an innocent process was ended"
    finally:
        process.kill()
        process.wait()


def sleepers(house: House) -> list[int]:
    """The processes that the agent left in sessions of their own."""
    return [pid for pid, line in house.census().items() if line.startswith("sleep 600")]


async def leave(house: House, linger: float) -> str:
    """A host whose agent left a process of its own; killed. The thread."""
    house.configure('[agents.free]\nadapter = "scripted"\nmode = "full"\n')
    one = await host(house, LEAVING, "long 3000", agent="free", linger=linger)
    thread_id = await one.word("THREAD")
    await until(lambda: sleepers(house), "the grandchild")
    await until(lambda: "long 3000" in house.prompts())
    await one.kill()
    return thread_id


async def test_only_the_host_is_killed_and_keeps_nothing(house: House) -> None:
    with innocent():
        await leave(house, 0.0)
        await until(lambda: len(house.census()) == 1, "the keeper ends its agent")
        assert sleepers(house)
        async with house.open():
            await house.empty()


async def test_host_and_keeper_are_killed(house: House) -> None:
    with innocent():
        thread_id = await leave(house, 60.0)
        for row in launched(house.data):
            kill(row["pid"])
        async with house.open() as p:
            await house.empty()
            thread = p.threads.get(thread_id)
            await thread.adopt()
            runs = [await ended(thread, run.id) for run in thread.entities("run")]
            assert (runs[-1].outcome, runs[-1].evidence) == ("interrupted", "host_lost")
            assert (await ran(thread, "recall")).outcome == "completed"


async def test_the_record_is_gone_with_the_database(house: House) -> None:
    with innocent():
        await leave(house, 600.0)
        for path in house.data.glob("podium.db*"):
            path.unlink()
        async with house.open():
            await house.empty()
            await until(lambda: not list(house.data.glob("processes/*")))


async def test_with_its_record_the_agent_lives_and_is_taken_over(house: House) -> None:
    thread_id = await leave(house, 60.0)
    before = set(house.census())
    async with house.open() as p:
        thread = p.threads.get(thread_id)
        await thread.adopt()
        await until(lambda: thread.state.active is not None and thread.state.active.state == "running")
        assert before <= set(house.census())
        await thread.interrupt()
        assert (await ended(thread, thread.entities("run")[-1].id)).outcome == "interrupted"


async def test_a_stale_number_that_belongs_to_somebody_now_is_not_touched(house: House) -> None:
    """B13: the folder names a pid that is an innocent's, with another start time."""
    folder = house.data / "processes" / "pr_old"
    with innocent() as process:
        folder.mkdir(parents=True, mode=0o700)
        (folder / "launched").write_text(
            f'{{"ok":true,"pid":{process.pid},"agent_pid":{process.pid},"agent_start":1,"address":"{folder}/sock"}}'
        )
        async with house.open():
            await until(lambda: not folder.exists(), "the folder is cleaned up")


async def test_what_a_living_runtime_works_with_is_not_swept(house: House) -> None:
    async with house.open() as first:
        thread = await house.thread(first)
        run_id = (await thread.post("edit a.txt")).result["run"]
        await asked(first)
        before = set(house.census())
        async with house.open():
            pass
        assert before <= set(house.census())
        await thread.interrupt()
        await ended(thread, run_id)


async def test_two_that_ask_at_once_do_not_take_each_other_for_the_runtime(house: House) -> None:
    house.data.mkdir()
    lock = RuntimeLock(house.data, "rt_1")
    assert [is_alive(house.data, "rt_1") for _ in range(3)] == [True] * 3
    lock.release()
    assert not is_alive(house.data, "rt_1")
    assert not is_alive(house.data, "rt_2")


async def test_one_at_a_time_takes_threads_over(house: House) -> None:
    house.data.mkdir()
    inside: list[int] = []

    async def one() -> None:
        async with claiming(house.data):
            inside.append(1)
            assert len(inside) == 1
            await until(lambda: True)
            inside.pop()

    assert await both(*[one] * 5) == [None] * 5
