"""A flood of text, as fast as the agent writes it: complete, in order, and how fast."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from bench import checks
from bench.figures import Aim, Figure
from bench.measuring import Measure, Run, Sizes
from bench.pipe import piped
from bench.place import Place, served
from bench.taps import Tap, follow

AIM = Aim(20_000, "higher")


def rows(sizes: Sizes) -> list[str]:
    """One."""
    return [f"flood of {sizes.flood:,}"]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A thread whose agent is at work."""
    with served() as place:
        thread = place.warm()
        yield lambda: [_run(place, thread, sizes)]


def _run(place: Place, thread: str, sizes: Sizes) -> Figure:
    step = {"do": "stamp", "count": sizes.flood}
    bare = checks.per_second(checks.in_order(piped(str(place.workspace), step).stamps, sizes.flood))
    tap = Tap(place, thread)
    before = place.cpu()
    try:
        follow([tap], place.play(thread, step))
    finally:
        tap.close()
    cpu = place.cpu().since(before)
    frames = tap.frames()
    checks.dense(frames)
    rate = checks.per_second(checks.texts(frames, sizes.flood))
    checks.same_text(place, thread, checks.spoken(frames), frames)
    return Figure(rows(sizes)[0], rate, "chunks/s", bare, cpu.server, cpu.agents, "higher", AIM)


MEASURE = Measure("flood", rows, opened)
