"""A real command: its output streamed while it runs, bounded, and nothing of it left behind."""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import shlex
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from podium.testkit.rehearsal.turn import Turn

SHOWN_MAX = 128 * 1024
"""Most characters of output that are shown; the rest is read and dropped."""

READ_MAX = 64 * 1024 * 1024
"""Most bytes of output; a command that writes more is ended."""

SECONDS_MAX = 600.0
"""Longest time a command may take."""

READ_CHUNK = 8192
POLL_SECONDS = 0.05


class Ended(NamedTuple):
    """How a command ended; `cut` says what was done to it or to its output."""

    code: int
    text: str
    cut: str | None


def run(turn: Turn, tool_id: str, command: str) -> Ended:
    """Run a command in the workspace; a stop ends it, and whatever it left behind ends with it."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=turn.session.cwd, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    turn.agent.children.add(process.pid)
    try:
        text, cut = follow(turn, tool_id, process)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, 9)
        process.wait()
        turn.agent.children.discard(process.pid)
        if process.stdout is not None:
            process.stdout.close()
    return Ended(process.returncode, text, cut)


def follow(turn: Turn, tool_id: str, process: subprocess.Popen[bytes]) -> tuple[str, str | None]:
    """Stream the output to its end. Returns once the command has ended, even if a child holds its output."""
    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    deadline = time.monotonic() + SECONDS_MAX
    shown: list[str] = []
    room, read, cut = SHOWN_MAX, 0, None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            turn.check()
            over = process.poll() is not None
            if not selector.get_map():
                turn.pause(POLL_SECONDS)
            ready = bool(selector.select(0 if over else POLL_SECONDS)) if selector.get_map() else False
            data = os.read(process.stdout.fileno(), READ_CHUNK) if ready else b""
            if ready and not data:
                selector.unregister(process.stdout)
            read += len(data)
            piece = decoder.decode(data)
            if len(piece) > room:
                piece, cut = piece[:room], f"only the first {SHOWN_MAX // 1024} Ki characters are shown"
            if piece:
                room -= len(piece)
                shown.append(piece)
                turn.output(tool_id, piece)
            if over and not data:
                break
            if read > READ_MAX or time.monotonic() > deadline:
                cut = "I ended it: it wrote too much or took too long"
                break
    return "".join(shown), cut


def tests_of(workspace: Path) -> str | None:
    """The command that runs a workspace's tests, by what lies in it; None where nothing looks like tests."""
    makefile = workspace / "Makefile"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if any(line.startswith("test:") for line in makefile.read_text().splitlines()):
            return "make test"
    if (workspace / "package.json").is_file():
        return "npm test"
    if any((workspace / name).exists() for name in ("conftest.py", "tests/conftest.py", "pytest.ini")):
        return "python3 -m pytest"
    if any((workspace / name).exists() for name in ("pyproject.toml", "setup.py", "tests", "test")):
        return "python3 -m unittest discover -v"
    return None


def command_for(name: str) -> str:
    """The command that runs or shows a file."""
    runner = {".py": "python3", ".sh": "sh", ".js": "node"}.get(Path(name).suffix, "cat")
    return f"{runner} {shlex.quote(name)}"
