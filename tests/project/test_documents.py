"""The documents hang together: links lead somewhere, decisions have their parts, targets exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.behaviours import ROOT
from tools.scan import project_files

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PARTS = ["## Context", "## Decision", "## Consequences"]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def test_every_relative_link_leads_to_a_file() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in project_files(ROOT)
        if page.suffix == ".md"
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not target.startswith(("https://", "http://", "mailto:")) and not (page.parent / target).exists()
    ]
    assert dead == []


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_context_decision_and_consequences(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("## ")] == PARTS
    assert lines[0].startswith(f"# {page.stem[:4]} ")


def test_the_index_lists_every_decision_once() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert LINK.findall(index) == [page.name for page in DECISIONS]


def test_every_make_target_that_the_documents_name_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for page in ("README.md", "CONTRIBUTING.md", "docs/behaviours.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert set(re.findall(r"`?\bmake ([a-z]+)`", text)) <= targets, page
