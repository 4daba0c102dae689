"""How much later a client sees what the agent wrote, at 100 chunks a second."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from bench import checks
from bench.figures import Aim, Figure
from bench.measuring import Measure, Run, Sizes
from bench.pipe import Stamped, piped
from bench.place import Place, served
from bench.taps import Tap, follow

DELAY = 0.01
"""Seconds between two chunks."""

CLIENTS = (1, 5)

P50, P99 = Aim(1.0, added=True), Aim(3.0, added=True)


def rows(_: Sizes) -> list[str]:
    """Two for each kind and number of clients."""
    return [
        f"{kind}, {clients} client{'s' if clients > 1 else ''}, {part}"
        for kind in ("deltas", "events")
        for clients in CLIENTS
        for part in ("p50", "p99")
    ]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A thread whose agent is at work."""
    with served() as place:
        thread = place.warm()
        yield lambda: _run(place, thread, sizes.paced)


def _run(place: Place, thread: str, count: int) -> list[Figure]:
    found: list[Figure] = []
    for kind in ("deltas", "events"):
        step: dict[str, Any] = {"do": "stamp", "count": count, "delay": DELAY}
        if kind == "events":
            step |= {"text": False, "tools": 1}
        bare = checks.milliseconds(checks.in_order(piped(str(place.workspace), step).stamps, count))
        for clients in CLIENTS:
            before = place.cpu()
            came = _played(place, thread, clients, step, kind, count)
            cpu = place.cpu().since(before)
            late = [ms for stamps in came for ms in checks.milliseconds(stamps)]
            name = f"{kind}, {clients} client{'s' if clients > 1 else ''}"
            for part, share, aim in (("p50", 0.5, P50), ("p99", 0.99, P99)):
                value, pipe = checks.percentile(late, share), checks.percentile(bare, share)
                told = aim if kind == "deltas" else None
                found.append(Figure(f"{name}, {part}", value, "ms", pipe, cpu.server, cpu.agents, aim=told))
    return found


def _played(
    place: Place, thread: str, clients: int, step: dict[str, Any], kind: str, count: int
) -> Sequence[list[Stamped]]:
    taps = [Tap(place, thread) for _ in range(clients)]
    try:
        follow(taps, place.play(thread, step))
    finally:
        for tap in taps:
            tap.close()
    came: list[list[Stamped]] = []
    for tap in taps:
        frames = tap.frames()
        checks.dense(frames)
        came.append(checks.texts(frames, count) if kind == "deltas" else checks.titles(frames, count))
    return came


MEASURE = Measure("latency", rows, opened)
