"""Shared code names no agent, and the guard for that sees what it should and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import neutrality
from tools.behaviours import ROOT
from tools.scan import find


def hits(text: str) -> set[str]:
    return {finding.what for finding in find(text, "x.py", neutrality.RULES)}


@pytest.mark.behaviour("F042", "F221")
def test_shared_code_is_neutral() -> None:
    assert [str(finding) for finding in neutrality.breaches(ROOT)] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("if agent == 'codex':", "an agent's name"),
        ("CODEX_HOME = 1", "an agent's name"),
        ("class ClaudeThing: ...", "an agent's name"),
        ("'cursor-agent'", "an agent's name"),
        ('agent = "pi"', "an agent's name"),
        ("grok_path", "an agent's name"),
        ("model='gpt-5'", "a model id"),
        ("claude-opus", "a model id"),
        ("effort = 'xhigh'", "an effort word"),
        ('EFFORTS = ("low",)', "an effort word"),
        ("https://auth.example.com/x", "a sign-in host"),
        ("read AGENTS.md", "a seeded file"),
        ("home / '.claude/settings'", "a seeded file"),
        ("send('/clear')", "a clear command"),
    ],
)
def test_a_breach_is_seen(text: str, what: str) -> None:
    assert what in hits(text)


@pytest.mark.parametrize(
    "text",
    [
        "cursor = connection.cursor()",
        "SELECT cursor FROM reads",
        "tau = 2 * pi",
        "kilobytes, pipe, spin, api",
        "the OpenAPI document",
        "low = min(values); high_water = 3",
        "'/v1/threads/new'",
        "events.clear()",
        "f'{base}/reset'",
        "authorisation.example",
        "the agent's name",
    ],
)
def test_ordinary_words_pass(text: str) -> None:
    assert hits(text) == set()


def test_only_shared_code_is_searched(tmp_path: Path) -> None:
    for place in ("src/podium/runtime", "src/podium/providers/x", "src/podium/testkit", "web/src", "docs"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "page.py").write_text("codex\n")
    (tmp_path / "src/podium/runtime/page.png").write_bytes(b"codex")
    found = {finding.path for finding in neutrality.breaches(tmp_path)}
    assert found == {"src/podium/runtime/page.py", "web/src/page.py"}


def test_a_file_name_counts_too(tmp_path: Path) -> None:
    (tmp_path / "src/podium/cli").mkdir(parents=True)
    (tmp_path / "src/podium/cli/codex_run.py").write_text("")
    assert [finding.path for finding in neutrality.breaches(tmp_path)] == ["src/podium/cli/codex_run.py"]


@pytest.mark.behaviour("F221")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("start/Card.tsx", "<b>Codex</b>"),
        ("start/choose.ts", 'if (agent.id === "grok") first = true;'),
        ("styles/shell.css", ".agent-claude { color: red }"),
        ("words/models.ts", 'const MODEL = "gpt-5";'),
    ],
)
def test_a_brand_in_the_page_is_a_breach_and_names_its_place(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "web/src" / name
    path.parent.mkdir(parents=True)
    path.write_text(f"// fine\n{text}\n")
    [found] = neutrality.breaches(tmp_path)
    assert (found.path, found.line) == (f"web/src/{name}", 2)


def test_a_default_id_that_is_data_is_none(tmp_path: Path) -> None:
    path = tmp_path / "web/src/start/choose.ts"
    path.parent.mkdir(parents=True)
    path.write_text("const first = agents.find((a) => a.default) ?? agents[0];\n")
    assert list(neutrality.breaches(tmp_path)) == []
