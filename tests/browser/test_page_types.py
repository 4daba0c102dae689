"""The page's own checks: types as the contract says, sizes within their bounds, no named agent."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
CHECK_MAX = 300
"""Longest time of one check, in seconds."""


@pytest.mark.parametrize(
    "command",
    [
        ("npm", "run", "--silent", "types", "--", "--check"),
        ("npm", "run", "--silent", "sizes"),
        ("npm", "run", "--silent", "check"),
    ],
    ids=["types-are-of-the-contract", "sizes-within-bounds", "typed-and-linted"],
)
def test_the_page_passes(command: tuple[str, ...]) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=CHECK_MAX, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
