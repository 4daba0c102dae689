"""What a newcomer's words mean: one table of keywords, and how a prompt is cut into clauses.

A prompt is cut at commas, sentence ends, `and` and `then`. A clause names every play of which it holds a
word, in the order of the words. Words of a weak rule count only where the clause names nothing else; words of
a rule that wants a file count only beside one (`README.md`, `a file`, `a program`). Text in backticks or
double quotes is never cut and never read for keywords; nor is the name of a file that is there and has
spaces. There is no grammar: `do not edit` names an edit, which can be declined.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from podium.testkit.rehearsal.protocol import Json

PLAYS_MAX = 12
"""Most plays of one prompt."""

READ_MAX = 4000
"""Most characters of a prompt that are read for keywords."""

SLOW_SECONDS = 60.0
"""How long a slow model is silent where the prompt gives no number."""

SLOW_SECONDS_MAX = 600.0


PAGE, PROGRAM = "rehearsal.md", "hello.py"
"""The file of an edit that names none, and of one that wants a program."""


class Rule(NamedTuple):
    """The words that name a play; a word matches whole and in any case."""

    play: str
    words: tuple[str, ...]
    weak: bool = False
    wants_file: bool = False


RULES = (
    Rule("text", ("text", "hello", "hi", "hey", "greet", "say something"), weak=True),
    Rule("reasoning", ("think", "thinking", "thoughts", "reason", "reasoning")),
    Rule("plan", ("plan", "plans", "todo", "to-do", "todo list")),
    Rule("edit", ("edit", "edits", "append", "modify", "diff", "a file", "new file")),
    Rule("edit", ("add", "change", "create", "write", "fix", "update"), wants_file=True),
    Rule("edit", ("approval", "approvals", "approve", "permission"), weak=True),
    Rule("command", ("command", "commands", "shell", "terminal", "list files", "list the files")),
    Rule("command", ("run", "execute", "tests"), weak=True),
    Rule("question", ("question", "questions", "ask me", "form", "multiple choice", "single choice")),
    Rule("subagent", ("subagent", "subagents", "sub-agent", "sub agent", "delegate", "child agent")),
    Rule("long", ("long", "stream", "streaming", "markdown", "essay", "story")),
    Rule("steer", ("steer", "steering")),
    Rule("failure", ("fail", "failure", "an error")),
    Rule("crash", ("crash", "crashes", "die")),
    Rule("slow", ("slow", "slowly", "silence", "silent", "wait", "hang", "interrupt")),
    Rule("recall", ("did i ask", "did i say", "have i asked", "remember", "recall", "earlier prompts")),
    Rule("help", ("help", "what can you do", "who are you", "what are you", "everything", "demo"), weak=True),
)
"""Every word this agent understands."""

HELP = (
    ("text", "a plain answer", "Say hello"),
    ("reasoning", "thoughts before the answer", "Think about it first"),
    ("plan", "a plan whose steps get done one after another", "Make a plan"),
    ("edit", "a real edit, with its diff, after your approval", "Add a line to README.md"),
    ("command", "a real command with live output, after your approval", "Run `ls -la`"),
    ("question", "single choice, multiple choice or free text", "Ask me a multiple choice question"),
    ("subagent", "a child with work and an approval of its own", "Delegate to a subagent"),
    ("long", "a long Markdown answer in hundreds of pieces", "Give me a long stream"),
    ("steer", "a turn that you change while it runs", "Let me steer you"),
    ("failure", "a turn that fails with an error", "Fail, please"),
    ("crash", "an agent that dies in mid-sentence", "Crash now"),
    ("slow", "a long silence that you can stop", "Be slow for 20 seconds"),
    ("recall", "what this conversation remembers", "What did I ask before?"),
)
"""Every play: what it shows, and one sentence that names it."""

_CLAUSES = re.compile(r"[,;\n]|[.!?:](?=\s|$)|\b(?:and|then|afterwards)\b", re.IGNORECASE)
_LITERAL = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”")
_HELD = re.compile("\x00(\\d+)\x00")
_FILE_WORDS = re.compile(r"\b(?:file|files|line|lines|program|script)\b", re.IGNORECASE)
_PROGRAM = re.compile(r"\b(?:program|script)\b", re.IGNORECASE)
_PICTURES = "\u00a9\u00ae\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
"""Arrows, signs and emoji: no word characters, but parts of names."""
_PATH = re.compile(
    rf"(?:/|~|\.{{1,2}}/)\S*|(?:[\w.{_PICTURES}-]+/)*\.?[\w{_PICTURES}-]+(?:\.[A-Za-z][\w-]*)+"
    "|Makefile|Dockerfile|README|LICENSE"
)
_NAME = re.compile(r"[^\n]{1,200}\.[A-Za-z][A-Za-z0-9]{0,15}")
"""What stands in quotes and ends as a file's name does."""
_ONLY_EDIT = re.compile(
    r"(?:please )?(?:edit|edits|modify|append to|add (?:a line )?to|change|update|fix)(?: the)?(?: file)?",
    re.IGNORECASE,
)
_NO_FILES = frozenset({"e.g", "i.e"})
_SAYS = re.compile(
    r"\b(?:prints?|printing|says?|saying|contain(?:s|ing)|with the (?:text|line|words?))\s+(.+)$",
    re.IGNORECASE,
)
_RUN = re.compile(
    r"\b(?:run|execute)\s+(?!(?:the|a|an|my|our|your|some|it|this|that|these|all|tests?|command|something|me)\b)(.+)$",
    re.IGNORECASE,
)
_RUN_IT = re.compile(r"\b(?:run|execute)\s+(?:it|this|that)\b", re.IGNORECASE)
_TESTS = re.compile(r"\btests?\b", re.IGNORECASE)
_SECONDS = re.compile(r"\b(\d+(?:\.\d+)?)\s*(?:s\b|sec)", re.IGNORECASE)


Exists = Callable[[str], bool]

WORDS_READ, NAME_WORDS = 200, 8
"""Most words of a prompt in which names with spaces are looked for, and most words of such a name."""


def nothing(_: str) -> bool:
    """No file is there."""
    return False


class Clause(NamedTuple):
    """A piece of a prompt: its words, what stood in backticks or quotes, and names in it that files have."""

    words: str
    code: tuple[str, ...]
    quoted: tuple[str, ...]
    there: tuple[str, ...] = ()


def read(text: str, exists: Exists = nothing) -> list[Json]:
    """The plays that a prompt names, in order, each with its details; none where no word is known.

    `exists` says whether a file of the workspace has this name.
    """
    if text.strip() == "?":
        return [{"do": "help"}]
    script: list[Json] = []
    file: str | None = None
    for clause in clauses(text[:READ_MAX], exists):
        for play in plays_of(clause):
            row = details(play, clause, file)
            if play == "edit":
                file = row["file"]
            script.append(row)
    return script[:PLAYS_MAX]


def clauses(text: str, exists: Exists = nothing) -> list[Clause]:
    """The clauses of a prompt, what is quoted and what names a file with spaces kept whole."""
    held: list[tuple[str, str]] = []

    def hold(found: re.Match[str]) -> str:
        held.append((found[1] or found[2] or found[3], "code" if found[1] is not None else "quoted"))
        return f"\x00{len(held) - 1}\x00"

    cut = _LITERAL.sub(hold, text.replace("\x00", ""))
    for name in spaced(cut, exists):
        held.append((name, "file"))
        cut = cut.replace(name, f"\x00{len(held) - 1}\x00")
    found: list[Clause] = []
    for piece in _CLAUSES.split(cut):
        inside = [held[int(number)] for number in _HELD.findall(piece)]
        words = " ".join(_HELD.sub(" ", piece).split())
        if words or inside:
            code, quoted, files = (
                tuple(literal for literal, how in inside if how == kind)
                for kind in ("code", "quoted", "file")
            )
            there = tuple(name for name in (*code, *quoted) if exists(name))
            found.append(Clause(words, code, quoted, (*files, *there)))
    return found


def spaced(text: str, exists: Exists) -> list[str]:
    """Names with spaces in a text that files have, longer ones first."""
    words = [(found.start(), found.end()) for found in re.finditer(r"[^\s\x00]+", text)][:WORDS_READ]
    names: list[str] = []
    for first, (start, _) in enumerate(words):
        for _, end in words[first + 1 : first + NAME_WORDS]:
            name = text[start:end]
            for meant in (name, name.rstrip(".,;:!?")):
                if meant not in names and "\n" not in meant and " " in meant and exists(meant):
                    names.append(meant)
    return sorted(names, key=len, reverse=True)


def plays_of(clause: Clause) -> list[str]:
    """The plays that a clause names, in the order of their words; a bare `code` is a command."""
    if clause.code and not clause.words:
        return ["command"]
    file = bool(_FILE_WORDS.search(clause.words)) or named_file(clause) is not None
    strong: dict[str, int] = {}
    weak: dict[str, int] = {}
    for rule in RULES:
        if rule.wants_file and not file:
            continue
        places = [place for word in rule.words if (place := position(word, clause.words)) is not None]
        if places:
            into = weak if rule.weak else strong
            into[rule.play] = min([*places, into.get(rule.play, len(clause.words))])
    named = strong or weak
    return sorted(named, key=lambda play: named[play])


def position(word: str, text: str) -> int | None:
    """Where a word or phrase stands on its own."""
    found = re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w/-]|\.\w)", text, re.IGNORECASE)
    return found.start() if found else None


def details(play: str, clause: Clause, file: str | None) -> Json:
    """One play with what the clause says about it; `file` is the one edited before it in the same prompt."""
    row: Json = {"do": play}
    if play == "edit":
        name = named_file(clause)
        says = said(clause, name)
        if name is None and _PROGRAM.search(clause.words):
            name, says = PROGRAM, says or "Hello, world!"
        row |= {"file": name or PAGE, "says": says}
    elif play == "command":
        row |= command(clause, file)
    elif play == "question":
        row["kinds"] = kinds(clause.words)
    elif play == "slow":
        found = _SECONDS.search(clause.words)
        row["seconds"] = min(float(found[1]), SLOW_SECONDS_MAX) if found else SLOW_SECONDS
    return row


def named_file(clause: Clause) -> str | None:
    """The file that a clause names."""
    words = [word.strip("'()<>").rstrip(".,:") for word in clause.words.split()]
    literals = (*clause.code, *clause.quoted)
    for word in (*literals, *words):
        if _PATH.fullmatch(word) and word.lower() not in _NO_FILES:
            return word
    ends_as_a_file = tuple(word for word in clause.quoted if _NAME.fullmatch(word))
    only = literals if len(literals) == 1 and _ONLY_EDIT.fullmatch(clause.words) else ()
    named = (*clause.there, *ends_as_a_file, *only)
    if named:
        return named[0]
    return next((name for before, name in pairwise(words) if before in ("called", "named") and name), None)


def said(clause: Clause, file: str | None) -> str | None:
    """The text that an edit of a file shall write, where the clause gives one."""
    texts = [text for text in (*clause.quoted, *clause.code) if text != file and not _PATH.fullmatch(text)]
    if texts:
        return texts[0]
    found = _SAYS.search(clause.words)
    return found[1].strip() if found else None


def command(clause: Clause, file: str | None) -> Json:
    """What to run: the quoted command, the words after `run`, the file made before, or the tests."""
    if clause.code or clause.quoted:
        return {"command": (*clause.code, *clause.quoted)[0]}
    if _RUN_IT.search(clause.words) and file is not None:
        return {"of": file}
    found = _RUN.search(clause.words)
    if found:
        return {"command": found[1].strip()}
    return {"tests": True} if _TESTS.search(clause.words) else {}


def kinds(words: str) -> list[str]:
    """The kinds of question that are wanted; all of them where a form or several are."""
    lower = words.lower()
    named = {"single": "single", "multiple": "multiple", "free": "text", "open question": "text"}
    wanted = [kind for word, kind in named.items() if word in lower]
    if wanted:
        return list(dict.fromkeys(wanted))
    everything = any(position(word, words) is not None for word in ("form", "questions"))
    return ["single", "multiple", "text"] if everything else ["single"]
