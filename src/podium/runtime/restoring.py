"""Taking back what runs changed: plan, restore, undo, each recorded in its thread (F170, F266, F269).

The order is crash-safe: the workspace room keeps the record of a restore until the thread holds its result as
a safety checkpoint, and a restore that a kill cut short is ended and recorded at the next start.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from podium.contract.errors import BadInput, Conflict, PodiumError
from podium.domain.commands import Restored
from podium.domain.entities import Checkpoint
from podium.domain.outputs import derived
from podium.runtime.captures import capture_of, stored
from podium.runtime.changes import Changing, runs_of, unreadable
from podium.runtime.engine import Engine
from podium.runtime.reading import Reading
from podium.workspace.git import GitFailed
from podium.workspace.names import raw_of
from podium.workspace.values import Owned, RestorePlan, RestoreResult
from podium.workspace.workspaces import Workspaces

PATHS_MAX = 50_000
"""Most paths that one restore takes back; its result is stored whole."""


class Restores:
    """The restores of one runtime."""

    def __init__(
        self,
        engine: Engine,
        workspaces: Workspaces,
        reading: Reading,
        take_over: Callable[[str], Awaitable[None]],
    ) -> None:
        self._engine = engine
        self._workspaces = workspaces
        self._reading = reading
        self._take_over = take_over

    async def plan(self, target: str, *, force: bool = False) -> RestorePlan:
        """What taking these changes back would do to each path now; nothing is touched.

        `target` is a run, a thread (`last` for the newest), or a checkpoint: then its thread's changes since.
        Raises BadInput `nothing_to_restore`, `checkpoint_not_ready`, `restore_too_large`, NotFound.
        """
        runs = runs_of(self._reading, target)
        changes = await Changing(self._reading, self._workspaces).of(runs, text=False)
        if not changes.paths:
            why = f" ({changes.unknown[0].reason})" if changes.unknown else ""
            raise BadInput(
                "nothing_to_restore",
                f"There are no changes to take back{why}.",
                fix="See what changed: podium threads diff THREAD",
            )
        return await self._plan(changes.thread_id, changes.root, changes.paths, force)

    async def undo_plan(self, checkpoint_id: str, *, force: bool = False) -> RestorePlan:
        """What taking a restore back would do. Raises BadInput `checkpoint_unfit` for other checkpoints."""
        checkpoint = self._reading.checkpoint(checkpoint_id)
        capture_of(checkpoint)
        if checkpoint.restore is None:
            raise BadInput(
                "checkpoint_unfit",
                "This checkpoint belongs to a run, not to a restore that could be undone.",
                fix="Restores are listed as safety: podium checkpoints list",
            )
        result = msgspec.convert(checkpoint.restore, RestoreResult)
        try:
            return await self._workspaces.undo(result, _name(checkpoint.thread_id), force=force)
        except GitFailed as error:
            raise unreadable(error) from error

    async def _plan(self, thread_id: str, root: str, paths: Sequence[Owned], force: bool) -> RestorePlan:
        if len(paths) > PATHS_MAX:
            raise BadInput(
                "restore_too_large",
                f"{len(paths)} paths changed; one restore takes back at most {PATHS_MAX}.",
                fix="Restore run by run, or use git.",
            )
        folder = os.fsdecode(raw_of(root))
        try:
            return await self._workspaces.plan(folder, paths, _name(thread_id), force=force)
        except GitFailed as error:
            raise unreadable(error) from error

    async def carry_out(self, plan: RestorePlan) -> Checkpoint:
        """Do what a plan says, and return the safety checkpoint with which it can be undone.

        Raises Conflict `checkout_busy`, `restore_known`, `thread_in_use` or `git_busy`, StorageFailed; then
        nothing was changed, except that a journal that cannot be written leaves the result to the next start.
        """
        thread_id = _thread(plan.id)
        self._engine.journal.check_there()
        await self._take_over(thread_id)
        if self._engine.journal.entity(derived("chk", plan.id)) is not None:
            raise Conflict(
                "restore_known", f"The restore {plan.id} was carried out before.", fix="Make a new plan."
            )
        await self._at_rest(plan)
        try:
            result = await self._workspaces.restore(plan)
        except GitFailed as error:
            raise unreadable(error) from error
        return await self._record(thread_id, result)

    async def _at_rest(self, plan: RestorePlan) -> None:
        """No run of any thread may work in the checkout; one that starts now waits for the restore."""
        for run in self._reading.open_runs():
            if run.state == "queued" or not self._reading.works(run.thread_id):
                continue
            workspace = self._reading.thread(run.thread_id).workspace
            if (await self._workspaces.look(workspace)).root == plan.root:
                raise Conflict(
                    "checkout_busy",
                    f"A run of thread {run.thread_id} works in this folder.",
                    fix="Wait for it to end, or interrupt it; nothing was changed.",
                    run=run.id,
                )

    async def _record(self, thread_id: str, result: RestoreResult) -> Checkpoint:
        kept = derived("chk", result.id)
        words = f"{len(result.done)} paths put back, {len(result.refused)} left alone."
        command = Restored(
            kept,
            stored(result.safety),
            msgspec.to_builtins(result),
            result.safety.checkout,
            result.root,
            f"{words} Undo: podium checkpoints restore --undo {kept}",
            result.safety.at,
        )
        self._engine.apply(thread_id, command)
        await self._engine.settle()
        self._workspaces.settle(result.id)
        return self._reading.checkpoint(kept)

    async def resume(self) -> None:
        """At a start: end what a kill cut short, and record what was done and not yet recorded."""
        with contextlib.suppress(PodiumError, GitFailed, OSError):  # the next start looks again
            for result in await self._workspaces.resume_restores():
                with contextlib.suppress(PodiumError):  # a living runtime has this thread, and records it
                    await self._take_over(_thread(result.id))
                    await self._record(_thread(result.id), result)


def _name(thread_id: str) -> str:
    """The id of a new restore; it names its thread, so that a restart can record what it finds."""
    return f"{thread_id}.{uuid.uuid4().hex[:12]}"


def _thread(restore_id: str) -> str:
    return restore_id.partition(".")[0]
