"""What a session waits for besides its agent: the adapter's timers, held text, a run without progress."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.abc

from podium.domain.state import ThreadState
from podium.runtime.pump import Pump, TimerChange

HOLD_BACK = 0.05
"""Time text is held back after its last piece because it may be the start of a secret, in seconds (R7)."""

HOLD_SURE = 8
"""Characters of a secret that are hardly anything else: they wait for what follows."""

HOLD_ROUNDS = 100
"""Most times the wait begins anew while more comes, or while what is held is hardly anything else."""

STUCK_CHECK = 1.0
"""Seconds between looks at a silent run."""


class Timers:
    """An adapter's timers. They are due at a time that is stored with the pump, so a restart keeps them."""

    def __init__(self, pump: Pump, clock: Callable[[], float], fire: Callable[[str], None]) -> None:
        self._pump = pump
        self._clock = clock
        self._fire = fire
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._group: anyio.abc.TaskGroup | None = None

    def take(self, changes: list[TimerChange]) -> None:
        """Set and cancel."""
        for change in changes:
            if change.seconds is None:
                self._pump.timers.pop(change.name, None)
            else:
                self._pump.timers[change.name] = self._clock() + change.seconds
            self._arm(change.name)

    def begin(self, group: anyio.abc.TaskGroup) -> None:
        """Wait for what is set, in this group, from now on."""
        self._group = group
        for name in list(self._pump.timers):
            self._arm(name)

    def end(self) -> None:
        """The group is about to end; what is set stays set."""
        self._group = None
        self._scopes.clear()

    def _arm(self, name: str) -> None:
        held = self._scopes.pop(name, None)
        if held is not None:
            held.cancel()
        due = self._pump.timers.get(name)
        if self._group is not None and due is not None:
            self._scopes[name] = scope = anyio.CancelScope()
            self._group.start_soon(self._wait, name, max(0.0, due - self._clock()), scope)

    async def _wait(self, name: str, seconds: float, scope: anyio.CancelScope) -> None:
        with scope:
            await anyio.sleep(seconds)
            if self._scopes.get(name) is scope:
                del self._scopes[name]
                self._fire(name)


class HeldText:
    """Lets held text go once nothing was added to it for HOLD_BACK; what is surely a secret's waits on."""

    def __init__(self, pump: Pump, release: Callable[[], None]) -> None:
        self._pump = pump
        self._release = release
        self._news = anyio.Event()

    def look(self) -> None:
        """After each input: there may be something held."""
        if self._pump.holding:
            self._news.set()

    async def watch(self) -> None:
        """Runs until cancelled."""
        self.look()
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            for _ in range(HOLD_ROUNDS):
                before = self._texts()
                await anyio.sleep(HOLD_BACK)
                now = self._texts()
                if now == before and max(map(len, now), default=0) < HOLD_SURE:
                    break
            if self._pump.holding:
                self._release()

    def _texts(self) -> list[str]:
        return [h.text for h in self._pump.held.values() if h.shown < len(h.text)]


async def watch_progress(
    pump: Pump, state: Callable[[], ThreadState], seconds: float, stuck: Callable[[str], None]
) -> None:
    """Report a run that made no progress for so long, and again after as long; some agents never end one.

    A run that waits for a person is not stuck. Runs until cancelled.
    """
    seen, since = -1, anyio.current_time()
    while True:
        await anyio.sleep(min(STUCK_CHECK, seconds / 4))
        run = state().active
        if run is None or run.state not in ("starting", "running") or pump.progress != seen:
            seen, since = pump.progress, anyio.current_time()
        elif anyio.current_time() - since >= seconds:
            since = anyio.current_time()
            stuck(run.id)
