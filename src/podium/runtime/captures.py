"""Captures the files of threads when the core wants it, and reports what became of each (R11, F248).

One capture at a time in a folder. A capture that is asked for again, after a restart or a failed commit, is
made again under another name; what the first one left is dropped by clean-up.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

import anyio
import msgspec

from podium.contract.errors import BadInput, PodiumError, StorageFailed, failure
from podium.domain.commands import Captured
from podium.domain.entities import Checkpoint
from podium.domain.state import ThreadState
from podium.runtime.deadlines import STORAGE_RETRY, STORAGE_TRIES, Start
from podium.runtime.engine import Engine
from podium.workspace.values import Capture
from podium.workspace.workspaces import Workspaces

Quiet = Callable[[str], Awaitable[bool]]
"""Whether no process of a thread's agent is alive that may write besides the agent itself."""


class Captures:
    """The captures of one runtime."""

    def __init__(
        self,
        engine: Engine,
        workspaces: Workspaces,
        start: Start,
        quiet: Quiet,
        owns: Callable[[str], bool],
        fault: Callable[[str], None],
    ) -> None:
        self.workspaces = workspaces
        self._engine = engine
        self._start = start
        self._quiet = quiet
        self._owns = owns
        self._fault = fault
        self._at_work: set[str] = set()
        self._left = anyio.Event()
        self._folders: dict[str, anyio.Lock] = {}

    def take(self, thread_id: str, checkpoint_id: str, *, again: bool = False) -> None:
        """Begin the capture of a pending checkpoint; one that is under way goes on.

        `again`: an earlier runtime did not finish it, so an end may be captured long after its run.
        """
        if checkpoint_id not in self._at_work:
            self._at_work.add(checkpoint_id)
            self._start(lambda: self._run(thread_id, checkpoint_id, again))

    def again(self, thread_id: str, state: ThreadState) -> None:
        """Begin the captures that an earlier runtime took with it."""
        for checkpoint in state.checkpoints.values():
            if checkpoint.state == "pending":
                self.take(thread_id, checkpoint.id, again=True)

    async def idle(self, most: float) -> None:
        """Until no capture is under way; bounded."""
        with anyio.move_on_after(most):
            while self._at_work:
                await self._left.wait()

    async def _run(self, thread_id: str, checkpoint_id: str, again: bool) -> None:
        try:
            checkpoint, folder = self._wanted(thread_id, checkpoint_id)
            if checkpoint is None:
                return
            self._fault(f"capture {checkpoint.moment}")
            command = await self._taken(thread_id, checkpoint, folder, again)
            self._fault(f"captured {checkpoint.moment}")
            await self._report(thread_id, command)
        finally:
            self._at_work.discard(checkpoint_id)
            left, self._left = self._left, anyio.Event()
            left.set()

    def _wanted(self, thread_id: str, checkpoint_id: str) -> tuple[Checkpoint | None, str]:
        try:
            state = self._engine.live(thread_id).state
        except StorageFailed:  # it is still pending for whoever reads the thread next
            return None, ""
        checkpoint = state.checkpoints.get(checkpoint_id)
        if state.thread is None or checkpoint is None or checkpoint.state != "pending":
            return None, ""
        return checkpoint, state.thread.workspace

    async def _taken(self, thread_id: str, checkpoint: Checkpoint, folder: str, again: bool) -> Captured:
        """The report of one capture; whatever goes wrong is in it."""
        name = f"{checkpoint.id}.{uuid.uuid4().hex[:8]}"
        try:
            lock = self._folders.setdefault((await self.workspaces.look(folder)).root, anyio.Lock())
            async with lock:
                quiet = not (again and checkpoint.moment == "end") and await self._quiet(thread_id)
                capture = await self.workspaces.capture(folder, name, quiet=quiet)
        except PodiumError as error:
            why = failure("storage", error.code, error.message, fix=error.fix)
            return Captured(checkpoint.id, quiescent=False, trouble=why)
        except Exception as error:  # a capture never stops a run, whatever it met
            why = failure("storage", "capture_broken", f"{type(error).__name__}: {error}")
            return Captured(checkpoint.id, quiescent=False, trouble=why)
        return report_of(checkpoint.id, capture)

    async def _report(self, thread_id: str, command: Captured) -> None:
        for _ in range(STORAGE_TRIES):
            if not self._owns(thread_id):  # another runtime has the thread now, and its pending captures
                return
            try:
                self._engine.apply(thread_id, command)
                await self._engine.settle()
                return
            except StorageFailed:  # memory was dropped with it: it is pending as before
                await anyio.sleep(STORAGE_RETRY)


def report_of(checkpoint_id: str, capture: Capture) -> Captured:
    """What a capture comes to for its checkpoint."""
    trouble = capture.failed
    why = failure("storage", trouble.code, trouble.message, fix=trouble.fix) if trouble else None
    return Captured(checkpoint_id, stored(capture), capture.checkout, capture.root, capture.quiescent, why)


def stored(capture: Capture) -> dict[str, object]:
    """A capture as plain data, as it stands in its checkpoint."""
    return msgspec.convert(msgspec.to_builtins(capture), dict[str, object])


def capture_of(checkpoint: Checkpoint) -> Capture:
    """The capture of a checkpoint. Raises BadInput `checkpoint_not_ready` for one that holds none."""
    if checkpoint.state != "ready" or checkpoint.capture is None:
        why = checkpoint.trouble.message if checkpoint.trouble else f"It is {checkpoint.state}."
        raise BadInput(
            "checkpoint_not_ready",
            f"The checkpoint {checkpoint.id} holds no files: {why}",
            fix="Choose another one: podium checkpoints list",
        )
    return msgspec.convert(checkpoint.capture, Capture)
