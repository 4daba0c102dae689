"""Clean-up drops what nobody keeps, and only that; a dry run says it beforehand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from podium.workspace.workspaces import Workspaces
from tests.workspace.yard import Yard, git, repository, standing, write

pytestmark = pytest.mark.anyio


def refs(root: Path) -> list[str]:
    return git(root, "for-each-ref", "--format=%(refname)", "refs/podium").split()


async def test_what_is_not_kept_goes_and_the_rest_stays(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo", {"a.txt": "a\n"})
    spaces, other = Workspaces(tmp_path / "data"), Workspaces(tmp_path / "other")
    kept = await spaces.capture(root, "kept")
    write(root / "a.txt", "edited\n")
    gone = await spaces.capture(root, "gone")
    foreign = await other.capture(root, "kept")
    before, stand = refs(root), standing(root)
    dry = await spaces.gc([kept.ref], dry_run=True, grace=0)
    assert (dry.refs, refs(root)) == ((gone.ref,), before)
    young = await spaces.gc([kept.ref])
    assert (young.refs, refs(root)) == ((), before)
    real = await spaces.gc([kept.ref], grace=0)
    assert (real.refs, real.stores) == ((gone.ref,), ())
    assert {kept.ref, foreign.ref} <= set(refs(root))
    last = await spaces.gc([], grace=0)
    assert last.refs == (kept.ref,)
    assert last.freed > 0
    assert list((tmp_path / "data/workspaces").glob("*/index")) == []
    await other.gc([], grace=0)
    assert refs(root) == []
    assert standing(root) == stand
    assert (await spaces.capture(root, "anew")).failed is None


async def test_the_store_of_a_plain_folder_gives_its_bytes_back(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    write(root / "a.txt", "a\n" * 1000)
    spaces = Workspaces(tmp_path / "data")
    kept = await spaces.capture(root, "kept")
    write(root / "a.txt", bytes(range(256)) * 1000)
    gone = await spaces.capture(root, "gone")
    write(root / "a.txt", "a\n" * 1000)
    third = await spaces.capture(root, "third")
    real = await spaces.gc([kept.ref, third.ref], grace=0)
    assert real.refs == (gone.ref,)
    assert real.freed > 0
    assert await spaces.changes(kept, third) == ()
    shutil.rmtree(root)
    last = await spaces.gc([], grace=0)
    assert set(last.refs) == {kept.ref, third.ref}
    assert list((tmp_path / "data/workspaces").glob("*/where.json")) == []


async def test_a_repository_that_is_gone_takes_its_folder_along(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo", {"a.txt": "a\n"})
    spaces = Workspaces(tmp_path / "data")
    capture = await spaces.capture(root, "one")
    shutil.rmtree(root)
    assert (await spaces.gc([capture.ref])).stores == (capture.checkout,)
    assert list((tmp_path / "data/workspaces").glob("*/where.json")) == []


async def test_an_unsettled_restore_keeps_its_safety_capture(tmp_path: Path) -> None:
    yard = Yard(repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path / "data")
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    result = await yard.spaces.restore(await yard.plan("one"))
    await yard.spaces.gc([], grace=0)
    undo = await yard.spaces.restore(await yard.spaces.undo(result, "undo"))
    assert yard.read("a.txt") == "agent\n"
    assert undo.refused == ()
    yard.spaces.settle(result.id)
    yard.spaces.settle(undo.id)
    await yard.spaces.gc([], grace=0)
    assert refs(yard.root) == []


async def test_a_ref_that_another_git_holds_is_kept_with_the_reason(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo", {"a.txt": "a\n"})
    spaces = Workspaces(tmp_path / "data")
    capture = await spaces.capture(root, "one")
    lock = root / ".git" / f"{capture.ref}.lock"
    write(lock, "")
    dropped = await spaces.gc([], grace=0)
    assert dropped.refs == ()
    assert [key for key, _ in dropped.kept] == [capture.checkout]
    assert lock.exists()
    assert capture.ref in refs(root)
