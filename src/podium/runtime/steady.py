"""The time that goes into the journal: it never steps back, whatever is done to the machine's clock (B43)."""

from __future__ import annotations

import time
from collections.abc import Callable

STEP_MAX = 300.0
"""Most seconds by which the clock may have been set back between two runtimes without being seen in a thread.

A clock that was further ahead was wrong; the times it left are not worth carrying on.
"""


def steady_clock(newest: float) -> Callable[[], float]:
    """Unix time as of now, moved on by the clock that only counts up, sleep of the machine included.

    `newest` is the time of the last stored event: what happens now is not earlier.
    """
    wall = time.time()
    if wall < newest <= wall + STEP_MAX:
        wall = newest
    start = _counting()
    return lambda: wall + (_counting() - start)


def _counting() -> float:
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
