"""A client that reads nothing for a while, in the middle of a flood, beside one that reads on."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from bench import checks
from bench.figures import Figure
from bench.measuring import Measure, Run, Sizes
from bench.pipe import piped
from bench.place import Place, served
from bench.taps import Tap, follow

SMALL_BUFFER = 16 * 1024
"""Bytes that the kernel keeps for the client that stalls: the server has to bear the rest."""


def rows(sizes: Sizes) -> list[str]:
    """How the other client fared, and how long the stalled one took to catch up, once it read again."""
    told = f"client stalled {sizes.stalled:g} s"
    return [f"{told}, the other client", f"{told}, to catch up"]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A thread whose agent is at work."""
    with served() as place:
        thread = place.warm()
        yield lambda: _run(place, thread, sizes)


def _run(place: Place, thread: str, sizes: Sizes) -> list[Figure]:
    step = {"do": "stamp", "count": sizes.flood}
    bare = piped(str(place.workspace), step)
    rate = checks.per_second(checks.in_order(bare.stamps, sizes.flood))
    reading, stalled = Tap(place, thread), Tap(place, thread, receive_buffer=SMALL_BUFFER)
    before = place.cpu()
    stalled.stalled_until = time.monotonic() + sizes.stalled
    resumed = int(stalled.stalled_until * 1e9)
    try:
        follow([reading, stalled], place.play(thread, step))
    finally:
        reading.close()
        stalled.close()
    cpu = place.cpu().since(before)
    frames, later = reading.frames(), stalled.frames()
    for seen in (frames, later):
        checks.dense(seen)
        checks.same_text(place, thread, checks.spoken(frames), seen)
    ours = checks.per_second(checks.texts(frames, sizes.flood))
    caught = max(0.0, (checks.texts(later, sizes.flood)[-1].arrived - resumed) / 1e9)
    flow, catching = rows(sizes)
    return [
        Figure(flow, ours, "chunks/s", rate, cpu.server, cpu.agents, "higher"),
        Figure(catching, caught, "s", bare.seconds),
    ]


MEASURE = Measure("stalled", rows, opened)
