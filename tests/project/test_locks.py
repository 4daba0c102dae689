"""What is installed is pinned: Python packages by hash, agents by exact version, both without addresses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.providers.acp.claims import GROK_VERSION, VIBE_VERSION
from podium.providers.acp.copilot import COPILOT_VERSION
from podium.providers.acp.gemini import GEMINI_VERSION
from podium.providers.acp.qwen import QWEN_VERSION
from tests.agents.paths import (
    HERE,
    AgentMissing,
    claude_binary,
    claude_new_binary,
    codex_binary,
    copilot_binary,
    gemini_binary,
    grok_binary,
    opencode_binary,
    pi_binary,
    pinned,
    qwen_binary,
    vibe_binary,
)
from tools.behaviours import ROOT

LOCKS = ("run.txt", "dev.txt", "vibe.txt")
ENTRY = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==(\S+)", re.M)


def lock(name: str) -> str:
    return (ROOT / "requirements" / name).read_text()


def pins(name: str) -> dict[str, str]:
    return dict(ENTRY.findall(lock(name)))


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_hash_and_no_address(name: str) -> None:
    entries = [part for part in re.split(r"\n(?=[a-z0-9])", lock(name)) if ENTRY.match(part)]
    assert len(entries) == len(pins(name)) > 0
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"https?://|--index|--find-links", lock(name))


def test_developers_get_what_users_get() -> None:
    assert pins("run.txt").items() <= pins("dev.txt").items()


def test_the_locks_cover_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    wanted = {"run.txt": [*project["project"]["dependencies"], *groups["build"]], "dev.txt": groups["dev"]}
    for name, requirements in wanted.items():
        names = {re.split(r"[\[<>=~! ;]", requirement)[0] for requirement in requirements}
        assert names <= pins(name).keys()


def test_every_pinned_agent_is_exact_and_locked_by_integrity() -> None:
    package = json.loads((HERE / "package.json").read_text())
    locked = json.loads((HERE / "package-lock.json").read_text())["packages"]
    wanted = {**package["dependencies"], **package["optionalDependencies"]}
    root = locked[""]
    assert {**root["dependencies"], **root.get("optionalDependencies", {})} == wanted
    for name, version in wanted.items():
        exact = version.rpartition("@")[2]  # one under another name says of which package it is
        assert re.fullmatch(r"\d+\.\d+\.\d+", exact)
        assert locked[f"node_modules/{name}"]["version"] == exact
    assert all("integrity" in entry and "resolved" not in entry for path, entry in locked.items() if path)


@pytest.mark.agents
@pytest.mark.behaviour("F183")
@pytest.mark.parametrize(
    ("program", "version"),
    [
        (claude_binary, pinned("@anthropic-ai/claude-code")),
        (claude_new_binary, pinned("claude-code-new")),
        (codex_binary, pinned("@openai/codex")),
        (copilot_binary, pinned("@github/copilot-linux-x64")),
        (gemini_binary, pinned("@google/gemini-cli")),
        (grok_binary, pinned("@xai-official/grok-linux-x64")),
        (opencode_binary, pinned("opencode-linux-x64-baseline")),
        (pi_binary, pinned("@earendil-works/pi-coding-agent")),
        (qwen_binary, pinned("@qwen-code/qwen-code")),
        (vibe_binary, pins("vibe.txt")["mistral-vibe"]),
    ],
    ids=["claude", "claude-new", "codex", "copilot", "gemini", "grok", "opencode", "pi", "qwen", "vibe"],
)
def test_the_installed_agent_is_the_pinned_one(
    program: Callable[[], Path], version: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [program(), "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    assert version in re.findall(r"\d+\.\d+\.\d+", done.stdout)


def test_what_an_agent_is_claimed_to_do_was_shown_on_the_pinned_version() -> None:
    assert (
        pinned("@github/copilot-linux-x64"),
        pinned("@google/gemini-cli"),
        pinned("@xai-official/grok-linux-x64"),
        pinned("@qwen-code/qwen-code"),
        pins("vibe.txt")["mistral-vibe"],
    ) == (COPILOT_VERSION, GEMINI_VERSION, GROK_VERSION, QWEN_VERSION, VIBE_VERSION)


def test_a_missing_agent_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.agents.paths.MODULES", HERE / "nowhere")
    monkeypatch.setattr("tests.agents.paths.VIBE", HERE / "nowhere")
    for program in (codex_binary, copilot_binary, gemini_binary, grok_binary, qwen_binary, vibe_binary):
        with pytest.raises(AgentMissing, match="make agents"):
            program()
