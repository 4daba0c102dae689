"""What a command line costs, as whole processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.figures import Figure
from bench.measuring import Measure, Run, Sizes
from bench.place import WAIT_MAX, Place, placed

COMMANDS = {
    "import podium.contract": [sys.executable, "-c", "import podium.contract"],
    "import podium": [sys.executable, "-c", "import podium"],
    "podium --help": [str(Path(sys.executable).with_name("podium")), "--help"],
    "podium run": [str(Path(sys.executable).with_name("podium")), "run", "-a", "scripted", "say hello"],
}


def rows(_: Sizes) -> list[str]:
    """One for each command; the bare one is Python doing nothing."""
    return [f"command {name}" for name in COMMANDS]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A data folder for the runs."""
    with placed() as place:
        for command in COMMANDS.values():
            _seconds(command, place)  # caches are warm afterwards
        yield lambda: _run(place, sizes.commands)


def _run(place: Place, times: int) -> list[Figure]:
    nothing = [sys.executable, "-c", "pass"]
    bare = statistics.median(_seconds(nothing, place) for _ in range(times)) * 1000
    return [
        Figure(row, statistics.median(_seconds(command, place) for _ in range(times)) * 1000, "ms", bare)
        for row, command in zip((f"command {name}" for name in COMMANDS), COMMANDS.values(), strict=True)
    ]


def _seconds(command: Sequence[str], place: Place) -> float:
    begun = time.monotonic()
    subprocess.run(
        command, check=True, capture_output=True, timeout=WAIT_MAX, env=place.environ, cwd=place.workspace
    )
    return time.monotonic() - begun


MEASURE = Measure("commands", rows, opened)
