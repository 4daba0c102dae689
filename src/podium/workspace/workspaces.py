"""The face of this room: what the runtime calls."""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from podium.workspace.capture import Capturing
from podium.workspace.changes import Comparing
from podium.workspace.checkout import Checkouts
from podium.workspace.git import Git
from podium.workspace.restore import Point, Restoring, undone
from podium.workspace.retention import GRACE, Keeping
from podium.workspace.values import (
    Capture,
    Change,
    Dropped,
    Owned,
    Patch,
    Place,
    Removal,
    RestorePlan,
    RestoreResult,
    Worktree,
)
from podium.workspace.worktrees import Listed, Worktrees

Folder = str | os.PathLike[str]


def _pass(name: str) -> None:
    """The point outside tests: nothing happens."""


class Workspaces:
    """Captures, changes, restores, worktrees and clean-up for one data folder.

    Several processes may use one data folder; captures and restores of one checkout wait for each other.
    """

    def __init__(
        self,
        data: Path,
        *,
        environ: Mapping[str, str] | None = None,
        point: Point = _pass,
        program: str = "git",
    ) -> None:
        git = Git(environ, program)
        checkouts = Checkouts(data, git)
        self._checkouts = checkouts
        self._capturing = Capturing(checkouts, git, data)
        self._comparing = Comparing(checkouts, git)
        self._restoring = Restoring(checkouts, self._capturing, self._comparing, git, point)
        self._worktrees = Worktrees(checkouts, self._capturing, git)
        self._keeping = Keeping(checkouts, git)

    async def look(self, root: Folder) -> Place:
        """Whether and how a folder can be captured, with the reason if it cannot (B63)."""
        return await self._checkouts.look(root)

    async def capture(self, root: Folder, name: str, *, quiet: bool = True) -> Capture:
        """All files of the checkout that holds `root`, under a name of the caller's; never raises for a
        failure.

        `quiet` is False when the caller knows of a living writer (R11). At most CAPTURE_MAX, plus LOCK_MAX of
        waiting for another capture or restore. Raises BadInput for a bad name or a missing folder.
        """
        return await self._capturing.capture(root, name, quiet=quiet)

    async def changes(self, before: Capture, after: Capture) -> tuple[Change, ...]:
        """Every path that differs; raises BadInput `capture_failed` or `other_checkout`."""
        return await self._comparing.changes(before, after)

    async def patch(self, before: Capture, after: Capture, paths: Collection[str] | None = None) -> Patch:
        """A unified diff of bounded length, of some paths or all."""
        return await self._comparing.patch(before, after, paths)

    async def plan(
        self, root: Folder, targets: Sequence[Owned], name: str, *, force: bool = False
    ) -> RestorePlan:
        """What putting these changes back would do to each path now. `name` becomes the restore's id."""
        return await self._restoring.plan(os.fspath(root), targets, name, force=force)

    async def restore(self, plan: RestorePlan) -> RestoreResult:
        """Carries a plan out, a safety capture first. Keep the result, then call `settle`."""
        return await self._restoring.restore(plan)

    async def undo(self, result: RestoreResult, name: str, *, force: bool = False) -> RestorePlan:
        """The plan that takes a restore back; carrying it out can itself be undone."""
        root = result.safety.root
        return await self._restoring.plan(root, undone(result), name, force=force)

    async def resume_restores(self) -> tuple[RestoreResult, ...]:
        """At a start: ends what a kill cut short, and returns every result not yet settled."""
        return await self._restoring.resume()

    def settle(self, name: str) -> None:
        """The result of this restore has been stored; nothing more is kept for it here."""
        self._restoring.settle(name)

    async def gc(self, keep: Collection[str], *, dry_run: bool = False, grace: float = GRACE) -> Dropped:
        """Drops captures whose refs are not in `keep`, with everything of a checkout that has none left.

        Safety captures of unsettled restores, and captures younger than `grace` seconds, stay in any case.
        """
        unsettled = self._restoring.unsettled()
        return await self._keeping.collect({*keep, *unsettled}, dry_run=dry_run, grace=grace)

    async def add_worktree(self, root: Folder, folder: Folder, branch: str, base: str = "HEAD") -> Worktree:
        """A new worktree on a new branch. Raises BadInput with advice (B63)."""
        return await self._worktrees.add(os.fspath(root), os.fspath(folder), branch, base)

    async def worktrees(self, root: Folder) -> tuple[Listed, ...]:
        """All worktrees of a repository, the main checkout first, each with the branch it is on now."""
        return await self._worktrees.listed(os.fspath(root))

    async def remove_worktree(
        self, root: Folder, folder: Folder, *, name: str = "", branch: str = "", drop_branch: bool = False
    ) -> Removal:
        """Removes a worktree of which nothing can be lost, else keeps it and says why (B67, B68).

        It is captured before as `name`. `branch` is the branch it was made on, "" if that does not matter.
        """
        named = name or f"removed-{uuid.uuid4().hex[:12]}"
        return await self._worktrees.remove(
            os.fspath(root), os.fspath(folder), named, branch, drop=drop_branch
        )
