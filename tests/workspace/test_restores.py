"""Restores: what they refuse, what they wait for, and what happens when somebody writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec
import pytest

from podium.contract.errors import BadInput, Conflict
from podium.workspace import restore as restoring
from podium.workspace.values import Entry, Owned, PlanStep, RestorePlan
from podium.workspace.workspaces import Workspaces
from tests.workspace.yard import Yard, repository, standing, tree

pytestmark = pytest.mark.anyio


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    root = repository(tmp_path / "repo", {"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"})
    return Yard(root, tmp_path / "data")


def reasons(steps: tuple[PlanStep, ...]) -> dict[str, str]:
    return {step.path: step.reason for step in steps}


@pytest.mark.behaviour("F266")
async def test_a_plan_changes_nothing_and_names_every_path(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.write("a.txt", "A\n"), yard.write("new/n.txt", "n\n")))
    before = tree(yard.root)
    plan = await yard.plan("one")
    assert tree(yard.root) == before
    assert {step.path: step.action for step in plan.steps} == {"a.txt": "write", "new/n.txt": "delete"}
    assert plan.folders == ("new",)
    stored = msgspec.json.decode(msgspec.json.encode(plan), type=RestorePlan)
    assert stored == plan


@pytest.mark.behaviour("F266")
async def test_a_plan_that_stood_too_long_leaves_what_changed_since(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.write("a.txt", "A\n"), yard.write("b.txt", "B\n")))
    plan = await yard.plan("one")
    yard.write("a.txt", "user\n")
    result = await yard.spaces.restore(plan)
    assert reasons(result.refused) == {"a.txt": "it was changed while the restore was under way"}
    assert (yard.read("a.txt"), yard.read("b.txt")) == ("user\n", "b\n")


async def during(yard: Yard, where: str, act: Callable[[], object]) -> dict[str, str]:
    """Why paths were left alone when somebody acts at a boundary of the restore."""
    plan = await yard.plan("one")
    seen: list[str] = []

    def point(name: str) -> None:
        seen.append(name)
        if seen.count(where) == 1 and name == where:
            act()

    result = await Workspaces(yard.data, point=point).restore(plan)
    assert where in seen
    return reasons(result.refused)


async def test_a_write_at_the_last_moment_is_kept(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    found = await during(yard, "laid out", lambda: yard.write("a.txt", "user\n"))
    assert found == {"a.txt": "it was changed while the restore was under way"}
    assert yard.read("a.txt") == "user\n"
    assert [path for path in tree(yard.root) if b".podium-" in path] == []


async def test_a_file_made_at_the_last_moment_is_kept(yard: Yard) -> None:
    await yard.run("one", (yard.root / "a.txt").unlink)
    found = await during(yard, "laid out", lambda: yard.write("a.txt", "user\n"))
    assert found == {"a.txt": "it was changed while the restore was under way"}
    assert yard.read("a.txt") == "user\n"


async def test_a_link_put_on_the_way_is_never_followed(yard: Yard, tmp_path: Path) -> None:
    await yard.run("one", lambda: yard.write("d/c.txt", "C\n"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("C\n")

    def swap() -> None:
        (yard.root / "d").rename(tmp_path / "away")
        (yard.root / "d").symlink_to(outside)

    assert await during(yard, "before write", swap) == {"d/c.txt": "a link or a file is in the way"}
    assert (outside / "c.txt").read_text() == "C\n"


async def test_gits_own_files_are_never_touched(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    entry = Entry("100644", "0" * 40)
    targets = [
        Owned(path, None, entry, "agent")
        for path in (".git/config", "d/.GIT/x", "sub/.git", "../up", "/etc/x")
    ]
    plan = await yard.spaces.plan(yard.root, targets, "evil", force=True)
    assert {step.action for step in plan.steps} == {"refuse"}
    assert (yard.root / ".git/config").exists()


@pytest.mark.behaviour("F266")
async def test_a_lock_of_another_git_is_waited_for_and_never_removed(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    plan = await yard.plan("one")
    lock = yard.root / ".git/index.lock"
    lock.touch()
    monkeypatch.setattr(restoring, "GIT_BUSY_MAX", 0.1)
    with pytest.raises(Conflict) as refused:
        await yard.spaces.restore(plan)
    assert refused.value.code == "git_busy"
    assert (lock.exists(), yard.read("a.txt")) == (True, "A\n")
    monkeypatch.undo()
    async with anyio.create_task_group() as group:

        async def free() -> None:
            await anyio.sleep(0.1)
            lock.unlink()

        group.start_soon(free)
        assert (await yard.spaces.restore(plan)).refused == ()
    assert yard.read("a.txt") == "a\n"


async def test_a_restore_happens_once_and_its_result_stays_until_settled(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    plan = await yard.plan("one")
    result = await yard.spaces.restore(plan)
    with pytest.raises(Conflict):
        await yard.spaces.restore(plan)
    again = Workspaces(yard.data)
    assert await again.resume_restores() == (result,)
    again.settle(result.id)
    assert await again.resume_restores() == ()


async def test_another_repository_in_the_same_folder_is_not_restored(yard: Yard, tmp_path: Path) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    plan = await yard.plan("one")
    (yard.root / ".git").rename(tmp_path / "old.git")
    with pytest.raises(BadInput):
        await yard.spaces.restore(plan)
    assert yard.read("a.txt") == "A\n"


@pytest.mark.behaviour("F269")
async def test_two_threads_in_one_folder_show_and_restore_only_their_own(yard: Yard) -> None:
    """Test I: neither thread lists the other's file."""
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    await yard.run("two", lambda: yard.write("b.txt", "B\n"))
    assert [each.path for each in await yard.owned("one")] == ["a.txt"]
    assert [each.path for each in await yard.owned("two")] == ["b.txt"]
    before = standing(yard.root)
    await yard.restore("one")
    assert (yard.read("a.txt"), yard.read("b.txt")) == ("a\n", "B\n")
    assert standing(yard.root) == before


async def test_rights_stay_what_they_were(yard: Yard) -> None:
    (yard.root / "a.txt").chmod(0o600)
    await yard.run("one", lambda: (yard.write("a.txt", "A\n"), (yard.root / "b.txt").chmod(0o750)))
    await yard.restore("one")
    assert (yard.root / "a.txt").stat().st_mode & 0o777 == 0o600
    assert (yard.root / "b.txt").stat().st_mode & 0o777 == 0o640


async def test_odd_bytes_in_names_go_there_and_back(yard: Yard) -> None:
    name = b"odd\xff\n\"'\\ \x01"
    place = bytes(yard.root) + b"/" + name

    def turn() -> None:
        with open(place, "wb") as out:  # noqa: PTH123 - bytes
            out.write(b"odd")

    await yard.run("one", turn)
    before = tree(yard.root)
    result = await yard.restore("one")
    assert name not in tree(yard.root)
    stored = msgspec.json.decode(msgspec.json.encode(result), type=type(result))
    await yard.spaces.restore(await yard.spaces.undo(stored, "undo"))
    assert tree(yard.root) == before
