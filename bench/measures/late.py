"""A client that comes late: the snapshot of a thread, then every page of items before it, each item once."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from bench.figures import Aim, Figure
from bench.measuring import Measure, Run, Sizes
from bench.place import Missing, Place, served
from bench.processes import cpu_seconds

AIMS = {10_000: Aim(0.15), 100_000: Aim(1.5)}

PAGE = 500
"""Items asked for at once, the most that a page has."""

TURN = 5_000
"""Texts of one turn while the thread is filled; each comes with a tool call, so that it makes two items."""

FILE = "pages"


def rows(sizes: Sizes) -> list[str]:
    """For each size, the first sight of the thread and all of it."""
    return [f"late client, {n:,} items, {part}" for n in sizes.late for part in ("snapshot", "all")]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A thread of each size, filled by the agent."""
    with served() as place:
        threads = {count: _filled(place, count) for count in sizes.late}
        yield lambda: [f for count, thread in threads.items() for f in _run(place, thread, count)]


def _filled(place: Place, count: int) -> str:
    """A thread with at least so many items. The last one may be the message that a person wrote."""
    thread = place.thread()
    have = 0
    while have < count:
        texts = min(TURN, (count - have + 1) // 2)
        place.play(thread, {"do": "stamp", "count": texts, "tools": 1})
        place.wait_idle(thread)
        have += 2 * texts
    return thread


def _run(place: Place, thread: str, count: int) -> list[Figure]:
    link = place.link()
    before = cpu_seconds(place.pid)
    begun = time.monotonic()
    answers = [place.call("GET", f"/v1/threads/{thread}", link=link)]
    first = time.monotonic() - begun
    position = place.before(answers[0])
    while position is not None:
        path = f"/v1/threads/{thread}/items?before={position}&limit={PAGE}"
        answers.append(place.call("GET", path, link=link))
        position = place.before(answers[-1])
    seconds = time.monotonic() - begun
    cpu = cpu_seconds(place.pid) - before
    link.close()
    _check(answers, count)
    name = f"late client, {count:,} items"
    return [
        Figure(f"{name}, snapshot", first, "s", _piped(place, answers[:1])),
        Figure(f"{name}, all", seconds, "s", _piped(place, answers), cpu, aim=AIMS.get(count)),
    ]


def _check(answers: list[bytes], count: int) -> None:
    """Raises Missing unless every item came once, in its order, and every text and call with its number."""
    positions: list[int] = []
    for answer in answers:
        page: list[dict[str, Any]] = json.loads(answer)["items"]
        positions[:0] = [row["item"]["position"] for row in page]
    if positions != list(range(1, len(positions) + 1)) or len(positions) < count:
        raise Missing(f"{len(positions)} of {count} items came, or not in order.")


def _piped(place: Place, answers: list[bytes]) -> float:
    """Seconds in which the same bytes come through a pipe, with the program that writes them."""
    path = place.root / FILE
    path.write_bytes(b"\n".join(answers))
    begun = time.monotonic()
    subprocess.run(["cat", str(path)], check=True, stdout=subprocess.PIPE)
    return time.monotonic() - begun


MEASURE = Measure("late", rows, opened)
