"""A checkout with three kinds of people in it: a user, agents in runs, and whatever an agent left running."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from podium.workspace.ownership import Segment, of_nobody, of_run, of_thread
from podium.workspace.values import Capture, Owned, RestorePlan, RestoreResult
from podium.workspace.workspaces import Workspaces

Edit = Callable[[], object]


def git(root: Path, *args: str) -> str:
    """What a git command of the user's says; it must succeed."""
    done = subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def repository(root: Path, files: dict[str, str]) -> Path:
    """A repository with one commit of some files (none: no commit)."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", ".")
    if files:
        for name, content in files.items():
            write(root / name, content)
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "base")
    return root


def write(place: Path, content: str | bytes) -> None:
    """A file with its folders."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)


class Yard:
    """One checkout, its captures in their order, and the runs that went on between them."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root = root
        self.data = data
        self.spaces = Workspaces(data)
        self.captures: list[Capture] = []
        self.between: list[frozenset[str]] = []
        self.structured: dict[str, frozenset[str]] = {}
        self.active: frozenset[str] = frozenset()

    def write(self, name: str, content: str | bytes) -> None:
        write(self.root / name, content)

    def read(self, name: str) -> str | None:
        place = self.root / name
        if place.is_symlink():
            return f"-> {place.readlink()}"
        if place.is_dir():
            return "/"
        return place.read_bytes().decode() if place.exists() else None

    def git(self, *args: str) -> str:
        return git(self.root, *args)

    async def _capture(self, name: str, quiet: bool) -> None:
        capture = await self.spaces.capture(self.root, name, quiet=quiet)
        if self.captures:
            self.between.append(self.active)
        self.captures.append(capture)

    async def start(self, run: str, *, quiet: bool = True) -> None:
        await self._capture(f"{run}.start", quiet)
        self.active |= {run}

    async def end(self, run: str, *, quiet: bool = True, structured: Sequence[str] = ()) -> None:
        await self._capture(f"{run}.end", quiet)
        self.active -= {run}
        self.structured[run] = frozenset(structured)

    async def run(self, run: str, edit: Edit, *, quiet: bool = True, structured: Sequence[str] = ()) -> None:
        """One run in which an agent makes an edit."""
        await self.start(run)
        edit()
        await self.end(run, quiet=quiet, structured=structured)

    async def segments(self) -> list[Segment]:
        pairs = zip(self.captures, self.captures[1:], self.between, strict=False)
        return [
            Segment(active, await self.spaces.changes(before, after), before.quiescent and after.quiescent)
            for before, after, active in pairs
        ]

    async def owned(self, *runs: str) -> tuple[Owned, ...]:
        """The changes of a thread with these runs."""
        segments = await self.segments()
        return of_thread([of_run(run, segments, self.structured) for run in runs])

    async def nobodys(self) -> tuple[Owned, ...]:
        """What changed outside any run, up to now."""
        await self._capture(f"look{len(self.captures)}", True)
        return of_nobody(await self.segments())

    async def plan(self, *runs: str, force: bool = False) -> RestorePlan:
        return await self.spaces.plan(
            self.root, await self.owned(*runs), f"restore{len(self.captures)}", force=force
        )

    async def restore(self, *runs: str, force: bool = False) -> RestoreResult:
        """Takes back what a thread with these runs changed."""
        result = await self.spaces.restore(await self.plan(*runs, force=force))
        self.spaces.settle(result.id)
        return result


def tree(root: Path) -> dict[bytes, tuple[str, bytes]]:
    """Every file and link below a folder except git's own, with its kind and bytes."""
    found: dict[bytes, tuple[str, bytes]] = {}
    base = os.fsencode(root)
    for folder, folders, files in os.walk(base):
        if b".git" in folders:
            folders.remove(b".git")
        for name in [*files, *folders]:
            place = os.path.join(folder, name)  # noqa: PTH118 - bytes
            key = place[len(base) + 1 :]
            if os.path.islink(place):  # noqa: PTH114 - bytes
                found[key] = ("link", os.readlink(place))  # noqa: PTH115 - bytes
            elif name in files:
                mode = "755" if os.stat(place).st_mode & 0o100 else "644"  # noqa: PTH116 - bytes
                with open(place, "rb") as content:  # noqa: PTH123 - bytes
                    found[key] = (mode, content.read())
    return found


def standing(root: Path) -> tuple[str, ...]:
    """What a user has in git beside files: branch, commit, index, refs, stash, reflogs."""
    asked = (
        ("symbolic-ref", "-q", "HEAD"),
        ("rev-parse", "-q", "--verify", "HEAD"),
        ("ls-files", "-s", "-v"),
        ("for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"),
        ("reflog", "--all"),
    )
    done = (
        subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=False)
        for args in asked
    )
    locks = (
        [str(path) for path in sorted((root / ".git").rglob("*.lock"))] if (root / ".git").is_dir() else []
    )
    return (*(each.stdout for each in done), *locks)


def program(place: Path, body: str) -> str:
    """A git that does something first: a shell text that ends in running `git "$@"`."""
    place.write_text(f"#!/bin/sh\n{body}\n")
    place.chmod(0o755)
    return str(place)
