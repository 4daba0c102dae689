"""The field faults of checkpoints and worktrees, each as its own script, against this room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.behaviours import ROOT

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "cases").glob("*.sh"))
SCRIPT_MAX = 300.0


@pytest.mark.behaviour("F269")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_field_case_shows_no_fault(script: Path, tmp_path: Path) -> None:
    command = f"{sys.executable} {HERE / 'ckpt.py'}"
    env = os.environ | {
        "CKPT": command,
        "WT": command,
        "CKPT_DATA": str(tmp_path / "data"),
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(ROOT / "src"),
    }
    done = subprocess.run(
        ["bash", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=SCRIPT_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
