"""Resuming: only the named conversation, in its folder, with its rights, never by silence (B34 to B55)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from podium.contract.errors import PodiumError
from podium.contract.inputs import Mode
from tests.field.replaying import (
    STAY,
    Stage,
    Step,
    acp_end,
    acp_prompt,
    acp_said,
    acp_start,
    acp_update,
    codex_end,
    codex_hello,
    codex_said,
    codex_start,
    codex_thread,
    codex_turn,
)

pytestmark = pytest.mark.anyio

LEAVE: Step = {"agent_exit": 0}


def codex_first() -> list[Step]:
    """One whole turn, then the program leaves."""
    return [*codex_start(), *codex_turn(), codex_said("old"), codex_end(), LEAVE]


def codex_second(**answer: Any) -> list[Step]:
    """A resume, then one turn."""
    resume = codex_thread(method="thread/resume", **answer)
    return [
        *codex_hello(),
        *resume,
        *codex_turn("tu-2"),
        codex_said("new", "m2", "tu-2"),
        codex_end("tu-2"),
        STAY,
    ]


def acp_first() -> list[Step]:
    """One whole turn, then the program leaves."""
    return [*acp_start(loadSession=True), acp_prompt(), acp_said("OLD ANSWER"), acp_end(), LEAVE]


def acp_load(answer: dict[str, Any]) -> list[Step]:
    """The handshake of a second start and the answer to its load."""
    return [
        *acp_start(loadSession=True)[:2],
        {"expect_to_agent": {"method": "session/load"}, "bind": {"$l": "id"}},
        {"agent": {"jsonrpc": "2.0", "id": "$l", **answer}},
    ]


@pytest.mark.parametrize("delay", [0, 60, 250])
@pytest.mark.parametrize("early", [False, True])
async def test_b38_history_behind_the_answer_to_a_load_is_no_new_output(
    early: bool, delay: int, tmp_path: Path
) -> None:
    history: list[Step] = [
        acp_said("old question", "user_message_chunk"),
        acp_said("OLD ANSWER"),
        acp_update("tool_call", toolCallId="c1", title="look", kind="read", status="completed"),
    ]
    *ask, answer = acp_load({"result": {}})
    replay = [*ask, *history, answer] if early else [*ask, answer]
    stage = Stage(
        tmp_path,
        "scripted",
        acp_first(),
        [*replay, {"sleep_ms": delay}, *history, acp_prompt(), acp_said("FRESH"), acp_end(), STAY],
    )
    async with stage.open() as driver:
        await driver.ended(await driver.send("old question"))
        await driver.until(lambda: driver.thread.state.session is None)
        assert (await driver.ended(await driver.send("new"))).outcome == "completed", driver.story()
        assert driver.texts() == ["old question", "OLD ANSWER", "new", "FRESH"]
        assert len(driver.items) == 2


@pytest.mark.behaviour("F074")
async def test_b55_a_load_that_fails_is_told_and_nothing_new_is_begun(tmp_path: Path) -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "no earlier session"}}
    second = [*acp_load({"error": error}), STAY]
    fresh = [*acp_start("s-2", loadSession=True), acp_prompt(), acp_said("anew"), acp_end(), STAY]
    stage = Stage(tmp_path, "scripted", acp_first(), [*second[:-1], *fresh[2:]])
    async with stage.open() as driver:
        await driver.ended(await driver.send("one"))
        await driver.until(lambda: driver.thread.state.session is None)
        run = await driver.ended(await driver.send("two"))
        assert (run.outcome, run.evidence) == ("failed", "start_failed")
        assert run.failure is not None
        assert "Internal error" in run.failure.message
        assert (driver.main.state, driver.main.chain.current and driver.main.chain.current.native_id) == (
            "missing",
            "s-1",
        )
        with pytest.raises(PodiumError) as refused:
            await driver.send("three")
        assert refused.value.code == "conversation_missing"
        assert "--fresh" in refused.value.fix
        assert len(stage.asked("session/load", 2)) == 1
        assert not stage.asked("session/new", 2)
        receipt = await driver.thread.post("four", fresh=True)
        assert (await driver.ended(receipt.result["run"])).outcome == "completed", driver.story()
        assert "context_lost" in [n.code for n in driver.notices]


async def test_b55_another_conversation_than_the_named_one_is_refused(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path, "codex", codex_first(), [*codex_hello(), *codex_thread("th-2", "thread/resume"), STAY]
    )
    async with stage.open() as driver:
        await driver.ended(await driver.send("one"))
        await driver.until(lambda: driver.thread.state.session is None)
        run = await driver.ended(await driver.send("two"))
        assert run.failure is not None
        assert run.failure.code == "other_conversation"
        assert not stage.asked("turn/start", 2)


RIGHTS: dict[Mode, tuple[str, str, str]] = {
    "read": ("never", "read-only", "readOnly"),
    "ask": ("untrusted", "workspace-write", "workspaceWrite"),
    "edit": ("on-request", "workspace-write", "workspaceWrite"),
    "full": ("never", "danger-full-access", "dangerFullAccess"),
}


@pytest.mark.parametrize("mode", list(RIGHTS))
async def test_b34_the_rights_of_a_thread_are_sent_whole_at_every_start(mode: Mode, tmp_path: Path) -> None:
    policy, sandbox, native = RIGHTS[mode]
    told = {"approvalPolicy": policy, "sandbox": {"type": native}}
    stage = Stage(tmp_path, "codex", codex_first(), codex_second(**told))
    async with stage.open(mode=mode) as driver:
        await driver.ended(await driver.send("one"))
        await driver.until(lambda: driver.thread.state.session is None)
        await driver.ended(await driver.send("two"))
        assert not [n for n in driver.notices if n.code == "mode_differs"]
    for start, method in ((1, "thread/start"), (2, "thread/resume")):
        (asked,) = stage.asked(method, start)
        assert (asked["params"]["approvalPolicy"], asked["params"]["sandbox"]) == (policy, sandbox)
        assert asked["params"]["cwd"] == str(stage.workspace.resolve())


async def test_b34_rights_other_than_the_recorded_ones_are_told(tmp_path: Path) -> None:
    wider = {"approvalPolicy": "never", "sandbox": {"type": "dangerFullAccess"}}
    stage = Stage(tmp_path, "codex", codex_first(), codex_second(**wider))
    async with stage.open(mode="ask") as driver:
        await driver.ended(await driver.send("one"))
        await driver.until(lambda: driver.thread.state.session is None)
        await driver.ended(await driver.send("two"))
        (notice,) = [n for n in driver.notices if n.code == "mode_differs"]
        assert (notice.level, "ask" in notice.text, "full" in notice.text) == ("warning", True, True)
        assert driver.main.mode == "full"
        thread = driver.thread.state.thread
        assert thread is not None
        assert thread.mode == "ask"


async def test_b50_a_resume_in_another_folder_is_refused(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", codex_first(), codex_second(cwd="/somewhere/else"))
    async with stage.open() as driver:
        await driver.ended(await driver.send("one"))
        await driver.until(lambda: driver.thread.state.session is None)
        run = await driver.ended(await driver.send("two"))
        assert run.failure is not None
        assert run.failure.code == "other_workspace"
        assert not stage.asked("turn/start", 2)


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("instead", [None, "file", "link"])
async def test_b49_b50_without_its_folder_a_thread_takes_no_work_anywhere(
    instead: str | None, busy: bool, tmp_path: Path
) -> None:
    first = codex_first()[:-1] + ([STAY] if busy else [LEAVE])
    stage = Stage(tmp_path, "codex", first, codex_second())
    other = tmp_path / "other"
    other.mkdir()
    async with stage.open() as driver:
        await driver.ended(await driver.send("one"))
        if not busy:
            await driver.until(lambda: driver.thread.state.session is None)
        shutil.move(stage.workspace, tmp_path / "moved")
        if instead == "file":
            stage.workspace.write_text("x")
        elif instead == "link":
            stage.workspace.symlink_to(other)
        with pytest.raises(PodiumError) as refused:
            await driver.send("two")
        assert refused.value.code == ("workspace_moved" if instead == "link" else "workspace_missing")
        assert "another folder" in refused.value.fix
        assert len(driver.runs) == 1
        if instead is not None:
            stage.workspace.unlink()
        shutil.move(tmp_path / "moved", stage.workspace)
        if not busy:
            assert (await driver.ended(await driver.send("two"))).outcome == "completed"
    assert not list(other.iterdir())


async def test_b49_folders_with_confusable_names_are_folders_of_their_own(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", codex_first())
    names = ["a/b-c", "a/b/c", "a/b.c", "項目", "測試", "foo", "foobar"]
    async with stage.open() as driver:
        seen: set[str] = set()
        for name in names:
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
            thread = await driver.p.threads.create(workspace=tmp_path / name, agent="replayed")
            state = thread.state.thread
            assert state is not None
            seen.add(state.workspace)
        (tmp_path / "link").symlink_to(tmp_path / "foo")
        linked = (await driver.p.threads.create(workspace=f"{tmp_path}/link/", agent="replayed")).state.thread
        assert linked is not None
        assert linked.workspace == str((tmp_path / "foo").resolve())
        assert len(seen) == len(names)


async def test_b79_a_model_that_is_gone_is_a_typed_failure_and_no_silent_swap(tmp_path: Path) -> None:
    gone: list[Step] = [
        *codex_hello(),
        {"expect_to_agent": {"method": "thread/start", "params": {"model": "m-old"}}, "bind": {"$t": "id"}},
        {"agent": {"id": "$t", "error": {"code": -32600, "message": "model not found: m-old"}}},
        STAY,
    ]
    stage = Stage(tmp_path, "codex", gone, model="m-old")
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert run.failure is not None
        assert run.failure.code == "model_not_found"
        assert "model" in run.failure.fix
        assert not stage.asked("turn/start")


async def test_b79_another_model_than_the_chosen_one_is_recorded_and_told(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), codex_end(), STAY], model="m-chosen")
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert driver.main.model == "m-1"
        assert [n.code for n in driver.notices] == ["model_differs"]
