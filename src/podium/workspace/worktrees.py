"""Worktrees: adding one, and removing one only if nothing can be lost by it (B67, B68).

Adding is an ordinary checkout, so the user's line-end rules and filters apply; hooks do not run. Removing
looks at every fact first, keeps whatever is odd and says why, and unlinks links instead of following them.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from podium.contract.errors import BadInput, StorageFailed
from podium.workspace.capture import Capturing
from podium.workspace.checkout import Checkout, Checkouts, NotCovered
from podium.workspace.git import Git, GitFailed
from podium.workspace.names import text_of
from podium.workspace.restore import covered_not
from podium.workspace.values import Removal, Worktree

WORKTREE_MAX = 300.0
"""Longest that checking out a worktree may take, in seconds."""

IGNORED_MAX = 100
"""Most ignored names that a removal reports."""

LEFTOVERS = {
    "MERGE_HEAD": "a merge is under way",
    "CHERRY_PICK_HEAD": "a cherry-pick is under way",
    "REVERT_HEAD": "a revert is under way",
    "BISECT_LOG": "a bisection is under way",
    "rebase-merge": "a rebase is under way",
    "rebase-apply": "a rebase is under way",
    "index.lock": "another git command is at work there",
}


class Listed(msgspec.Struct, frozen=True):
    """A worktree as the repository knows it."""

    path: str
    head: str = ""
    branch: str = ""
    locked: bool = False


class Worktrees:
    """Adds, lists and removes worktrees of the user's repositories."""

    def __init__(self, checkouts: Checkouts, capturing: Capturing, git: Git) -> None:
        self._checkouts = checkouts
        self._capturing = capturing
        self._git = git

    async def add(self, root: str, folder: str, branch: str, base: str = "HEAD") -> Worktree:
        """A new worktree on a new branch; `base` is kept as a commit. Raises BadInput with advice."""
        checkout = await self._repository(root)
        commit = await self._said(checkout.root, "rev-parse", "--verify", "-q", f"{base}^{{commit}}")
        if commit is None:
            raise BadInput(
                "worktree_no_commit",
                f"{base} names no commit here, so there is nothing that a worktree could begin with.",
                fix="Make a first commit, or name another base.",
            )
        if await self._said(checkout.root, "check-ref-format", f"refs/heads/{branch}") is None:
            raise BadInput(
                "worktree_refused", f"{branch!r} cannot name a branch.", fix="Choose another name."
            )
        place = os.path.abspath(folder)  # noqa: ASYNC240,PTH100 - text only, nothing is looked up
        try:
            command = ("worktree", "add", "-q", "--no-track", "-b", branch, "--", place, commit)
            await self._git.run(*command, cwd=checkout.root, limit=WORKTREE_MAX)
        except GitFailed as error:
            raise BadInput(
                "worktree_refused", error.message, fix="Choose another folder or branch."
            ) from error
        return Worktree(text_of(os.fsencode(checkout.root)), text_of(os.fsencode(place)), branch, commit)

    async def listed(self, root: str) -> tuple[Listed, ...]:
        """All worktrees of a repository, the main checkout first."""
        checkout = await self._repository(root)
        out, _ = await self._git.run("worktree", "list", "--porcelain", "-z", cwd=checkout.root)
        return tuple(_listed(block) for block in os.fsdecode(out).split("\0\0") if block)

    async def remove(self, root: str, folder: str, name: str, branch: str = "", *, drop: bool) -> Removal:
        """Removes a worktree if nothing can be lost, else keeps it and says why.

        `name` names the capture made before, `branch` is the branch it was made on ("" if that does not
        matter), and `drop` asks to delete that branch too, which only happens to a branch that is wholly in
        others.
        """
        checkout = await self._repository(root)
        shown = text_of(os.fsencode(folder))
        try:
            found, reasons = await self._odd(checkout, folder)
            if found is None or reasons:
                return Removal(shown, False, tuple(reasons))
            reasons = await self._would_lose(checkout, found, branch)
            ignored = await self._ignored(found.path)
        except GitFailed as error:
            return Removal(shown, False, (error.message,))
        if reasons:
            return Removal(shown, False, tuple(reasons), ignored)
        saved = await self._capturing.capture(found.path, name)
        if saved.failed is not None:
            words = f"its files could not be captured before: {saved.failed.message}"
            return Removal(shown, False, (words,), ignored, saved)
        await self._away(checkout, found, drop)
        return Removal(shown, True, (), ignored, saved)

    async def _away(self, checkout: Checkout, found: Listed, drop: bool) -> None:
        try:
            await anyio.to_thread.run_sync(_unlink_all, found.path)
            await self._git.run("worktree", "remove", "--force", "--", found.path, cwd=checkout.root)
            if drop and found.branch:
                await self._git.run("branch", "-q", "-D", "--", found.branch, cwd=checkout.root)
        except (GitFailed, OSError) as error:
            raise StorageFailed(
                "worktree_half_removed",
                f"{found.path} was removed only in part: {error}",
                fix="Look at what is left, then run: git worktree prune",
            ) from error

    async def _odd(self, checkout: Checkout, folder: str) -> tuple[Listed | None, list[str]]:
        """The registered worktree in a folder, or why that folder is not one that may be removed."""
        place = _unfollowed(folder)
        kind = _mode(place)
        if kind == 0:
            return None, ["its folder is gone; `git worktree prune` forgets it"]
        if not stat.S_ISDIR(kind):
            return None, ["its folder was replaced by a link or a file"]
        known = await self.listed(checkout.root)
        main, *others = known
        if _unfollowed(main.path) == place or checkout.common == place:
            return None, ["it is the main checkout"]
        found = next((each for each in others if _unfollowed(each.path) == place), None)
        if found is None:
            return None, ["it is not a registered worktree of this repository"]
        if found.locked:
            return found, ["it is locked"]
        meta = await anyio.to_thread.run_sync(_meta_of, place, checkout.common)
        if meta is None:
            return found, ["its .git file does not lead to this repository and back"]
        reasons = [words for name, words in LEFTOVERS.items() if _mode(f"{meta}/{name}")]
        reasons += await anyio.to_thread.run_sync(_strange_inside, place)
        return msgspec.structs.replace(found, path=place), reasons

    async def _would_lose(self, checkout: Checkout, found: Listed, branch: str) -> list[str]:
        reasons: list[str] = []
        neutral = await self._no_filters(found.path)
        status = ("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all")
        out, _ = await self._git.run(*neutral, *status, cwd=found.path)
        changed = sum(1 for line in out.split(b"\0") if line[2:3] == b" ")
        if changed:
            reasons.append(f"{changed} files are not committed")
        if branch and found.branch != branch:
            reasons.append(f"its branch was switched from {branch} to {found.branch or 'no branch'}")
        others = ["--not", f"--exclude={found.branch}"] if found.branch else ["--not"]
        command = ("rev-list", "--count", found.head, *others, "--branches", "--remotes", "--tags")
        count, _ = await self._git.run(*command, cwd=checkout.root)
        if int(count):
            reasons.append(f"{int(count)} commits are neither merged nor pushed")
        return reasons

    async def _no_filters(self, folder: str) -> Sequence[str]:
        """Options that keep every filter program of the user's from running during a look."""
        _, out, _ = await self._git.attempt(
            "config", "-z", "--name-only", "--get-regexp", "^filter\\.", cwd=folder
        )
        names = {key.rpartition(".")[0] for key in os.fsdecode(out).split("\0") if key}
        settings = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
        return [
            part for name in sorted(names) for key, to in settings for part in ("-c", f"{name}.{key}={to}")
        ]

    async def _ignored(self, folder: str) -> tuple[str, ...]:
        command = ("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
        out, _ = await self._git.run(*command, cwd=folder)
        return tuple(text_of(path) for path in out.split(b"\0")[:IGNORED_MAX] if path)

    async def _said(self, cwd: str, *args: str) -> str | None:
        status, out, _ = await self._git.attempt(*args, cwd=cwd)
        return os.fsdecode(out).strip() if status == 0 else None

    async def _repository(self, root: str) -> Checkout:
        try:
            checkout = await self._checkouts.find(root)
        except NotCovered as error:
            raise covered_not(error.trouble) from error
        if not checkout.common:
            raise BadInput(
                "worktree_no_repository",
                f"{checkout.root} is no git repository, so it has no worktrees.",
                fix="Run git init and commit there, or let the agent work in the folder itself.",
            )
        return checkout


def _listed(block: str) -> Listed:
    parts = (line.partition(" ") for line in block.split("\0") if line)
    fields = {key: value for key, _, value in parts}
    branch = fields.get("branch", "").removeprefix("refs/heads/")
    return Listed(fields.get("worktree", ""), fields.get("HEAD", ""), branch, "locked" in fields)


def _unfollowed(folder: str) -> str:
    """A folder's path with everything above it resolved, and itself as it is."""
    above, name = os.path.split(os.path.abspath(folder))  # noqa: PTH100 - must not resolve the last part
    return str(Path(os.path.realpath(above)) / name)


def _mode(place: str) -> int:
    try:
        return os.lstat(place).st_mode
    except OSError:
        return 0


def _meta_of(place: str, common: str) -> str | None:
    """The repository's own folder for a worktree, if the two name each other."""
    try:
        line = Path(f"{place}/.git").read_text("utf-8", "surrogateescape").strip()
        meta = os.path.realpath(line.removeprefix("gitdir: "))
        back = Path(f"{meta}/gitdir").read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    inside = str(Path(meta).parent) == f"{common}/worktrees"
    return meta if line.startswith("gitdir: ") and inside and _unfollowed(back) == f"{place}/.git" else None


def _strange_inside(place: str) -> list[str]:
    """Repositories and mounted file systems inside a worktree: whoever removes it would remove those too."""
    found: list[str] = []
    device = os.lstat(place).st_dev
    for folder, folders, files in os.walk(place):
        if folder != place and ".git" in (*folders, *files):
            found.append(f"{text_of(os.fsencode(os.path.relpath(folder, place)))} is a repository of its own")
            folders.clear()
        elif os.lstat(folder).st_dev != device:
            found.append(f"{text_of(os.fsencode(os.path.relpath(folder, place)))} is mounted there")
            folders.clear()
    return found


def _unlink_all(place: str) -> None:
    """Removes a folder with its links unlinked; refuses where the system cannot do that safely."""
    if not shutil.rmtree.avoids_symlink_attacks:
        raise OSError("this system cannot remove a folder without following links")
    shutil.rmtree(place)
