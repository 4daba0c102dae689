"""Lines out of a byte stream, without I/O: every byte split gives the same lines (B01, B02, B03, B07)."""

from __future__ import annotations

import msgspec

LINE_MAX = 64 << 20  # bytes of one line that are kept together; a longer line is dropped with its size
HEAD_MAX = 256  # bytes of a dropped line that are kept, for the warning


class Line(msgspec.Struct, frozen=True):
    """One line without its newline and without one carriage return before it.

    `end_offset` is the absolute offset behind the newline: reading may go on there after a restart.
    """

    data: bytes
    end_offset: int
    terminated: bool = True


class LostLine(msgspec.Struct, frozen=True):
    """A line over the cap: `bytes_dropped` counts all of it without the newline; `head` is its beginning."""

    bytes_dropped: int
    end_offset: int
    head: bytes
    terminated: bool = True


class LineReader:
    """Feed it whatever was read; it answers with the lines that are complete. Cost is linear in the bytes."""

    def __init__(self, offset: int = 0, line_max: int = LINE_MAX) -> None:
        self._offset = offset  # absolute, behind everything fed so far
        self._line_max = line_max
        self._pieces: list[bytes] = []
        self._held = 0  # bytes of the open line, also those of a line being dropped
        self._head: bytes | None = None  # not None while the open line is being dropped

    @property
    def offset(self) -> int:
        return self._offset

    @property
    def pending(self) -> int:
        """Bytes of the line that is still open."""
        return self._held

    def feed(self, data: bytes) -> list[Line | LostLine]:
        lines: list[Line | LostLine] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._take(data[start:end])
            start = end + 1
            lines.append(self._close(self._offset + start, terminated=True))
        self._take(data[start:])
        self._offset += len(data)
        return lines

    def finish(self) -> Line | LostLine | None:
        """What stands behind the last newline at the end of the stream; None when nothing does."""
        return self._close(self._offset, terminated=False) if self._held else None

    def _take(self, piece: bytes) -> None:
        if not piece:
            return
        self._held += len(piece)
        if self._head is not None:
            self._head += piece[: HEAD_MAX - len(self._head)]
            return
        self._pieces.append(piece)
        if self._held > self._line_max + 1:  # the one byte more may still be the carriage return
            self._drop()

    def _drop(self) -> None:
        head = b""
        for piece in self._pieces:
            head += piece[: HEAD_MAX - len(head)]
            if len(head) >= HEAD_MAX:
                break
        self._head = head
        self._pieces.clear()

    def _close(self, end_offset: int, terminated: bool) -> Line | LostLine:
        held = self._held
        if self._head is None:
            data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
            if terminated and data.endswith(b"\r"):
                data = data[:-1]
            if len(data) > self._line_max:
                self._drop()
            else:
                self._pieces.clear()
                self._held = 0
                return Line(data, end_offset, terminated)
        head = self._head or b""
        self._head = None
        self._held = 0
        return LostLine(held, end_offset, head, terminated)
