"""Launch, attach, send, read: the server's side against real keepers."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from podium.transport.launch import Launched, LaunchError, LaunchSpec, launch_keeper, read_launched
from podium.transport.lines import Line, LineReader
from podium.transport.link import (
    BytesArrived,
    Exited,
    Fenced,
    FencedOut,
    KeeperLink,
    LinkLost,
    StdinReady,
)
from podium.transport.spool import (
    SpoolReader,
    SpoolTrimmed,
    discard_folder,
    read_exit,
    read_sends,
    read_stderr,
    spool_end,
)
from tests.keeper.keeping import ECHO, PATIENCE, alive

pytestmark = pytest.mark.anyio


class Desk:
    """A folder and what was launched in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launched: Launched | None = None

    async def launch(self, script: str, **spec: Any) -> KeeperLink:
        self.launched = await self.start(script, **spec)
        return await KeeperLink.attach(self.launched.address, 1)

    async def start(self, script: str, **spec: Any) -> Launched:
        argv = [sys.executable, "-c", script]
        spec = {"argv": argv, "cwd": str(self.folder.parent), "env": {"PATH": "/usr/bin"}, **spec}
        self.launched = await launch_keeper(self.folder, LaunchSpec(**spec))
        return self.launched


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    one = Desk(tmp_path / "k")
    with anyio.fail_after(PATIENCE):
        yield one
    if one.launched is not None and alive(one.launched.pid):
        os.kill(one.launched.pid, signal.SIGKILL)


async def gone(pid: int) -> None:
    while alive(pid):  # noqa: ASYNC110 - nobody tells us about another's child
        await anyio.sleep(0.01)


async def test_a_whole_life(desk: Desk) -> None:
    async with await desk.launch(ECHO, note="opaque") as link:
        assert (link.attached.last_sent, link.attached.note) == (0, "opaque")
        assert (await link.send(1, "one")).refused is None
        assert (await link.send(3, "three")).refused == "gap"
        assert (await link.send(1, "one again")).last_sent == 1
        assert await link.note() == "opaque"
        assert desk.launched is not None
        assert await link.census() == [desk.launched.agent_pid]
        assert read_exit(desk.folder) is None
        await link.close_stdin(2)
        notices = [notice async for notice in link]
    assert isinstance(notices[0], BytesArrived)
    last = notices[-1]
    assert isinstance(last, Exited)
    assert (last.record.code, last.record.offset, last.record.last_sent) == (0, 8, 2)
    assert read_exit(desk.folder) == last.record
    assert [(row.n, row.sha256) for row in read_sends(desk.folder)] == [
        (1, hashlib.sha256(b"one").hexdigest()),
        (2, None),
    ]
    with SpoolReader(desk.folder) as reader:
        assert reader.read() == b"got one\n"
        assert reader.read() == b""
        assert reader.offset == 8
    assert spool_end(desk.folder) == 8
    assert read_launched(desk.folder) == desk.launched
    discard_folder(desk.folder)
    assert not desk.folder.exists()


async def test_answers_find_their_askers(desk: Desk) -> None:
    async with await desk.launch(ECHO) as link:
        pids: list[Any] = []
        sent: list[int] = []

        async def look() -> None:
            pids.append(await link.census())

        async def say() -> None:
            for n in range(1, 51):
                sent.append((await link.send(n, "x" * 1000)).last_sent)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(say)
            for _ in range(20):
                tasks.start_soon(look)
        assert sent == list(range(1, 51))
        assert len(pids) == 20
        assert all(len(found) == 1 for found in pids)


async def test_a_cancelled_asker_does_not_shift_the_answers(desk: Desk) -> None:
    async with await desk.launch(ECHO) as link:
        for _ in range(20):
            with anyio.move_on_after(0):
                await link.census()
            with anyio.CancelScope() as scope:
                scope.cancel()
                await link.note()
        assert (await link.send(1, "x")).last_sent == 1
        assert await link.note() == ""


async def test_a_newer_owner_takes_over(desk: Desk) -> None:
    first = await desk.launch(ECHO, linger=60)
    assert desk.launched is not None
    async with await KeeperLink.attach(desk.launched.address, 2) as second:
        assert await first.next_notice() == FencedOut(2)
        with pytest.raises(Fenced):
            await first.send(1, "old")
        with pytest.raises(Fenced):
            await KeeperLink.attach(desk.launched.address, 2)
        assert (await second.send(1, "new")).last_sent == 1
        assert [notice async for notice in first] == []
    await first.aclose()


async def test_a_killed_keeper_is_link_lost(desk: Desk) -> None:
    async with await desk.launch(ECHO) as link:
        assert desk.launched is not None
        os.kill(desk.launched.pid, signal.SIGKILL)
        assert [notice async for notice in link] == []
        with pytest.raises(LinkLost):
            await link.send(1, "x")
        await gone(desk.launched.agent_pid)
        assert read_exit(desk.folder) is None
        with pytest.raises(LinkLost):
            await KeeperLink.attach(desk.launched.address, 2)


async def test_a_stopped_keeper_is_an_answer_too_late(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.transport.link.REPLY_MAX", 0.2)
    async with await desk.launch(ECHO) as link:
        assert desk.launched is not None
        os.kill(desk.launched.pid, signal.SIGSTOP)
        with pytest.raises(LinkLost):
            await link.note()
        os.kill(desk.launched.pid, signal.SIGCONT)


async def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(LinkLost):
        await KeeperLink.attach(str(tmp_path / "sock"), 1)


async def test_no_notice_in_time(desk: Desk) -> None:
    async with await desk.launch("import sys; sys.stdin.read()") as link:
        assert await link.next_notice(0.01) is None


async def test_release_and_attach_again(desk: Desk) -> None:
    link = await desk.launch(ECHO, linger=60)
    await link.send(1, "one")
    await link.release()
    with pytest.raises(LinkLost):
        await link.note()
    assert desk.launched is not None
    async with await KeeperLink.attach(desk.launched.address, 2) as again:
        assert again.attached.last_sent == 1
        await again.set_linger(0)
        await again.end("done", grace=10)
        notices = [notice async for notice in again]
    assert isinstance(notices[-1], Exited)
    assert notices[-1].record.reason == "ended:done"


async def test_signals(desk: Desk) -> None:
    async with await desk.launch("import time; time.sleep(600)") as link:
        assert await link.signal("KILL")
        notices = [notice async for notice in link]
    assert isinstance(notices[-1], Exited)
    assert notices[-1].record.signal == signal.SIGKILL


async def test_a_long_output_read_while_it_comes_and_trimmed(desk: Desk) -> None:
    size = 2_000_000
    script = f"import sys\nfor i in range({size} // 10): sys.stdout.write('%09d\\n' % i)"
    lines = LineReader()
    found: list[bytes] = []
    seen: set[type] = set()
    async with await desk.launch(script, spool_max=300_000, segment_max=50_000) as link:
        with SpoolReader(desk.folder) as reader:
            while True:
                while data := reader.read(70_001):
                    found += [line.data for line in lines.feed(data) if isinstance(line, Line)]
                    with contextlib.suppress(LinkLost):  # it may leave any moment
                        await link.acknowledge(reader.offset)
                try:
                    notice = await link.next_notice()
                except LinkLost:
                    break
                seen.add(type(notice))
            while data := reader.read():
                found += [line.data for line in lines.feed(data) if isinstance(line, Line)]
        assert {BytesArrived, Exited} <= seen
        assert found == [b"%09d" % i for i in range(size // 10)]
        with pytest.raises(SpoolTrimmed) as trimmed:
            SpoolReader(desk.folder, 0).read()
        assert 0 < trimmed.value.kept_from <= size


async def test_a_full_queue_and_the_room_after_it(desk: Desk) -> None:
    script = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n" + ECHO
    async with await desk.launch(script, stdin_max=400_000) as link:
        n = 0
        while (await link.send(n + 1, "x" * 100_000)).refused is None:
            n += 1
        assert (await link.send(n + 1, "x" * 100_000)).refused == "stdin_full"
        assert (await link.send(n + 1, "x" * 500_000)).refused == "line_too_long"
        (desk.folder.parent / "go").touch()
        async for notice in link:
            if notice == StdinReady():
                break
        assert (await link.send(n + 1, "x" * 100_000)).last_sent == n + 1


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"argv": ["podium-no-such-program"]}, "binary_missing"),
        ({"cwd": "/nowhere/at/all"}, "cwd_missing"),
        ({"argv": [sys.executable, "x" * 200_000]}, "arguments_too_long"),
        ({"note": "x" * 5000}, "bad_spec"),
    ],
)
async def test_launch_errors_say_what_to_do(desk: Desk, spec: dict[str, Any], code: str) -> None:
    with pytest.raises(LaunchError) as refused:
        await desk.start("pass", **spec)
    assert refused.value.code == code
    assert refused.value.fix
    assert refused.value.message
    assert read_launched(desk.folder) is None


async def test_a_broken_interpreter_is_a_launch_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/at/all")
    with pytest.raises(LaunchError) as refused:
        await launch_keeper(desk.folder, LaunchSpec(argv=["x"], cwd="/", env={}))
    assert refused.value.code == "spawn_failed"


async def test_a_keeper_without_an_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("import sys; sys.exit('no reason at all')")
    monkeypatch.setattr("podium.transport.launch.keeper_script", lambda: silent)
    with pytest.raises(LaunchError) as refused:
        await launch_keeper(desk.folder, LaunchSpec(argv=["x"], cwd="/", env={}))
    assert refused.value.code == "keeper_failed"
    assert "no reason at all" in refused.value.message


async def test_a_keeper_that_hangs(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time; time.sleep(600)")
    monkeypatch.setattr("podium.transport.launch.keeper_script", lambda: slow)
    monkeypatch.setattr("podium.transport.launch.SPAWN_MAX", 0.3)
    with pytest.raises(LaunchError) as refused:
        await launch_keeper(desk.folder, LaunchSpec(argv=["x"], cwd="/", env={}))
    assert refused.value.code == "spawn_timeout"


async def test_values_that_are_no_text_reach_the_agent_unchanged(desk: Desk) -> None:
    odd = b"/caf\xe9".decode("utf-8", "surrogateescape")
    script = "import os, sys; sys.stdout.buffer.write(os.environb[b'ODD'])"
    await desk.start(script, env={"PATH": "/usr/bin", "ODD": odd})
    assert desk.launched is not None
    await gone(desk.launched.pid)
    assert SpoolReader(desk.folder).read() == b"/caf\xe9"


async def test_stderr_is_there_for_the_reason_of_a_failure(desk: Desk) -> None:
    await desk.start("import sys; sys.exit('why it failed')")
    assert desk.launched is not None
    await gone(desk.launched.pid)
    assert b"why it failed" in read_stderr(desk.folder)
    record = read_exit(desk.folder)
    assert record is not None
    assert record.code == 1


async def test_the_launcher_is_killed(tmp_path: Path) -> None:
    """kill -9 of the process that launched: keeper and agent live on, and the next one attaches."""
    folder = tmp_path / "k"
    script = f"""
import os, sys, anyio
from pathlib import Path
from podium.transport.launch import LaunchSpec, launch_keeper
async def main():
    spec = LaunchSpec(argv=[sys.executable, "-c", {ECHO!r}], cwd="/", env={{}}, linger=60)
    await launch_keeper(Path({str(folder)!r}), spec)
    os.kill(os.getpid(), 9)
anyio.run(main)
"""
    with anyio.fail_after(PATIENCE):
        done = await anyio.run_process([sys.executable, "-c", script], check=False)
        assert done.returncode == -signal.SIGKILL
        launched = read_launched(folder)
        assert launched is not None
        async with await KeeperLink.attach(launched.address, 1) as link:
            assert (await link.send(1, "hello")).last_sent == 1
            await link.end("test", grace=10)
            notices = [notice async for notice in link]
        assert isinstance(notices[-1], Exited)
        assert SpoolReader(folder).read() == b"got hello\n"


def test_files_that_are_not_there_or_torn(tmp_path: Path) -> None:
    assert read_exit(tmp_path) is None
    assert read_sends(tmp_path) == []
    assert read_stderr(tmp_path) == b""
    assert read_launched(tmp_path) is None
    assert spool_end(tmp_path) == 0
    assert SpoolReader(tmp_path / "missing").read() == b""
    (tmp_path / "sends").write_bytes(b'[1,0,1.5,"aa",2]\n[2,0,1.')
    assert [row.n for row in read_sends(tmp_path)] == [1]
    (tmp_path / "exit").write_bytes(b'{"co')
    assert read_exit(tmp_path) is None
