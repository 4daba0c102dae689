"""Where the keeper puts what the agent writes: segment files and the stderr ring."""

# pathlib would cost memory in a process that exists once per agent.
# ruff: noqa: PTH105, PTH108, PTH118, PTH120, PTH123
from __future__ import annotations

import os

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Spool:
    """stdout as segment files `out.<start offset, 20 digits>`; a position is an absolute byte offset."""

    def __init__(self, folder: str, limit: int, segment_max: int) -> None:
        self.folder, self.limit = folder, limit
        self.segment_max = max(
            1, min(segment_max, limit // 2)
        )  # so that trimming whole segments always makes room
        self.offset = 0  # bytes safely in files
        self.starts: list[int] = []
        self.unwritten = b""  # read from the pipe, not yet taken by the disk
        self._fd, self._size = -1, 0

    @property
    def room(self) -> int:
        return self.limit - (self.offset - (self.starts[0] if self.starts else 0))

    def write(self, data: bytes) -> bool:
        """False when the disk took less than everything; write(b"") tries the rest again."""
        self.unwritten += data
        try:
            while self.unwritten:
                if self._fd < 0 or self._size >= self.segment_max:
                    fd = os.open(self._path(self.offset), NEW_FILE, 0o600)
                    if self._fd >= 0:
                        os.close(self._fd)
                    self._fd, self._size = fd, 0
                    self.starts.append(self.offset)
                done = os.write(self._fd, self.unwritten[: self.segment_max - self._size])
                self.unwritten = self.unwritten[done:]
                self.offset += done
                self._size += done
        except OSError:
            return False
        return True

    def trim(self, acknowledged: int) -> None:
        """Delete the whole segments below an acknowledged offset; the newest segment always stays."""
        while len(self.starts) > 1 and self.starts[1] <= acknowledged:
            try:
                os.unlink(self._path(self.starts[0]))
            except FileNotFoundError:
                pass
            except OSError:
                return
            del self.starts[0]

    def _path(self, start: int) -> str:
        return os.path.join(self.folder, f"out.{start:020d}")


class Ring:
    """The newest bytes of stderr in `stderr` and `stderr.old`, together at most `limit` bytes (B08)."""

    def __init__(self, folder: str, limit: int) -> None:
        self.path, self.half = os.path.join(folder, "stderr"), max(1, limit // 2)
        self._fd, self._size = -1, 0

    def write(self, data: bytes) -> None:
        """Never fails: diagnostics must not stop an agent, so what the disk refuses is dropped."""
        try:
            if self._fd < 0 or self._size + len(data) > self.half:
                if self._fd >= 0:
                    os.close(self._fd)
                    self._fd = -1
                    os.replace(self.path, self.path + ".old")
                self._fd, self._size = os.open(self.path, NEW_FILE | os.O_TRUNC, 0o600), 0
            self._size += os.write(self._fd, data[-self.half :])
        except OSError:
            pass


def write_atomically(path: str, data: bytes) -> None:
    """A reader sees the whole file or none of it, also after a power cut."""
    with open(path + ".tmp", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".tmp", path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
