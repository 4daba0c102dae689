"""A person makes an agent of any command (F035)."""

from __future__ import annotations

import sys

import pytest

from tests.cli.calling import Shell


@pytest.mark.behaviour("F035")
def test_a_command_is_added_and_answers(shell: Shell) -> None:
    added = shell.call("agents", "add", "loud", "--one-shot", "--", "/usr/bin/tr", "a-z", "A-Z")
    assert added.code == 0
    assert "asks nobody" in added.out and "podium run -a loud --mode full" in added.out
    (row,) = (r for r in shell.call("agents", "--json").rows if r["id"] == "loud")
    assert (row["health"], row["version"], row["adapter"]) == ("ok", None, "oneshot")
    assert "agent loud: version unknown (/usr/bin/tr)" in shell.call("doctor").out
    unheld = shell.call("run", "-a", "loud", "hello")
    assert unheld.code == 3 and "Nothing holds this agent to the mode ask" in unheld.err
    ran = shell.call("run", "-a", "loud", "--mode", "full", "hello")
    assert (ran.code, ran.out) == (0, "HELLO\n")
    assert shell.leftovers() == []


@pytest.mark.behaviour("F035")
def test_a_command_that_was_added_in_the_mode_full_needs_no_more_words(shell: Shell) -> None:
    code = "import sys; print(sys.stdin.read()[::-1], end='')"
    added = shell.call(
        *("agents", "add", "back", "--one-shot", "--mode", "full", "--version-arg", "--version"),
        *("--", sys.executable, "-I", "-c", code),
    )
    assert added.code == 0 and "asks nobody" not in added.out
    (row,) = (r for r in shell.call("agents", "--json").rows if r["id"] == "back")
    assert row["version"] == sys.version.split()[0]
    assert shell.call("run", "-a", "back", "abc").out == "cba\n"
    told = shell.call("capabilities", "back")
    assert told.code == 0 and "ending the process is no interrupt" in told.out


@pytest.mark.behaviour("F035")
def test_how_a_command_failed_and_what_it_printed_is_told(shell: Shell) -> None:
    assert shell.call(
        *("agents", "add", "bad", "--one-shot", "--mode", "full", "--"),
        *("/bin/sh", "-c", "cat; echo the reason >&2; exit 7"),
    ).code == 0  # fmt: skip
    ran = shell.call("run", "-a", "bad", "some words")
    assert ran.code == 1 and ran.out == "some words\n"
    assert "exit code 7" in ran.err and "the reason" in ran.err


@pytest.mark.behaviour("F035")
def test_a_thread_goes_on_only_where_a_person_begins_it_anew(shell: Shell) -> None:
    shell.call("agents", "add", "cat", "--one-shot", "--mode", "full", "--", "/bin/cat")
    assert shell.call("run", "-a", "cat", "one").code == 0
    refused = shell.call("run", "--thread", "last", "two")
    assert refused.code != 0 and "keeps nothing from one prompt to the next" in refused.err
    assert "--fresh" in refused.err and refused.out == ""
    anew = shell.call("run", "--thread", "last", "--fresh", "two")
    assert anew.code == 0 and anew.out == "two\n"
    assert "does not know what was said before" in anew.err


@pytest.mark.behaviour("F035")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("x", "--one-shot"), "needs a command"),
        (("x", "--one-shot", "--adapter", "acp", "--", "y"), "Leave out --adapter"),
        (("X Y", "--one-shot", "--", "y"), "cannot be the name"),
        (("x", "--one-shot", "--mode", "some", "--", "y"), "mode"),
    ],
)
def test_what_cannot_be_added_is_said_with_the_next_step(
    shell: Shell, more: tuple[str, ...], said: str
) -> None:
    answer = shell.call("agents", "add", *more)
    assert answer.code == 2 and said in answer.err
    assert not (shell.config / "podium.toml").exists()
