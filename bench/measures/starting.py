"""From starting `podium serve` to the first healthy answer."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from bench.figures import Aim, Figure
from bench.measuring import Measure, Run, Sizes
from bench.place import Place, placed
from bench.processes import cpu_seconds

AIM = Aim(0.6)

ROW = "start to healthy"


def rows(_: Sizes) -> list[str]:
    """One."""
    return [ROW]


@contextmanager
def opened(_: Sizes) -> Generator[Run]:
    """A data folder that a server has been in, so that only the start is measured."""
    with placed() as place:
        place.start()
        place.close()
        yield lambda: [_run(place)]


def _run(place: Place) -> Figure:
    begun = time.monotonic()
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=place.environ)
    bare = time.monotonic() - begun
    seconds = place.start()
    cpu = cpu_seconds(place.pid)
    place.close()
    return Figure(ROW, seconds, "s", bare, cpu, aim=AIM)


MEASURE = Measure("starting", rows, opened)
