"""Memory of the server alone, idle and for each session more; and, apart, that of a keeper."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from bench.figures import Aim, Figure
from bench.measuring import Measure, Run, Sizes
from bench.place import served
from bench.processes import command_of, private_mib, resident_mib

IDLE, SESSION = Aim(70), Aim(1)

ROWS = ["memory idle, resident", "memory per session", "memory per keeper, private"]


def rows(_: Sizes) -> list[str]:
    """Three."""
    return ROWS


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """Every run has a server of its own."""
    yield lambda: _run(max(sizes.sessions))


def _run(sessions: int) -> list[Figure]:
    with served() as place:
        idle = resident_mib(place.pid)
        place.warm()  # what comes with the first session only
        first = resident_mib(place.pid)
        for _ in range(sessions):
            place.warm()
        each = (resident_mib(place.pid) - first) / sessions
        keepers = [p for p in place.agents() if "podium.keeper" in command_of(p) or "keeper" in command_of(p)]
        private = sum(map(private_mib, keepers)) / max(1, len(keepers))
    return [
        Figure(ROWS[0], idle, "MiB", aim=IDLE),
        Figure(ROWS[1], each, "MiB", aim=SESSION),
        Figure(ROWS[2], private, "MiB"),
    ]


MEASURE = Measure("memory", rows, opened)
