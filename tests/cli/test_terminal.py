"""At a terminal the person is asked: options by number, questions in turn, Ctrl-C typed like anywhere."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator

import pytest

from podium.cli.asking import DIFF_LINES, accepted, request_lines
from podium.contract.requests import Question, QuestionOption, RequestContent
from podium.domain.entities import Request
from tests.cli.calling import PODIUM, Shell, wait


class Terminal:
    """A person in front of a command."""

    def __init__(self, shell: Shell, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.process = subprocess.Popen(
            [PODIUM, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**shell.environment, "TERM": "xterm-256color"},
            cwd=shell.workspace,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def _read(self) -> None:
        try:
            self.seen += os.read(self.master, 65536).decode(errors="replace")
        except (BlockingIOError, OSError):
            return

    def until(self, pattern: str) -> None:
        """Read until the screen shows this."""

        def shown() -> bool:
            self._read()
            return re.search(pattern, self.seen) is not None

        wait(shown)

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self.master, text.encode())

    def end(self) -> int:
        """The exit code."""

        def over() -> bool:
            self._read()
            return self.process.poll() is not None

        wait(over)
        self._read()
        return self.process.returncode


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait(60)
        os.close(terminal.master)


@pytest.mark.parametrize(("typed", "done"), [("1\n", True), ("accept\n", True), ("9\nmaybe\n3\n", False)])
def test_a_person_decides(shell: Shell, terminals: list[Terminal], typed: str, done: bool) -> None:
    terminal = Terminal(shell, "run", "-a", "scripted", "edit a.txt")
    terminals.append(terminal)
    terminal.until(r"1\) Allow")
    terminal.until(r"your choice")
    terminal.type(typed)
    assert terminal.end() == 0
    assert (shell.workspace / "a.txt").exists() is done
    assert "Traceback" not in terminal.seen
    assert shell.leftovers() == []


def test_a_choice_that_is_none_is_told_with_what_is_accepted(shell: Shell, terminals: list[Terminal]) -> None:
    terminal = Terminal(shell, "run", "-a", "scripted", "edit a.txt")
    terminals.append(terminal)
    terminal.until("your choice")
    terminal.type("maybe\n")
    terminal.until(r"'maybe' is no choice: type a number, or one of accept, accept_always, decline")
    terminal.type("\n")
    terminal.until("nothing was typed: type a number, or one of accept")
    terminal.type("3\n")
    assert terminal.end() == 0


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (Question("q", "Which?", options=(QuestionOption("a"), QuestionOption("b")), free_text=False),
         "type a number, 1 to 2"),
        (Question("q", "Which?", options=(QuestionOption("a"), QuestionOption("b")), multiple=True),
         "type numbers from 1 to 2, with commas between, or your own words"),
        (Question("q", "Why?"), "this needs an answer"),
    ],
)  # fmt: skip
def test_a_question_says_what_it_takes(question: Question, told: str) -> None:
    assert accepted(question) == told


def test_a_person_sees_all_that_is_approved(shell: Shell, terminals: list[Terminal]) -> None:
    command = "echo one\n  echo two # " + "x" * 150 + "\necho the-end"
    play = json.dumps({"play": [{"do": "command", "command": command}]})
    terminal = Terminal(shell, "run", "-a", "scripted", play)
    terminals.append(terminal)
    terminal.until("your choice")
    before = terminal.seen.replace("\r", "").partition("1) Allow")[0]
    assert "".join(f"    | {line}\n" for line in command.split("\n")) in before
    terminal.type("decline\n")
    assert terminal.end() == 0


def test_a_long_diff_says_what_is_left_out() -> None:
    diff = "".join(f"+\tline {n}\n" for n in range(DIFF_LINES + 7))
    content = RequestContent(command="a\n1) Allow\u202e", diff=diff)
    lines = request_lines(Request("req", "thr", "ses", "key", "command_approval", content, ()))
    assert lines[:3] == ["| a", "| 1) Allow\\u202e", "| +\tline 0"]
    assert lines[-1] == "… 7 lines more"


def test_a_person_answers_each_question(shell: Shell, terminals: list[Terminal]) -> None:
    terminal = Terminal(shell, "run", "-a", "scripted", "question")
    terminals.append(terminal)
    terminal.until("your choice")
    terminal.type("1\n")
    terminal.until(r"2\) Blue")
    terminal.type("2\n")
    terminal.until("Why that one")
    terminal.type("because, really\n")
    assert terminal.end() == 0
    assert shell.log("question")[0]["answer"]["content"] == {"colour": "Blue", "why": "because, really"}
    assert "You chose Blue." in terminal.seen


def test_a_person_who_hangs_up_leaves_the_request_waiting(shell: Shell, terminals: list[Terminal]) -> None:
    terminal = Terminal(shell, "run", "-a", "scripted", "edit a.txt")
    terminals.append(terminal)
    terminal.until("your choice")
    terminal.type("\x04")
    assert terminal.end() == 5
    assert "podium requests answer" in terminal.seen


def test_an_interrupt_at_the_question(shell: Shell, terminals: list[Terminal]) -> None:
    terminal = Terminal(shell, "run", "-a", "scripted", "edit a.txt")
    terminals.append(terminal)
    terminal.until("your choice")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert shell.threads()[0]["last_run"]["outcome"] == "interrupted"


def test_an_answer_from_elsewhere_ends_the_question(shell: Shell, terminals: list[Terminal]) -> None:
    terminal = Terminal(shell, "run", "-a", "scripted", "edit a.txt")
    terminals.append(terminal)
    terminal.until("your choice")
    request = shell.pending()[0]["id"]
    assert shell.call("requests", "answer", request, "accept").code == 0
    assert terminal.end() == 0
    assert (shell.workspace / "a.txt").exists()


def test_no_sequence_of_an_agent_reaches_the_terminal(shell: Shell, terminals: list[Terminal]) -> None:
    terminal = Terminal(
        shell, "run", "-a", "scripted", '{"play": [{"do": "say", "text": "a\\u001b]0;t\\u0007b\\u009b2Jc"}]}'
    )
    terminals.append(terminal)
    assert terminal.end() == 0
    assert "abc" in terminal.seen
    assert "\x1b" not in terminal.seen
    listed = Terminal(shell, "threads", "list")
    terminals.append(listed)
    assert listed.end() == 0
    assert "\x1b]" not in listed.seen
