"""The waits of the core: an interrupt that must be obeyed, a start that must come to something (F249)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import anyio

from podium.contract.errors import StorageFailed
from podium.domain.commands import DeadlinePassed
from podium.domain.outputs import SetDeadline
from podium.domain.state import ThreadState
from podium.runtime.engine import Engine

STORAGE_RETRY = 1.0
"""Seconds before a deadline that met a failing disk reports again."""

STORAGE_TRIES = 60
"""Most times it does so."""

Work = Callable[[], Coroutine[Any, Any, None]]

Start = Callable[[Work], None]
"""Starts a task that ends with the runtime."""


class Deadlines:
    """One wait for each name and run; setting it again begins it anew."""

    def __init__(self, engine: Engine, start: Start, seconds: Callable[[str, str], float]) -> None:
        self._engine = engine
        self._start = start
        self._seconds = seconds
        self._held: dict[tuple[str, str], anyio.CancelScope] = {}

    def set(self, thread_id: str, wanted: SetDeadline) -> None:
        """Begin a wait, or give it up."""
        key = (wanted.name, wanted.run_id)
        held = self._held.pop(key, None)
        if held is not None:
            held.cancel()
        if wanted.armed:
            scope = self._held[key] = anyio.CancelScope()
            self._start(lambda: self._wait(thread_id, wanted, scope))

    def again(self, thread_id: str, state: ThreadState) -> None:
        """Begin the waits that an earlier runtime took with it."""
        run = state.active
        if run is None:
            return
        if run.interrupt_requested_at is not None:
            self.set(thread_id, SetDeadline("interrupt", run.id))
        elif (attempt := state.attempts.get(run.attempt_id or "")) is not None and attempt.state == "new":
            self.set(thread_id, SetDeadline("start", run.id))

    async def _wait(self, thread_id: str, wanted: SetDeadline, scope: anyio.CancelScope) -> None:
        key = (wanted.name, wanted.run_id)
        waited = False
        with scope:
            for _ in range(STORAGE_TRIES):
                try:
                    if not waited:
                        await anyio.sleep(self._seconds(thread_id, wanted.name))
                        waited = True
                    self._engine.apply(thread_id, DeadlinePassed(wanted.name, wanted.run_id))
                    break
                except StorageFailed:
                    await anyio.sleep(STORAGE_RETRY)
            if self._held.get(key) is scope:
                del self._held[key]
