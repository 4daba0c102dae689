"""What was changed, whose it is, and taking it back, by the commands a person types."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.calling import Json, Shell

FULL = ("--mode", "full")


def newest(shell: Shell, moment: str) -> Json:
    rows = shell.call("checkpoints", "list", "--json").rows
    return next(row for row in rows if row["moment"] == moment)


@pytest.mark.behaviour("F269")
def test_a_diff_shows_the_threads_own_changes_and_restore_takes_them_back(shell: Shell) -> None:
    ws = shell.workspace
    (ws / "mine.txt").write_text("mine\n")
    shell.run(*FULL, "command echo one > one.txt")
    [first] = shell.threads()
    shell.run(*FULL, "command echo two > two.txt")
    shown = shell.call("threads", "diff", first["id"])
    assert shown.code == 0 and "+one" in shown.out and "two" not in shown.out and "mine" not in shown.out
    stat = shell.call("threads", "diff", "last", "--stat")
    assert [line.split() for line in stat.out.splitlines()[1:]] == [["A", "two.txt", "agent"]]
    rows = shell.call("threads", "diff", "last", "--json").rows
    assert [(r["path"], r["change"], r["owner"]) for r in rows if r["kind"] == "change"] == [
        ("two.txt", "added", "agent")
    ]
    assert [r["owner"] for r in rows if r["kind"] == "diff"] == ["agent", "shared"]
    plan = shell.call("checkpoints", "plan", first["id"], "--json").rows
    assert [(r["path"], r["action"]) for r in plan] == [("one.txt", "delete")]
    assert (ws / "one.txt").exists()
    done = shell.call("checkpoints", "restore", first["id"])
    assert done.code == 0 and "one.txt" in done.out and "--undo" in done.err
    assert sorted(p.name for p in ws.iterdir()) == ["mine.txt", "two.txt"]
    safety = newest(shell, "safety")
    assert "one.txt" in shell.call("checkpoints", "show", safety["id"]).out
    assert shell.call("checkpoints", "restore", "--undo", safety["id"]).code == 0
    assert (ws / "one.txt").read_text() == "one\n"
    assert shell.leftovers() == []


def test_a_patch_can_be_applied_as_it_is_printed(shell: Shell) -> None:
    shell.run(*FULL, "command printf 'a\\nb\\n' > new.txt")
    patch = shell.call("threads", "diff", "last").out
    (shell.workspace / "new.txt").unlink()
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=shell.workspace, check=True)
    assert (shell.workspace / "new.txt").read_text() == "a\nb\n"


@pytest.mark.behaviour("F266")
def test_what_was_changed_since_is_refused_until_forced(shell: Shell) -> None:
    shell.run(*FULL, "command echo one > one.txt")
    (shell.workspace / "one.txt").write_text("one and mine\n")
    refused = shell.call("checkpoints", "restore", "last")
    assert refused.code == 3 and "changed since" in refused.out
    assert (shell.workspace / "one.txt").read_text() == "one and mine\n"
    assert not [r for r in shell.call("checkpoints", "list", "--json").rows if r["moment"] == "safety"]
    forced = shell.call("checkpoints", "restore", "last", "--force", "--json")
    assert forced.code == 0 and forced.rows[-1]["kind"] == "checkpoint"
    assert not (shell.workspace / "one.txt").exists()
    assert shell.call("checkpoints", "restore", "--undo", forced.rows[-1]["id"]).code == 0
    assert (shell.workspace / "one.txt").read_text() == "one and mine\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["threads", "diff", "thr_0"], 2, "no thread"),
        (["threads", "diff", "last", "--run", "run_0"], 2, "no run"),
        (["checkpoints", "show", "chk_0"], 2, "no checkpoint"),
        (["checkpoints", "plan", "chk_0"], 2, "no checkpoint"),
        (["checkpoints", "plan", "run_0"], 2, "no run"),
        (["checkpoints", "restore"], 2, "--undo"),
        (["checkpoints", "restore", "last", "--undo", "chk_0"], 2, "either"),
        (["checkpoints", "restore", "last"], 2, "no changes"),
    ],
    ids=str,
)
def test_a_wrong_name_is_one_line_with_the_next_step(
    shell: Shell, arguments: list[str], code: int, words: str
) -> None:
    shell.run("hello")
    answer = shell.call(*arguments)
    assert answer.code == code
    assert len(answer.err.splitlines()) == 1 and words in answer.err


def test_clean_up_keeps_what_a_checkpoint_holds(shell: Shell) -> None:
    shell.run(*FULL, "command echo one > one.txt")
    [row] = shell.call("gc", "--dry-run", "--json").rows
    assert row["dry_run"] and row["refs"] == [] and row["stores"] == []
    assert "0 captures" in shell.call("gc").out
    assert "+one" in shell.call("threads", "diff", "last").out


def test_looking_before_anything_was_done(shell: Shell) -> None:
    assert "No checkpoints" in shell.call("checkpoints", "list").out
    assert "0 captures" in shell.call("gc").out
    assert shell.call("threads", "diff", "last").code == 2
    assert not shell.data.exists()
