"""A workspace, and bridges that run small commands in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podium.providers.oneshot import adapter
from podium.testkit.driving import Conversation, Drive

Run = Callable[..., Conversation]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture
def run(workspace: Path) -> Iterator[Run]:
    """Open a session with a command; each bridge ends with the test."""
    drives: list[Drive] = []

    def begin(program: str, *arguments: str) -> Conversation:
        environment = {"PATH": os.environ["PATH"], "WHERE": str(workspace)}
        drive = Drive(adapter, workspace, environment, {"arguments": list(arguments)}, program=program)
        drives.append(drive)
        return Conversation(drive, mode="full")

    yield begin
    for drive in drives:
        drive.close()


@pytest.fixture
def python(run: Run) -> Callable[[str], Conversation]:
    """A session whose command is a few lines of Python, with `i` and `o` the raw stdin and stdout."""
    start = "import os, signal, subprocess, sys, time; i, o = sys.stdin.buffer, sys.stdout.buffer\n"
    return lambda code: run(sys.executable, "-I", "-c", start + code)
