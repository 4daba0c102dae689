"""A machine of its own for each test, and no process of it left afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calling import Shell, wait


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """The person's machine. Whatever a test kept is ended with it."""
    machine = Shell(tmp_path)
    yield machine
    machine.call("stop", "--agents")
    wait(lambda: not machine.processes(), orelse=False)
    assert machine.processes() == []
