"""Where output goes. A reader that goes away is no error, and a slow one never holds up the runtime."""

from __future__ import annotations

import os
import select

import anyio
import anyio.to_thread

BUFFER_MAX = 4 * 1024 * 1024
"""Most bytes that wait for a slow reader; beyond it we stop reading events, and catch up from the journal."""

WAIT_SECONDS = 1.0
"""Seconds between looks at a pipe that is full."""


class Pipe:
    """A file descriptor that may be closed by whoever read it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.closed = False
        self.fault: OSError | None = None
        self.terminal = _is_terminal(descriptor)

    def write(self, data: bytes) -> None:
        """Write all of it, or find out that nobody reads; a full disk is remembered as `fault`."""
        while data and not self.closed:
            try:
                data = data[os.write(self.descriptor, data) :]
            except BlockingIOError:
                select.select([], [self.descriptor], [], WAIT_SECONDS)
            except OSError as error:
                self.closed = True
                if not isinstance(error, BrokenPipeError):
                    self.fault = error


class Output:
    """Both streams of a command, written in order by a thread beside the loop."""

    def __init__(self) -> None:
        self.out = Pipe(1)
        self.err = Pipe(2)
        self._waiting: list[tuple[Pipe, bytes]] = []
        self._size = 0
        self._news = anyio.Event()
        self._done = anyio.Event()
        self._done.set()

    def put(self, pipe: Pipe, text: str | bytes) -> None:
        """Write soon, after everything put before."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        if pipe.closed or not data:
            return
        self._waiting.append((pipe, data))
        self._size += len(data)
        if self._done.is_set():
            self._done = anyio.Event()
        self._news.set()

    async def room(self) -> None:
        """Return once little enough waits."""
        while self._size > BUFFER_MAX:
            await self.drain()

    async def drain(self) -> None:
        """Return once everything put so far is written, or nobody reads it."""
        while self._size:
            await self._done.wait()

    @property
    def waits(self) -> bool:
        """Whether something is not written yet."""
        return self._size > 0

    def say_the_rest(self) -> None:
        """What stderr was to be told, written now: the loop has ended with an error."""
        _write_all([(pipe, data) for pipe, data in self._waiting if pipe is self.err])

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            batch, self._waiting = self._waiting, []
            await anyio.to_thread.run_sync(_write_all, batch, abandon_on_cancel=True)
            self._size -= sum(len(data) for _, data in batch)
            if not self._size:
                self._done.set()


def _write_all(batch: list[tuple[Pipe, bytes]]) -> None:
    held: list[bytes] = []
    for number, (pipe, data) in enumerate(batch):
        held.append(data)
        if number + 1 == len(batch) or batch[number + 1][0] is not pipe:
            pipe.write(b"".join(held))
            held = []


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False
