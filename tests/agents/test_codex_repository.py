"""A user's repository with work of every kind in it is left as it was, but for what was asked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.testkit.model_script import Call, CustomCall, Text
from podium.testkit.responses_server import ResponsesServer
from tests.agents.worlds import CodexWorld

pytestmark = [pytest.mark.agents]

PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n"
RUN_MAX = 60


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
        yield CodexWorld(tmp_path, server)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=U", "-c", "user.email=u@example.invalid", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return done.stdout


def mixed_repository(folder: Path) -> None:
    """Committed, staged, partly staged, dirty, untracked, ignored and stashed work."""
    git(folder, "init", "-q", "-b", "main")
    for name in ("a.txt", "staged.txt", "dirty.txt", "stash.txt"):
        (folder / name).write_text("one\ntwo\nthree\n")
    (folder / ".gitignore").write_text("ignored/\n.env\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "stash.txt").write_text("stashed\n")
    git(folder, "stash", "-q")
    git(folder, "branch", "side")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "staged.txt").write_text("staged and more\n")
    (folder / "dirty.txt").write_text("dirty\n")
    (folder / "notes.txt").write_text("untracked\n")
    (folder / ".env").write_text("KEEP=me\n")
    (folder / "ignored").mkdir()
    (folder / "ignored" / "big.bin").write_bytes(os.urandom(10_000))


def inside_git(folder: Path) -> dict[str, str]:
    """Every file of the git folder by its hash; only refs/podium is ours to touch.

    Objects stand apart: those of the captures are added to them.
    """
    found: dict[str, str] = {}
    for path in sorted((folder / ".git").rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith((".git/refs/podium", ".git/objects")):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def objects(folder: Path) -> dict[str, bytes]:
    """Every object and pack."""
    found = sorted((folder / ".git" / "objects").rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if path.is_file()}


def outside_git(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and ".git" not in p.relative_to(folder).parts
    }


@pytest.mark.behaviour("F292")
def test_run_changes_what_was_asked_and_nothing_else(world: CodexWorld) -> None:
    mixed_repository(world.workspace)
    git(world.workspace, "status")  # it refreshes the index, so that the agent's own changes nothing
    before, files = inside_git(world.workspace), outside_git(world.workspace)
    held = objects(world.workspace)
    log = git(world.workspace, "log", "--all", "--format=%H")
    done = subprocess.run(
        [sys.executable, "-m", "podium", "run", "-a", "codex", "--approve", "all", "[[go]] work"],
        cwd=world.workspace,
        env={**world.env, "PODIUM_DATA": str(world.data)},
        capture_output=True,
        text=True,
        timeout=RUN_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "I look first." in done.stdout and "All done." in done.stdout
    after = inside_git(world.workspace)
    assert after == before
    now = objects(world.workspace)
    assert {name: now.get(name) for name in held} == held  # none is taken away or changed
    new = {name.removeprefix(".git/objects/") for name in now.keys() - held.keys()}
    assert all(len(name) == 41 and name[2] == "/" for name in new), new  # loose objects, nothing else
    assert "refs/podium/" in git(world.workspace, "for-each-ref", "refs/podium")
    assert git(world.workspace, "log", "--all", "--format=%H") == log  # and no commit of ours
    assert git(world.workspace, "fsck", "--strict", "--no-dangling") == ""
    changed = outside_git(world.workspace)
    assert changed.pop("seen.txt") == b"seen\n"
    assert changed.pop("a.txt") == b"one\nTWO\nthree\n"
    files.pop("a.txt")
    assert changed == files
