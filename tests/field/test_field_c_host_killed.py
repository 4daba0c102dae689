"""C: the program is killed -9 in the middle of a turn. What was shown is kept, no prompt arrives twice."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cli.calling import Shell, wait

PIECES = 400


def text_of(shell: Shell) -> str:
    """What the agent said in the newest thread, as the program shows it."""
    rows = shell.call("threads", "show", "last", "--json").rows
    return "".join(r["texts"].get("text", "") for r in rows if r.get("item_kind") == "assistant_message")


def killed(shell: Shell, *options: str) -> str:
    """Run, read a good part of what is shown, kill the program with SIGKILL; what it had shown."""
    process = shell.start("run", "-a", "scripted", *options, f"long {PIECES}", stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    shown = b""
    while b"word 60 " not in shown:
        piece = os.read(process.stdout.fileno(), 4096)
        assert piece, shown
        shown += piece
    process.kill()
    process.communicate(timeout=60)
    return shown.decode()


@pytest.mark.behaviour("F280")
def test_what_was_shown_is_kept_and_the_thread_goes_on(shell: Shell) -> None:
    shown = killed(shell)
    wait(lambda: not shell.processes())
    done = shell.call("run", "--thread", "last", "recall")
    assert done.code == 0
    assert text_of(shell).startswith(shown)
    assert f"You wrote 1 prompts before this one. The first: long {PIECES}" in done.out
    assert [row["text"] for row in shell.log("prompt")] == [f"long {PIECES}", "recall"]


def test_with_keep_the_same_turn_goes_on_to_its_end(shell: Shell) -> None:
    shown = killed(shell, "--keep")
    done = shell.call("run", "--thread", "last")
    assert done.code == 0
    whole = "".join(f"word {n} " for n in range(PIECES))
    assert text_of(shell) == whole
    assert whole.startswith(shown)
    assert [row["text"] for row in shell.log("prompt")] == [f"long {PIECES}"]


def test_an_open_permission_is_answered_after_the_kill_and_reaches_the_agent_once(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "--keep", "--wait", "edit a.txt")
    wait(shell.pending)
    [request] = shell.pending()
    process.kill()
    process.communicate(timeout=60)
    assert shell.call("requests", "answer", request["id"], "accept").code == 0
    assert shell.call("run", "--thread", "last").code == 0
    assert (shell.workspace / "a.txt").exists()
    assert [row["outcome"]["optionId"] for row in shell.log("permission")] == ["yes"]
    assert [row["text"] for row in shell.log("prompt")] == ["edit a.txt"]
