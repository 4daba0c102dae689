"""`podium certify` on real programs: what it says, what it keeps, and what Podium relies on afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from podium.contract.requests import ACCEPT, Answer
from podium.testkit.model_script import Call, Text, Wait
from podium.testkit.rehearsal.program import VERSION
from podium.testkit.responses_server import ResponsesServer
from tests.agents.paths import codex_binary
from tests.agents.worlds import CodexWorld, follow, play

COMMAND = str(Path(sys.executable).parent / "podium")
CERTIFY_MAX = 300.0

pytestmark = pytest.mark.anyio

WRAPPER = """#!/bin/sh
if [ "$1" = "--version" ]; then echo "codex-cli 0.999.0"; exit 0; fi
exec {real} "$@" | sed -u 's#/0\\.171\\.0 #/0.999.0 #'
"""
"""The pinned program under the version of a newer one."""

ALTERED = """#!/bin/sh
if [ "$1" = "--version" ]; then echo "codex-cli 0.171.0"; exit 0; fi
exec {real} "$@" | grep --line-buffered -v '"method":"thread/tokenUsage/updated"'
"""
"""The pinned program under its own version, with one thing dropped."""


def call(env: Mapping[str, str], *words: str) -> tuple[int, list[dict[str, object]], str]:
    """One command: its exit code, its JSON lines, and what it said besides."""
    done = subprocess.run(
        [COMMAND, *words], env=dict(env), capture_output=True, text=True, timeout=CERTIFY_MAX, check=False
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.fixture
def server() -> Iterator[ResponsesServer]:
    with ResponsesServer() as found:
        yield found


def instead(world: CodexWorld, script: str) -> None:
    """Put another program in front of the real one."""
    wrapper = world.folder / "bin" / "codex"
    wrapper.parent.mkdir()
    wrapper.write_text(script.format(real=codex_binary()))
    wrapper.chmod(0o755)
    world.env["PATH"] = f"{wrapper.parent}:{world.env['PATH']}"
    world.env["PODIUM_DATA"] = str(world.data)


def leaf(rows: list[dict[str, object]], path: str) -> dict[str, object]:
    """The row of one leaf."""
    [found] = [row for row in rows if row.get("leaf") == path]
    return found


@pytest.mark.behaviour("F016", "F032", "F033")
async def test_a_newer_version_is_carried_and_its_fork_is_offered_once_it_is_certified(
    tmp_path: Path, server: ResponsesServer
) -> None:
    world = CodexWorld(tmp_path, server)
    instead(world, WRAPPER)
    server.script("go", [Call("exec_command", {"cmd": "echo hi > hi.txt"})], [Text("Done.")])
    server.script("hold", [Text("Working on it.", chunk=4), Wait("never"), Text("unreached")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, asked = await play(p, thread, "[[go]] x", Answer(ACCEPT))
        assert (run.outcome, len(asked)) == ("completed", 1)
        receipt = await thread.post("[[hold]] x")
        await follow(thread, receipt.result["run"], states=("running",))
        await thread.interrupt()
        run = await follow(thread, receipt.result["run"])
        assert run.outcome == "interrupted"
        record = p.runtime.known.capabilities(thread.state)
        assert (record.agent_version, record.has("turns.interrupt")) == ("0.999.0", True)
        assert str(record.standing("turns.interrupt")) == "carried"
        assert "must_be_proven" in str(record.support("threads.fork"))
        assert (await thread.snapshot()).affordances.fork[0].how.code == "must_be_proven"

        # Another process certifies, while this one works.
        code, rows, said = call(world.env, "certify", "codex", "--json")
        assert code == 0, said
        assert {row["word"] for row in rows[1:]} == {"proven"}
        record = p.runtime.known.capabilities(thread.state)
        assert (record.has("threads.fork"), str(record.standing("threads.fork"))) == (True, "proven")
        assert (await thread.snapshot()).affordances.fork[0].how.code != "must_be_proven"
    server.release("never")
    _, rows, _ = call(world.env, "capabilities", "codex", "--json")
    assert (leaf(rows, "threads.fork")["word"], leaf(rows, "threads.fork")["standing"]) == (
        "native",
        "proven",
    )
    kept = world.data / "certificates" / "codex.json"
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.behaviour("F016", "F031")
def test_an_altered_program_fails_in_exactly_what_was_dropped(
    tmp_path: Path, server: ResponsesServer
) -> None:
    world = CodexWorld(tmp_path, server)
    instead(world, ALTERED)
    code, rows, _ = call(world.env, "certify", "codex", "--json")
    assert code == 1
    lost = {row["leaf"]: row["word"] for row in rows[1:] if row["word"] != "proven"}
    assert lost == {"output.usage": "failed", "context.context_usage": "failed"}
    _, rows, _ = call(world.env, "capabilities", "codex", "--json")
    assert leaf(rows, "output.usage")["reason"] == "failed_on_this_version"
    # The program is changed once more: what failed on the other one is forgotten.
    (world.folder / "bin" / "codex").write_text(ALTERED.format(real=codex_binary()) + "# mended\n")
    _, rows, _ = call(world.env, "capabilities", "codex", "--json")
    assert leaf(rows, "output.usage")["word"] == "native"


@pytest.fixture
def alone(tmp_path: Path) -> dict[str, str]:
    """A person's machine with nothing on it but Podium."""
    (tmp_path / "config").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PODIUM_DATA": str(tmp_path / "data"),
        "PODIUM_CONFIG": str(tmp_path / "config"),
    }


def test_the_rehearsal_is_certified_in_words(alone: dict[str, str]) -> None:
    done = subprocess.run(
        [COMMAND, "certify", "rehearsal"],
        env=alone,
        capture_output=True,
        text=True,
        timeout=CERTIFY_MAX,
        check=False,
    )
    assert done.returncode == 0
    assert f"rehearsal  version {VERSION}: " in done.stdout and "Rated partial." in done.stdout
    assert "missing: stored conversations (maintenance.history)" in done.stdout
    assert "] edit: shown\n" in done.stderr


@pytest.mark.behaviour("F032")
def test_a_leaf_that_another_version_had_has_drifted(alone: dict[str, str]) -> None:
    switches = '"--version", "9.9.9", "--without", "output.usage"'
    text = f'[agents.newer]\nadapter = "rehearsal"\noptions = {{ switches = [{switches}] }}\n'
    Path(alone["PODIUM_CONFIG"], "podium.toml").write_text(text)
    code, rows, _ = call(alone, "certify", "newer", "--json")
    assert code == 1
    assert rows[0]["version"] == "9.9.9"
    assert {r["leaf"]: r["word"] for r in rows[1:] if r["word"] != "proven"} == {"output.usage": "drifted"}


@pytest.mark.parametrize(
    ("agent", "said"), [("nobody", "There is no agent 'nobody'"), ("acp", "There is no rig for 'acp'")]
)
def test_what_cannot_be_certified_is_said(alone: dict[str, str], agent: str, said: str) -> None:
    done = subprocess.run(
        [COMMAND, "certify", agent],
        env=alone,
        capture_output=True,
        text=True,
        timeout=CERTIFY_MAX,
        check=False,
    )
    assert done.returncode not in (0, 1)
    assert said in done.stderr and done.stdout == ""
