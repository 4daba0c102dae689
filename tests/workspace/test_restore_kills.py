"""A restore killed at each of its boundaries: nothing is lost, the next start ends it, it can be undone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from podium.workspace.workspaces import Workspaces
from tests.workspace.yard import Yard, repository, standing, tree
from tools.behaviours import ROOT

pytestmark = pytest.mark.anyio
RESTORE_MAX = 60.0
PROGRAM = Path(__file__).with_name("restoring.py")


def restoring(root: Path, data: Path, at: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROGRAM, root, data, "killed", str(at)]
    env = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(data)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=RESTORE_MAX, check=False)


async def scene(place: Path) -> Yard:
    """A run that edits, makes, deletes, swaps, links and changes rights; then an edit of the user's."""
    root = repository(
        place / "repo",
        {"a.txt": "a\n", "b.txt": "b\n", "d/gone.txt": "gone\n", "run.sh": "#!\n", "x/in.txt": "in\n"},
    )
    (root / "link").symlink_to("a.txt")
    yard = Yard(root, place / "data")

    def turn() -> None:
        yard.write("a.txt", "agent\n")
        yard.write("new/deep.txt", "new\n")
        (root / "d/gone.txt").unlink()
        (root / "d").rmdir()
        (root / "run.sh").chmod(0o755)
        (root / "link").unlink()
        (root / "link").symlink_to("../outside")
        (root / "x/in.txt").unlink()
        (root / "x").rmdir()
        yard.write("x", "file\n")

    await yard.run("one", turn)
    yard.write("b.txt", "user\n")
    (yard.data / "targets.json").write_bytes(msgspec.json.encode(await yard.owned("one")))
    return yard


@pytest.mark.behaviour("F268", "F269")
async def test_a_restore_killed_at_each_boundary_is_ended_or_never_began(tmp_path: Path) -> None:
    original = await scene(tmp_path / "first")
    left = tree(original.root)
    whole = restoring(original.root, original.data, 0)
    assert whole.returncode == 0, whole.stderr
    restored, boundaries = tree(original.root), int(whole.stdout)
    assert restored != left
    assert boundaries > 20
    kept = tmp_path / "kept"
    again = await scene(kept)
    assert tree(again.root) == left
    for at in range(1, boundaries + 1):
        place = tmp_path / "now"
        shutil.copytree(kept, place, symlinks=True)
        root, data = _moved(again, kept, place)
        done = restoring(root, data, at)
        assert done.returncode == -9, (at, done.stderr)
        seen = tree(root)
        spaces = Workspaces(data)
        results = await spaces.resume_restores()
        if results:
            assert tree(root) == restored, at
            assert results[0].refused == ()
            undo = await spaces.restore(await spaces.undo(results[0], "undo"))
            assert undo.refused == ()
            spaces.settle(results[0].id)
            spaces.settle(undo.id)
        else:
            assert seen == left, at
        assert tree(root) == left, at
        assert standing(root) == standing(again.root)
        assert await spaces.resume_restores() == ()
        assert list(data.glob("workspaces/restores/*")) == []
        shutil.rmtree(place)


def _moved(yard: Yard, kept: Path, place: Path) -> tuple[Path, Path]:
    return place / yard.root.relative_to(kept), place / yard.data.relative_to(kept)
