"""The agent's stdin: numbered sends, each written once, never waited for (R2)."""

from __future__ import annotations

import json
import os
import select
import sys
import time

TYPE_CHECKING = False  # importing typing costs memory too
if TYPE_CHECKING:
    from typing import Any

WRITE = 1 << 16
sha256: Any = __import__(
    "_sha2" if sys.version_info >= (3, 12) else "_sha256"
).sha256  # hashlib loads OpenSSL


class Feeder:
    """`last_sent` moves only when a line was accepted: it is logged and in the queue or the pipe."""

    def __init__(self, fd: int, log: int, limit: int) -> None:
        self.fd, self.log, self.limit = fd, log, limit
        self.queue = bytearray()
        self.last_sent = 0
        self.closing = False  # nothing more is accepted; the pipe closes when the queue is out
        self.refused_full = False

    def send(self, n: object, line: object, closing: bool, offset: int) -> dict[str, Any]:
        if not isinstance(n, int) or isinstance(n, bool) or not isinstance(line, str):
            raise ValueError("a send has an integer n and a line")
        if n <= self.last_sent:
            return {"last_sent": self.last_sent, "n": n}
        data, code = b"", ""
        try:
            data = b"" if closing else line.encode() + b"\n"
        except UnicodeEncodeError:
            code = "not_encodable"
        if n != self.last_sent + 1:
            code = "gap"
        elif self.closing or self._reader_gone():
            code = "stdin_closed"
        elif len(data) > self.limit:
            code = code or "line_too_long"
        elif len(self.queue) + len(data) > self.limit:
            code, self.refused_full = "stdin_full", True
        elif not code:
            mark = None if closing else sha256(data[:-1]).hexdigest()
            row = json.dumps([n, offset, time.time(), mark, max(0, len(data) - 1)])
            code = "" if self._append(row.encode() + b"\n") else "log_failed"
        if code:
            return {"refused": n, "code": code, "last_sent": self.last_sent}
        self.last_sent, self.closing = n, closing
        self.queue += data
        return {"last_sent": n, "n": n}

    def flush(self) -> int:
        """Write what the pipe takes; how many accepted bytes are lost because the reader is gone."""
        lost = 0
        try:
            while self.queue:
                with memoryview(self.queue) as view:
                    done = os.write(self.fd, view[:WRITE])
                del self.queue[:done]
        except BlockingIOError:
            return 0
        except OSError:
            lost = len(self.queue)
            self.queue.clear()
            self.closing = True
        if self.closing:
            self.close()
        return lost

    def room_again(self) -> bool:
        """True once after a refusal for lack of room, when half of the queue is free."""
        if self.refused_full and len(self.queue) <= self.limit // 2:
            self.refused_full = False
            return True
        return False

    def close(self) -> None:
        self.closing = True
        self.queue.clear()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _reader_gone(self) -> bool:
        poll = select.poll()
        poll.register(self.fd, 0)
        return any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))

    def _append(self, row: bytes) -> bool:
        """One whole row or nothing: a send that could not be logged is refused before its first byte."""
        try:
            size = os.fstat(self.log).st_size
            if os.write(self.log, row) == len(row):
                return True
            os.ftruncate(self.log, size)
        except OSError:
            pass
        return False
