"""How much the data folder grows: per text and per tool call, all of it, in bytes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from bench.figures import Figure
from bench.measuring import Measure, Run, Sizes
from bench.pipe import piped
from bench.place import Place, served


def rows(sizes: Sizes) -> list[str]:
    """One for a flood, one for tool calls; `x pipe` is to the bytes that the agent wrote."""
    return [f"file growth, flood of {sizes.flood:,}", f"file growth, {sizes.tools:,} texts and calls"]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """Every run has a data folder of its own."""
    yield lambda: _run(sizes)


def _run(sizes: Sizes) -> list[Figure]:
    steps: list[dict[str, Any]] = [
        {"do": "stamp", "count": sizes.flood},
        {"do": "stamp", "count": sizes.tools, "tools": 2},
    ]
    found: list[Figure] = []
    for name, step in zip(rows(sizes), steps, strict=True):
        with served() as place:
            bare = piped(str(place.workspace), step).size / 1024
            thread = place.warm()
            before = _at_rest(place)
            place.start()
            place.play(thread, step)
            place.wait_idle(thread)
            found.append(Figure(name, (_at_rest(place) - before) / 1024, "KiB", bare))
    return found


def _at_rest(place: Place) -> int:
    """What is stored once the server has left in good order."""
    place.close()
    return place.stored_bytes()


MEASURE = Measure("growth", rows, opened)
