"""How the agent process ends, and who ended it."""

from __future__ import annotations

import math
import os
import signal
import time

from .spawning import census

NEVER = math.inf
DRAIN_MAX = 5.0  # seconds that whoever still holds the agent's stdout may delay the exit record
FOLDER_EVERY = 10.0  # seconds between looks whether the keeper's folder is still there
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "KILL": signal.SIGKILL}


class Lifetime:
    """`reason` is empty as long as nobody asked the agent to end."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None  # exit code, or minus the signal
        self.reason = ""
        self.exit_at = 0.0
        self.term_at = self.kill_at = self.drain_at = NEVER

    def end(self, reason: str, term_after: float, kill_after: float) -> None:
        """The first reason stays; a later, more urgent wish only brings the signals forward."""
        if self.status is None:
            now = time.monotonic()
            self.reason = self.reason or reason
            self.term_at = min(self.term_at, now + term_after)
            self.kill_at = min(self.kill_at, now + kill_after)

    def signal(self, number: int, group: bool) -> bool:
        """A pid is not reused before it was reaped, a group's not while it has a member."""
        try:
            if group:
                os.killpg(self.pid, number)
            elif self.status is None:
                os.kill(self.pid, number)
        except OSError:
            return False
        return group or self.status is None

    def tick(self, now: float) -> None:
        if self.status is None:
            reaped, status = os.waitpid(self.pid, os.WNOHANG)
            if reaped:
                self.status, self.exit_at = os.waitstatus_to_exitcode(status), time.time()
                self.drain_at = now + DRAIN_MAX
                self.term_at = now if self.reason else NEVER  # what an ended agent left in its group ends too
        if now >= self.term_at:
            self.term_at = NEVER
            self.signal(signal.SIGTERM, group=True)
        if now >= self.kill_at and self.status is None:
            self.signal(signal.SIGKILL, group=True)

    def settled(self, now: float, stdout_open: bool) -> bool:
        """The exit can be recorded: stdout has ended and an ended group is empty, or the wait is over."""
        if self.status is None:
            return False
        left = self.reason and self.signal(0, group=True) and census(self.pid) != []
        return now >= self.drain_at or not (stdout_open or left)

    def next_at(self) -> float:
        return min(self.term_at, self.kill_at, self.drain_at)


class Ground:
    """The keeper's own folder. Once it is taken away nobody finds the agent again, or what it says."""

    def __init__(self, folder: str, every: float) -> None:
        self.folder, self.every = folder, every
        self.inode = os.stat(folder).st_ino  # noqa: PTH116
        self.look_at = time.monotonic() + every

    def gone(self) -> bool:
        try:
            return os.stat(self.folder).st_ino != self.inode  # noqa: PTH116
        except FileNotFoundError:
            return True
        except OSError:  # a disk that does not answer is no folder that was taken away
            return False

    def due(self, now: float) -> bool:
        """Whether a look was due and found nothing."""
        if now < self.look_at:
            return False
        self.look_at = now + self.every
        return self.gone()
