"""The bridge with commands of every kind: each has one defined end, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podium.contract.events import (
    AskFailed,
    DiagnosticSeen,
    ItemSeen,
    Notice,
    ProviderEvent,
    TextDelta,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.providers.oneshot import bridge
from podium.providers.oneshot.adapter import BRIDGE
from podium.testkit.driving import Conversation, said
from tests.providers.oneshot.conftest import Run

Python = Callable[[str], Conversation]

WAIT_MAX = 30.0
"""Seconds after which something that should come counts as missing."""


def end_of(events: Iterable[ProviderEvent]) -> TurnEnded:
    """The one end of a turn."""
    (end,) = (e for e in events if isinstance(e, TurnEnded))
    return end


def code_of(end: TurnEnded) -> str | None:
    return end.failure.code if end.failure else None


def gone(path: Path) -> bool:
    """Whether the process whose number stands in a file is no more; a zombie is no more."""
    pid = int(path.read_text())
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def until(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_MAX
    while not ready():
        assert time.monotonic() < deadline, "never came"
        time.sleep(0.01)


@pytest.mark.behaviour("F035")
def test_text_in_and_the_answer_out(run: Run) -> None:
    events = run("/usr/bin/tr", "a-z", "A-Z").turn("hello")
    kinds = [type(e) for e in events]
    assert kinds == [TurnAccepted, TurnStarted, TextDelta, ItemSeen, TurnEnded]
    assert said(events) == "HELLO"
    end = end_of(events)
    assert (end.outcome, end.evidence, end.word) == ("completed", "provider", "exit code 0")


@pytest.mark.parametrize(
    "text", ["", " ", "no newline", "a\n", "\0\x01\x1b[31m", "ä€😀\r\n", "-n --help $(id)"]
)
def test_the_prompt_reaches_stdin_byte_for_byte_and_never_an_argument(run: Run, text: str) -> None:
    talk = run("/bin/cat")
    events = talk.turn(text)
    assert said(events) == text
    assert [i.state for i in events if isinstance(i, ItemSeen)] == (["completed"] if text else [])
    line = Path(f"/proc/{talk.drive.process.pid}/cmdline").read_bytes().split(b"\0")
    assert line[-2:] == [b"/bin/cat", b""]


def test_ten_megabytes_go_in_and_come_out(run: Run) -> None:
    text = "0123456789abcde\n" * (10 * 1024 * 1024 // 16)
    events = run("/bin/cat").turn(text)
    assert said(events) == text and end_of(events).outcome == "completed"


def test_each_prompt_is_a_run_of_its_own(python: Python) -> None:
    talk = python("print(os.getpid(), i.read().decode())")
    first, second = talk.turn("one"), talk.turn("two")
    assert said(first).split()[1:] == ["one"] and said(second).split()[1:] == ["two"]
    assert said(first).split()[0] != said(second).split()[0]
    assert end_of(first).turn != end_of(second).turn


def test_bytes_that_are_no_text_and_characters_in_pieces(python: Python) -> None:
    events = python(
        "for piece in (b'\\xe2', b'\\x82', b'\\xac', b' \\xff\\x00 ', b'\\xf0\\x9f'):\n"
        "    o.write(piece); o.flush(); time.sleep(0.02)"
    ).turn("x")
    assert said(events) == "\u20ac \ufffd\0 \ufffd"
    assert end_of(events).outcome == "completed"


def test_a_command_that_never_reads_its_input(python: Python) -> None:
    events = python("os.close(0); print('done')").turn("y" * 3_000_000)
    assert said(events) == "done\n" and end_of(events).outcome == "completed"


def test_a_command_that_writes_much_before_it_reads(python: Python) -> None:
    text = "z" * 1_000_000
    events = python("o.write(b'w' * 1_000_000); o.flush(); o.write(i.read())").turn(text)
    assert said(events) == "w" * 1_000_000 + text


@pytest.mark.behaviour("F035")
def test_what_a_failed_command_printed_is_kept_with_its_code_and_last_words(python: Python) -> None:
    talk = python("print('half'); sys.stdout.flush(); print('what went wrong', file=sys.stderr); sys.exit(3)")
    events = talk.turn("x")
    end = end_of(events)
    assert said(events) == "half\n"
    assert (end.outcome, code_of(end), end.word) == ("failed", "command_failed", "exit code 3")
    assert end.failure is not None
    assert end.failure.detail == {"exit_code": 3, "signal": None, "stderr": "what went wrong"}
    assert "what went wrong" in end.failure.message
    talk.drive.close()
    assert list(talk.drive.errors) == ["what went wrong\n"]  # the diagnostics have it too


def test_stderr_is_bounded_and_its_end_is_kept(python: Python) -> None:
    end = end_of(python("for n in range(100_000): print(n, file=sys.stderr)\nsys.exit(1)").turn("x"))
    assert end.failure is not None
    kept = end.failure.detail["stderr"].splitlines()
    assert kept[-1] == "99999" and len(kept) == bridge.STDERR_LINES


def test_a_command_that_is_killed(python: Python) -> None:
    end = end_of(python("os.kill(os.getpid(), signal.SIGSEGV)").turn("x"))
    assert (end.outcome, code_of(end), end.word) == ("failed", "command_failed", "signal 11")


def test_a_command_without_output_has_no_message(run: Run) -> None:
    events = run("/bin/true").turn("x")
    assert [type(e) for e in events] == [TurnAccepted, TurnStarted, TurnEnded]


@pytest.mark.parametrize(
    ("text", "rights", "code"),
    [
        (None, 0, "binary_missing"),
        ("no rights", 0o600, "binary_not_executable"),
        ("no shebang", 0o700, "spawn_failed"),
    ],
)
def test_a_command_that_cannot_be_started_never_saw_the_prompt(
    run: Run, workspace: Path, text: str | None, rights: int, code: str
) -> None:
    program = workspace / "program"
    if text is not None:
        program.write_text(text)
        program.chmod(rights)
    talk = run(str(program))
    (refused,) = talk.turn("x")
    assert isinstance(refused, AskFailed) and refused.failure.code == code and refused.failure.fix
    program.write_text("#!/bin/sh\necho mended\n")
    program.chmod(0o700)
    assert said(talk.turn("x")) == "mended\n"  # the session goes on


def test_an_answer_without_end_is_ended_and_its_beginning_kept(run: Run) -> None:
    talk = run("/usr/bin/yes")
    events = talk.turn("x")
    end = end_of(events)
    assert (end.outcome, code_of(end)) == ("failed", "answer_too_long")
    assert len(said(events)) == bridge.ANSWER_MAX
    assert end_of(talk.turn("again")).turn != end.turn


def test_something_left_behind_that_holds_the_output_is_not_waited_for(
    python: Python, workspace: Path
) -> None:
    events = python(
        "child = subprocess.Popen(['sleep', '600'])\n"
        "open('child', 'w').write(str(child.pid)); print('answer'); sys.stdout.flush(); os._exit(0)"
    ).turn("x")
    assert said(events) == "answer\n" and end_of(events).outcome == "completed"
    assert [n.code for n in events if isinstance(n, Notice)] == ["left_behind"]
    until(lambda: gone(workspace / "child"))


def test_what_is_left_of_the_group_ends_with_the_command(python: Python, workspace: Path) -> None:
    quiet = "stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    events = python(
        f"child = subprocess.Popen(['sleep', '600'], {quiet})\n"
        "open('child', 'w').write(str(child.pid)); os._exit(0)"
    ).turn("x")
    assert end_of(events).outcome == "completed" and not [e for e in events if isinstance(e, Notice)]
    until(lambda: gone(workspace / "child"))


def test_a_command_that_closes_its_output_and_works_on_is_waited_for(python: Python, workspace: Path) -> None:
    events = python(
        "print('early'); sys.stdout.flush(); os.close(1); os.close(2)\n"
        "time.sleep(0.3); open('late', 'w').close(); os._exit(0)"
    ).turn("x")
    assert said(events) == "early\n" and (workspace / "late").exists()


MEEK = "open('pid', 'w').write(str(os.getpid())); print('on'); sys.stdout.flush(); time.sleep(600)"
HANGS = f"signal.signal(signal.SIGTERM, signal.SIG_IGN); {MEEK}"


@pytest.mark.parametrize("code", [HANGS, MEEK])
def test_the_end_of_input_ends_the_command_and_says_nothing_of_the_prompt(
    python: Python, workspace: Path, code: str
) -> None:
    talk = python(code)
    talk.send("x")
    talk.drive.until(TextDelta)
    talk.drive.close()
    talk.drive.drain()
    assert gone(workspace / "pid")
    assert talk.drive.exit is not None and talk.drive.exit.code == 0
    assert not talk.drive.of(TurnEnded)  # what became of it is the core's to say
    assert DiagnosticSeen("stopped") in talk.drive.events


def test_a_terminated_bridge_ends_its_command(python: Python, workspace: Path) -> None:
    talk = python(MEEK)
    talk.send("x")
    talk.drive.until(TextDelta)
    talk.drive.process.send_signal(signal.SIGTERM)
    talk.drive.drain()
    assert gone(workspace / "pid") and talk.drive.exit is not None and talk.drive.exit.code == 0


def test_a_killed_bridge_takes_its_command_along(python: Python, workspace: Path) -> None:
    talk = python(HANGS)
    talk.send("x")
    talk.drive.until(TextDelta)
    talk.drive.kill()
    until(lambda: gone(workspace / "pid"))


# ---- the bridge alone, without the adapter


def exchange(*command: str, given: bytes) -> list[dict[str, Any]]:
    """What the bridge says to these bytes, up to its end."""
    done = subprocess.run(
        [sys.executable, "-I", str(BRIDGE), *command],
        input=given,
        capture_output=True,
        timeout=WAIT_MAX,
        check=True,
    )
    assert done.stderr == b""
    return [msgspec.json.decode(line, type=dict[str, Any]) for line in done.stdout.splitlines()]


def test_lines_that_are_no_requests_are_told_and_change_nothing() -> None:
    lines = [b"", b"{", b"[]", b"\xff", b'{"op":"run"}', b'{"op":1}', b'{"op":"hello","id":"h"}']
    lines.append(b"[" * 100_000)
    told = exchange("/bin/cat", given=b"\n".join(lines) + b"\n")
    assert [t["say"] for t in told] == [*["unread"] * 6, "ready", "unread"]
    assert told[6]["command"] is True and told[6]["version"] == bridge.VERSION


def test_without_a_command_it_says_so_and_runs_nothing() -> None:
    told = exchange(given=b'{"op":"hello","id":"h"}\n')
    assert [(t["say"], t["command"]) for t in told] == [("ready", False)]


def test_half_a_character_in_a_prompt_stops_nothing(tmp_path: Path) -> None:
    """JSON can hold half a surrogate pair; bytes cannot."""
    process = subprocess.Popen(
        [sys.executable, "-I", str(BRIDGE), "/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'{"op":"run","turn":"1","text":"a\\ud800b"}\n')
    process.stdin.flush()
    told = [msgspec.json.decode(process.stdout.readline(), type=dict[str, Any]) for _ in range(3)]
    assert [t["say"] for t in told] == ["started", "text", "ended"] and told[1]["text"] == "a?b"
    process.stdin.close()
    assert process.wait(WAIT_MAX) == 0
    process.stdout.close()


def test_one_command_at_a_time() -> None:
    process = subprocess.Popen(
        [sys.executable, "-I", str(BRIDGE), "/bin/sleep", "600"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'{"op":"run","turn":"1","text":""}\n{"op":"run","turn":"2","text":""}\n')
    process.stdin.flush()
    told = [msgspec.json.decode(process.stdout.readline(), type=dict[str, Any]) for _ in range(2)]
    assert told[0] == {"say": "started", "turn": "1"}
    assert (told[1]["say"], told[1]["turn"], told[1]["code"]) == ("refused", "2", "turn_running")
    process.stdin.close()
    assert process.wait(WAIT_MAX) == 0
    last = msgspec.json.decode(process.stdout.read(), type=dict[str, Any])
    assert (last["why"], last["signal"]) == ("stopped", 15)
    process.stdout.close()


def test_while_nobody_reads_the_command_waits_and_nothing_is_lost(tmp_path: Path) -> None:
    """What is printed waits at the command's own pipe, not in the bridge's memory."""
    size = 8 * bridge.OUT_MAX
    code = f"import sys; sys.stdout.write('v' * {size}); sys.stdout.flush(); open('done', 'w').close()"
    process = subprocess.Popen(
        [sys.executable, "-I", str(BRIDGE), sys.executable, "-I", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'{"op":"run","turn":"1","text":""}\n')
    process.stdin.flush()
    told: list[dict[str, Any]] = []
    while not told or told[-1]["say"] != "ended":
        if len(told) == 1:
            assert not (tmp_path / "done").exists()
        told.append(msgspec.json.decode(process.stdout.readline(), type=dict[str, Any]))
    assert sum(len(t["text"]) for t in told if t["say"] == "text") == size
    assert told[-1]["code"] == 0 and told[-1]["left"] is False and (tmp_path / "done").exists()
    process.stdin.close()
    assert process.wait(WAIT_MAX) == 0
    process.stdout.close()


def test_a_bridge_whose_reader_is_gone_ends_its_command(tmp_path: Path) -> None:
    read, write = os.pipe()
    code = "import os, time; open('pid', 'w').write(str(os.getpid()))\nwhile 1: print('x' * 1000, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-I", str(BRIDGE), sys.executable, "-I", "-c", code],
        stdin=subprocess.PIPE,
        stdout=write,
        cwd=tmp_path,
    )
    os.close(write)
    assert process.stdin is not None
    process.stdin.write(b'{"op":"run","turn":"1","text":""}\n')
    process.stdin.flush()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    os.close(read)
    assert process.wait(WAIT_MAX) == 0
    assert gone(tmp_path / "pid")
    process.stdin.close()
