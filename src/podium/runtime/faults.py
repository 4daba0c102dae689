"""Named points at which a crash test may kill this process; does nothing unless asked to.

`PODIUM_TEST_DIE_AT=n` kills the process with SIGKILL at the n-th point it passes, so that a test can walk
through every boundary between reading, committing and sending (R2). A name in its place kills it at the
first point so named.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping

VARIABLE = "PODIUM_TEST_DIE_AT"
TRACE = "PODIUM_TEST_POINTS"


class Faults:
    """Counts the points passed in this process."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        text = environ.get(VARIABLE, "")
        self.at = int(text) if text.isdigit() else 0
        self.name = text
        self.trace = environ.get(TRACE)
        self.passed = 0

    def __call__(self, name: str) -> None:
        """Pass a point."""
        if not self.name and self.trace is None:
            return
        self.passed += 1
        if self.trace is not None:
            with open(self.trace, "a", encoding="utf-8") as out:  # noqa: PTH123 - appended whole, by a test
                out.write(f"{self.passed} {name}\n")
        if self.passed == self.at or name == self.name:
            os.kill(os.getpid(), signal.SIGKILL)
