"""Several sessions at once, each with an agent and a client of its own, each at 20 chunks a second."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from bench import checks
from bench.figures import Figure
from bench.measuring import Measure, Run, Sizes
from bench.pipe import piped
from bench.place import Place, served
from bench.taps import Tap, follow_all

DELAY = 0.05
"""Seconds between two chunks of one session."""


def rows(sizes: Sizes) -> list[str]:
    """Two for each number of sessions."""
    return [f"{n} session{'s' if n > 1 else ''}, {part}" for n in sizes.sessions for part in ("p50", "p99")]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """As many threads as are needed, with their agents at work."""
    with served() as place:
        threads = [place.warm() for _ in range(max(sizes.sessions))]
        yield lambda: _run(place, threads, sizes)


def _run(place: Place, threads: list[str], sizes: Sizes) -> list[Figure]:
    step = {"do": "stamp", "count": sizes.each, "delay": DELAY}
    bare = checks.milliseconds(checks.in_order(piped(str(place.workspace), step).stamps, sizes.each))
    found: list[Figure] = []
    for number in sizes.sessions:
        chosen = threads[:number]
        taps = [Tap(place, thread) for thread in chosen]
        before = place.cpu()
        try:
            follow_all([(tap, place.play(thread, step)) for tap, thread in zip(taps, chosen, strict=True)])
        finally:
            for tap in taps:
                tap.close()
        cpu = place.cpu().since(before)
        late = [ms for t in taps for ms in checks.milliseconds(checks.texts(t.frames(), sizes.each))]
        for part, share in (("p50", 0.5), ("p99", 0.99)):
            name = f"{number} session{'s' if number > 1 else ''}, {part}"
            value, pipe = checks.percentile(late, share), checks.percentile(bare, share)
            found.append(Figure(name, value, "ms", pipe, cpu.server, cpu.agents))
    return found


MEASURE = Measure("sessions", rows, opened)
