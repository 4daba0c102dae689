"""The same script against `podium.open()` and `podium.connect()`: one interface (R12)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest

import podium
from podium.contract.errors import BadInput, Conflict, NotFound, PodiumError, StorageFailed
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.domain.entities import Run
from podium.journal.rows import Batch
from podium.runtime.interface import AnyPodium, AnyThread
from podium.runtime.place import Place, read_place
from tests.runtime.house import until
from tests.server.desk import Desk

pytestmark = pytest.mark.anyio

Opening = Callable[[Desk], AbstractAsyncContextManager[AnyPodium]]


@asynccontextmanager
async def embedded(desk: Desk) -> AsyncGenerator[AnyPodium]:
    async with desk.open() as p:
        yield p


@asynccontextmanager
async def connected(desk: Desk) -> AsyncGenerator[AnyPodium]:
    async with desk.serve() as web:
        place = web.running.place
        async with podium.connect(place.url, place.token) as p:
            yield p


both_ways = pytest.mark.parametrize("opening", [embedded, connected])


async def last_run(thread: AnyThread, text: str) -> Run:
    """Send a message; its run as it ended or waited."""
    found: Run | None = None
    async for happening in thread.send(text):
        if happening.event is not None and isinstance(happening.event.entity, Run):
            found = happening.event.entity
    assert found is not None
    return found


@both_ways
async def test_a_prompt_from_its_first_word_to_its_last(desk: Desk, opening: Opening) -> None:
    async with opening(desk) as p:
        thread = await p.threads.create(workspace=desk.workspace, agent="scripted")
        text: list[str] = []
        run: Run | None = None
        async for happening in thread.send("text", client_id="first"):
            if happening.delta is not None and happening.delta.field == "text":
                text.append(happening.delta.text)
            if happening.event is not None and isinstance(happening.event.entity, Run):
                run = happening.event.entity
        assert run is not None and (run.state, run.outcome) == ("ended", "completed")
        assert thread.run(run.id).outcome == "completed"
        page = await thread.page()
        said = [v.text["text"].text for v in page.items if v.item.item_kind == "assistant_message"]
        assert said and all(s in "".join(text) for s in said)
        again = await thread.post("text", client_id="first")
        assert again.result["run"] == run.id
        assert [t.id for t in p.threads.list()] == [thread.id]
        assert (await thread.snapshot()).affordances.message.means == "start"


@both_ways
async def test_a_request_is_answered_once(desk: Desk, opening: Opening) -> None:
    async with opening(desk) as p:
        thread = await p.threads.create(workspace=desk.workspace, agent="scripted")
        waits = await last_run(thread, "edit")
        assert waits.state == "waiting"
        await until(p.requests.pending)
        request = p.requests.pending()[0]
        with pytest.raises(BadInput) as wrong:
            await p.requests.answer(request.id, Answer("maybe"))
        assert wrong.value.code == "option_not_offered"
        await p.requests.answer(request.id, Answer(ACCEPT))
        with pytest.raises(Conflict) as lost:
            await p.requests.answer(request.id, Answer(DECLINE))
        assert lost.value.code == "request_answered"
        await until(lambda: thread.run(waits.id).state == "ended")
        assert thread.run(waits.id).outcome == "completed"
        assert not p.requests.pending()
        assert (await p.requests.read(request.id)).state == "answered"
        changes = await thread.diff()
        assert [c.owner for c in changes.paths] == ["agent"]
        plan = await p.checkpoints.plan(thread.id)
        assert [s.action for s in plan.steps] == ["delete"] or plan.steps
        safety = await p.checkpoints.restore(plan)
        assert safety.moment == "safety"


@both_ways
async def test_errors_are_the_same(desk: Desk, opening: Opening) -> None:
    async with opening(desk) as p:
        codes: list[str] = []
        thread = await p.threads.create(workspace=desk.workspace, agent="scripted", command_id="one")
        attempts = (
            lambda: p.threads.create(workspace=desk.root / "nowhere", agent="scripted"),
            lambda: p.threads.create(workspace=desk.workspace, agent="nobody"),
            lambda: p.threads.create(workspace=desk.workspace, agent="scripted", title="x", command_id="one"),
            lambda: p.requests.read("req_none"),
            lambda: p.checkpoints.plan("nothing"),
            lambda: thread.body("itm_none"),
            thread.interrupt,
        )
        for attempt in attempts:
            with pytest.raises(PodiumError) as caught:
                await attempt()
            codes.append(f"{type(caught.value).__name__} {caught.value.code}")
        with pytest.raises(NotFound):
            p.threads.get("thr_none")
        assert codes == [
            "BadInput workspace_missing",
            "BadInput unknown_agent",
            "Conflict command_id_reused",
            "NotFound request_unknown",
            "NotFound thread_unknown",
            "NotFound item_unknown",
            "Conflict run_not_active",
        ]


async def test_a_connection_follows_its_server_over_a_restart(desk: Desk) -> None:
    async with spawned(desk) as first:
        port = int(first.url.rpartition(":")[2])
        async with podium.connect(first.url, first.token) as p:
            thread = await p.threads.create(workspace=desk.workspace, agent="scripted")
            waits = await last_run(thread, "edit")
            assert waits.state == "waiting"
            os.kill(first.pid, signal.SIGKILL)
            async with spawned(desk, port) as second:
                assert second.boot != first.boot
                await until(p.requests.pending)
                await p.requests.answer(p.requests.pending()[0].id, Answer(ACCEPT))
                await until(lambda: thread.run(waits.id).state == "ended")
                assert thread.run(waits.id).outcome == "completed"
                assert desk.prompts() == ["edit"]
    await stop_agents(desk)


@asynccontextmanager
async def spawned(desk: Desk, port: int = 0) -> AsyncGenerator[Place]:
    """A server in a process of its own."""
    command = [sys.executable, "-m", "podium", "serve", "--port", str(port)]
    environ = {**desk.environ, "PODIUM_DATA": str(desk.data)}
    process = await anyio.open_process(command, env=environ, stdout=subprocess.DEVNULL, stderr=None)
    try:
        place: Place | None = None
        for _ in range(1000):
            place = read_place(desk.data)
            if place is not None and place.pid == process.pid:
                break
            await anyio.sleep(0.03)
        assert place is not None and place.pid == process.pid
        yield place
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def stop_agents(desk: Desk) -> None:
    """End the agents that a server left working."""
    environ = {**desk.environ, "PODIUM_DATA": str(desk.data)}
    await anyio.run_process([sys.executable, "-m", "podium", "stop", "--agents"], env=environ)


async def test_two_clients_see_one_thread_and_what_others_write(desk: Desk) -> None:
    async with desk.serve() as web:
        place = web.running.place
        async with (
            podium.connect(place.url, place.token) as one,
            podium.connect(place.url, place.token) as two,
        ):
            thread = await one.threads.create(workspace=desk.workspace, agent="scripted")
            await until(lambda: [t.id for t in two.threads.list()] == [thread.id])
            async with desk.open() as other:  # another process's runtime on the same data
                beside = await other.threads.create(workspace=desk.workspace, agent="scripted")
                await until(lambda: len(two.threads.list()) == 2)
                await last_run(beside, "text")
                seen = two.threads.get(beside.id)
                await seen.adopt()
                await until(lambda: seen.state.last_run is not None)
            assert one.sequence == two.sequence or await settled(one, two)


async def settled(one: AnyPodium, two: AnyPodium) -> bool:
    """Whether two clients come to the same sequence."""
    for _ in range(500):
        if one.sequence == two.sequence:
            return True
        await anyio.sleep(0.02)
    return False


async def test_a_server_that_cannot_write_is_told_once_and_once_when_it_can(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.server.stream.HEARTBEAT_SECONDS", 0.05)
    told: list[str | None] = []
    async with desk.serve() as web:
        place = web.running.place
        journal = web.running.service.podium.runtime.journal
        commit = journal.commit

        def full(_: Batch) -> int:
            raise StorageFailed("storage_failed", "The journal could not be written: disk full.")

        async with podium.connect(
            place.url, place.token, told=lambda e: told.append(e.code if e is not None else None)
        ) as p:
            thread = await p.threads.create(workspace=desk.workspace, agent="scripted")
            monkeypatch.setattr(journal, "commit", full)
            with pytest.raises(StorageFailed):
                await thread.post("text")
            await until(lambda: told == ["storage_failed"])
            ready = await web.get("/v1/readyz", status=503)
            assert ready["code"] == "storage_failed"
            monkeypatch.setattr(journal, "commit", commit)
            await last_run(thread, "text")
            await until(lambda: told == ["storage_failed", None])
            assert (await web.get("/v1/readyz"))["ok"]
