"""Clients of the event stream that cost little: bytes are kept with their time, and read in the end."""

from __future__ import annotations

import json
import re
import selectors
import socket
import time
from typing import Any, NamedTuple

from bench.place import WAIT_MAX, Missing, Place

PIECE = 256 * 1024
"""Most bytes taken at once."""

FRAME_MAX = 8 * 1024
"""Bytes in which the event of a run's end is looked for, before those that just came."""


def run_ended(run: str) -> re.Pattern[bytes]:
    """How the end of a run looks in the stream."""
    return re.compile(rb'"kind":"run","id":"%s"[^\n]*"state":"ended"' % run.encode())


class Arrived(NamedTuple):
    """A frame of the stream and when its last byte was there, in nanoseconds of the monotonic clock."""

    at: int
    kind: str
    data: dict[str, Any]


class Tap:
    """One client. It reads nothing before `stalled_until`."""

    def __init__(self, place: Place, thread: str, *, receive_buffer: int = 0) -> None:
        self.pieces: list[tuple[int, bytes]] = []
        self.over = False
        self.stalled_until = 0.0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(WAIT_MAX)
        self.socket.connect(("127.0.0.1", place.port))
        head = (
            f"GET /v1/events?threads={thread}&live={thread} HTTP/1.1\r\nhost: 127.0.0.1:{place.port}\r\n"
            f"authorization: Bearer {place.token}\r\n\r\n"
        )
        self.socket.sendall(head.encode())
        self._end = b""
        while b"event: hello" not in self._end:
            self._take()
        self._end = b""

    def _take(self) -> bool:
        data = self.socket.recv(PIECE)
        at = time.monotonic_ns()
        self.pieces.append((at, data))
        self._end = self._end[-FRAME_MAX:] + data
        return bool(data)

    def take(self, ended: re.Pattern[bytes]) -> None:
        """Take what is there; over once the run's end is among it. Raises Missing if the stream ends."""
        if not self._take():
            raise Missing("The stream ended too early.")
        self.over = self.over or ended.search(self._end) is not None

    def close(self) -> None:
        """Leave."""
        self.socket.close()

    def frames(self) -> list[Arrived]:
        """Everything that came, in its order."""
        return parse(self.pieces)


def follow(taps: list[Tap], run: str) -> None:
    """Take what comes until every client has seen the end of the run. Raises Missing after WAIT_MAX."""
    follow_all([(tap, run) for tap in taps])


def follow_all(pairs: list[tuple[Tap, str]]) -> None:
    """The same for clients that each wait for a run of their own."""
    ended = {tap: run_ended(run) for tap, run in pairs}
    deadline = time.monotonic() + WAIT_MAX
    with selectors.DefaultSelector() as chosen:
        for tap in ended:
            if not tap.stalled_until:
                chosen.register(tap.socket, selectors.EVENT_READ, tap)
        while left := [tap for tap in ended if not tap.over]:
            now = time.monotonic()
            if now > deadline:
                raise Missing(f"{len(left)} clients did not see the end in {WAIT_MAX:.0f} s.")
            for tap in left:
                if tap.stalled_until and now >= tap.stalled_until:
                    tap.stalled_until = 0.0
                    chosen.register(tap.socket, selectors.EVENT_READ, tap)
            nearest = min((t.stalled_until for t in left if t.stalled_until), default=deadline)
            for key, _ in chosen.select(max(0.0, min(1.0, nearest - now))):
                found: Tap = key.data
                found.take(ended[found])
                if found.over:
                    chosen.unregister(found.socket)


def parse(pieces: list[tuple[int, bytes]]) -> list[Arrived]:
    """The frames in what came: HTTP's chunks taken apart, then the stream's frames."""
    found: list[Arrived] = []
    body = Unchunked()
    text = b""
    for at, data in pieces:
        text += body.feed(data)
        whole, mark, rest = text.rpartition(b"\n\n")
        if not mark:
            continue
        text = rest
        found.extend(Arrived(at, *_frame(frame)) for frame in whole.split(b"\n\n"))
    return found


def _frame(frame: bytes) -> tuple[str, dict[str, Any]]:
    fields = dict(line.split(b": ", 1) for line in frame.splitlines())
    return fields[b"event"].decode(), json.loads(fields[b"data"])


class Unchunked:
    """An answer in HTTP's chunks, by pieces; a chunk counts once all of it is there."""

    def __init__(self) -> None:
        self._left = b""
        self._head = True

    def feed(self, data: bytes) -> bytes:
        """What of the body is whole with this piece. Raises Missing for a refusal."""
        left, out, at = self._left + data, bytearray(), 0
        if self._head:
            end = left.find(b"\r\n\r\n")
            if end < 0:
                self._left = left
                return b""
            if not left.startswith(b"HTTP/1.1 200"):
                raise Missing(f"The stream was refused: {left[:200]!r}")
            self._head, at = False, end + 4
        while (end := left.find(b"\r\n", at)) >= 0:
            last = end + 2 + int(left[at:end], 16)
            if len(left) < last + 2:
                break
            out += left[end + 2 : last]
            at = last + 2
        self._left = left[at:]
        return bytes(out)
