"""A disk that refuses: nothing is lost that can be kept, and nothing falls over."""

from __future__ import annotations

import os
from pathlib import Path

from podium.keeper.feeding import Feeder
from podium.keeper.spooling import Ring, Spool
from tests.keeper.keeping import Kept, eventually


def test_output_waits_while_the_disk_refuses(kept: Kept) -> None:
    size = 2_000_000
    script = (
        f"import sys\nsys.stdin.readline()\nfor i in range({size} // 10): sys.stdout.write('%09d\\n' % i)"
    )
    client = kept.start(script, segment_max=50_000).client()
    away = kept.folder.with_name("away")
    kept.folder.rename(away)
    client.put({"n": 1, "line": "go"})
    assert client.until("spool_full") == {"spool_full": True}
    away.rename(kept.folder)
    assert client.until("spool_full") == {"spool_full": False}
    assert client.until("exit")["exit"]["offset"] == size
    assert kept.output() == b"".join(b"%09d\n" % i for i in range(size // 10))


def test_the_exit_record_waits_too(kept: Kept) -> None:
    client = kept.start("import sys; sys.stdin.read()").client()
    away = kept.folder.with_name("away")
    kept.folder.rename(away)
    client.ask({"n": 1, "close_stdin": True}, "n")
    eventually(lambda: not Path(f"/proc/{kept.agent}").exists())
    away.rename(kept.folder)
    assert client.until("exit")["exit"]["code"] == 0
    assert kept.finished()["code"] == 0


def test_a_send_that_cannot_be_logged_is_refused_before_its_first_byte() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.set_blocking(reading, False)
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        feeder = Feeder(writing, full, 1000)
        assert feeder.send(1, "x", False, 0) == {"refused": 1, "code": "log_failed", "last_sent": 0}
        assert feeder.flush() == 0
        assert not feeder.queue
        feeder.log = os.open(os.devnull, os.O_WRONLY)
        assert feeder.send(1, "x", False, 0) == {"last_sent": 1, "n": 1}
        assert feeder.flush() == 0
        assert os.read(reading, 10) == b"x\n"
        os.close(feeder.log)
    finally:
        for fd in (reading, writing, full):
            os.close(fd)


def test_a_spool_keeps_what_the_disk_did_not_take(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    spool = Spool(str(folder), 1000, 100)
    assert not spool.write(b"x" * 150)
    assert (spool.offset, spool.unwritten) == (0, b"x" * 150)
    folder.mkdir()
    assert spool.write(b"")
    assert (spool.offset, spool.unwritten, spool.starts) == (150, b"", [0, 100])


def test_the_spool_always_gains_room_by_trimming(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 100, 10_000)
    while spool.room > 0:
        assert spool.write(b"x" * min(7, spool.room))
    assert spool.offset == 100
    spool.trim(100)
    assert spool.room >= 50


def test_a_ring_of_any_size_is_bounded(tmp_path: Path) -> None:
    for limit in (2, 3, 10, 1000):
        folder = tmp_path / str(limit)
        folder.mkdir()
        ring = Ring(str(folder), limit)
        for number in range(200):
            ring.write(b"%03d" % number * (number % 5))
            assert sum(path.stat().st_size for path in folder.iterdir()) <= limit
    assert (tmp_path / "1000" / "stderr").read_bytes().endswith(b"199199199199")
    Ring(str(tmp_path / "missing"), 10).write(b"x")  # and no disk at all is no error
