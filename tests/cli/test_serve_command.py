"""`podium serve`, `stop`, and the commands that go through a running server."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from podium.runtime.place import Place, read_place
from tests.cli.calling import CALL_MAX, Shell, wait


@contextmanager
def served(shell: Shell) -> Generator[Place]:
    """A server in the background, ended with Ctrl-C."""
    process = shell.start("serve", "--port", "0")
    try:
        wait(lambda: read_place(shell.data))
        place = read_place(shell.data)
        assert place is not None and place.pid == process.pid
        yield place
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=CALL_MAX)


def test_a_run_goes_through_the_server_and_leaves_its_agent_there(shell: Shell) -> None:
    with served(shell):
        done = shell.run("text")
        assert done.code == 0 and done.out
        thread = shell.threads()[0]
        assert thread["state"] == "idle"
        again = shell.call("run", "--thread", thread["id"], "recall")
        assert again.code == 0
        assert len({row["session"] for row in shell.log("prompt")}) == 1
        lines = shell.call("run", "-a", "scripted", "--json", "text").rows
        assert [r["sequence"] for r in lines if "sequence" in r] == sorted(
            r["sequence"] for r in lines if "sequence" in r
        )
    assert shell.call("threads", "list").code == 0
    stopped = shell.call("stop", "--agents")
    assert stopped.code == 0 and "Ended" in stopped.out
    assert shell.leftovers() == []


def test_a_request_stays_open_at_the_server(shell: Shell) -> None:
    with served(shell):
        done = shell.run("edit a.txt")
        assert done.code == 5
        thread, request = done.id("thr"), done.id("req")
        assert "without --keep" not in done.err
        answered = shell.call("requests", "answer", request, "accept", "--follow")
        assert answered.code == 0, answered.err
        assert f"answered {request}: accept" in answered.out
        assert (shell.workspace / "a.txt").exists()
        late = shell.call("requests", "answer", request, "decline")
        assert late.code == 1 and "already answered" in late.err
        plan = shell.call("checkpoints", "plan", thread)
        assert plan.code == 0 and "a.txt" in plan.out
        undone = shell.call("checkpoints", "restore", thread)
        assert undone.code == 0 and not (shell.workspace / "a.txt").exists()


def test_there_is_one_server_and_it_says_where(shell: Shell) -> None:
    assert shell.call("serve", "--url").code == 1
    assert not shell.data.exists()
    with served(shell) as place:
        second = shell.call("serve", "--port", "0")
        assert second.code == 1 and place.url in second.err
        assert read_place(shell.data) == place
        fresh = shell.call("serve", "--url")
        assert fresh.code == 0 and fresh.out.startswith(f"{place.url}/#code=")
        assert place.token not in fresh.out


def test_stop_ends_the_server_and_leaves_its_agents(shell: Shell) -> None:
    process = shell.start("serve", "--port", "0")
    wait(lambda: read_place(shell.data))
    assert shell.run("edit a.txt").code == 5
    stopped = shell.call("stop")
    assert stopped.code == 0 and "Stopped the server" in stopped.out
    out, _ = process.communicate(timeout=CALL_MAX)
    assert process.returncode == 0 and b"1 agent goes on working" in out
    assert read_place(shell.data) is None
    assert shell.pending() and shell.processes()
    ended = shell.call("stop", "--agents")
    assert ended.code == 0 and "Ended 1 agent" in ended.out
    assert shell.leftovers() == []


@pytest.mark.parametrize("given", ["--port=99999", "--host=no such host"])
def test_a_place_that_cannot_be_served_is_said(shell: Shell, given: str) -> None:
    done = shell.call("serve", given)
    assert done.code == 2 and done.err.count("\n") <= 2


def test_a_server_that_was_killed_is_not_taken_for_a_living_one(shell: Shell) -> None:
    process = shell.start("serve", "--port", "0")
    wait(lambda: read_place(shell.data))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=CALL_MAX)
    assert read_place(shell.data) is None
    assert shell.run("text").code == 0
    with served(shell):
        assert shell.call("serve", "--url").code == 0


def told(process: subprocess.Popen[bytes], words: bytes) -> bytes:
    """What a command says on stderr up to a line with these words."""
    assert process.stderr is not None
    seen = b""
    while words not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    return seen


def test_a_server_that_goes_away_is_told_once_and_waited_for(shell: Shell) -> None:
    process = shell.start("serve", "--port", "0")
    place = wait(lambda: read_place(shell.data))
    run = shell.start("run", "-a", "scripted", "--wait", "edit a.txt")
    request = wait(shell.pending)[0]["id"]
    process.terminate()
    process.communicate(timeout=CALL_MAX)
    assert b"waiting for it" in told(run, b"does not answer")
    again = shell.start("serve", "--port", place.url.rsplit(":", 1)[1])
    try:
        back = told(run, b"is there again")
        assert b"does not answer" not in back
        assert shell.call("requests", "answer", request, "accept").code == 0
        _, err = run.communicate(timeout=CALL_MAX)
        assert run.returncode == 0, err
    finally:
        again.send_signal(signal.SIGINT)
        again.communicate(timeout=CALL_MAX)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_command_that_is_ended_ends_its_run_at_the_server(shell: Shell, number: int, code: int) -> None:
    with served(shell):
        process = shell.start("run", "-a", "scripted", "long 3000")
        wait(lambda: shell.log("prompt"))
        process.send_signal(number)
        _, err = process.communicate(timeout=CALL_MAX)
        assert process.returncode == code
        assert b"the server stops the run" in err
        wait(lambda: shell.threads()[0]["last_run"]["state"] == "ended")
        assert shell.threads()[0]["last_run"]["outcome"] == "interrupted"


def test_with_keep_the_run_goes_on_at_the_server(shell: Shell) -> None:
    with served(shell):
        process = shell.start("run", "-a", "scripted", "--keep", "--wait", "edit a.txt")
        request = wait(shell.pending)[0]["id"]
        told(process, b"waiting for an answer")
        process.terminate()
        _, err = process.communicate(timeout=CALL_MAX)
        assert process.returncode == 143
        assert b"goes on at the server" in err
        assert [r["id"] for r in shell.pending()] == [request]
