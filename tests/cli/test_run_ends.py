"""`podium run` from prompt to exit code, each end of a run told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calling import Shell

SOUND = "Hello. I am a rehearsal agent."


def test_a_run_that_completes(shell: Shell) -> None:
    done = shell.run("hello")
    assert done.code == 0
    assert done.out.startswith(SOUND)
    assert done.out.endswith("\n")
    assert "completed" in done.err
    assert done.id("thr") == shell.threads()[0]["id"]


def test_an_agent_that_dies(shell: Shell) -> None:
    done = shell.run("die 3")
    assert done.code == 1
    assert done.out == "This sentence has no \n"
    assert "process_exit" in done.err
    assert "code 3" in done.err
    run = shell.threads()[0]["last_run"]
    assert (run["outcome"], run["evidence"]) == ("failed", "process_exit")


def test_an_agent_that_answers_with_an_error(shell: Shell) -> None:
    done = shell.run("error")
    assert done.code == 1
    assert "A rehearsed error" in done.err


def test_no_agent_program(shell: Shell) -> None:
    missing = next(a for a in shell.call("agents", "--json").rows if a["health"] == "missing")
    done = shell.call("run", "-a", missing["id"], "hello")
    assert done.code == 4
    assert missing["fix"] in done.err
    assert done.out == ""


def test_an_agent_that_does_not_start(shell: Shell) -> None:
    environment = {"SCRIPTED_SWITCHES": "--exit-at-start 7"}
    done = shell.call("run", "-a", "scripted", "hello", environment=environment)
    assert done.code == 4
    assert "code 7" in done.err
    assert shell.leftovers() == []


@pytest.mark.behaviour("F019")
def test_an_image_for_an_agent_without_eyes(shell: Shell) -> None:
    picture = shell.workspace / "dot.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    done = shell.run("--image", str(picture), "look")
    assert done.code == 3
    assert "takes no images" in done.err
    assert shell.log("prompt") == []


def test_an_image_that_is_none(shell: Shell) -> None:
    done = shell.run("--image", "missing.png", "look")
    assert done.code == 2
    assert "missing.png" in done.err
    assert shell.threads() == []


def test_without_an_agent_the_rehearsal_is_taken_and_said(shell: Shell) -> None:
    done = shell.call("run", "hello")
    assert done.code == 0
    assert "taking rehearsal: no model runs" in done.err
    assert "This is a rehearsal" in done.out


def test_the_configured_agent_is_taken(shell: Shell) -> None:
    config = 'default_agent = "mine"\n[agents.mine]\nadapter = "scripted"\n'
    (shell.config / "podium.toml").write_text(config)
    done = shell.call("run", "hello")
    assert done.code == 0
    assert shell.threads()[0]["agent"] == "mine"


def test_approvals_are_answered_as_told(shell: Shell) -> None:
    yes = shell.run("--approve", "all", "edit yes.txt")
    no = shell.run("--approve", "none", "edit no.txt")
    assert (yes.code, no.code) == (0, 0)
    assert (shell.workspace / "yes.txt").exists()
    assert not (shell.workspace / "no.txt").exists()
    assert "completed" in yes.err
    assert "no.txt" in no.err


def test_a_question_is_never_answered_by_approve(shell: Shell) -> None:
    done = shell.run("--approve", "all", "question")
    assert done.code == 5
    assert shell.log("question") == [] or not shell.log("question")[0]["answer"].get("content")


def test_a_question_is_declined_where_all_is_declined(shell: Shell) -> None:
    done = shell.run("--approve", "none", "question")
    assert done.code == 0
    assert "You chose not to say." in done.out


@pytest.mark.behaviour("F271")
def test_the_next_prompt_continues_the_conversation(shell: Shell) -> None:
    first = shell.run("hello")
    again = shell.call("run", "--thread", first.id("thr"), "recall")
    assert again.code == 0
    assert "You wrote 1 prompts before this one. The first: hello" in again.out
    assert shell.call("run", "--thread", "last", "recall").out.startswith("You wrote 2 prompts")
    assert len({row["session"] for row in shell.log("prompt")}) == 1


def test_a_thread_keeps_its_agent_and_folder(shell: Shell, tmp_path: Path) -> None:
    thread = shell.run("hello").id("thr")
    for option in (("--mode", "full"), ("-C", str(tmp_path))):
        done = shell.call("run", "--thread", thread, *option, "more")
        assert done.code == 2
        assert "begin a" in done.err


def test_the_folder_and_mode_reach_the_agent(shell: Shell, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = shell.run("-C", str(elsewhere), "--mode", "full", "command pwd > where")
    assert done.code == 0
    assert (elsewhere / "where").read_text().strip() == str(elsewhere)


def test_terminal_sequences_of_an_agent_stay_out(shell: Shell) -> None:
    says = "\x1b]0;owned\x07calm \x1b[2Jtext \x9b31mand\x9c more\r"
    done = shell.run(json.dumps({"play": [{"do": "say", "text": says}]}))
    assert done.code == 0
    assert done.out == "calm text and more\n"
    assert "\x1b" not in done.err


def test_a_long_answer_is_whole_and_in_order(shell: Shell) -> None:
    done = shell.run("flood 5000")
    assert done.code == 0
    assert done.out.split() == [w for n in range(5000) for w in ("word", str(n))]


def test_tools_and_plans_stay_off_stdout(shell: Shell) -> None:
    done = shell.run("plan")
    assert done.out == "The plan is done.\n"
    assert "[x] Read the prompt" in done.err
    done = shell.run("--mode", "full", "command echo hidden")
    assert done.out == "The command ended with 0.\n"
    assert "echo hidden" in done.err


def test_a_subagent_does_not_speak_for_the_agent(shell: Shell) -> None:
    done = shell.run("--approve", "all", "subagent")
    assert done.code == 0
    assert done.out == "My child came back.\n"
    assert (shell.workspace / "child.txt").exists()


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_reader_that_leaves_does_not_stop_the_run(shell: Shell, name: str) -> None:
    import os

    reading, writing = os.pipe()
    os.close(reading)
    process = shell.start("run", "-a", "scripted", "long 50", **{name: writing})
    os.close(writing)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Traceback" not in (err or b"") + (out or b"")
    assert shell.threads()[0]["last_run"]["outcome"] == "completed"
    assert shell.leftovers() == []


def test_a_full_disk_under_stdout_is_said(shell: Shell) -> None:
    with Path("/dev/full").open("wb") as full:
        process = shell.start("run", "-a", "scripted", "hello", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"No space left" in err
    assert b"Traceback" not in err
