"""Tests live in a home of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import AGENT_HOMES, HOMES


def test_every_home_lies_in_the_tests_own_folder(own_home: Path) -> None:
    for name in [*HOMES, *AGENT_HOMES]:
        assert Path(os.environ[name]).is_relative_to(own_home)
    assert Path.home() == own_home


def test_no_credential_is_passed_on() -> None:
    assert [name for name in os.environ if name.endswith(("_API_KEY", "_AUTH_TOKEN"))] == []


def test_git_knows_nothing_of_the_person() -> None:
    done = subprocess.run(
        ["git", "config", "--list", "--global"], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
