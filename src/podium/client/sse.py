"""Server-sent events out of bytes, cut anywhere: a pure state machine."""

from __future__ import annotations

import msgspec

FRAME_MAX = 64 * 1024 * 1024
"""Longest frame, in bytes; a longer one is no frame of ours."""


class SseFrame(msgspec.Struct, frozen=True):
    """One frame: its name, its data, and its id where it has one."""

    event: str
    data: bytes
    id: str | None = None


class FrameTooLong(Exception):
    """A frame did not end within FRAME_MAX bytes."""


class SseReader:
    """Feed it bytes as they come; it gives the frames that are whole."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[SseFrame]:
        """The frames that end in these bytes. What is not whole yet waits."""
        self._rest += data
        found: list[SseFrame] = []
        while (at := self._rest.find(b"\n\n")) >= 0:
            block = bytes(self._rest[:at])
            del self._rest[: at + 2]
            read = parse(block)
            if read is not None:
                found.append(read)
        if len(self._rest) > FRAME_MAX:
            raise FrameTooLong
        return found


def parse(block: bytes) -> SseFrame | None:
    """One block of lines; comments are passed over, a block without data is nothing."""
    event, frame_id = "message", None
    data: list[bytes] = []
    for line in block.split(b"\n"):
        name, _, value = line.removesuffix(b"\r").partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            event = value.decode("utf-8", "replace")
        elif name == b"data":
            data.append(value)
        elif name == b"id":
            frame_id = value.decode("utf-8", "replace")
    return SseFrame(event, b"\n".join(data), frame_id) if data else None
