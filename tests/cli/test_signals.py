"""Ctrl-C and SIGTERM: the run is stopped in good order, and nothing stays that was not to be kept."""

from __future__ import annotations

import signal

import pytest

from tests.cli.calling import Shell, wait


def last_run(shell: Shell) -> tuple[str, str]:
    run = shell.threads()[0]["last_run"]
    return run["outcome"], run["evidence"]


@pytest.mark.behaviour("F249")
def test_one_interrupt_stops_the_run_and_waits_for_its_end(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "long 3000")
    wait(lambda: shell.log("prompt"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupting" in err
    assert b"Traceback" not in err
    assert last_run(shell) == ("interrupted", "provider")
    assert len(shell.log("cancel")) == 1
    assert out.endswith(b"\n") or out == b""
    assert shell.leftovers() == []


def test_a_second_interrupt_leaves(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "deaf 60")
    wait(lambda: shell.log("prompt"))
    process.send_signal(signal.SIGINT)
    wait(lambda: shell.log("cancel"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert shell.leftovers() == []
    assert last_run(shell)[0] == "interrupted"


def test_with_keep_a_second_interrupt_leaves_the_agent_working(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "--keep", "deaf 5")
    wait(lambda: shell.log("prompt"))
    process.send_signal(signal.SIGINT)
    wait(lambda: shell.log("cancel"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert shell.processes() != []
    finished = shell.call("run", "--thread", "last")
    assert finished.code == 130
    assert last_run(shell)[0] == "interrupted"
    assert shell.leftovers() == []


def test_leaving_does_not_wait_for_a_reader_that_sleeps(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "--json", "flood 30000")
    wait(lambda: shell.threads() and shell.threads()[0]["last_run"]["state"] == "ended")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    process.communicate()
    assert shell.leftovers() == []


def test_terminated_it_leaves_cleanly(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "slow 60")
    wait(lambda: shell.log("prompt"))
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert b"Traceback" not in err
    assert shell.leftovers() == []
    assert last_run(shell) == ("interrupted", "host_lost")


def test_hung_up_it_leaves_cleanly(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "slow 60")
    wait(lambda: shell.log("prompt"))
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 129
    assert b"Traceback" not in err
    assert shell.leftovers() == []
    assert last_run(shell) == ("interrupted", "host_lost")


def test_under_nohup_a_closed_terminal_is_nothing(shell: Shell) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a child inherits it
    try:
        process = shell.start("run", "-a", "scripted", "--wait", "edit a.txt")
    finally:
        signal.signal(signal.SIGHUP, before)
    request = wait(shell.pending)[0]["id"]
    process.send_signal(signal.SIGHUP)
    assert shell.call("requests", "answer", request, "accept").code == 0
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.behaviour("F271")
def test_killed_it_leaves_a_thread_that_says_so_and_goes_on(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "slow 60")
    wait(lambda: shell.log("prompt"))
    process.kill()
    process.communicate(timeout=60)
    assert wait(lambda: shell.threads()[0]["state"] == "left")
    wait(lambda: not shell.processes())
    done = shell.call("run", "--thread", "last", "recall")
    assert "host_lost" in done.err
    assert done.code == 0
    assert "You wrote 1 prompts before this one. The first: slow 60" in done.out
    assert [row["text"] for row in shell.log("prompt")] == ["slow 60", "recall"]


def test_an_interrupt_while_it_waits_for_a_person(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "--wait", "edit a.txt")
    wait(shell.pending)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert last_run(shell)[0] == "interrupted"
    assert shell.pending() == []
    assert shell.leftovers() == []
