"""A wire between a browser and the server that can be cut, and that knows how many streams it carries."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType

EVENTS = b"GET /v1/events"
CHUNK = 65536
CONNECT_MAX = 5.0
"""Longest wait for the server to take a connection, in seconds."""


class Wire:
    """Passes bytes on, from a port of its own to the server's.

    A browser sends one request at a time, so what it sent last says whether a connection is a stream.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        # The names are exchanged on the way, so that the server knows itself: they must be equally long.
        assert len(str(self.port)) == len(str(port))
        self._lock = threading.Lock()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._streams: set[socket.socket] = set()
        self.most = 0
        """The most streams at one time."""
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self.cut()

    @property
    def base(self) -> str:
        """The address of the browser's end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def streams(self) -> int:
        """How many event streams are open now."""
        with self._lock:
            return len(self._streams)

    def cut(self) -> None:
        """Break every connection."""
        with self._lock:
            pairs = list(self._pairs.items())
        for near, far in pairs:
            self._part(near, far)

    def _part(self, near: socket.socket, far: socket.socket) -> None:
        with self._lock:
            self._pairs.pop(near, None)
            self._streams.discard(near)
        for end in (near, far):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._to), CONNECT_MAX)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._pairs[near] = far
            for work in (self._asks, self._answers):
                threading.Thread(target=work, args=(near, far), daemon=True).start()

    def _asks(self, near: socket.socket, far: socket.socket) -> None:
        ours, theirs = (f"127.0.0.1:{p}".encode() for p in (self.port, self._to))
        with contextlib.suppress(OSError):
            while data := near.recv(CHUNK):
                with self._lock:
                    (self._streams.add if data.startswith(EVENTS) else self._streams.discard)(near)
                    self.most = max(self.most, len(self._streams))
                far.sendall(data.replace(ours, theirs))
        self._part(near, far)

    def _answers(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(CHUNK):
                near.sendall(data)
        self._part(near, far)
