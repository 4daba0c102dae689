"""Bad input: one line on stderr with the next step, the right exit code, nothing begun, nothing lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.calling import PODIUM, Answer, Shell


def one_line(done: Answer, code: int, *words: str) -> None:
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("podium: ")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


@pytest.mark.parametrize("prompt", ["", " \n\t"])
def test_an_empty_prompt(shell: Shell, prompt: str) -> None:
    one_line(shell.run(prompt), 2, "empty")
    one_line(shell.run("-", given=prompt.encode()), 2, "empty")
    assert not shell.data.exists()


def test_no_prompt_at_all(shell: Shell) -> None:
    one_line(shell.call("run"), 2, "no prompt", "podium run")


def test_bytes_that_are_no_text(shell: Shell) -> None:
    one_line(shell.run("-", given=b"caf\xe9"), 2, "UTF-8", "byte 3")
    one_line(shell.call("run", "-a", "scripted", os.fsdecode(b"caf\xe9")), 2, "UTF-8")
    assert not shell.data.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bogus"], ["bogus"]),
        (["run", "--bogus", "x"], ["--bogus"]),
        (["run", "--mode", "wild", "x"], ["wild"]),
        (["run", "--approve", "maybe", "x"], ["maybe"]),
        (["run", "a", "b"], ["b"]),
        (["threads", "show"], ["THREAD"]),
        (["requests", "answer", "req_1"], ["DECISION"]),
        (["replay"], ["FILE"]),
    ],
)
def test_a_command_line_that_is_none(shell: Shell, arguments: list[str], words: list[str]) -> None:
    one_line(shell.call(*arguments), 2, *words, "--help")


def test_an_agent_nobody_knows(shell: Shell) -> None:
    one_line(shell.call("run", "-a", "nobody", "hello"), 2, "nobody", "scripted", "podium agents")
    one_line(shell.call("doctor", "nobody"), 2, "nobody")
    one_line(shell.call("capabilities", "nobody"), 2, "nobody")


def test_a_folder_that_is_missing_or_none(shell: Shell) -> None:
    file = shell.workspace / "file"
    file.write_text("x")
    one_line(shell.run("-C", "nowhere", "hello"), 2, "does not exist", "-C")
    one_line(shell.run("-C", str(file), "hello"), 2, "not a folder")
    assert shell.threads() == []


@pytest.mark.parametrize(
    "arguments",
    [["threads", "show", "thr_0"], ["run", "--thread", "thr_0", "x"], ["threads", "show", "last"]],
)
def test_a_thread_nobody_knows(shell: Shell, arguments: list[str]) -> None:
    one_line(shell.call(*arguments), 2, "no thread")
    shell.run("hello")
    if "last" not in arguments:
        one_line(shell.call(*arguments), 2, "thr_0", "podium threads list")


def test_a_request_nobody_knows(shell: Shell) -> None:
    one_line(shell.call("requests", "answer", "req_0", "accept"), 2, "req_0", "podium requests list")


def test_a_config_that_cannot_be_read(shell: Shell) -> None:
    (shell.config / "podium.toml").write_text("[agent]\n")
    one_line(shell.run("hello"), 2, "podium.toml", "agent")
    (shell.config / "podium.toml").write_text('[agents.x]\nadapter = "none"\n')
    one_line(shell.run("hello"), 2, "agents.x", "Installed adapters")


def test_a_data_folder_that_is_a_file(shell: Shell) -> None:
    shell.data.write_text("mine")
    one_line(shell.run("hello"), 1, "data", "PODIUM_DATA")
    assert shell.data.read_text() == "mine"


@pytest.mark.parametrize("damage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_database_that_is_none(shell: Shell, damage: bytes) -> None:
    shell.data.mkdir(mode=0o700)
    path = shell.data / "podium.db"
    path.write_bytes(damage)
    for arguments in (["run", "-a", "scripted", "hello"], ["threads", "list"], ["requests", "list"]):
        one_line(shell.call(*arguments), 1, "podium.db")
    assert path.read_bytes() == damage
    examined = shell.call("doctor")
    assert examined.code == 1
    assert "damaged" in examined.out


@pytest.mark.behaviour("F284")
def test_a_database_of_a_newer_podium_is_read_and_never_written(shell: Shell) -> None:
    thread = shell.run("hello").id("thr")
    path = shell.data / "podium.db"
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 99")
        db.execute(
            "update entities set payload ="
            " cast(json_set(cast(payload as text), '$.kind', 'dream', '$.new', 1) as blob)"
            " where kind = 'item' and position = 1"
        )
    db.close()
    before = path.read_bytes()
    one_line(shell.run("again"), 1, "newer", "threads list")
    one_line(shell.call("run", "--thread", thread, "again"), 1, "newer")
    listed = shell.call("threads", "list")
    assert listed.code == 0
    assert thread in listed.out
    shown = shell.call("threads", "show", thread)
    assert shown.code == 0
    assert "written by a newer Podium" in shown.out
    assert "rehearsal agent" in shown.out
    assert any(row.get("new") == 1 for row in shell.call("threads", "show", thread, "--json").rows)
    assert path.read_bytes() == before
    assert shell.call("doctor").code == 1


def test_two_commands_on_one_thread(shell: Shell) -> None:
    from tests.cli.calling import wait

    process = shell.start("run", "-a", "scripted", "slow 8")
    wait(lambda: shell.log("prompt"))
    thread = shell.threads()[0]["id"]
    one_line(shell.call("run", "--thread", thread, "me too"), 1, "Another Podium", "Wait for it to end")
    beside = shell.run("hello")
    assert beside.code == 0
    process.terminate()
    process.communicate(timeout=60)
    assert len(shell.log("prompt")) == 2


def test_a_data_folder_that_is_full(shell: Shell) -> None:
    """The limit stands in for a full disk: the journal cannot grow, and says so."""
    import subprocess

    shell.run("hello")
    limited = f"ulimit -f 8; exec {PODIUM} run -a scripted hello"
    done = subprocess.run(
        ["/bin/sh", "-c", limited],
        capture_output=True, timeout=60, env=shell.environment, cwd=shell.workspace, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"could not be" in done.stderr
    assert shell.run("hello").code == 0


def test_a_prompt_of_a_megabyte(shell: Shell) -> None:
    prompt = "0123456789 ä\n" * 80_000
    done = shell.run("-", given=prompt.encode())
    assert done.code == 0
    assert [row["text"] for row in shell.log("prompt")] == [prompt]


def test_a_prompt_that_is_too_long_is_refused_with_its_limit(shell: Shell) -> None:
    done = shell.run("-", given=b"x" * (4 * 1024 * 1024 + 1))
    one_line(done, 2, "limit", "file")
    assert shell.log("prompt") == []


def test_the_version_needs_nothing(shell: Shell, tmp_path: Path) -> None:
    done = shell.call("--version", environment={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.code == 0
    assert done.out.strip()
    assert "podium.runtime" not in done.err
    assert "cyclopts" not in done.err
    assert not shell.data.exists()


def test_a_folder_that_is_gone_under_one(shell: Shell) -> None:
    script = f"mkdir gone && cd gone && rmdir ../gone && {PODIUM} run -a scripted text"
    done = subprocess.run(
        ["sh", "-c", script], cwd=shell.root, env=shell.environment, capture_output=True, check=False
    )
    one_line(
        Answer(done.returncode, done.stdout.decode(), done.stderr.decode()), 2, "does not exist any more"
    )


def test_output_that_nobody_can_take(shell: Shell) -> None:
    with Path("/dev/full").open("wb") as full:
        process = shell.start("agents", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and b"refused: No space left" in err
