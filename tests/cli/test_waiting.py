"""A run that needs a person: exit 5 and the command that answers, kept or not, answered from elsewhere."""

from __future__ import annotations

import json

import pytest

from tests.cli.calling import Shell, wait


def test_without_keep_the_request_ends_with_the_command(shell: Shell) -> None:
    done = shell.run("edit a.txt")
    assert done.code == 5
    thread, request = done.id("thr"), done.id("req")
    assert f"podium requests answer {request} accept" in done.err
    assert thread in done.err
    assert "--keep" in done.err
    assert shell.pending() == []
    assert shell.leftovers() == []
    late = shell.call("requests", "answer", request, "accept")
    assert late.code == 1
    assert "expired (no_host)" in late.err
    rows = shell.call("threads", "show", thread, "--json").rows
    ended = next(r for r in rows if r["kind"] == "request")
    assert (ended["state"], ended["reason"]) == ("expired", "no_host")
    assert not (shell.workspace / "a.txt").exists()


def test_a_kept_request_is_answered_later_and_the_run_ends(shell: Shell) -> None:
    done = shell.run("--keep", "edit a.txt")
    assert done.code == 5
    thread, request = done.id("thr"), done.id("req")
    assert "kept" in done.err
    assert shell.processes() != []
    listed = shell.call("requests", "list")
    assert request in listed.out
    assert shell.threads()[0]["pending_requests"] == [request]
    again = shell.call("run", "--keep", "--thread", thread)
    assert again.code == 5
    assert request in again.err
    answered = shell.call("requests", "answer", request, "accept")
    assert answered.code == 0
    assert f"answered {request}: accept" in answered.out
    wait((shell.workspace / "a.txt").exists)
    finished = shell.call("run", "--thread", thread)
    assert finished.code == 0
    assert "completed" in finished.err
    assert len(shell.log("prompt")) == 1
    assert [row["outcome"]["optionId"] for row in shell.log("permission")] == ["yes"]
    assert shell.leftovers() == []


def test_an_answer_can_follow_the_run(shell: Shell) -> None:
    request = shell.run("--keep", "edit a.txt").id("req")
    done = shell.call("requests", "answer", request, "decline", "--follow")
    assert done.code == 0
    assert "I left a.txt as it was." in done.out
    assert not (shell.workspace / "a.txt").exists()


def test_an_answer_must_be_offered_and_the_first_one_wins(shell: Shell) -> None:
    request = shell.run("--keep", "edit a.txt").id("req")
    wrong = shell.call("requests", "answer", request, "perhaps")
    assert wrong.code == 2
    assert "accept, accept_always, decline" in wrong.err
    assert shell.call("requests", "answer", request, "accept").code == 0
    second = shell.call("requests", "answer", request, "decline")
    assert second.code == 1
    assert "already answered: accept" in second.err
    assert len(shell.log("permission")) == 1


@pytest.mark.behaviour("F144")
def test_a_question_takes_one_answer_for_each(shell: Shell) -> None:
    request = shell.run("--keep", "question").id("req")
    short = shell.call("requests", "answer", request, "accept", "--answer", "Blue")
    assert short.code == 2
    assert "1 answers for 2 questions" in short.err
    done = shell.call(
        "requests", "answer", request, "accept", "--answer", "Blue", "--answer", "calm, deep", "--follow"
    )
    assert done.code == 0
    assert "You chose Blue." in done.out
    told = shell.log("question")[0]["answer"]["content"]
    assert told == {"colour": "Blue", "why": "calm, deep"}


def test_a_prompt_for_a_waiting_thread_is_not_sent(shell: Shell) -> None:
    thread = shell.run("--keep", "edit a.txt").id("thr")
    done = shell.call("run", "--keep", "--thread", thread, "hello")
    assert done.code == 5
    assert "the prompt was not sent" in done.err
    assert len(shell.log("prompt")) == 1


def test_a_waiting_run_is_followed_before_the_next_prompt(shell: Shell) -> None:
    thread = shell.run("--keep", "edit a.txt").id("thr")
    done = shell.call("run", "--thread", thread, "--approve", "all", "hello")
    assert done.code == 0
    assert (shell.workspace / "a.txt").exists()
    assert "Hello." in done.out
    assert [row["text"] for row in shell.log("prompt")] == ["edit a.txt", "hello"]


def test_wait_blocks_until_somebody_answers_from_elsewhere(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "--wait", "edit a.txt")
    request = wait(shell.pending)[0]["id"]
    assert process.poll() is None
    answered = shell.call("requests", "answer", request, "accept")
    assert answered.code == 0
    assert request in answered.out
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == b"I changed 1 lines of a.txt.\n"
    assert b"waiting for an answer" in err
    assert shell.leftovers() == []


def test_wait_ends_with_the_command(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "--wait", "edit a.txt")
    wait(shell.pending)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert shell.pending() == []
    assert shell.leftovers() == []


def test_json_tells_of_the_request(shell: Shell) -> None:
    done = shell.run("--json", "edit a.txt")
    assert done.code == 5
    opened = next(r for r in done.rows if r["type"] == "request.created")
    assert opened["entity"]["state"] == "pending"
    closed = [r for r in done.rows if r["type"] == "request.updated"]
    assert closed[-1]["entity"]["reason"] == "no_host"
    last = json.loads(done.out.splitlines()[-1])
    assert last["type"] == "run.updated"
    assert last["entity"]["state"] == "ended"


def test_stop_ends_what_was_kept(shell: Shell) -> None:
    assert shell.call("stop", "--agents").out == "No agent was left working.\n"
    assert not shell.data.exists()
    first = shell.run("--keep", "edit a.txt")
    second = shell.run("--keep", "question")
    assert (first.code, second.code) == (5, 5)
    noted = shell.call("doctor")
    assert noted.code == 0
    assert "2 agents wait for their next owner" in noted.out
    done = shell.call("stop", "--agents")
    assert done.code == 0
    assert done.out == "Ended 2 agents.\n"
    assert shell.leftovers() == []
    assert shell.pending() == []
    assert shell.call("stop", "--agents").out == "No agent was left working.\n"
    assert "No server runs" in shell.call("stop").out


def test_stop_does_not_touch_a_running_command(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "slow 6")
    wait(lambda: shell.log("prompt"))
    done = shell.call("stop", "--agents")
    assert done.code == 1
    assert "running command" in done.err
    assert process.wait(60) == 0
    out, _ = process.communicate()
    assert out == b"One moment. \nHere I am.\n"


def test_who_has_no_terminal_sees_the_whole_command_and_each_question(shell: Shell) -> None:
    command = "echo one\n  echo two # " + "x" * 150 + "\necho the-end"
    asked = shell.run("--keep", json.dumps({"play": [{"do": "command", "command": command}]}))
    assert f"podium run --thread {asked.id('thr')} --keep" in asked.err
    shown = "".join(f"    | {line}\n" for line in command.split("\n"))
    assert shown in asked.err
    assert shown in shell.call("threads", "show", asked.id("thr")).out
    question = shell.run("--keep", "question")
    for text in (question.err, shell.call("threads", "show", question.id("thr")).out):
        assert "Which colour?" in text
        assert "2) Blue" in text
        assert "Why that one?" in text
        assert f"podium requests answer {question.id('req')} accept --answer … --answer …" in text
