"""Captures of every kind of folder: what they hold, what they leave out, and that nobody notices them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import anyio
import pytest

from podium.contract.errors import BadInput
from podium.workspace import capture as capturing
from podium.workspace.values import Capture, Uncovered
from podium.workspace.workspaces import Workspaces
from tests.workspace.yard import Yard, git, program, repository, standing, write

pytestmark = pytest.mark.anyio

FULL = """case "$*" in *update-index*)
  echo "error: unable to write file .git/objects: No space left on device" >&2; exit 128;; esac
exec git "$@" """


def held(capture: Capture, store: Path) -> dict[str, str]:
    """Paths and bytes of a capture, read with the user's own git."""
    assert capture.failed is None, capture.failed
    listed = git(store, "ls-tree", "-r", "-z", capture.tree).split("\0")
    entries = (line.split("\t", 1) for line in listed if line)
    return {path: git(store, "cat-file", "blob", head.split()[2]) for head, path in entries}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", {"a.txt": "a\n", ".gitignore": "*.log\n"})


@pytest.fixture
def spaces(tmp_path: Path) -> Workspaces:
    return Workspaces(tmp_path / "data")


@pytest.mark.behaviour("F170")
async def test_it_holds_tracked_and_untracked_files_and_touches_nothing(
    root: Path, spaces: Workspaces
) -> None:
    write(root / "a.txt", "stashed\n")
    git(root, "stash", "push", "-q")
    write(root / "a.txt", "edited\n")
    write(root / "new/u.txt", "untracked\n")
    write(root / "out.log", "ignored\n")
    git(root, "add", "new/u.txt")
    before, seen = standing(root), git(root, "log", "--all", "--format=%H")
    index = (root / ".git/index").read_bytes()
    found = await spaces.capture(root, "one")
    assert held(found, root) == {"a.txt": "edited\n", "new/u.txt": "untracked\n", ".gitignore": "*.log\n"}
    assert (found.quiescent, found.branch) == (True, "main")
    assert standing(root) == before
    assert (root / ".git/index").read_bytes() == index
    assert git(root, "log", "--all", "--format=%H") == seen
    assert git(root, "fsck", "--no-dangling", "--no-progress") == ""


async def test_a_later_one_reads_only_what_changed(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = f'case "$*" in *--add*) tee -a {log} | git "$@";; *) exec git "$@";; esac'
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", text))
    for number in range(50):
        write(root / f"d/{number}", f"{number}\n")
    first = await spaces.capture(root, "first")
    assert log.read_bytes().count(b"\0") == 52
    log.write_bytes(b"")
    second = await spaces.capture(root, "second")
    assert (second.tree, log.read_bytes()) == (first.tree, b"")
    write(root / "d/7", "changed\n")
    (root / "d/8").unlink()
    third = await spaces.capture(root, "third")
    assert log.read_bytes() == b"d/7\0"
    assert {each.path: each.kind for each in await spaces.changes(second, third)} == {
        "d/7": "modified",
        "d/8": "deleted",
    }


async def test_the_same_second_the_same_length(root: Path, spaces: Workspaces) -> None:
    for round_ in range(20):
        write(root / "a.txt", f"{round_ % 10}\n")
        found = await spaces.capture(root, f"c{round_}")
        assert held(found, root)["a.txt"] == f"{round_ % 10}\n"


async def test_git_needs_no_identity_and_no_configuration(root: Path, tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_DIR": "/nowhere",
        "GIT_INDEX_FILE": "/no",
    }
    spaces = Workspaces(tmp_path / "data", environ=environ)
    assert (await spaces.capture(root, "one")).failed is None


@pytest.mark.parametrize("kind", ["empty", "dangling", "detached", "linked", "sparse", "sha256", "below"])
async def test_every_kind_of_checkout(kind: str, root: Path, tmp_path: Path, spaces: Workspaces) -> None:
    place, want = root, {"a.txt": "a\n", ".gitignore": "*.log\n", "u": "u\n"}
    if kind == "empty":
        place, want = repository(tmp_path / "empty", {}), {"u": "u\n"}
    elif kind == "dangling":
        git(root, "symbolic-ref", "HEAD", "refs/heads/none")
    elif kind == "detached":
        git(root, "checkout", "-q", "--detach")
    elif kind == "linked":
        place = tmp_path / "linked"
        git(root, "worktree", "add", "-q", str(place), "-b", "linked")
    elif kind == "sparse":
        write(root / "far/f.txt", "far\n")
        git(root, "add", "far")
        git(root, "commit", "-qm", "far")
        git(root, "sparse-checkout", "set", "near")
    elif kind == "sha256":
        place = tmp_path / "long"
        place.mkdir()
        git(place, "init", "-q", "--object-format=sha256", ".")
        want = {"u": "u\n"}
    write(place / "u", "u\n")
    inner = place / "sub"
    if kind == "below":
        inner.mkdir()
    before = standing(place)
    found = await spaces.capture(inner if kind == "below" else place, "one")
    assert held(found, place) == want
    assert found.root == str(place)
    assert standing(place) == before
    again = await spaces.capture(place, "two")
    assert await spaces.changes(found, again) == ()


@pytest.mark.behaviour("F170")
async def test_a_bare_repository_a_home_and_a_missing_folder_say_why(
    tmp_path: Path, spaces: Workspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    found = await spaces.capture(bare, "one")
    assert found.failed is not None
    assert found.failed.code == "no_work_tree"
    assert (await spaces.look(bare)).kind == "none"
    monkeypatch.setenv("HOME", str(tmp_path))
    wide = await spaces.look(tmp_path)
    assert wide.trouble is not None
    assert wide.trouble.code == "too_wide"
    with pytest.raises(BadInput, match="no folder"):
        await spaces.capture(tmp_path / "none", "one")
    with pytest.raises(BadInput, match="cannot name"):
        await spaces.capture(tmp_path, "../one")


async def test_a_failed_one_can_never_be_restored(root: Path, tmp_path: Path) -> None:
    whole = await Workspaces(tmp_path / "data").capture(root, "whole")
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", FULL))
    write(root / "a.txt", "edited\n")
    failed = await spaces.capture(root, "full")
    assert failed.failed is not None
    assert (failed.failed.code, failed.tree, failed.ref) == ("disk_full", "", "")
    for pair in ((whole, failed), (failed, whole)):
        with pytest.raises(BadInput, match="failed"):
            await spaces.changes(*pair)
    assert "full" not in git(root, "for-each-ref")
    assert list((root / ".git").rglob("tmp_*")) == []
    assert (await Workspaces(tmp_path / "data").capture(root, "again")).failed is None


async def test_a_restore_on_a_full_disk_changes_nothing(root: Path, tmp_path: Path) -> None:
    yard = Yard(root, tmp_path / "data")
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    plan = await yard.plan("one")
    write(root / "later.txt", "so that the safety capture must write\n")
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", FULL))
    with pytest.raises(Exception, match="nothing was changed"):
        await spaces.restore(plan)
    assert yard.read("a.txt") == "agent\n"
    text = 'case "$*" in *cat-file*) exit 128;; esac\nexec git "$@"'
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git2.sh", text))
    with pytest.raises(Exception, match="Nothing was changed"):
        await spaces.restore(await yard.spaces.plan(root, await yard.owned("one"), "other"))
    assert yard.read("a.txt") == "agent\n"
    assert await spaces.resume_restores() == ()


async def test_time_outs_are_told_and_then_switched_off(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturing, "CAPTURE_MAX", 0.2)
    text = 'case "$*" in *update-index*) exec sleep 60;; esac\nexec git "$@"'
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", text))
    codes: list[str] = []
    for number in range(capturing.TIMEOUTS_MAX + 1):
        found = await spaces.capture(root, f"c{number}")
        assert found.failed is not None
        codes.append(found.failed.code)
    assert codes == ["timeout"] * capturing.TIMEOUTS_MAX + ["switched_off"]
    assert list((root / ".git").rglob("*.lock")) == []


async def test_a_killed_git_leaves_no_lock_and_no_half_object(root: Path, tmp_path: Path) -> None:
    text = 'case "$*" in *write-tree*) kill -9 $$;; esac\nexec git "$@"'
    write(root / "big.txt", "new\n" * 1000)
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", text))
    assert (await spaces.capture(root, "killed")).failed is not None
    running = next((tmp_path / "data/workspaces").glob("*/running.json"))
    start = time.time() - 3600
    running.write_text(f"[{start}]")
    ours, older, newer = (root / f".git/objects/aa/tmp_obj_{name}" for name in ("ours", "older", "newer"))
    for place, when in ((ours, start + 3), (older, start - 100), (newer, time.time())):
        write(place, "half")
        os.utime(place, (when, when))
    running.with_name("index.lock").touch()
    found = await Workspaces(tmp_path / "data").capture(root, "after")
    assert held(found, root)["big.txt"] == "new\n" * 1000
    assert [place.exists() for place in (ours, older, newer)] == [False, True, True]
    assert [place.name for place in running.parent.iterdir() if place.suffix in (".lock", ".new")] == []
    assert not running.exists()


async def test_a_file_that_changes_while_it_is_read_makes_it_restless(root: Path, tmp_path: Path) -> None:
    text = f'case "$*" in *--add*) echo more >> {root}/a.txt;; esac\nexec git "$@"'
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", text))
    write(root / "a.txt", "edited\n")
    assert not (await spaces.capture(root, "one")).quiescent
    assert not (await Workspaces(tmp_path / "data").capture(root, "two", quiet=False)).quiescent
    found = await Workspaces(tmp_path / "data").capture(root, "three")
    assert found.quiescent
    assert held(found, root)["a.txt"].startswith("edited\nmore\n")


async def test_what_cannot_be_held_is_listed(
    root: Path, tmp_path: Path, spaces: Workspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(root / "nested", {"n.txt": "n\n"})
    repository(root / "unborn", {})
    write(root / "unborn/u.txt", "u\n")
    write(root / "secret.txt", "s\n")
    monkeypatch.setattr(capturing, "FILE_MAX", 100)
    write(root / "large.bin", "x" * 101)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        real = os.access

        def access(path: bytes, mode: int) -> bool:
            return b"secret" not in path and real(path, mode)

        monkeypatch.setattr(os, "access", access)
        found = await spaces.capture(root, "one")
    assert found.uncovered == (
        Uncovered("large.bin", "too_large"),
        Uncovered("nested/", "nested_repository"),
        Uncovered("secret.txt", "unreadable"),
        Uncovered("unborn/", "nested_repository"),
    )
    assert set(held(found, root)) == {"a.txt", ".gitignore"}
    monkeypatch.undo()
    shutil.rmtree(root / "nested/.git")
    after = await spaces.capture(root, "two")
    masked = {each.path: each.masked for each in await spaces.changes(found, after)}
    assert masked == dict.fromkeys(["large.bin", "nested/n.txt", "secret.txt"], "was_uncovered")


async def test_a_file_that_git_cannot_read_is_left_out(root: Path, tmp_path: Path) -> None:
    body = """case "$*" in *--add*) cat > {0}; if grep -qz '^bad' {0}; then
  echo "fatal: Unable to process path bad.txt" >&2; exit 128; fi; git "$@" < {0};; *) exec git "$@";; esac"""
    spaces = Workspaces(tmp_path / "data", program=program(tmp_path / "git.sh", body.format(tmp_path / "in")))
    write(root / "bad.txt", "bad\n")
    found = await spaces.capture(root, "one")
    assert found.uncovered == (Uncovered("bad.txt", "unreadable"),)
    assert set(held(found, root)) == {"a.txt", ".gitignore"}


async def test_podiums_own_data_is_never_captured(root: Path) -> None:
    spaces = Workspaces(root / "my data!")
    for name in ("one", "two"):
        assert set(held(await spaces.capture(root, name), root)) == {"a.txt", ".gitignore"}


async def test_an_ignored_folder_of_a_repository_has_a_store_of_its_own(
    root: Path, spaces: Workspaces
) -> None:
    write(root / ".gitignore", "build/\n")
    write(root / "build/x", "x\n")
    found = await spaces.capture(root / "build", "one")
    assert (found.root, (await spaces.look(root / "build")).kind) == (str(root / "build"), "folder")
    assert git(root, "for-each-ref", "refs/podium") == ""


async def test_programs_of_the_repository_never_run(root: Path, tmp_path: Path, spaces: Workspaces) -> None:
    ran = tmp_path / "ran"
    for hook in ("reference-transaction", "post-index-change", "pre-commit", "post-checkout"):
        write(root / f".git/hooks/{hook}", f"#!/bin/sh\necho {hook} >> {ran}\nexit 1\n")
        (root / f".git/hooks/{hook}").chmod(0o755)
    write(tmp_path / "monitor", f"#!/bin/sh\necho monitor >> {ran}\n")
    (tmp_path / "monitor").chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(tmp_path / "monitor"),
        "commit.gpgSign": "true",
        "gpg.program": "false",
        "filter.evil.clean": f"sh -c 'echo filter >> {ran}; cat'",
        "filter.evil.required": "true",
        "diff.evil.command": f"sh -c 'echo diff >> {ran}'",
        "diff.evil.textconv": f"sh -c 'echo textconv >> {ran}'",
    }.items():
        git(root, "config", key, value)
    write(root / ".gitattributes", "* filter=evil diff=evil\n")
    before = await spaces.capture(root, "one")
    write(root / "a.txt", "edited\n")
    after = await spaces.capture(root, "two")
    assert "+edited" in (await spaces.patch(before, after)).text
    assert not ran.exists()


async def test_a_patch_is_bounded_and_names_renames(root: Path, spaces: Workspaces) -> None:
    write(root / "long.txt", "line\n" * 50)
    before = await spaces.capture(root, "one")
    (root / "long.txt").rename(root / "moved.txt")
    write(root / "a.txt", "x" * (2 * 1024 * 1024))
    after = await spaces.capture(root, "two")
    changes = {each.path: each for each in await spaces.changes(before, after)}
    assert changes["moved.txt"].renamed_from == "long.txt"
    assert changes["long.txt"].renamed_to == "moved.txt"
    small = await spaces.patch(before, after, ["moved.txt", "long.txt"])
    assert "rename to moved.txt" in small.text
    assert not small.truncated
    large = await spaces.patch(before, after)
    assert large.truncated
    assert len(large.text) <= 1024 * 1024


async def test_pruned_objects_cost_a_reading_and_no_capture(root: Path, spaces: Workspaces) -> None:
    write(root / "u.txt", "untracked\n")
    await spaces.capture(root, "one")
    for ref in git(root, "for-each-ref", "--format=%(refname)", "refs/podium").split():
        git(root, "update-ref", "-d", ref)
    git(root, "gc", "-q", "--prune=now")
    write(root / "v.txt", "more\n")
    found = await spaces.capture(root, "two")
    assert held(found, root)["u.txt"] == "untracked\n"


async def test_a_damaged_private_index_is_made_anew(root: Path, tmp_path: Path, spaces: Workspaces) -> None:
    first = await spaces.capture(root, "one")
    next((tmp_path / "data/workspaces").glob("*/index")).write_bytes(b"damaged")
    assert (await spaces.capture(root, "two")).tree == first.tree


async def test_a_name_is_used_once(root: Path, spaces: Workspaces) -> None:
    await spaces.capture(root, "one")
    write(root / "a.txt", "edited\n")
    again = await spaces.capture(root, "one")
    assert again.failed is not None


async def test_captures_wait_for_each_other_and_users_never_for_them(root: Path, tmp_path: Path) -> None:
    rooms = [Workspaces(tmp_path / "data") for _ in range(3)]
    failed: list[object] = []
    script = (
        "for i in 1 2 3 4 5 6 7 8; do echo $i > mine.txt; git add mine.txt && git commit -qm $i || exit 1;"
    )
    script += " echo more >> a.txt; git stash -q && git stash pop -q || exit 1; done"
    ended = anyio.Event()

    async def user() -> None:
        done = await anyio.run_process(["sh", "-c", script], cwd=root, check=False, stderr=subprocess.PIPE)
        if done.returncode:
            failed.append(done.stderr)
        ended.set()

    async def captures(number: int) -> None:
        count = 0
        while not ended.is_set():
            found = await rooms[number].capture(root, f"c{number}-{count}")
            count += 1
            if found.failed is not None:
                failed.append(found.failed)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(user)
            for number in range(len(rooms)):
                group.start_soon(captures, number)
    assert failed == []
    assert list((root / ".git").rglob("*.lock")) == []
    assert git(root, "fsck", "--no-dangling", "--no-progress") == ""
