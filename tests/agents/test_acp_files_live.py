"""A real agent that reads and changes files through Podium, against a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.contract.inputs import Mode
from podium.contract.requests import Answer
from podium.contract.serving import Serve
from podium.domain.entities import Request, Run
from podium.runtime.podium import Podium, ThreadHandle
from podium.runtime.serving import Serving
from podium.testkit.chat_server import ChatServer
from podium.testkit.model_script import Call
from tests.agents.acp_worlds import GROK, AcpWorld
from tests.agents.worlds import play

pytestmark = [pytest.mark.agents, pytest.mark.anyio]

ACCEPT = Answer("accept")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AcpWorld]:
    with ChatServer() as server:
        made = AcpWorld(tmp_path, server, GROK)
        config = tmp_path / "config"
        config.mkdir(exist_ok=True)
        (config / "podium.toml").write_text('[agents.grok]\nadapter = "grok"\noptions = { files = true }\n')
        yield made


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Podium did for the agent."""
    requests: list[str] = []
    take = Serving.take

    def noted(self: Serving, serve: Serve) -> None:
        requests.append(f"{type(serve.request).__name__} {Path(serve.request.path).name}")
        take(self, serve)

    monkeypatch.setattr(Serving, "take", noted)
    return requests


async def told(p: Podium, world: AcpWorld, key: str, mode: Mode) -> tuple[ThreadHandle, Run, list[Request]]:
    thread = await p.threads.create(workspace=world.workspace, agent="grok", mode=mode)
    run, asked = await play(p, thread, f"[[{key}]] x", ACCEPT)
    assert run.outcome == "completed"
    assert not [i for i in thread.items() if i.state == "open" or i.item_kind == "opaque"]
    return thread, run, asked


async def test_it_reads_changes_and_makes_files_through_podium(world: AcpWorld, done: list[str]) -> None:
    place = world.workspace
    world.script("edit", *GROK.change(place / "hello.txt", "alpha", "beta"))
    world.script("new", [Call("write", {"file_path": str(place / "new" / "n.txt"), "content": "one\n"})])
    async with world.open() as p:
        thread, _, asked = await told(p, world, "edit", "full")
        assert asked == []
        assert (place / "hello.txt").read_text() == "beta\nsecond\n"
        assert {"ReadTextFile hello.txt", "WriteTextFile hello.txt"} <= set(done)
        [change] = [i for i in thread.items() if i.item_kind == "file_change"]
        assert "-alpha\n+beta\n" in change.content.changes[0].diff
        assert "+beta" in (await thread.diff()).agent

        run, _ = await play(p, thread, "[[new]] x", ACCEPT)
        assert (place / "new" / "n.txt").read_text() == "one\n"
        assert done.count("WriteTextFile n.txt") == 1
        [shown] = [i for i in thread.items() if i.run_id == run.id and i.content.changes]
        assert "+one" in shown.content.changes[0].diff


async def test_where_a_person_decides_it_is_offered_no_writing(world: AcpWorld, done: list[str]) -> None:
    world.script("edit", *GROK.change(world.workspace / "hello.txt", "alpha", "beta"))
    async with world.open() as p:
        _, _, asked = await told(p, world, "edit", "ask")
        assert [r.request_kind for r in asked] == ["file_change_approval"]
        assert (world.workspace / "hello.txt").read_text() == "beta\nsecond\n"
        assert done == []  # offered one method of the two, this agent uses neither


async def test_what_lies_outside_fails_and_the_turn_goes_on(world: AcpWorld, done: list[str]) -> None:
    outside = world.folder / "outside.txt"
    outside.write_text("outside\n")
    world.script("out", *GROK.change(outside, "outside", "changed"))
    async with world.open() as p:
        thread, _, _ = await told(p, world, "out", "full")
        assert outside.read_text() == "outside\n"
        assert "ReadTextFile outside.txt" in done
        assert "failed" in {i.state for i in thread.items()}
