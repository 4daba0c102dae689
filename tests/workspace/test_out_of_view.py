"""What an agent deleted and then had ignored is not lost: its bytes are known, and force puts it back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from podium.contract.errors import BadInput
from podium.workspace import ownership
from podium.workspace.ownership import Segment
from podium.workspace.values import Owned
from podium.workspace.workspaces import Workspaces

pytestmark = pytest.mark.anyio


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, timeout=30)


def shell(folder: Path, work: str) -> None:
    subprocess.run(["/bin/sh", "-c", work], cwd=folder, check=True, timeout=30)


async def owned_by_one_run(spaces: Workspaces, root: Path, work: str) -> tuple[Owned, ...]:
    before = await spaces.capture(root, "start")
    shell(root, work)
    after = await spaces.capture(root, "end")
    changes = await spaces.changes(before, after)
    return ownership.of_run("run", [Segment(frozenset({"run"}), changes)], {})


@pytest.mark.behaviour("F269")
async def test_deleted_and_then_ignored_comes_back_with_force(tmp_path: Path) -> None:
    root, spaces = tmp_path / "ws", Workspaces(tmp_path / "data")
    root.mkdir()
    git(root, "init", "-q")
    (root / "gone").write_text("precious\n")
    (root / "kept").write_text("theirs\n")
    work = "rm gone; printf 'gone\\nkept\\n' > .gitignore"
    targets = await owned_by_one_run(spaces, root, work)
    plain = await spaces.plan(root, targets, "plain")
    assert {s.path: s.action for s in plain.steps if s.path in ("gone", "kept")} == {
        "gone": "refuse",
        "kept": "refuse",
    }
    forced = await spaces.plan(root, targets, "forced", force=True)
    steps = {s.path: s.action for s in forced.steps}
    assert (steps["gone"], steps["kept"]) == (
        "write",
        "refuse",
    )  # what lies there unseen is never overwritten
    await spaces.restore(forced)
    assert (root / "gone").read_text() == "precious\n"
    assert (root / "kept").read_text() == "theirs\n"


async def test_a_folder_that_became_a_repository_is_said_to_be_another(tmp_path: Path) -> None:
    root, spaces = tmp_path / "ws", Workspaces(tmp_path / "data")
    root.mkdir()
    before = await spaces.capture(root, "start")
    (root / "a").write_text("one\n")
    after = await spaces.capture(root, "end")
    git(root, "init", "-q")
    with pytest.raises(BadInput) as caught:
        await spaces.changes(before, after)
    assert caught.value.code == "other_checkout" and caught.value.fix
    (root / ".git").rename(tmp_path / "aside")
    assert [c.path for c in await spaces.changes(before, after)] == ["a"]
