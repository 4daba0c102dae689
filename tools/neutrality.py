"""Guard: shared code names no agent, model, effort, sign-in host, seeded file or clear command.

Agents may be named in src/podium/providers, src/podium/testkit, tests and docs only.
Usage: python -m tools.neutrality
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.behaviours import ROOT
from tools.scan import Finding, find, read_text, rule

SHARED = ("src/podium", "web/src")
FREE = ("src/podium/providers", "src/podium/testkit")
SUFFIXES = frozenset({".py", ".sql", ".toml", ".ts", ".tsx", ".css", ".html"})

RULES = (
    # "cursor" is a word of databases and "pi" a number, so those two are known by their longer forms.
    rule(
        "an agent's name",
        r"codex|claude|opencode|gemini|qwen|copilot|anthropic|openai|mistral|deepseek",
        r"\bgrok|\bkilo(?:_?code)?\b|\bcursor[-_ ]?agent|\baider\b|\bgoose\b|\bx\.ai\b|\bkimi\b",
        r"\bpi[-_]?(?:coding[-_]?)?agent\b|[\"']pi[\"']",
    ),
    rule(
        "a model id",
        r"\bgpt-?\d|\bo[1345]-(?:mini|pro|preview)|\bsonnet\b|\bopus\b|\bhaiku\b|\bllama\b|\bdevstral\b",
    ),
    rule(
        "an effort word",
        r"[\"'](?:minimal|low|medium|high|x-?high|ultra(?:think)?)[\"']",
        flags=re.RegexFlag(0),
    ),
    rule(
        "a sign-in host",
        r"\b(?:auth|login|accounts|console|platform)\.[a-z0-9-]+\.(?:com|ai|dev|org|net|io)\b|\bchatgpt\.com",
        r"github\.com/login",
    ),
    rule(
        "a seeded file",
        r"\b(?:CLAUDE|AGENTS?|GEMINI|QWEN|SKILL)\.md\b|(?<![\w.])\.(?:claude|codex|gemini|cursor|agents)/|\.cursorrules",
        flags=re.RegexFlag(0),
    ),
    rule("a clear command", r"(?<![\w/.})])/(?:clear|new|reset|compact)\b(?=[\"'`\s])"),
)


def breaches(root: Path) -> Iterator[Finding]:
    """Every breach below a project root."""
    free = tuple(root / place for place in FREE)
    for place in SHARED:
        for path in sorted((root / place).rglob("*")):
            if path.suffix not in SUFFIXES or any(path.is_relative_to(each) for each in free):
                continue
            relative = path.relative_to(root).as_posix()
            yield from find(relative, relative, RULES)
            text = read_text(path)
            if text is not None:
                yield from find(text, relative, RULES)


def main() -> int:
    """Prints what was found; exit status 1 if anything was."""
    found = list(breaches(ROOT))
    for finding in found:
        print(finding, file=sys.stderr)
    if found:
        print(
            "Shared code must not know agents: move the word into the adapter and pass it as data.",
            file=sys.stderr,
        )
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
