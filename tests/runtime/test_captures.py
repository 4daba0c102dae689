"""Files around runs: what is captured when, whose each change is, what is taken back (R11, F248, F269)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from podium.contract.errors import BadInput, Conflict
from podium.domain.entities import Checkpoint, NoticeEntry, Run
from podium.runtime.live import decode_entity
from podium.runtime.podium import Podium, ThreadHandle
from podium.workspace.values import RestoreResult
from tests.runtime.hosting import host
from tests.runtime.house import House, asked, ended, ran, said, started, until

pytestmark = pytest.mark.anyio


def play(*steps: dict[str, Any]) -> str:
    return json.dumps({"play": list(steps)})


def command(text: str) -> dict[str, Any]:
    return {"do": "command", "command": text}


def wrote(text: str) -> str:
    """A prompt that runs one shell command."""
    return play(command(text))


def moments(thread: ThreadHandle, run: Run) -> dict[str, Checkpoint]:
    found = [c for c in thread.checkpoints() if c.run_id == run.id]
    assert len({c.moment for c in found}) == len(found)
    return {c.moment: c for c in found}


async def owners(thread: ThreadHandle, run_id: str | None = None) -> dict[str, str]:
    changes = await thread.diff(run_id)
    return {path.path: path.owner for path in changes.paths}


async def full(house: House, p: Podium) -> ThreadHandle:
    return await house.thread(p, mode="full")


def order(thread: ThreadHandle, p: Podium, run: Run) -> list[str]:
    """The events of a run by name and state."""
    rows = [e for e in p.runtime.journal.all_events(thread_id=thread.id) if e.run_id == run.id]
    return [f"{e.type} {getattr(decode_entity(e.payload or b''), 'state', '')}" for e in rows]


@pytest.mark.behaviour("F248")
async def test_a_run_is_captured_before_its_prompt_and_before_its_end(house: House) -> None:
    async with house.open() as p:
        thread = await full(house, p)
        run = await ran(thread, wrote("echo one > new.txt"))
        assert run.outcome == "completed" and run.ending is None
        found = moments(thread, run)
        assert {m: c.state for m, c in found.items()} == {"start": "ready", "end": "ready"}
        assert found["start"].quiescent and found["end"].quiescent
        assert found["start"].root == str(house.workspace.resolve()) == found["end"].root
        told = order(thread, p, run)
        assert told[-1] == "run.updated ended" and told[-2] == "checkpoint.updated ready"
        assert told.index("run.updated preparing") < told.index("run.updated starting")
        last_item = max(n for n, word in enumerate(told) if word.startswith("item."))
        assert last_item < told.index("checkpoint.created pending", told.index("run.updated running"))
        changes = await thread.diff()
        assert [(path.path, path.owner) for path in changes.paths] == [("new.txt", "agent")]
        assert "+one" in changes.agent and not changes.shared and not changes.unknown
    await house.empty()


@pytest.mark.behaviour("F269")
async def test_two_threads_in_one_folder_show_only_their_own_files(house: House) -> None:
    async with house.open() as p:
        one, other = await full(house, p), await full(house, p)
        first = await ran(one, wrote("echo 1 > one.txt"))
        second = await ran(other, wrote("echo 2 > two.txt"))
        again = await ran(one, wrote("echo 3 > three.txt"))
        assert await owners(one) == {"one.txt": "agent", "three.txt": "agent"}
        assert await owners(other) == {"two.txt": "agent"}
        assert await owners(one, first.id) == {"one.txt": "agent"}
        assert await owners(one, again.id) == {"three.txt": "agent"}
        assert await owners(other, second.id) == {"two.txt": "agent"}
        done = await p.checkpoints.restore(one.id)
        assert done.moment == "safety" and done.restore is not None
        assert sorted(path.name for path in house.workspace.iterdir()) == ["two.txt"]
        await p.checkpoints.undo(done.id)
        assert sorted(path.name for path in house.workspace.iterdir()) == ["one.txt", "three.txt", "two.txt"]


async def test_overlapping_runs_share_what_neither_agent_reported(house: House) -> None:
    async with house.open() as p:
        one, other = await full(house, p), await full(house, p)
        slow = play(
            {"do": "sleep", "seconds": 0.3}, {"do": "edit", "file": "own.txt"}, command("echo x > shell.txt"),
            {"do": "sleep", "seconds": 0.5},
        )  # fmt: skip
        run_id = await started(one, slow)
        meanwhile = await started(other, play(command("echo y > other.txt"), {"do": "sleep", "seconds": 1.5}))
        await ended(one, run_id)
        await ended(other, meanwhile)
        mine, theirs = await owners(one), await owners(other)
        assert mine == {"own.txt": "agent", "shell.txt": "shared", "other.txt": "shared"}
        assert theirs == {"shell.txt": "shared", "other.txt": "shared"}
        changes = await one.diff()
        assert "own.txt" in changes.agent and "shell.txt" not in changes.agent
        assert "shell.txt" in changes.shared and "own.txt" not in changes.shared


@pytest.mark.behaviour("F269")
async def test_what_the_user_edits_between_and_after_runs_is_not_the_threads(house: House) -> None:
    ws = house.workspace
    async with house.open() as p:
        thread = await full(house, p)
        await ran(thread, wrote("echo a > a.txt; echo c > c.txt"))
        (ws / "b.txt").write_text("mine\n")
        await ran(thread, wrote("echo d > d.txt"))
        (ws / "a.txt").write_text("a and mine\n")
        assert await owners(thread) == {"a.txt": "agent", "c.txt": "agent", "d.txt": "agent"}
        plan = await p.checkpoints.plan(thread.id)
        assert {s.path: s.action for s in plan.steps} == {
            "a.txt": "refuse",
            "c.txt": "delete",
            "d.txt": "delete",
        }
        assert (ws / "c.txt").exists()
        done = await p.checkpoints.restore(plan)
        assert (ws / "a.txt").read_text() == "a and mine\n" and (ws / "b.txt").read_text() == "mine\n"
        assert not (ws / "c.txt").exists() and not (ws / "d.txt").exists()
        assert thread.checkpoints()[0] == done
        with pytest.raises(Conflict) as known:
            await p.checkpoints.restore(plan)
        assert known.value.code == "restore_known"


async def test_from_a_checkpoint_on_only_what_came_later_is_taken_back(house: House) -> None:
    async with house.open() as p:
        thread = await full(house, p)
        first = await ran(thread, wrote("echo 1 > one.txt"))
        second = await ran(thread, wrote("echo 2 > two.txt"))
        after_first = moments(thread, first)["end"]
        steps = (await p.checkpoints.plan(after_first.id)).steps
        assert [s.path for s in steps] == ["two.txt"]
        steps = (await p.checkpoints.plan(moments(thread, first)["start"].id)).steps
        assert [s.path for s in steps] == ["one.txt", "two.txt"]
        steps = (await p.checkpoints.plan(second.id)).steps
        assert [s.path for s in steps] == ["two.txt"]
        with pytest.raises(BadInput) as nothing:
            await p.checkpoints.plan(moments(thread, second)["end"].id)
        assert nothing.value.code == "nothing_to_restore"
        done = await p.checkpoints.restore(second.id)
        with pytest.raises(BadInput) as unfit:
            await p.checkpoints.plan(done.id)
        assert unfit.value.code == "checkpoint_unfit"
        with pytest.raises(BadInput) as unfit:
            await p.checkpoints.undo(after_first.id)
        assert unfit.value.code == "checkpoint_unfit"


@pytest.mark.behaviour("F266")
async def test_nothing_is_restored_while_a_run_works_in_the_folder(house: House) -> None:
    async with house.open() as p:
        one, other = await full(house, p), await house.thread(p)
        await ran(one, wrote("echo 1 > one.txt"))
        run_id = await started(other, "edit a.txt")
        [request] = await asked(p)
        with pytest.raises(Conflict) as busy:
            await p.checkpoints.restore(one.id)
        assert busy.value.code == "checkout_busy"
        assert (house.workspace / "one.txt").exists()
        await p.requests.answer(request.id, _no())
        await ended(other, run_id)
        await p.checkpoints.restore(one.id)
        assert not (house.workspace / "one.txt").exists()


def _no() -> Any:
    from podium.contract.requests import Answer

    return Answer("decline")


async def test_a_command_that_lives_on_makes_unreported_changes_shared(house: House) -> None:
    async with house.open() as p:
        thread = await full(house, p)
        leaving = "(setsid sleep 600 >/dev/null 2>&1 &) ; echo x > shell.txt"
        run = await ran(thread, play(command(leaving), {"do": "edit", "file": "own.txt"}))
        assert not moments(thread, run)["end"].quiescent
        assert await owners(thread) == {"own.txt": "agent", "shell.txt": "shared"}
    await house.empty()


async def test_a_folder_that_cannot_be_captured_is_told_once_and_stops_nothing(house: House) -> None:
    (house.root / "bin").mkdir()
    house.environ["PATH"] = str(house.root / "bin")
    (house.root / "bin" / "sh").symlink_to("/bin/sh")
    async with house.open() as p:
        thread = await full(house, p)
        runs = [await ran(thread, prompt) for prompt in ("hello", "hello")]
        assert [r.outcome for r in runs] == ["completed", "completed"]
        found = [moments(thread, run) for run in runs]
        assert [{m: c.state for m, c in f.items()} for f in found] == [{"start": "failed"}] * 2
        trouble = found[0]["start"].trouble
        assert trouble is not None and trouble.code == "git_missing" and trouble.fix
        notices = [n for n in thread.entities("notice") if isinstance(n, NoticeEntry)]
        assert [n.code for n in notices] == ["not_captured"]
        changes = await thread.diff()
        assert [u.run_id for u in changes.unknown] == [r.id for r in runs] and not changes.paths
        with pytest.raises(BadInput) as nothing:
            await p.checkpoints.plan(thread.id)
        assert nothing.value.code == "nothing_to_restore" and "git" in nothing.value.message
        with pytest.raises(BadInput) as unready:
            await p.checkpoints.plan(found[0]["start"].id)
        assert unready.value.code == "checkpoint_not_ready"


@pytest.mark.parametrize("where", ["user", "project"])
async def test_captures_can_be_switched_off(house: House, where: str) -> None:
    text = "[captures]\nenabled = false\n"
    if where == "user":
        house.configure(text)
    else:
        (house.workspace / "podium.toml").write_text(text)
    async with house.open() as p:
        thread = await full(house, p)
        run = await ran(thread, wrote("echo 1 > one.txt"))
        assert run.outcome == "completed"
        assert thread.checkpoints() == []
        assert not (house.data / "workspaces").exists()
        changes = await thread.diff()
        assert not changes.paths and [u.run_id for u in changes.unknown] == [run.id]


async def test_a_run_that_is_stopped_before_its_prompt_is_cancelled(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await full(house, p)
        going, go = anyio.Event(), anyio.Event()
        capture = p.runtime.workspaces.capture

        async def slow(*given: Any, **more: Any) -> Any:
            going.set()
            await go.wait()
            return await capture(*given, **more)

        monkeypatch.setattr(p.runtime.workspaces, "capture", slow)
        run_id = (await thread.post("hello")).result["run"]
        await going.wait()
        assert thread.run(run_id).state == "preparing"
        await until(lambda: thread.state.session and thread.state.session.state == "ready", "the session")
        await anyio.sleep(0.1)
        assert house.prompts() == []
        await thread.interrupt(run_id)
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("cancelled", "user")
        go.set()
        assert (await ran(thread, "recall")).outcome == "completed"
        assert house.prompts() == ["recall"]
        assert [c.state for c in thread.checkpoints() if c.run_id == run_id] == ["stale"]


async def test_a_second_end_during_the_last_capture_changes_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await full(house, p)
        await ran(thread, "hello")
        going, go = anyio.Event(), anyio.Event()
        capture = p.runtime.workspaces.capture
        count = 0

        async def slow(*given: Any, **more: Any) -> Any:
            nonlocal count
            count += 1
            if count == 2:
                going.set()
                await go.wait()
            return await capture(*given, **more)

        monkeypatch.setattr(p.runtime.workspaces, "capture", slow)
        run_id = (await thread.post("say one")).result["run"]
        follower = (await thread.post("say two", intent="queue")).result["run"]
        await going.wait()
        run = thread.run(run_id)
        assert run.state == "running" and run.ending is not None and run.ending.outcome == "completed"
        await thread.interrupt(run_id)
        await p.runtime.sessions.stop_all("stopped")
        assert thread.run(run_id).state == "running" and thread.run(follower).state == "queued"
        go.set()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("completed", "provider")
        assert (await ended(thread, follower)).outcome == "completed"
        assert said(thread, follower)


@pytest.mark.parametrize("moment", ["start", "end"])
@pytest.mark.parametrize("place", ["capture", "captured"])
async def test_a_capture_that_a_kill_cut_short_is_made_at_the_next_start(
    house: House, moment: str, place: str
) -> None:
    house.environ["PODIUM_TEST_DIE_AT"] = f"{place} {moment}"
    killed = await host(house, "hello")
    thread_id = await killed.word("THREAD")
    with anyio.fail_after(20):
        await killed.process.wait()
    del house.environ["PODIUM_TEST_DIE_AT"]
    async with house.open() as p:
        assert await p.runtime.recover_all() == [thread_id]
        thread = p.threads.get(thread_id)
        [run] = thread.entities("run")
        assert isinstance(run, Run)
        run = await ended(thread, run.id)
        found = {c.moment: c.state for c in thread.checkpoints() if c.state != "stale"}
        if moment == "end":
            assert (run.outcome, run.evidence) == ("completed", "provider")
            assert found == {"start": "ready", "end": "ready"}
        assert house.prompts().count("hello") <= 1
        assert not thread.state.checkpoints and not thread.state.runs
    await house.empty()


async def test_a_restore_that_a_kill_cut_short_is_ended_and_recorded(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await full(house, p)
        await ran(thread, wrote("echo 1 > one.txt; echo 2 > two.txt"))
        plan = await p.checkpoints.plan(thread.id)
        result = await p.runtime.workspaces.restore(plan)  # and here it was killed: nothing is recorded
        assert isinstance(result, RestoreResult)
        assert not [c for c in thread.checkpoints() if c.moment == "safety"]
    async with house.open() as p:
        thread = p.threads.get(thread.id)
        await until(lambda: [c for c in thread.checkpoints() if c.moment == "safety"], "the record")
        [safety] = [c for c in thread.checkpoints() if c.moment == "safety"]
        assert sorted(path.name for path in house.workspace.iterdir()) == []
        await until(lambda: not list((house.data / "workspaces" / "restores").iterdir()), "settled")
        await p.checkpoints.undo(safety.id)
        assert sorted(path.name for path in house.workspace.iterdir()) == ["one.txt", "two.txt"]
    async with house.open() as p:
        assert len([c for c in p.threads.get(thread.id).checkpoints() if c.moment == "safety"]) == 2


async def test_a_subfolder_of_a_checkout_shares_it(house: House, tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    (repository / "sub").mkdir(parents=True)
    await anyio.run_process(["git", "init", "-q", str(repository)])
    async with house.open() as p:
        whole = await p.threads.create(workspace=repository, agent="scripted", mode="full")
        part = await p.threads.create(workspace=repository / "sub", agent="scripted", mode="full")
        await ran(whole, wrote("echo 1 > top.txt"))
        await ran(part, play({"do": "edit", "file": "in.txt"}, command("echo 2 > shell.txt")))
        assert await owners(whole) == {"top.txt": "agent"}
        assert await owners(part) == {"sub/in.txt": "agent", "sub/shell.txt": "agent"}
