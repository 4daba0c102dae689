"""A turn with more tools than text: each text is followed by two updates of tools.

Once the updates of one call that goes on; once, harder, a call of its own each time: each is an item with
a node, kept with each of its changes, and every text becomes a message of its own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from bench import checks
from bench.figures import Aim, Figure
from bench.measuring import Measure, Run, Sizes
from bench.pipe import Stamped, piped
from bench.place import Place, served
from bench.taps import Tap, follow

AIM = Aim(5_000, "higher")


def rows(sizes: Sizes) -> list[str]:
    """One for each kind."""
    return [f"tool-heavy, {sizes.tools:,} texts, {kind}" for kind in ("one call", "a call each")]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A thread whose agent is at work."""
    with served() as place:
        thread = place.warm()
        yield lambda: _run(place, thread, sizes)


def _run(place: Place, thread: str, sizes: Sizes) -> list[Figure]:
    found: list[Figure] = []
    for name, one in zip(rows(sizes), (True, False), strict=True):
        step: dict[str, Any] = {"do": "stamp", "count": sizes.tools, "tools": 2}
        if one:
            step["one_call"] = True
        bare = checks.per_second(texts_only(piped(str(place.workspace), step).stamps))
        tap = Tap(place, thread)
        before = place.cpu()
        try:
            follow([tap], place.play(thread, step))
        finally:
            tap.close()
        cpu = place.cpu().since(before)
        frames = tap.frames()
        checks.dense(frames)
        if not one:
            checks.titles(frames, sizes.tools)
        rate = checks.per_second(checks.texts(frames, sizes.tools))
        aim = AIM if one else None
        found.append(Figure(name, rate, "texts/s", bare, cpu.server, cpu.agents, "higher", aim))
    return found


def texts_only(stamps: list[Stamped]) -> list[Stamped]:
    """Those of texts, of stamps that texts and titles may both bear: the first of each number."""
    return [
        s
        for before, s in zip([None, *stamps], stamps, strict=False)
        if before is None or before.number != s.number
    ]


MEASURE = Measure("tools", rows, opened)
