"""Agents that had nothing to do for long are let go; their conversation is resumed when needed (F270)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping

import anyio

from podium.contract.errors import StorageFailed
from podium.domain.commands import EndSession
from podium.domain.state import ThreadState
from podium.runtime.engine import Engine
from podium.runtime.supervisor import Supervisor

IDLE_RELEASE = 30 * 60.0
"""Seconds a session may be idle before its agent is let go; the conversation is resumed later (F270)."""

IDLE_CHECK = 5.0
"""Longest time between looks for idle sessions, in seconds."""

IDLE_MIN = 0.05
"""Shortest idle time that can be asked for, in seconds."""


async def watch_idle(
    engine: Engine, sessions: Mapping[str, Supervisor], seconds: float, clock: Callable[[], float]
) -> None:
    """End sessions that were idle for this long, until cancelled. Work of any kind begins the time anew.

    The time of a session that another runtime left counts from the last work that the journal has of it.
    """
    since: dict[str, float] = {}
    seen_busy: set[str] = set()
    while True:
        await anyio.sleep(min(IDLE_CHECK, seconds / 2))
        for session_id, supervisor in list(sessions.items()):
            with contextlib.suppress(StorageFailed):  # looked at again in the next round
                thread_id, now = supervisor.thread_id, anyio.current_time()
                if busy(engine.live(thread_id).state):
                    since.pop(session_id, None)
                    seen_busy.add(session_id)
                    continue
                if session_id not in since:
                    idle = 0.0 if session_id in seen_busy else _idle_for(engine, thread_id, clock())
                    since[session_id] = now - idle
                if now - since[session_id] >= seconds:
                    del since[session_id]
                    engine.apply(thread_id, EndSession(session_id, "idle"))
        for session_id in (since.keys() | seen_busy) - sessions.keys():
            since.pop(session_id, None)
            seen_busy.discard(session_id)


def _idle_for(engine: Engine, thread_id: str, now: float) -> float:
    """Seconds since the last work that the journal has of a thread."""
    worked = engine.journal.worked_at(thread_id)
    return max(0.0, now - worked) if worked is not None else 0.0


def busy(state: ThreadState) -> bool:
    """Whether anything of this thread is open, or its session is not one that can be let go."""
    working = state.runs or state.requests or state.items or state.turns
    return bool(working) or state.session is None or state.session.state != "ready"
