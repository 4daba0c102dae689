"""Real Codex in a dirty repository: the thread's diff is exactly its change, and restore brings that back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.testkit.model_script import Call, CustomCall, Text
from podium.testkit.responses_server import ResponsesServer
from tests.agents.test_codex_repository import PATCH, git, inside_git, mixed_repository, outside_git
from tests.agents.worlds import CodexWorld, play
from tests.runtime.house import ended

pytestmark = [pytest.mark.agents, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[CodexWorld]:
    with ResponsesServer() as server:
        server.script(
            "go",
            [
                Text("I look first."),
                Call("exec_command", {"cmd": "git status --short; echo seen > seen.txt"}),
            ],
            [CustomCall("apply_patch", PATCH)],
            [Text("All done.")],
        )
        server.script("more", [Call("exec_command", {"cmd": "echo more >> more.txt"})], [Text("Done too.")])
        yield CodexWorld(tmp_path, server)


@pytest.mark.behaviour("F170", "F269")
async def test_the_diff_is_exactly_its_change_and_restore_brings_exactly_that_back(world: CodexWorld) -> None:
    ws = world.workspace
    mixed_repository(ws)
    git(ws, "status")
    before, meta = outside_git(ws), inside_git(ws)
    async with world.open() as p:
        thread = await p.threads.create(workspace=ws, agent="codex", mode="full")
        other = await p.threads.create(workspace=ws, agent="scripted", mode="full")
        run, _ = await play(p, thread, "[[go]] work")
        assert run.outcome == "completed"
        (ws / "notes.txt").write_text("untracked, and edited by the user meanwhile\n")
        foreign = (await other.post("command echo theirs > theirs.txt")).result["run"]
        assert (await ended(other, foreign)).outcome == "completed"
        assert (await play(p, thread, "[[more]] work"))[0].outcome == "completed"
        changes = await thread.diff()
        assert {path.path: path.owner for path in changes.paths} == {
            "a.txt": "agent", "more.txt": "agent", "seen.txt": "agent",
        }  # fmt: skip
        assert "-two" in changes.agent and "+TWO" in changes.agent and "+seen" in changes.agent
        assert changes.shared == "" and not changes.unknown
        assert [path.path for path in (await other.diff()).paths] == ["theirs.txt"]
        worked = outside_git(ws)
        safety = await p.checkpoints.restore(thread.id)
        restored = outside_git(ws)
        assert restored.pop("theirs.txt") == b"theirs\n"
        assert restored.pop("notes.txt") == b"untracked, and edited by the user meanwhile\n"
        assert restored == {name: held for name, held in before.items() if name != "notes.txt"}
        assert inside_git(ws) == meta  # index, HEAD, branches, stash, reflogs
        await p.checkpoints.undo(safety.id)
        assert outside_git(ws) == worked
