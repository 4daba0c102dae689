"""What agents left behind is found by its token and by nothing else (B11, B13)."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.transport.launch import LaunchSpec, launch_keeper
from podium.transport.reaper import (
    ProcessIdentity,
    ReaperUnsupported,
    find_all,
    find_processes,
    identify,
    is_same,
    kill_identity,
    kill_processes,
    supported,
)
from tests.keeper.keeping import alive, eventually

pytestmark = pytest.mark.anyio

SLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)",
]


class Nursery:
    def __init__(self) -> None:
        self.children: list[subprocess.Popen[bytes]] = []

    def start(self, argv: list[str], **env: str) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(argv, env={"PATH": os.environ["PATH"], **env}, stdout=subprocess.PIPE)
        self.children.append(child)
        assert child.stdout is not None
        child.stdout.readline()
        return child


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    one = Nursery()
    yield one
    for child in one.children:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


@pytest.fixture
def token() -> str:
    return secrets.token_hex(16)


async def test_only_processes_with_the_token_end(nursery: Nursery, token: str) -> None:
    mine = [nursery.start(SLEEP, PODIUM_PROCESS=token), nursery.start(STUBBORN, PODIUM_PROCESS=token)]
    foreign = [
        nursery.start(SLEEP),
        nursery.start(SLEEP, PODIUM_PROCESS=token + "x"),
        nursery.start(SLEEP, PODIUM_PROCESS=token[:-1]),
        nursery.start(SLEEP, OTHER=f"PODIUM_PROCESS={token}"),
        nursery.start([*SLEEP, f"PODIUM_PROCESS={token}"]),
    ]
    assert {one.pid for one in find_processes(token)} == {one.pid for one in mine}
    reaped = await kill_processes(token, term_wait=0.3)
    assert {one.pid for one in reaped.gone} == {one.pid for one in mine}
    assert reaped.survivors == ()
    assert [child.wait() for child in mine] == [-signal.SIGTERM, -signal.SIGKILL]
    assert all(child.poll() is None for child in foreign)
    assert find_processes(token) == []


async def test_spared_processes_stay(nursery: Nursery, token: str) -> None:
    one, other = nursery.start(SLEEP, PODIUM_PROCESS=token), nursery.start(SLEEP, PODIUM_PROCESS=token)
    await kill_processes(token, spare=[one.pid])
    assert one.poll() is None
    assert other.wait() == -signal.SIGTERM


async def test_several_tokens_in_one_pass(nursery: Nursery, token: str) -> None:
    second = token[::-1] + "00"
    children = [nursery.start(SLEEP, PODIUM_PROCESS=token), nursery.start(SLEEP, PODIUM_PROCESS=second)]
    assert {one.pid for one in find_all([token, second])} == {child.pid for child in children}


async def test_a_zombie_counts_as_gone(nursery: Nursery, token: str) -> None:
    child = nursery.start(SLEEP, PODIUM_PROCESS=token)
    identity = identify(child.pid)
    assert identity is not None
    assert is_same(identity)
    child.kill()
    eventually(lambda: identify(child.pid) is None)
    assert not is_same(identity)
    assert find_processes(token) == []


async def test_a_pid_given_away_is_not_touched(nursery: Nursery, token: str) -> None:
    """B13: an old record with the pid of somebody innocent."""
    innocent = nursery.start(SLEEP)
    now = identify(innocent.pid)
    assert now is not None
    for record in (
        ProcessIdentity(now.pid, now.start_ticks - 1, now.exe),
        ProcessIdentity(now.pid, now.start_ticks, "/usr/bin/other"),
    ):
        assert await kill_identity(record, token)
    assert not await kill_identity(now, token)  # the same process, but without our token
    assert innocent.poll() is None


async def test_a_recorded_process_with_the_token_ends(nursery: Nursery, token: str) -> None:
    child = nursery.start(STUBBORN, PODIUM_PROCESS=token)
    identity = identify(child.pid)
    assert identity is not None
    assert await kill_identity(identity, token, term_wait=0.2)
    assert child.wait() == -signal.SIGKILL


async def test_everything_an_agent_started_is_found_after_its_keeper_was_killed(
    tmp_path: Path, nursery: Nursery, token: str
) -> None:
    """B11: a grandchild in its own session and a stubborn one outlive agent and keeper, not the reaper."""
    innocent = nursery.start(SLEEP)
    script = f"""
import subprocess, sys
for own in (True, False):
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    child = subprocess.Popen({STUBBORN!r}, stdin=null, stdout=pipe, start_new_session=own)
    child.stdout.readline()
    print(child.pid, flush=True)
sys.stdin.read()
"""
    env = {"PATH": os.environ["PATH"], "PODIUM_PROCESS": token}
    launched = await launch_keeper(
        tmp_path / "k", LaunchSpec(argv=[sys.executable, "-c", script], cwd="/", env=env)
    )
    output = tmp_path / "k" / ("out." + "0" * 20)
    eventually(lambda: output.exists() and output.read_bytes().count(b"\n") == 2)
    left = [int(pid) for pid in output.read_text().split()]
    os.kill(launched.pid, signal.SIGKILL)
    eventually(lambda: not alive(launched.agent_pid))
    assert all(alive(pid) for pid in left)
    reaped = await kill_processes(token, term_wait=0.2)
    assert {one.pid for one in reaped.gone} == set(left)
    assert not any(alive(pid) for pid in left)
    assert innocent.poll() is None


async def test_a_short_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="token"):
        find_processes("short")
    monkeypatch.setattr("podium.transport.reaper.PROC", Path("/nowhere"))
    assert not supported()
    with pytest.raises(ReaperUnsupported):
        find_processes("x" * 20)
