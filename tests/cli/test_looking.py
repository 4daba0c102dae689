"""`agents`, `doctor`, `capabilities`, `replay`: what is there, what is wrong, what mends it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Shell

CASSETTE = next(iter(sorted((Path(__file__).parents[1] / "cassettes").rglob("01_basic.jsonl"))))


def test_agents_are_listed_with_what_mends_them(shell: Shell) -> None:
    rows = {r["id"]: r for r in shell.call("agents", "--json").rows}
    assert rows["scripted"]["health"] == "ok"
    assert rows["rehearsal"]["rehearsal"] and not rows["scripted"]["rehearsal"]
    missing = [r for r in rows.values() if r["health"] == "missing"]
    assert missing
    assert all(r["problem"] and r["fix"] for r in missing)
    assert all(r["sign_in"] == "unknown" for r in rows.values())
    text = shell.call("agents").out
    assert all(row["fix"] in text for row in missing)
    assert not shell.data.exists()


def program(shell: Shell, script: str) -> Path:
    path = shell.root / "agent-program"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def configured(shell: Shell, script: str, **more: str) -> str:
    """An instance of a real adapter whose program is a script of ours."""
    name = next(r["adapter"] for r in shell.call("agents", "--json").rows if r["health"] == "missing")
    lines = ["[agents.mine]", f'adapter = "{name}"', f'program = "{program(shell, script)}"']
    lines += [f"{key} = {value}" for key, value in more.items()]
    (shell.config / "podium.toml").write_text("\n".join(lines) + "\n")
    return name


def test_a_program_says_its_version(shell: Shell) -> None:
    configured(shell, "echo tool 7.8.9")
    row = next(r for r in shell.call("agents", "--json").rows if r["id"] == "mine")
    assert (row["version"], row["health"]) == ("7.8.9", "ok")
    examined = shell.call("doctor", "mine")
    assert examined.code == 0
    assert "version 7.8.9" in examined.out


def test_a_program_that_says_nothing_is_a_problem(shell: Shell) -> None:
    configured(shell, "exit 3")
    row = next(r for r in shell.call("agents", "--json").rows if r["id"] == "mine")
    assert row["health"] == "problem"
    examined = shell.call("doctor")
    assert examined.code == 1
    assert "wrong   agent mine" in examined.out


def test_a_doctor_finds_a_healthy_machine_healthy(shell: Shell) -> None:
    done = shell.call("doctor")
    assert done.code == 0
    for name in ("data folder", "database", "keeper", "git", "agent scripted"):
        assert f"ok      {name}" in done.out
    assert not shell.data.exists()
    assert shell.leftovers() == []
    shell.run("hello")
    assert shell.call("doctor", "scripted").code == 0
    assert shell.leftovers() == []


def test_a_doctor_names_what_is_wrong(shell: Shell) -> None:
    missing = next(r for r in shell.call("agents", "--json").rows if r["health"] == "missing")
    assert shell.call("doctor").code == 0
    done = shell.call("doctor", missing["id"])
    assert done.code == 1
    assert missing["fix"] in done.out
    (shell.config / "podium.toml").write_text('default_agent = "nobody"\n')
    unset = shell.call("doctor")
    assert unset.code == 1
    assert "there is no agent 'nobody'" in unset.out
    assert shell.call("doctor", environment={"PATH": "/nowhere"}).code == 1


@pytest.mark.behaviour("F277")
def test_a_bundle_holds_no_secret(shell: Shell) -> None:
    secret = "sk-abcdefgh0123456789abcdefgh"
    other = "correct horse battery staple"
    shell.environment |= {"SCRIPTED_TOKEN": secret, "MY_API_KEY": other}
    shell.run("noise")
    said = shell.run("secret")
    assert "[secret SCRIPTED_TOKEN]" in said.out
    done = shell.call("doctor", "--bundle")
    report = json.loads(done.out)
    assert "MY_API_KEY" in report["environment"]
    assert secret not in done.out
    assert other not in done.out
    assert report["podium"]
    stored = b"".join(p.read_bytes() for p in shell.data.rglob("*") if p.is_file())
    assert secret.encode() not in stored
    assert other.encode() not in stored
    assert {c["name"] for c in report["checks"]} >= {"keeper", "git", "database"}


@pytest.mark.behaviour("F044", "F059")
def test_capabilities_carry_their_proof_and_what_happens_without(shell: Shell) -> None:
    rows = shell.call("capabilities", "scripted", "--json").rows
    leaves = {r["leaf"]: r for r in rows if r["kind"] == "leaf"}
    features = {r["feature"]: r for r in rows if r["kind"] == "feature"}
    assert rows[0]["agent"] == "scripted"
    assert leaves["turns.interrupt"]["word"] == "native"
    assert leaves["turns.interrupt"]["evidence"] == "proven_native"
    assert leaves["input.images"]["word"] == "unsupported"
    assert leaves["input.images"]["reason"]
    assert features["interrupt"]["outcome"] == "native"
    refused = features["image_input"]
    assert refused["outcome"] == "refuse"
    assert refused["capability"] == "input.images"
    assert all(f["consequence"] for f in features.values() if f["fidelity"] != "full")
    text = shell.call("capabilities", "scripted").out
    assert "turns.interrupt" in text
    assert "image_input" in text


def test_a_cassette_is_replayed(shell: Shell) -> None:
    first = shell.call("replay", str(CASSETTE))
    assert first.code == 0, first.err
    assert first.out == shell.call("replay", str(CASSETTE)).out
    events = [r["event"]["event"] for r in first.rows if "event" in r]
    assert "turn_ended" in events
    assert any(r.get("item_id") for r in first.rows)
    assert shell.processes() == []
    assert not shell.data.exists()


def test_what_is_no_cassette_is_refused(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text('{"input": "frame", "data": {}}\nnonsense\n')
    unnamed = shell.call("replay", str(file))
    assert unnamed.code == 2
    assert "--adapter" in unnamed.err
    broken = shell.call("replay", str(file), "--adapter", "scripted")
    assert broken.code == 2
    assert "Line 2" in broken.err
    assert broken.out == ""
    assert shell.call("replay", "nowhere.jsonl", "--adapter", "scripted").code == 2
    assert shell.call("replay", str(tmp_path), "--adapter", "scripted").code == 2


def test_an_agent_is_added_by_its_command_and_works(shell: Shell) -> None:
    program = Path(sys.executable)
    agent = Path(__file__).parents[2] / "src" / "podium" / "testkit" / "scripted_agent.py"
    added = shell.call("agents", "add", "mine", "--adapter", "scripted", "--", str(program), "-I", str(agent))
    assert added.code == 0 and "podium.toml" in added.out
    again = shell.call("agents", "add", "mine", "--", "x")
    assert again.code == 1 and "already" in again.err
    assert "mine" in {r["id"] for r in shell.call("agents", "--json").rows}
    assert shell.call("agents", "add", "other", "--env", "no-value", "--", "x").code == 2
