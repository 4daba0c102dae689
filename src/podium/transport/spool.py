"""What a keeper leaves in its folder, readable without the keeper: output, sends, exit record, stderr (R2,
R3)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import TracebackType

import msgspec

READ_MAX = 1 << 20  # bytes of one read
SEGMENT_PREFIX = "out."
PRIVATE_PREFIX = "podium-"
DISCARD_TRIES = 5


class SpoolTrimmed(Exception):
    """The bytes asked for were acknowledged and deleted; reading can go on at `kept_from`."""

    def __init__(self, wanted: int, kept_from: int) -> None:
        super().__init__(f"output before offset {kept_from} was consumed and deleted; {wanted} was asked for")
        self.wanted = wanted
        self.kept_from = kept_from


class ExitRecord(msgspec.Struct, frozen=True):
    """How the agent process ended. `code` or `signal` is set; `reason` is "exited", "owner_lost" or
    "ended:<reason>"; `at` is unix time; `offset` counts all bytes of its output, `last_sent` the accepted
    sends."""

    code: int | None
    signal: int | None
    reason: str
    at: float
    offset: int
    last_sent: int


class SendRecord(msgspec.Struct, frozen=True, array_like=True):
    """One accepted send: number, output offset then, unix time, SHA-256 of the line (None when it closed
    stdin),
    and the line's bytes without the newline."""

    n: int
    offset: int
    at: float
    sha256: str | None
    size: int


class SpoolReader:
    """Reads the agent's output from `offset` on. Blocking but never waiting: b"" means nothing more for
    now."""

    def __init__(self, folder: Path, offset: int = 0) -> None:
        self._folder = folder
        self._fd = -1
        self._start = 0
        self.offset = offset

    def read(self, limit: int = READ_MAX) -> bytes:
        """The next bytes, at most `limit`. Raises SpoolTrimmed when they are gone."""
        if self._fd < 0 and not self._open():
            return b""
        data = os.pread(self._fd, limit, self.offset - self._start)
        if not data and self._start != self.offset and self._path(self.offset).exists():
            self._open()
            data = os.pread(self._fd, limit, 0)
        self.offset += len(data)
        return data

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> SpoolReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> bool:
        starts = segment_starts(self._folder)
        if not starts:
            return False
        start = max((start for start in starts if start <= self.offset), default=-1)
        if start < 0:
            raise SpoolTrimmed(self.offset, starts[0])
        try:
            fd = os.open(self._path(start), os.O_RDONLY)
        except FileNotFoundError:  # trimmed between listing and opening
            kept = segment_starts(self._folder)
            raise SpoolTrimmed(self.offset, kept[0] if kept else self.offset) from None
        self.close()
        self._fd, self._start = fd, start
        return True

    def _path(self, start: int) -> Path:
        return self._folder / f"{SEGMENT_PREFIX}{start:020d}"


def segment_starts(folder: Path) -> list[int]:
    """Start offsets of the segments that are still there, in order."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names only, no objects
    except FileNotFoundError:
        return []
    tails = (name.removeprefix(SEGMENT_PREFIX) for name in names if name.startswith(SEGMENT_PREFIX))
    return sorted(int(tail) for tail in tails if tail.isdecimal())


def spool_end(folder: Path) -> int:
    """The offset behind the last byte of output that is in a file."""
    starts = segment_starts(folder)
    if not starts:
        return 0
    return starts[-1] + (folder / f"{SEGMENT_PREFIX}{starts[-1]:020d}").stat().st_size


def read_exit(folder: Path) -> ExitRecord | None:
    """None as long as no exit was recorded (the agent lives, or its keeper was killed)."""
    try:
        return msgspec.json.decode((folder / "exit").read_bytes(), type=ExitRecord)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None


def read_sends(folder: Path) -> list[SendRecord]:
    """All accepted sends, in order. A torn last row was never acknowledged and is left out."""
    try:
        rows = (folder / "sends").read_bytes().split(b"\n")[:-1]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [msgspec.json.decode(row, type=SendRecord) for row in rows]


def read_stderr(folder: Path) -> bytes:
    """The kept end of the agent's stderr. Not masked: mask it before it goes anywhere."""
    kept = b""
    for name in ("stderr.old", "stderr"):
        try:
            kept += (folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
    return kept


def discard_folder(folder: Path) -> None:
    """Delete all a keeper left, its private socket folder too. Only after its exit was recorded elsewhere."""
    try:
        private = Path((folder / "address").read_text()).parent
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        private = folder
    if private != folder and private.name.startswith(PRIVATE_PREFIX):
        shutil.rmtree(private, ignore_errors=True)
    for _ in range(DISCARD_TRIES):  # a keeper may write its last file meanwhile
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
