"""The rehearsal agent as a bare program: its switches, its records, its manners."""

from __future__ import annotations

import ast
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from podium.testkit import scripted_agent

PROGRAM = Path(scripted_agent.__file__)
WAIT = 30.0


def run(
    *switches: str, lines: list[Any], home: Path | None = None, **more: str
) -> tuple[int, list[str], str]:
    """One whole run: these lines, then the end of input."""
    environment = {"PATH": os.environ["PATH"], **more}
    if home is not None:
        environment["SCRIPTED_HOME"] = str(home)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-I", str(PROGRAM), *switches],
        input=text,
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
        env=environment,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


INITIALIZE = {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}


def test_it_needs_the_standard_library_only_and_nothing_of_podium_but_itself() -> None:
    names: set[str] = set()
    for place in [PROGRAM, *sorted((PROGRAM.parent / "rehearsal").glob("*.py"))]:
        for node in ast.walk(ast.parse(place.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
    own = {name for name in names if name.startswith("podium.testkit.rehearsal")}
    assert own
    assert {name.partition(".")[0] for name in names - own} <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("switches", "version"), [(("--version",), "1.0.0"), (("--version", "9.9.9", "--version"), "9.9.9")]
)
def test_it_tells_its_version(switches: tuple[str, ...], version: str) -> None:
    assert run(*switches, lines=[])[1] == [f"rehearsal agent {version}"]


def test_it_can_claim_another_version() -> None:
    _, lines, _ = run("--version", "9.9.9", lines=[INITIALIZE])
    assert json.loads(lines[0])["result"]["agentInfo"]["version"] == "9.9.9"
    assert run(lines=[], SCRIPTED_SWITCHES="--version 9.9.9")[1] == []
    assert run("--version", lines=[], SCRIPTED_SWITCHES="--version 9.9.9")[1] == ["rehearsal agent 9.9.9"]


def test_it_can_die_at_start_and_speak_before_its_first_frame() -> None:
    assert run("--exit-at-start", "5", lines=[INITIALIZE])[0] == 5
    code, lines, _ = run("--handshake-noise", "--start-delay", "0.01", lines=[INITIALIZE])
    assert code == 0
    assert lines[0].startswith("Welcome")
    assert json.loads(lines[-1])["id"] == 1


def test_switches_may_stand_in_the_environment() -> None:
    assert run(lines=[], SCRIPTED_SWITCHES="--exit-at-start 6")[0] == 6


def test_bad_lines_are_answered_and_nobody_dies(tmp_path: Path) -> None:
    lines: list[Any] = [
        "nonsense",
        "[1]",
        "",
        {"id": 2, "method": "odd"},
        {"id": 3, "result": {}},
        {"method": "odd"},
        INITIALIZE,
    ]
    lines += [{"id": 4, "method": "session/prompt", "params": {"sessionId": "no", "prompt": []}}]
    code, out, _ = run(lines=lines, home=tmp_path)
    answers = [json.loads(line) for line in out]
    assert code == 0
    assert [a.get("error", {}).get("code") for a in answers] == [-32700, -32600, -32601, None, -32002]


@pytest.mark.parametrize(
    ("switches", "home", "loads"),
    [((), True, True), (("--no-load",), True, False), (("--text-only",), True, False), ((), False, False)],
)
def test_it_offers_to_load_only_what_it_can(
    tmp_path: Path, switches: tuple[str, ...], home: bool, loads: bool
) -> None:
    _, lines, _ = run(*switches, lines=[INITIALIZE], home=tmp_path if home else None)
    assert json.loads(lines[0])["result"]["agentCapabilities"]["loadSession"] is loads


def test_its_records_are_private_and_a_session_cannot_leave_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    new = {"id": 2, "method": "session/new", "params": {"cwd": str(tmp_path)}}
    (tmp_path / "secret.json").write_text('{"messages": [{"role": "user", "text": "stolen"}]}')
    load = {"id": 3, "method": "session/load", "params": {"sessionId": "../../secret", "cwd": "/"}}
    _, lines, _ = run(lines=[INITIALIZE, new, load], home=home)
    session = json.loads(lines[1])["result"]["sessionId"]
    assert json.loads(lines[2])["error"]["code"] == -32002
    for place in (home / "sessions" / f"{session}.json", home / "prompts.jsonl"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "sessions").stat().st_mode) == 0o700
    assert json.loads((home / "prompts.jsonl").read_text())["kind"] == "new"


def test_every_word_of_the_help_is_a_play() -> None:
    for usage, _ in scripted_agent.HELP:
        for play in usage.split("/"):
            verb = play.split()[0]
            script = scripted_agent.script_for(f"{verb} 1")
            assert "You said" not in str(script), verb
            assert {step["do"] for step in script} <= set(scripted_agent.STEPS)


def test_a_broken_script_is_answered_in_words() -> None:
    for text in ('{"play": 3}', '{"plays": []}', "{nonsense", '{"play": ["say"]}'):
        (step,) = scripted_agent.script_for(text)
        assert "play" in step["text"]
