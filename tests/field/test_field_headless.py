"""What others of this kind fail at in five minutes, black box: the program, one agent, nothing inside."""

from __future__ import annotations

import json
import string
import subprocess
import sys

import pytest

from tests.cli.calling import Shell, wait

ASK = [["edit a.txt"], ["command echo hello > a.txt"]]


@pytest.mark.parametrize("prompt", ASK, ids=["edit", "command"])
def test_a_permission_nobody_can_give(shell: Shell, prompt: list[str]) -> None:
    """A: not exit 0, and stderr names thread and request."""
    done = shell.run(*prompt)
    assert done.code == 5
    thread = shell.threads()[0]
    request = next(
        r["id"] for r in shell.call("threads", "show", thread["id"], "--json").rows if r["kind"] == "request"
    )
    waiting = next(line for line in done.err.splitlines() if "waiting" in line)
    assert thread["id"] in waiting
    assert request in waiting
    assert not (shell.workspace / "a.txt").exists()


def test_a_permission_given_later_finishes_the_run(shell: Shell) -> None:
    """A, then the command that stderr names, then the thread goes to its end."""
    done = shell.run("--keep", "edit a.txt")
    named = done.err[done.err.index("podium requests answer") :].split()[1:5]
    assert shell.call(*named).code == 0
    assert shell.call("run", "--thread", done.id("thr")).code == 0
    assert (shell.workspace / "a.txt").exists()
    assert len(shell.log("prompt")) == 1


@pytest.mark.parametrize("half_line", [False, True])
def test_an_agent_that_dies_in_the_middle_of_a_sentence(shell: Shell, half_line: bool) -> None:
    """B: failed, process_exit 3, the half sentence kept, exit 1."""
    done = shell.run(json.dumps({"play": [{"do": "die", "code": 3, "half_line": half_line}]}))
    assert done.code == 1
    assert done.out == "This sentence has no \n"
    rows = shell.call("threads", "show", "last", "--json").rows
    run = next(r for r in rows if r["kind"] == "run")
    assert (run["outcome"], run["evidence"]) == ("failed", "process_exit")
    assert run["failure"]["detail"]["exit_code"] == 3
    kept = next(r for r in rows if r.get("item_kind") == "assistant_message")
    assert kept["texts"]["text"] == "This sentence has no "
    assert kept["state"] != "completed"


def tool_states(shell: Shell) -> list[str]:
    rows = shell.call("threads", "show", "last", "--json").rows
    return [r["state"] for r in rows if r.get("item_kind") == "tool_call"]


@pytest.mark.parametrize(
    ("play", "code"),
    [
        ([{"do": "tools", "count": 1, "open": True}], 0),
        ([{"do": "tools", "count": 1, "open": True}, {"do": "die", "code": 3}], 1),
        ([{"do": "tools", "count": 1, "open": True}, {"do": "error"}], 1),
        ([{"do": "tools", "count": 1, "open": True}, {"do": "stop", "reason": "cancelled"}], None),
    ],
    ids=["completed", "crashed", "failed", "cancelled"],
)
def test_a_tool_call_left_open_is_never_completed(
    shell: Shell, play: list[dict[str, object]], code: int | None
) -> None:
    """E: whatever way the turn ends."""
    done = shell.run(json.dumps({"play": play}))
    assert code is None or done.code == code
    assert tool_states(shell) in (["interrupted"], ["unverifiable"], ["failed"])


def test_a_tool_call_left_open_by_an_interrupt_is_never_completed(shell: Shell) -> None:
    """E, with Ctrl-C."""
    play = [{"do": "tools", "count": 1, "open": True}, {"do": "deaf", "seconds": 3}]
    process = shell.start("run", "-a", "scripted", json.dumps({"play": play}))
    wait(lambda: shell.threads() and tool_states(shell) == ["open"])
    process.terminate()
    process.communicate(timeout=60)
    assert tool_states(shell) in (["interrupted"], ["unverifiable"])


PROMPTS = [
    "  leading and trailing  ",
    "\n\nlines\n\n",
    "tab\tand \"quotes\" and 'single' and \\n back\\slash",
    "$(rm -rf) `x` $HOME %s {0} ${PATH} !! &&",
    "ümläut 日本語 \U0001f600 e\u0301 \u200b\u2028\u2029\ufeff",
    "\x1b[31mred\x1b[0m \x07 \x9b \x7f \r\n",
    "@file #tag /word <tag> &amp; ]]>",
    "".join(chr(n) for n in range(1, 128)),
    string.printable * 300,
]


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_the_prompt_received_is_the_prompt_typed(shell: Shell, prompt: str) -> None:
    """J: byte for byte, from the command line and from stdin; what is kept is the same text."""
    if not prompt.startswith("-"):
        assert shell.run("--", prompt).code == 0
    assert shell.run("-", given=prompt.encode()).code == 0
    for row in shell.log("prompt"):
        assert row["text"].encode() == prompt.encode()
    assert len(shell.log("prompt")) == 2
    rows = shell.call("threads", "show", "last", "--json").rows
    kept = next(r for r in rows if r.get("item_kind") == "user_message")
    assert kept["texts"]["text"] == prompt


READ_ONLY = (
    ["threads", "list"],
    ["threads", "show", "last"],
    ["requests", "list"],
    ["--version"],
    ["--help"],
)


@pytest.mark.parametrize("arguments", READ_ONLY, ids=" ".join)
def test_a_command_that_reads_starts_no_process(shell: Shell, arguments: list[str]) -> None:
    """L: with processes forbidden, the command works all the same, and nothing is there after it."""
    shell.run("--keep", "edit a.txt")
    before = sorted(shell.processes())
    forbidden = (
        "import os, sys\n"
        "def watch(event, given):\n"
        "    if event in ('subprocess.Popen', 'os.fork', 'os.forkpty', 'os.posix_spawn', 'os.exec',\n"
        "        'os.system'):\n"
        "        sys.stderr.write(f'started a process: {event} {given}')\n"
        "        os._exit(99)\n"
        "sys.addaudithook(watch)\n"
        "from podium.cli.app import main\n"
        "main(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", forbidden, *arguments],
        capture_output=True, text=True, timeout=60, env=shell.environment, cwd=shell.workspace, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(shell.processes()) == before
