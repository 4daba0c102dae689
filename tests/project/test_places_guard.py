"""The project stands alone, and the guard for that sees what it should and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import places
from tools.behaviours import ROOT
from tools.scan import TEXT_MAX, find

# Put together here so that this file is no breach itself.
REGISTRY = "https://" + "pypi" + ".org/simple"
NPM_LOCK = '"resolved": ' + '"https:' + '//r.example/x.tgz"'
OUTSIDE = "../" + "shared/spec"
MACHINE = "/wor" + "k/main/x"
HOME = "/ro" + "ot/.config"


def hits(text: str) -> set[str]:
    return {finding.what for finding in find(text, "x.md", places.RULES)}


def test_the_project_names_no_place_outside_itself() -> None:
    assert [str(finding) for finding in places.breaches(ROOT)] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (REGISTRY, "a package registry"),
        (NPM_LOCK, "a package registry"),
        (OUTSIDE, "a place outside the project"),
        (f'cd "{MACHINE}"', "a place outside the project"),
        (HOME, "a home folder of one machine"),
        ("/home/" + "ada/x", "a home folder of one machine"),
    ],
)
def test_a_breach_is_seen(text: str, what: str) -> None:
    assert hits(text) == {what}


@pytest.mark.parametrize(
    "text",
    [
        "tmp/work/x",
        "src/shared/x",
        "/home/user/x",
        "the root/leaf",
        '"agentPath":"/root/kid"',
        "https://www.apache.org/licenses",
    ],
)
def test_ordinary_text_passes(text: str) -> None:
    assert hits(text) == set()


def test_only_what_git_would_commit_is_read(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("ignored/\n")
    (tmp_path / "ignored").mkdir()
    (tmp_path / "ignored" / "a.txt").write_text(OUTSIDE)
    (tmp_path / "seen.txt").write_text(f"fine\n{OUTSIDE}\n")
    (tmp_path / "data.bin").write_bytes(b"\0" + OUTSIDE.encode())
    (tmp_path / "large.txt").write_text(OUTSIDE + "\n" + "x" * TEXT_MAX)
    (tmp_path / "link").symlink_to("seen.txt")
    assert [str(finding) for finding in places.breaches(tmp_path)] == [
        f"seen.txt:2: a place outside the project: {OUTSIDE.removesuffix('/spec')}"
    ]
