"""A process that restores, and may kill itself at the n-th boundary it passes.

Usage: python restoring.py ROOT DATA NAME DIE_AT; prints how many boundaries were passed. Its targets are in
DATA/targets.json.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import msgspec

from podium.workspace.values import Owned
from podium.workspace.workspaces import Workspaces


class Dying:
    """Counts boundaries; at the chosen one the process kills itself as `kill -9` would."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.passed = 0

    def __call__(self, name: str) -> None:
        self.passed += 1
        if self.passed == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(root: str, data: str, name: str, at: str) -> int:
    point = Dying(int(at))
    spaces = Workspaces(Path(data), point=point)
    content = await anyio.Path(data, "targets.json").read_bytes()
    targets = msgspec.json.decode(content, type=tuple[Owned, ...])
    await spaces.restore(await spaces.plan(root, targets, name))
    return point.passed


if __name__ == "__main__":
    print(anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]))
