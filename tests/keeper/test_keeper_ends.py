"""How agents begin and end, and what is known of it afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.keeper.keeping import ECHO, Kept, alive, eventually

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


@pytest.mark.parametrize(
    ("code", "script"), [(0, "pass"), (3, "import os; os._exit(3)"), (1, "raise SystemExit(1)")]
)
def test_the_exit_code_is_recorded_and_told(kept: Kept, code: int, script: str) -> None:
    client = kept.start("import sys; sys.stdin.read()\n" + script).client()
    client.ask({"n": 1, "close_stdin": True}, "n")
    told = client.until("exit")["exit"]
    assert told == kept.finished()
    assert (told["code"], told["signal"], told["reason"], told["last_sent"]) == (code, None, "exited", 1)
    assert not (kept.folder / "sock").exists()


def test_a_signal_is_recorded(kept: Kept) -> None:
    client = kept.start(SLEEPER).client()
    client.written()
    assert client.ask({"signal": "KILL"}, "signalled") == {"signalled": True}
    record = client.until("exit")["exit"]
    assert (record["code"], record["signal"], record["reason"]) == (None, signal.SIGKILL, "exited")


def test_interrupt_reaches_the_group(kept: Kept) -> None:
    script = """
import signal, subprocess, sys
command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
child = subprocess.Popen(command, stdout=subprocess.PIPE)
child.stdout.readline()
signal.signal(signal.SIGINT, lambda *_: None)
print("up", flush=True)
sys.exit(7 if child.wait() != 0 else 8)
"""
    client = kept.start(script).client()
    client.written()
    assert len(client.ask({"census": True}, "census")["census"]) == 2
    client.put({"signal": "INT", "group": True})
    assert client.until("exit")["exit"]["code"] == 7


def test_ending_is_polite_first(kept: Kept) -> None:
    client = kept.start(ECHO).client()
    assert client.ask({"end": "stop", "grace": 20}, "ending") == {"ending": "ended:stop"}
    record = client.until("exit")["exit"]
    assert (record["code"], record["reason"]) == (0, "ended:stop")


def test_ending_terminates_after_the_grace(kept: Kept) -> None:
    client = kept.start(SLEEPER).client()
    client.written()
    client.put({"end": "stop", "grace": 0.2})
    assert client.until("exit")["exit"]["signal"] == signal.SIGTERM


def test_ending_kills_what_does_not_listen(kept: Kept) -> None:
    client = kept.start(STUBBORN).client()
    client.written()
    client.put({"end": "stop", "grace": 600}, {"end": "now", "grace": 0.2})
    record = client.until("exit")["exit"]
    assert (record["signal"], record["reason"]) == (signal.SIGKILL, "ended:stop")


def test_ending_takes_the_group_along(kept: Kept) -> None:
    script = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {STUBBORN!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""
    client = kept.start(script).client()
    client.written()
    child = int(kept.output())
    assert alive(child)
    client.put({"end": "stop", "grace": 5})
    assert client.until("exit")["exit"]["code"] == 0
    eventually(lambda: not alive(child))


def test_an_agent_that_exits_by_itself_leaves_its_children_to_the_reaper(kept: Kept) -> None:
    script = f"""
import subprocess, sys
null = subprocess.DEVNULL
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}], stdout=null, stdin=null)
print(child.pid, flush=True)
"""
    kept.start(script)
    assert kept.finished()["reason"] == "exited"
    child = int(kept.output())
    assert alive(child)
    os.kill(child, signal.SIGKILL)


def test_a_grandchild_that_holds_stdout_does_not_hold_the_record(kept: Kept) -> None:
    script = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}], start_new_session=True)
print(child.pid, flush=True)
sys.exit(5)
"""
    client = kept.start(script).client()
    record = client.until("exit")["exit"]
    assert (record["code"], record["reason"]) == (5, "exited")
    child = int(kept.output().split()[0])
    assert alive(child)
    os.kill(child, signal.SIGKILL)


def test_output_of_a_grandchild_right_after_the_exit_is_kept(kept: Kept) -> None:
    script = """
import os, time
print("parent", flush=True)
if os.fork() == 0:
    time.sleep(0.5); print("child", flush=True)
"""
    client = kept.start(script).client()
    client.until("exit")
    assert kept.output() == b"parent\nchild\n"


def test_attaching_after_the_end_is_not_possible_and_not_needed(kept: Kept) -> None:
    kept.start("print('done')")
    record = kept.finished()
    assert record["code"] == 0
    assert kept.output() == b"done\n"
    assert not (kept.folder / "sock").exists()


def refusals(tmp: Path) -> dict[str, tuple[list[Any], dict[str, Any], str]]:
    plain = tmp / "plain"
    plain.write_text("no program")
    script = tmp / "script"
    script.write_text("no shebang")
    script.chmod(0o755)
    lost = tmp / "lost"
    lost.write_text("#!/nowhere/at/all\n")
    lost.chmod(0o755)
    ok = [sys.executable, "-c", "pass"]
    return {
        "no such program": (["podium-no-such-program"], {}, "binary_missing"),
        "no such path": (["/nowhere/at/all"], {}, "binary_missing"),
        "no interpreter": ([str(lost)], {}, "binary_missing"),
        "not executable": ([str(plain)], {}, "binary_not_executable"),
        "a folder": ([str(tmp)], {}, "binary_not_executable"),
        "no format": ([str(script)], {}, "binary_not_executable"),
        "no folder": (ok, {"cwd": "/nowhere/at/all"}, "cwd_missing"),
        "a file as folder": (ok, {"cwd": str(plain)}, "cwd_missing"),
        "argument over 128 KiB": ([*ok, "x" * 200_000], {}, "arguments_too_long"),
        "no argv": ([], {}, "bad_spec"),
        "null byte": ([*ok, "a\0b"], {}, "bad_spec"),
        "number in argv": ([*ok, 7], {}, "bad_spec"),
        "no env": (ok, {"env": None}, "bad_spec"),
        "number in env": (ok, {"env": {"A": 1}}, "bad_spec"),
        "long note": (ok, {"note": "x" * 5000}, "bad_spec"),
        "no cwd": (ok, {"cwd": None}, "bad_spec"),
        "linger": (ok, {"linger": "long"}, "bad_spec"),
    }


CASES = """no such program, no such path, no interpreter, not executable, a folder, no format, no folder,
a file as folder, argument over 128 KiB, no argv, null byte, number in argv, no env, number in env, long note,
no cwd, linger""".replace("\n", " ").split(", ")


@pytest.mark.parametrize("case", CASES)
def test_a_start_that_fails_is_a_typed_answer(kept: Kept, tmp_path: Path, case: str) -> None:
    assert set(CASES) == set(refusals(tmp_path))
    argv, spec, code = refusals(tmp_path)[case]
    kept.start(argv, **spec)
    assert kept.answer["ok"] is False
    assert kept.answer["code"] == code, kept.answer
    assert kept.answer["message"]
    assert not (kept.folder / "launched").exists()
    assert not (kept.folder / "sock").exists()


def test_a_folder_is_used_once(kept: Kept) -> None:
    kept.start("pass")
    kept.finished()
    kept.start("pass")
    assert kept.answer["code"] == "folder_used"


def test_a_long_folder_gets_a_socket_elsewhere(kept: Kept) -> None:
    kept.folder = kept.folder.parent / ("long" * 30)
    client = kept.start(ECHO).client()
    address = Path(kept.answer["address"])
    assert len(str(address)) < 100
    assert address.parent.stat().st_mode & 0o777 == 0o700
    assert (kept.folder / "address").read_text() == str(address)
    client.send(1, "x")
    client.put({"end": "stop"})
    client.until("exit")
    kept.finished()
    assert not address.parent.exists()


@pytest.mark.parametrize("attached", [True, False])
def test_without_its_folder_the_agent_ends(kept: Kept, attached: bool) -> None:
    kept.start(SLEEPER, linger=600, folder_every=0.1)
    client = kept.client()
    client.written()
    if not attached:
        client.close()
    shutil.rmtree(kept.folder)
    if attached:
        assert client.until("exit")["exit"]["reason"] == "folder_gone"
    eventually(lambda: not alive(kept.agent) and not alive(kept.pid))


def test_a_folder_that_is_there_ends_nothing(kept: Kept) -> None:
    client = kept.start(ECHO, linger=600, folder_every=0.01).client()
    for n in range(1, 30):
        client.send(n, f"{n}\n")
        client.ask({"census": True}, "census")
    assert alive(kept.agent)
