"""The keeper's socket and its connections: whole lines in, bounded answers out."""

# pathlib would cost memory in a process that exists once per agent.
# ruff: noqa: PTH102, PTH106, PTH108, PTH118
from __future__ import annotations

import json
import os
import socket

TYPE_CHECKING = False  # importing typing costs memory too
if TYPE_CHECKING:
    from typing import Any

MIB = 1 << 20
CONTROL_LINE_MAX = 64 * MIB
GREETING_MAX = 4096
OUT_MAX = 1 * MIB
RECEIVE = 1 << 18
ADDRESS_MAX = 100  # bytes; the system allows little more for a unix socket
BACKLOG = 128  # a full one would look like a dead keeper to whoever connects


class Listener:
    """`address` is DIR/sock, or a socket in a fresh private folder where that path would be too long."""

    def __init__(self, folder: str) -> None:
        self.address, self.extra = os.path.join(folder, "sock"), ""
        if len(os.fsencode(self.address)) >= ADDRESS_MAX:
            self.extra = f"/tmp/podium-{os.urandom(12).hex()}"
            os.mkdir(self.extra, 0o700)
            self.address = f"{self.extra}/sock"
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(self.address)
        self.sock.listen(BACKLOG)
        self.sock.setblocking(False)

    def remove(self) -> None:
        self.sock.close()
        try:
            os.unlink(self.address)
            if self.extra:
                os.rmdir(self.extra)
        except OSError:  # somebody has removed it already
            pass


class Client:
    """Nothing a client does raises out of here: `gone` becomes True and the keeper drops it."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.gone = False
        self.out = bytearray()
        self.line_max = GREETING_MAX  # until it has attached
        self._inbox = bytearray()
        self._scanned = 0

    def receive(self) -> None:
        try:
            data = self.sock.recv(RECEIVE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.gone = True
        self._inbox += data

    def next_message(self) -> dict[str, Any] | None:
        """The next whole message; None when there is none, or the client has to go."""
        end = self._inbox.find(b"\n", self._scanned)
        if end < 0 or end > self.line_max:
            self._scanned = len(self._inbox)
            self.gone = self.gone or self._scanned > self.line_max
            return None
        line = bytes(self._inbox[:end])
        del self._inbox[: end + 1]
        self._scanned = 0
        try:
            message: Any = json.loads(line)
        except (ValueError, RecursionError, MemoryError):
            message = None
        self.gone = self.gone or not hasattr(message, "items")  # only objects have them
        return None if self.gone else message

    def put(self, message: dict[str, Any]) -> None:
        self.out += json.dumps(message).encode() + b"\n"
        self.flush()
        if len(self.out) > OUT_MAX:
            self.gone = True

    def flush(self) -> None:
        try:
            while self.out and not self.gone:
                del self.out[: self.sock.send(self.out)]
        except BlockingIOError:
            return
        except OSError:
            self.gone = True
