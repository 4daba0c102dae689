"""Guard: the project stands alone; it names no package registry, no folder outside itself, no one machine.

Usage: python -m tools.places
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.behaviours import ROOT
from tools.scan import Finding, find, project_files, read_text, rule

RULES = (
    rule(
        "a package registry",
        r"\bpypi\.org",
        r"\bpythonhosted\.org",
        r"\bregistry\.npmjs",
        r"\bnpmjs\.(?:org|com)",
        r"\bregistry\.yarnpkg",
        r"\bdeb\.debian\.org",
        r"\bproxy\.golang\.org",
        r"\b(?:static\.|index\.)?crates\.io",
        r"\"resolved\": *\"https?:",
    ),
    rule("a place outside the project", r"\.\./shared\b", r"(?<![\w.])/work[/]", r"/opt/(?:pypi|wheels)"),
    # Only dot folders of root: "/root/name" is also how one agent's protocol writes the path of a subagent.
    rule(
        "a home folder of one machine",
        r"(?<![\w.$}])/root/\.",
        r"(?<![\w.$}])/home/(?!me\b|user\b|someone\b)[a-z]+/",
    ),
    rule("how the project is made", r"\bDEVELOPERS\.md\b", r"\bthis workplace\b", flags=re.RegexFlag(0)),
)


def breaches(root: Path) -> Iterator[Finding]:
    """Every breach in the files that are or would be committed."""
    for path in project_files(root):
        text = read_text(path)
        if text is not None:
            yield from find(text, path.relative_to(root).as_posix(), RULES)


def main() -> int:
    """Prints what was found; exit status 1 if anything was."""
    found = list(breaches(ROOT))
    for finding in found:
        print(finding, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
