"""The agent is killed at random while its host lives: its run fails with proof, its thread goes on."""

from __future__ import annotations

import random
from pathlib import Path

import anyio
import pytest

import podium
from podium.contract.errors import PodiumError
from podium.contract.requests import Answer
from podium.domain.entities import Message, Run
from podium.runtime.podium import Podium, ThreadHandle
from podium.testkit.model_script import Call, CustomCall, Sleep, Text
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs.codex import environment, write_home
from tests.agents.paths import codex_binary
from tests.kill.remains import kill, launched, left_open, native_ids
from tests.kill.test_kill_matrix import PATCH
from tests.runtime.house import House, ended, ran, until

pytestmark = pytest.mark.anyio

PLAY = (
    '{"play": [{"do": "think"}, {"do": "plan"}, {"do": "chunks", "count": 40, "delay": 0.005},'
    ' {"do": "edit", "file": "a.txt"}, {"do": "tools", "count": 40}, {"do": "subagent"},'
    ' {"do": "chunks", "count": 40, "delay": 0.005}]}'
)


async def answering(p: Podium) -> None:
    """Allow whatever is asked."""
    while True:
        for request in p.requests.pending():
            try:
                await p.requests.answer(request.id, Answer("accept"))
            except PodiumError:  # its agent was killed meanwhile
                continue
        await anyio.sleep(0.01)


async def struck(p: Podium, thread: ThreadHandle, data: Path, prompt: str, delay: float) -> Run:
    """Post a prompt, kill the agent after a while, and wait for the end of the run."""
    pids = [row["agent_pid"] for row in launched(data)]
    receipt = await thread.post(prompt)
    async with anyio.create_task_group() as group:
        group.start_soon(answering, p)
        await anyio.sleep(delay)
        for pid in pids:
            kill(pid)
        await ended(thread, receipt.result["run"])
        group.cancel_scope.cancel()
    await until(lambda: thread.state.session is None, "the end of the session")  # a death that is noticed
    return thread.run(receipt.result["run"])


def check(thread: ThreadHandle, run: Run, data: Path, arrived: int) -> None:
    """The end is one of two, what was sent is not said to be more than it is, and nothing is open."""
    assert (run.outcome, run.evidence) in (("failed", "process_exit"), ("completed", "provider")), run
    [message] = [m for m in thread.entities("message") if m.id == run.message_id]
    assert isinstance(message, Message)
    if run.outcome == "failed":
        assert run.failure is not None and run.failure.fix
        assert message.delivery in ("accepted", "unknown", "rejected")
        if not arrived:
            assert message.delivery in ("unknown", "rejected")
        if message.delivery == "rejected":
            assert not arrived
    assert arrived <= 1
    assert all(r.state != "pending" for r in thread.state.requests.values())
    kinds = {e.split("_")[0] for e in left_open(data)}
    assert kinds <= {"ses"}, kinds  # the session of the next turn may be open already


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.behaviour("F280")
async def test_scripted_agent_killed_at_random(seed: int, tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as p:
        thread = await house.thread(p)
        assert (await ran(thread, "hello")).outcome == "completed"
        run = await struck(p, thread, house.data, PLAY, random.Random(seed).uniform(0, 0.6))
        check(thread, run, house.data, house.prompts().count(PLAY))
        again = await ran(thread, "recall")
        assert again.outcome == "completed", again
        assert len(native_ids(house.data)) == 1
        assert house.prompts().count(PLAY) <= 1
    await house.empty()


@pytest.mark.agents
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.behaviour("F271", "F280")
async def test_real_codex_killed_at_random(seed: int, tmp_path: Path) -> None:
    with ResponsesServer() as server:
        server.script(
            "go",
            [Text("I will work.", delay=0.02), Call("exec_command", {"cmd": "echo ran >> ran.txt"})],
            [CustomCall("apply_patch", PATCH)],
            [Text("All done.", delay=0.02), Sleep(0.1)],
        )
        server.script("next", [Text("Here I am again.")])
        home = write_home(tmp_path / "agent", server.base_url)
        workspace = tmp_path / "ws"
        workspace.mkdir()
        (workspace / "a.txt").write_text("one\ntwo\nthree\n")
        environ = environment(home, tmp_path)
        environ |= {
            "PATH": f"{codex_binary().parent}:{environ['PATH']}",
            "PODIUM_CONFIG": str(tmp_path / "config"),
        }
        data = tmp_path / "data"
        async with podium.open(data, environ=environ) as p:
            thread = await p.threads.create(workspace=workspace, agent="codex")
            assert (await ran(thread, "first")).outcome == "completed"
            run = await struck(p, thread, data, "[[go]] go", random.Random(seed).uniform(0, 1.2))
            check(thread, run, data, server.prompts("[[go]] go"))
            again = await ran(thread, "[[next]] and then")
            assert again.outcome == "completed", again
            assert len(native_ids(data)) == 1
            assert server.prompts("[[go]] go") <= 1
            assert server.prompts("[[next]] and then") == 1
