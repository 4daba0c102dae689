"""Asking the person at the terminal: the offered options by number, each question in turn."""

from __future__ import annotations

import contextlib
import os
import termios
from collections.abc import Callable, Generator

import anyio

from podium.cli.cleaning import plain
from podium.cli.printing import short
from podium.contract.requests import ACCEPT, Answer, Question
from podium.domain.entities import Request

INPUT_MAX = 64 * 1024
"""Longest typed answer, in bytes."""

DIFF_LINES = 40
"""Most lines of a diff that are shown before a decision."""

QUESTION_MAX = 2000
"""Most characters of a question that are shown."""

DIFF_LINE_MAX = 400
"""Most characters of one line of a diff that are shown before a decision."""

Tell = Callable[[str], None]


class Typist:
    """Reads lines from the terminal without holding a thread, so that a wait can be given up."""

    def __init__(self, tell: Tell, descriptor: int = 0) -> None:
        self._tell = tell
        self._descriptor = descriptor

    async def line(self) -> str | None:
        """A line without its end; None when the terminal is gone."""
        await anyio.wait_readable(self._descriptor)
        try:
            data = os.read(self._descriptor, INPUT_MAX)
        except OSError:  # hung up
            return None
        return data.decode("utf-8", "replace").rstrip("\n") if data else None

    async def answer(self, request: Request) -> Answer | None:
        """What the person decides; None when the terminal is gone."""
        for line in request_lines(request):
            self._tell(f"    {line}")
        for question in request.content.questions:
            self._tell(f"    {short(question.text, QUESTION_MAX)}")
        for number, option in enumerate(request.options, 1):
            self._tell(f"    {number}) {short(option.label, 80)}  [{option.id}]")
        decision = await self._choice([o.id for o in request.options])
        if decision is None:
            return None
        if decision != ACCEPT or not request.content.questions:
            return Answer(decision)
        answers: list[tuple[str, ...]] = []
        for question in request.content.questions:
            given = await self._question(question)
            if given is None:
                return None
            answers.append(given)
        return Answer(decision, tuple(answers))

    async def _choice(self, offered: list[str]) -> str | None:
        while True:
            self._tell(f"    your choice, 1 to {len(offered)}:")
            typed = await self.line()
            if typed is None:
                return None
            word = typed.strip()
            if word in offered:
                return word
            if word.isdecimal() and 0 < int(word) <= len(offered):
                return offered[int(word) - 1]
            self._tell(f"    {wrong(word)}: type a number, or one of {', '.join(offered)}")

    async def _question(self, question: Question) -> tuple[str, ...] | None:
        for line in question_lines(question):
            self._tell(f"    {line}")
        how = how_to_answer(question)
        with _hidden(self._descriptor) if question.secret else contextlib.nullcontext():
            while True:
                self._tell(f"    {how}:")
                typed = await self.line()
                if typed is None:
                    return None
                given = chosen(question, typed)
                if given or (given is not None and not question.required):
                    return given
                shown = "that is no answer" if question.secret else wrong(typed.strip())
                self._tell(f"    {shown}: {accepted(question)}")


def request_lines(request: Request) -> list[str]:
    """What is asked, for the one who decides: the command is never cut, and what is cut says so.

    Lines of the agent's own text begin with a bar, so that none of them passes for one of Podium's.
    """
    content = request.content
    lines: list[str] = []
    if content.command:
        lines += [f"| {line}" for line in plain(content.command).split("\n")]
    lines += [f"path {' '.join(plain(path).split())}" for path in content.paths]
    if content.reason:
        lines += [f"| {line}" for line in plain(content.reason).split("\n")]
    if content.cwd:
        lines.append(f"in {' '.join(plain(content.cwd).split())}")
    diff = plain(content.diff or "").removesuffix("\n").split("\n") if content.diff else []
    for line in diff[:DIFF_LINES]:
        more = len(line) - DIFF_LINE_MAX
        lines.append(f"| {line[:DIFF_LINE_MAX]}{f'… {more} characters more' if more > 0 else ''}")
    if len(diff) > DIFF_LINES:
        lines.append(f"… {len(diff) - DIFF_LINES} lines more")
    return lines


def question_lines(question: Question) -> list[str]:
    """A question and its numbered options."""
    lines = [short(question.text or question.header or question.id, QUESTION_MAX)]
    for number, option in enumerate(question.options, 1):
        more = f": {short(option.description, 80)}" if option.description else ""
        lines.append(f"  {number}) {short(option.label, 80)}{more}")
    return lines


def answer_command(request: Request) -> str:
    """The command that accepts a request from elsewhere, with room for an answer to each question."""
    room = " --answer …" * len(request.content.questions)
    return f"podium requests answer {request.id} {ACCEPT}{room}"


def how_to_answer(question: Question) -> str:
    """What to type."""
    if not question.options:
        return "your answer"
    how = "numbers, with commas between" if question.multiple else "a number"
    return f"{how}, or your own words" if question.free_text else how


def wrong(word: str) -> str:
    """What was typed and means nothing here."""
    return f"{short(word, 40, decided=True)!r} is no choice" if word else "nothing was typed"


def accepted(question: Question) -> str:
    """What a question takes, said to somebody who typed something else."""
    if not question.options:
        return "this needs an answer"
    numbers = f"1 to {len(question.options)}" if len(question.options) > 1 else "1"
    taken = f"numbers from {numbers}, with commas between" if question.multiple else f"a number, {numbers}"
    return f"type {taken}, or your own words" if question.free_text else f"type {taken}"


def chosen(question: Question, typed: str) -> tuple[str, ...] | None:
    """The labels or words that a typed line means; None for one that means nothing."""
    if not typed.strip():
        return ()
    words = [w.strip() for w in typed.split(",")] if question.multiple else [typed.strip()]
    labels = [o.label for o in question.options]
    found: list[str] = []
    for word in words:
        if word in labels:
            found.append(word)
        elif labels and word.isdecimal() and 0 < int(word) <= len(labels):
            found.append(labels[int(word) - 1])
        elif question.free_text or not labels:
            found.append(word)
        else:
            return None
    return tuple(found)


@contextlib.contextmanager
def _hidden(descriptor: int) -> Generator[None]:
    """Do not show what is typed."""
    before = termios.tcgetattr(descriptor)
    quiet = [*before]
    quiet[3] = int(before[3]) & ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
