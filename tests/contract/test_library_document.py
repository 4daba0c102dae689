"""docs/library.md is true: every block runs, and what it calls usable alone is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tools.behaviours import ROOT

PAGE = ROOT / "docs" / "library.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
RUN_SECONDS = 120
"""Longest wait for the blocks of the page."""

ALONE = """
import sys
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("podium.")}
assert rooms <= {"contract", "policy"}, rooms
others = {"sqlite3", "anyio", "asyncio", "http", "socket", "subprocess"} & set(sys.modules)
assert not others, others
"""


def blocks() -> list[str]:
    """The Python of the page, in order."""
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def run(code: str, folder: Path) -> str:
    """What a process says that runs this code; empty if all went well."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, "PODIUM_CONFIG": str(folder / "config")},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    return done.stdout + done.stderr


def test_every_block_runs_in_order(tmp_path: Path) -> None:
    assert len(blocks()) >= 9
    assert run("\n".join(blocks()), tmp_path) == ""


def test_what_stands_before_the_first_adapter_needs_contract_and_policy_alone(tmp_path: Path) -> None:
    found = blocks()
    first = next(n for n, block in enumerate(found) if "podium.providers" in block)
    assert first >= 6
    assert run("\n".join(found[:first]) + ALONE, tmp_path) == ""


def test_no_block_is_empty_of_claims() -> None:
    assert all("assert" in block for block in blocks() if "options =" not in block)
