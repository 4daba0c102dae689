"""What an agent writes and reads, whatever its size and pace."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.keeper.keeping import ECHO, Kept


def test_a_line_goes_in_and_its_answer_is_in_the_spool(kept: Kept) -> None:
    client = kept.start(ECHO).client()
    assert client.attached["last_sent"] == 0
    assert client.send(1, "hello") == {"last_sent": 1, "n": 1}
    assert client.until("off") == {"off": 10}
    assert kept.output() == b"got hello\n"
    [[n, offset, at, digest, size]] = kept.sends()
    assert (n, offset, digest, size) == (1, 0, hashlib.sha256(b"hello").hexdigest(), 5)
    assert at > 1e9
    assert b"hello" not in (kept.folder / "sends").read_bytes()


def test_everything_in_the_folder_is_private(kept: Kept) -> None:
    client = kept.start("import sys; print('x'); print('y', file=sys.stderr); sys.stdin.read()").client()
    client.send(1, "hello")
    client.put({"end": "test", "grace": 5})
    kept.finished()
    assert kept.folder.stat().st_mode & 0o777 == 0o700
    names = {path.name for path in kept.folder.iterdir()}
    assert names == {"address", "exit", "launched", "out." + "0" * 20, "sends", "stderr"}
    assert {path.stat().st_mode & 0o777 for path in kept.folder.iterdir()} == {0o600}


@pytest.mark.behaviour("F280")
def test_numbers_once_and_without_gaps(kept: Kept) -> None:
    client = kept.start(ECHO).client()
    assert client.send(2, "early")["code"] == "gap"
    assert client.send(1, "one")["last_sent"] == 1
    assert client.send(1, "one again")["last_sent"] == 1
    assert client.send(3, "late") == {"refused": 3, "code": "gap", "last_sent": 1}
    assert client.send(2, "two")["last_sent"] == 2
    assert client.send(1, "one once more")["last_sent"] == 2
    client.put({"n": 3, "close_stdin": True}, {"n": 4, "line": "too late"})
    assert client.until("n") == {"last_sent": 3, "n": 3}
    assert client.until("refused")["code"] == "stdin_closed"
    record = client.until("exit")["exit"]
    assert kept.output() == b"got one\ngot two\n"
    assert record["last_sent"] == 3
    assert [row[0] for row in kept.sends()] == [1, 2, 3]


def test_large_prompts_travel_over_stdin_whole(kept: Kept) -> None:
    """B09: an argument of this size could not even be started."""
    client = kept.start(ECHO).client()
    text = json.dumps({"text": "é🚀" * 50_000})
    client.send(1, text)
    client.ask({"n": 2, "close_stdin": True}, "n")
    client.until("exit")
    assert kept.output() == b"got " + text.encode() + b"\n"


def test_frames_of_17_megabytes(kept: Kept) -> None:
    size = 17_000_000
    client = kept.start(f"import sys; sys.stdout.write('x' * {size} + '\\n'); print('end')").client()
    record = client.until("exit")["exit"]
    assert record["offset"] == size + 5
    output = kept.output()
    assert len(output) == size + 5
    assert output.endswith(b"x\nend\n")
    starts = [int(path.name[4:]) for path in sorted(kept.folder.glob("out.*"))]
    assert starts == [0, 8 << 20, 16 << 20]


def test_an_unterminated_last_line_is_kept(kept: Kept) -> None:
    """B07."""
    kept.start("import sys; sys.stdout.write('{\"last\":1}'); sys.stdout.flush(); sys.exit(3)")
    record = kept.finished()
    assert kept.output() == b'{"last":1}'
    assert (record["code"], record["signal"], record["reason"], record["offset"]) == (3, None, "exited", 10)


def test_five_megabytes_of_stderr_do_not_stop_the_agent(kept: Kept) -> None:
    """B08: one line of 2 MB among it."""
    script = """
import sys
e = sys.stderr.buffer
e.write(b"a" * 2_000_000 + b"\\n"); print("one", flush=True)
for i in range(30_000): e.write(b"%099d\\n" % i)
e.flush(); print("two", flush=True)
"""
    client = kept.start(script).client()
    client.until("exit")
    assert kept.output() == b"one\ntwo\n"
    ring = (kept.folder / "stderr.old").read_bytes() + (kept.folder / "stderr").read_bytes()
    assert 400_000 < len(ring) <= 1 << 20
    assert ring.endswith(b"%099d\n" % 29_999)


def test_stdin_not_read_fills_the_queue_and_refuses(kept: Kept) -> None:
    script = "import time, sys, os\nwhile not os.path.exists('go'): time.sleep(0.01)\n" + ECHO
    client = kept.start(script, stdin_max=1 << 20).client()
    line = "x" * 200_000
    n = 0
    while (answer := client.send(n + 1, line)).get("code") != "stdin_full":
        assert answer["last_sent"] == n + 1
        n += 1
        assert n < 20
    assert answer == {"refused": n + 1, "code": "stdin_full", "last_sent": n}
    assert client.ask({"census": True}, "census")["census"] == [kept.agent]
    assert client.send(n + 1, "y" * (1 << 20))["code"] == "line_too_long"
    (kept.folder.parent / "go").touch()
    client.until("stdin_ready")
    assert client.send(n + 1, line)["last_sent"] == n + 1
    client.ask({"n": n + 2, "close_stdin": True}, "n")
    client.until("exit")
    assert kept.output() == (b"got " + line.encode() + b"\n") * (n + 1)


def test_stdin_closed_by_the_agent_is_a_typed_answer(kept: Kept) -> None:
    script = "import os, sys, time\nos.close(0); print('closed', flush=True); time.sleep(600)"
    client = kept.start(script).client()
    client.written()
    assert client.send(1, "hello") == {"refused": 1, "code": "stdin_closed", "last_sent": 0}
    assert kept.sends() == []


def test_bytes_the_agent_never_read_are_reported(kept: Kept) -> None:
    script = (
        "import os, sys, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nos.close(0); time.sleep(600)"
    )
    client = kept.start(script).client()
    client.send(1, "x" * 300_000)
    (kept.folder.parent / "go").touch()
    assert client.until("stdin_closed")["stdin_closed"] > 100_000


def test_a_full_spool_stops_the_agent_and_goes_on_after_trimming(kept: Kept) -> None:
    size = 3_000_000
    script = f"import sys\nfor i in range({size} // 10): sys.stdout.write('%09d\\n' % i)\n"
    client = kept.start(script, spool_max=400_000, segment_max=100_000).client()
    read = b""
    full = 0
    client.put({"note": True})  # something to read when the spool was full before
    while True:
        message = client.read()
        assert message is not None
        if full == 0 and (client.attached["spool_full"] or message.get("spool_full") is True):
            full = 1
            assert len(kept.output()) == 400_000
            assert kept.exit() is None
        if full:
            for path in sorted(kept.folder.glob("out.*")):
                start = int(path.name[4:])
                if start <= len(read) < start + 100_000:  # an acknowledged one may vanish any moment
                    read += path.read_bytes()[len(read) - start :]
            if message.get("exit"):
                break
            with contextlib.suppress(BrokenPipeError):  # the last word may be waiting already
                client.put({"ack": len(read)})
    assert {"spool_full": False} in client.seen
    assert read == b"".join(b"%09d\n" % i for i in range(size // 10))
    assert message["exit"]["offset"] == size


def test_the_exit_of_an_agent_behind_a_full_spool_loses_nothing(kept: Kept) -> None:
    script = "import sys; sys.stdout.write('x' * 160_000); sys.stdout.flush()"
    kept.start(script, spool_max=100_000, segment_max=50_000)
    record = kept.finished()
    assert record["offset"] == 160_000
    assert kept.output() == b"x" * 160_000


def test_trimming_takes_whole_acknowledged_segments_only(kept: Kept) -> None:
    client = kept.start(
        "import sys; print('x' * 999_999, flush=True); sys.stdin.read()", segment_max=100_000
    ).client()
    client.written(1_000_000)
    assert client.ask({"ack": 250_000}, "kept_from") == {"kept_from": 200_000}
    assert client.ask({"ack": 100}, "kept_from") == {"kept_from": 200_000}
    assert client.ask({"ack": 10**9}, "kept_from") == {"kept_from": 900_000}
    assert len(kept.output()) == 100_000


def test_the_agent_sees_exactly_its_environment(kept: Kept) -> None:
    script = """
import json, os
print(json.dumps([dict(os.environ), os.getcwd(), sorted(os.listdir('/proc/self/fd'))]))
"""
    env = {"PATH": "/usr/bin", "MARK": "é", "LC_ALL": "C.UTF-8"}
    kept.start([sys.executable, "-I", "-c", script], env=env)
    kept.finished()
    seen, cwd, fds = json.loads(kept.output())
    assert seen == env
    assert cwd == str(kept.folder.parent)
    assert fds[:3] == ["0", "1", "2"]
    assert len(fds) == 4  # the fourth is the listing itself


def test_signals_umask_and_session_are_fresh(kept: Kept) -> None:
    script = """
import os, signal, json
mask = os.umask(0); os.umask(mask)
pipe = [l for l in open("/proc/self/status") if l.startswith(("SigIgn", "SigBlk"))]
print(json.dumps([mask, os.getsid(0) == os.getpid() == os.getpgid(0), pipe]))
"""
    kept.start(["/bin/sh", "-c", f"umask; exec {sys.executable} -I -c '{script}'"])
    kept.finished()
    shell, rest = kept.output().decode().split("\n", 1)
    mask, leader, lines = json.loads(rest)
    assert int(shell, 8) == mask != 0o077
    assert leader
    for line in lines:
        ignored = int(line.split()[1], 16)
        # The child interpreter itself ignores SIGPIPE (13) and SIGXFSZ (25). The C library keeps 32 and 33
        # to itself, so they stay as whoever began it all left them. Nothing else may be ignored.
        assert ignored & ~((1 << 12) | (1 << 24) | (1 << 31) | (1 << 32)) == 0


def test_memory_stays_small(kept: Kept) -> None:
    kept.start(ECHO)
    status = Path(f"/proc/{kept.pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0])
    assert resident < 16_000  # KiB; the bare interpreter takes half of it
