"""The agent does the work under its own runtime: this process opens no network connection of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN_MAX = 60

SCRIPT = """
import socket, sys
from pathlib import Path

import anyio

import podium

real = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX:
        raise AssertionError(f"a connection to {address}")
    return real(self, address)
socket.socket.connect = connect
socket.socket.connect_ex = connect

async def main(folder):
    (folder / "ws").mkdir()
    async with podium.open(folder / "data") as p:
        thread = await p.threads.create(workspace=folder / "ws", agent="scripted")
        async for _ in thread.send("hello"):
            pass
        print(thread.state.last_run.outcome)
    clients = {"http.client", "urllib3", "httpx", "requests", "aiohttp"} & set(sys.modules)
    print(sorted(clients))

anyio.run(main, Path(sys.argv[1]))
"""


@pytest.mark.behaviour("F089")
def test_a_whole_turn_needs_no_network_of_ours(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=RUN_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["completed", "[]"]
