"""A command begun with closed standard streams does its work and writes into nobody else's descriptors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN_MAX = 60


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(tmp_path: Path, closed: str) -> None:
    (tmp_path / "ws").mkdir()
    env = {**os.environ, "PODIUM_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}
    line = f'exec "{sys.executable}" -m podium run -a scripted hello {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=tmp_path / "ws",
        env=env,
        capture_output=True,
        timeout=RUN_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [sys.executable, "-m", "podium", "threads", "list"],
        env=env,
        capture_output=True,
        text=True,
        timeout=RUN_MAX,
        check=True,
    )
    assert "completed" in listed.stdout
