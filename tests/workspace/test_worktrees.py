"""Worktrees are added with advice where they cannot be, and removed only if nothing can be lost (B63, B67,
B68).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.contract.errors import BadInput
from podium.workspace.workspaces import Workspaces
from tests.workspace.yard import git, repository, standing, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", {"a.txt": "a\n", ".gitignore": "node_modules\n.env\n"})


@pytest.fixture
def spaces(tmp_path: Path) -> Workspaces:
    return Workspaces(tmp_path / "data")


async def test_one_is_added_on_a_branch_and_its_base_is_a_commit(
    root: Path, tmp_path: Path, spaces: Workspaces
) -> None:
    write(root / ".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n")
    (root / ".git/hooks/post-checkout").chmod(0o755)
    made = await spaces.add_worktree(root, tmp_path / "wt", "podium/one")
    assert made.base == git(root, "rev-parse", "HEAD").strip()
    assert git(tmp_path / "wt", "branch", "--show-current").strip() == "podium/one"
    assert [each.branch for each in await spaces.worktrees(root)] == ["main", "podium/one"]
    for branch, folder in (("podium/one", "wt2"), ("two", "wt"), ("no..name", "wt3")):
        with pytest.raises(BadInput) as refused:
            await spaces.add_worktree(root, tmp_path / folder, branch)
        assert refused.value.code == "worktree_refused"
        assert refused.value.fix


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("plain", "worktree_no_repository"),
        ("empty", "worktree_no_commit"),
        ("bare", "checkpoint_no_work_tree"),
    ],
)
async def test_where_none_can_be_the_answer_says_what_to_do(
    kind: str, code: str, tmp_path: Path, spaces: Workspaces
) -> None:
    place = tmp_path / kind
    place.mkdir()
    if kind != "plain":
        git(place, "init", "-q", *(["--bare"] if kind == "bare" else []), ".")
    with pytest.raises(BadInput) as refused:
        await spaces.add_worktree(place, tmp_path / "wt", "one")
    assert refused.value.code == code
    assert refused.value.fix


async def test_a_clean_one_goes_with_its_branch_and_its_links_are_unlinked(
    root: Path, tmp_path: Path, spaces: Workspaces
) -> None:
    write(root / "node_modules/dep.js", "dep\n")
    await spaces.add_worktree(root, tmp_path / "wt", "one")
    (tmp_path / "wt/node_modules").symlink_to(root / "node_modules")
    write(tmp_path / "wt/.env", "KEY=1\n")
    gone = await spaces.remove_worktree(root, tmp_path / "wt", branch="one", drop_branch=True)
    assert (gone.removed, gone.reasons) == (True, ())
    assert set(gone.ignored) == {"node_modules", ".env"}
    assert gone.saved is not None
    assert not (tmp_path / "wt").exists()
    assert (root / "node_modules/dep.js").read_text() == "dep\n"
    assert git(root, "branch", "--format=%(refname:short)").split() == ["main"]
    assert len(await spaces.worktrees(root)) == 1
    assert "a.txt" in git(root, "ls-tree", "--name-only", gone.saved.tree)


async def test_everything_that_could_be_lost_keeps_it(root: Path, tmp_path: Path, spaces: Workspaces) -> None:
    place = tmp_path / "wt"
    await spaces.add_worktree(root, place, "one")

    async def reasons(branch: str = "one") -> tuple[str, ...]:
        before = standing(root)
        kept = await spaces.remove_worktree(root, place, branch=branch)
        assert not kept.removed
        assert (place / "a.txt").exists()
        assert standing(root) == before
        return kept.reasons

    write(place / "u.txt", "unsaved\n")
    assert await reasons() == ("1 files are not committed",)
    git(place, "add", "u.txt")
    assert await reasons() == ("1 files are not committed",)
    git(place, "commit", "-qm", "mine")
    assert await reasons() == ("1 commits are neither merged nor pushed",)
    git(place, "checkout", "-q", "-b", "other")
    git(place, "merge", "-q", "one")
    assert await reasons() == ("its branch was switched from one to other",)
    git(place, "checkout", "-q", "--detach")
    write(place / "u.txt", "more\n")
    git(place, "commit", "-qam", "lost")
    assert await reasons("") == ("1 commits are neither merged nor pushed",)
    git(place, "checkout", "-q", "other")
    git(root, "worktree", "lock", str(place))
    assert await reasons("") == ("it is locked",)
    git(root, "worktree", "unlock", str(place))
    repository(place / "node_modules/inner", {"i.txt": "i\n"})
    assert await reasons("") == ("node_modules/inner is a repository of its own",)


async def test_what_is_no_worktree_of_this_repository_is_never_removed(
    root: Path, tmp_path: Path, spaces: Workspaces
) -> None:
    other = repository(tmp_path / "other", {"o.txt": "o\n"})
    git(other, "worktree", "add", "-q", str(tmp_path / "foreign"), "-b", "f")
    await spaces.add_worktree(root, tmp_path / "wt", "one")
    (tmp_path / "alias").symlink_to(tmp_path / "wt")
    (tmp_path / "plain").mkdir()
    for folder, words in {
        root: "it is the main checkout",
        other: "it is not a registered worktree of this repository",
        tmp_path / "foreign": "it is not a registered worktree of this repository",
        tmp_path / "plain": "it is not a registered worktree of this repository",
        tmp_path / "alias": "its folder was replaced by a link or a file",
        tmp_path / "none": "its folder is gone; `git worktree prune` forgets it",
    }.items():
        kept = await spaces.remove_worktree(root, folder)
        assert (kept.removed, kept.reasons) == (False, (words,))
    dot = (tmp_path / "wt/.git").read_text()
    (tmp_path / "wt/.git").write_text(f"gitdir: {other}/.git/worktrees/foreign\n")
    kept = await spaces.remove_worktree(root, tmp_path / "wt")
    assert kept.reasons == ("its .git file does not lead to this repository and back",)
    (tmp_path / "wt/.git").write_text(dot)
    write(root / ".git/worktrees/wt/MERGE_HEAD", "")
    assert (await spaces.remove_worktree(root, tmp_path / "wt")).reasons == ("a merge is under way",)


async def test_looking_runs_no_filter(root: Path, tmp_path: Path, spaces: Workspaces) -> None:
    await spaces.add_worktree(root, tmp_path / "wt", "one")
    ran = tmp_path / "ran"
    git(root, "config", "filter.evil.clean", f"sh -c 'echo ran >> {ran}; cat'")
    write(root / ".git/info/attributes", "* filter=evil\n")
    write(tmp_path / "wt/a.txt", "a\n")
    assert (await spaces.remove_worktree(root, tmp_path / "wt")).removed
    assert not ran.exists()
