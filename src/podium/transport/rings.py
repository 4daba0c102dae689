"""A bounded ring of diagnostic lines on disk, masked before they are written (F277)."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from podium.transport.masking import Secrets

RING_MAX = 1 << 20  # bytes in both files together
RING_LINE_MAX = 8192  # characters of one line; the rest is counted, not kept
RING_MIN = 256  # bytes; a smaller ring could not hold a line


class DiagnosticRing:
    """Lines in `<name>` and, before them, `<name>.old` (0600). Counters per kind stand in memory.

    A disk that refuses loses the line and counts it under `unwritten`: diagnostics never stop the work.
    """

    def __init__(
        self, folder: Path, secrets: Secrets, *, name: str = "diagnostics", limit: int = RING_MAX
    ) -> None:
        self._path = folder / name
        self._old = folder / f"{name}.old"
        self._secrets = secrets
        self._half = max(RING_MIN, limit) // 2
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """Lines per kind since this ring was made; `unwritten` counts what the disk refused."""
        return dict(self._counts)

    def add(self, kind: str, text: str) -> None:
        self._counts[kind] += 1
        masked = self._secrets.mask_text(text)  # before the cut: half a secret would not be known any more
        if len(masked) > RING_LINE_MAX:
            masked = f"{masked[:RING_LINE_MAX]} [{len(masked) - RING_LINE_MAX} more characters]"
        line = f"{kind}: {masked}".encode("utf-8", "replace").replace(b"\n", b"\\n")[: self._half - 1] + b"\n"
        try:
            self._write(line)
        except OSError:
            self._counts["unwritten"] += 1

    def read(self) -> list[str]:
        """All kept lines, oldest first."""
        lines: list[str] = []
        for path in (self._old, self._path):
            try:
                lines += path.read_bytes().decode("utf-8", "replace").splitlines()
            except FileNotFoundError:
                continue
        return lines

    def _write(self, line: bytes) -> None:
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(fd).st_size + len(line) > self._half:
                self._path.replace(self._old)
                os.close(fd)
                fd = -1
                fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(fd, line)
        finally:
            if fd >= 0:
                os.close(fd)
