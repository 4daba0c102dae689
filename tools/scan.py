"""What the text guards share: a rule, a finding, and the files of the project."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TEXT_MAX = 4 * 1024 * 1024
"""Files larger than this many bytes are data and are not searched."""


@dataclass(frozen=True)
class Rule:
    """A pattern that may not occur, and what it gives away."""

    what: str
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Finding:
    """One breach of a rule."""

    path: str
    line: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}: {self.text}"


def rule(what: str, *alternatives: str, flags: re.RegexFlag = re.IGNORECASE) -> Rule:
    """A rule from several regular expressions, without regard to case unless told otherwise."""
    return Rule(what, re.compile("|".join(alternatives), flags))


def find(text: str, path: str, rules: Iterable[Rule]) -> Iterator[Finding]:
    """Every breach in a text, at most one for each line and rule."""
    rules = tuple(rules)
    for number, line in enumerate(text.splitlines(), start=1):
        for each in rules:
            if match := each.pattern.search(line):
                yield Finding(path, number, each.what, match.group(0))


def project_files(root: Path) -> list[Path]:
    """The files that are or would be committed, sorted; needs git."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8")
    paths = (root / name for name in sorted(set(listed.split("\0"))) if name)
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def read_text(path: Path) -> str | None:
    """The text of a file, or None where it is no text or too large to be source."""
    if path.stat().st_size > TEXT_MAX:
        return None
    data = path.read_bytes()
    if b"\0" in data:
        return None
    return data.decode("utf-8", errors="replace")
