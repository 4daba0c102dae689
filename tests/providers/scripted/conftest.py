"""A workspace, a home and live rehearsal agents for the tests of their adapter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podium.providers.scripted import ScriptedAdapter, adapter
from podium.testkit.driving import Drive

Start = Callable[..., Drive]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture
def start(tmp_path: Path, workspace: Path) -> Iterator[Start]:
    """Start rehearsal agents that share one home; each ends with the test."""
    drives: list[Drive] = []

    def begin(*switches: str, shape: ScriptedAdapter = adapter, home: bool = True, **variables: str) -> Drive:
        environment = {"PATH": os.environ["PATH"], **variables}
        if home:
            environment["SCRIPTED_HOME"] = str(tmp_path / "agent-home")
        drive = Drive(shape, workspace, environment, {"switches": list(switches)})
        drives.append(drive)
        return drive

    yield begin
    for drive in drives:
        drive.close()
