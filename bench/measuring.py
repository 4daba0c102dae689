"""What a measurement is: a place that is set up once, and one run that can be done again and again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec

from bench.figures import Figure

Run = Callable[[], list[Figure]]
"""One run. Raises Missing where something was lost, came twice, in disorder, or not at all."""


class Sizes(msgspec.Struct, frozen=True):
    """How much is measured."""

    paced: int = 500
    """Chunks at 100/s."""
    flood: int = 10_000
    tools: int = 1_000
    """Texts of a tool-heavy turn; each has two tool updates."""
    late: tuple[int, ...] = (10_000, 100_000)
    stalled: float = 3.0
    """Seconds for which a client reads nothing."""
    sessions: tuple[int, ...] = (1, 10, 25)
    each: int = 100
    """Chunks of each of several sessions, at 20/s."""
    files: int = 5_000
    """Files of the repository that is captured."""
    commands: int = 3
    """How often each command runs for one figure."""


SMALL = Sizes(
    paced=20, flood=300, tools=20, late=(60,), stalled=0.2, sessions=(1, 2), each=5, files=50, commands=1
)
"""The least that says whether everything is there, and nothing about time."""


class Measure(msgspec.Struct, frozen=True):
    """`rows` names every row that a run must give."""

    name: str
    rows: Callable[[Sizes], list[str]]
    opened: Callable[[Sizes], AbstractContextManager[Run]]
