"""Diagnostics are masked before they are written, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.transport.masking import Secrets
from podium.transport.rings import RING_LINE_MAX, DiagnosticRing

SECRETS = Secrets({"A": "hunter2hunter2"})


@pytest.mark.behaviour("F277")
def test_lines_are_masked_and_private(tmp_path: Path) -> None:
    ring = DiagnosticRing(tmp_path, SECRETS)
    ring.add("noise", "banner hunter2hunter2")
    ring.add("stderr", "two\nlines \ud83d")
    assert ring.read() == ["noise: banner [secret A]", "stderr: two\\nlines ?"]
    assert ring.counts == {"noise": 1, "stderr": 1}
    [path] = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_secret_across_the_cut_is_masked(tmp_path: Path) -> None:
    ring = DiagnosticRing(tmp_path, SECRETS)
    ring.add("noise", "x" * (RING_LINE_MAX - 5) + "hunter2hunter2" + "y" * 100)
    [line] = ring.read()
    assert "hunter" not in line
    assert "more characters" in line


def test_the_ring_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    ring = DiagnosticRing(tmp_path, SECRETS, limit=10_000)
    for number in range(2000):
        ring.add("noise", f"{number:020d}")
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_000
    lines = ring.read()
    assert lines[-1] == "noise: " + f"{1999:020d}"
    assert lines == sorted(lines)
    assert len(lines) > 150
    assert ring.counts == {"noise": 2000}


def test_a_new_ring_goes_on_in_the_same_files(tmp_path: Path) -> None:
    DiagnosticRing(tmp_path, SECRETS).add("noise", "one")
    ring = DiagnosticRing(tmp_path, SECRETS)
    ring.add("noise", "two")
    assert ring.read() == ["noise: one", "noise: two"]


def test_a_disk_that_refuses_never_stops_the_work(tmp_path: Path) -> None:
    ring = DiagnosticRing(tmp_path / "missing", SECRETS)
    ring.add("noise", "x")
    assert ring.counts == {"noise": 1, "unwritten": 1}
    assert ring.read() == []
