"""A command for a thread that another living runtime owns reaches it, exactly once."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

import podium
from podium.contract.errors import BadInput, Conflict
from podium.contract.requests import Answer
from podium.runtime import handover
from podium.runtime.podium import Podium, ThreadHandle

pytestmark = pytest.mark.anyio

WAIT = 20.0


async def waiting_run(p: Podium, workspace: Path) -> tuple[ThreadHandle, str]:
    thread = await p.threads.create(workspace=workspace, agent="scripted")
    receipt = await thread.post("edit a.txt")
    await until(thread, receipt.result["run"], "waiting")
    return thread, receipt.result["run"]


async def until(thread: ThreadHandle, run_id: str, state: str) -> None:
    with anyio.fail_after(WAIT), thread.subscribe() as reader:
        while thread.run(run_id).state != state:
            with anyio.move_on_after(0.5):
                await reader.next()


def answers(home: Path) -> list[object]:
    rows = [json.loads(line) for line in (home / "prompts.jsonl").read_text().splitlines()]
    return [r for r in rows if r["kind"] == "permission"]


@pytest.mark.behaviour("F240", "F146")
async def test_an_answer_from_another_podium_reaches_the_agent_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_HOME", str(tmp_path / "agent"))
    (tmp_path / "ws").mkdir()
    async with podium.open(tmp_path / "data") as owner:
        thread, run_id = await waiting_run(owner, tmp_path / "ws")
        (request,) = owner.requests.pending()
        async with podium.open(tmp_path / "data") as other:
            assert [r.id for r in other.requests.pending()] == [request.id]
            with pytest.raises(BadInput):
                await other.requests.answer(request.id, Answer("not-offered"))
            first = await other.requests.answer(request.id, Answer("accept"), command_id="once")
            again = await other.requests.answer(request.id, Answer("accept"), command_id="once")
            assert first == again
            with pytest.raises(Conflict):
                await other.requests.answer(request.id, Answer("decline"))
            with pytest.raises(Conflict, match="works with this thread"):
                await other.threads.get(thread.id).post("not while another works here")
        await until(thread, run_id, "ended")
        assert thread.run(run_id).outcome == "completed"
    assert len(answers(tmp_path / "agent")) == 1


async def test_an_owner_that_takes_nothing_is_a_typed_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_HOME", str(tmp_path / "agent"))
    monkeypatch.setattr(handover, "HANDOVER_MAX", 0.3)
    (tmp_path / "ws").mkdir()
    async with podium.open(tmp_path / "data") as owner:
        thread, run_id = await waiting_run(owner, tmp_path / "ws")
        monkeypatch.setattr(handover, "HANDOVER_POLL", 5.0)
        await anyio.sleep(0.3)
        (request,) = owner.requests.pending()
        async with podium.open(tmp_path / "data") as other:
            with pytest.raises(Conflict) as caught:
                await other.requests.answer(request.id, Answer("accept"))
            assert caught.value.code == "thread_in_use"
        assert thread.run(run_id).state == "waiting"
