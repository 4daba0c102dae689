"""No command leaves a process or a file behind, except what `--keep` was asked to keep."""

from __future__ import annotations

import pytest

from tests.cli.calling import Shell

COMMANDS: list[list[str]] = [
    ["--version"],
    ["--help"],
    ["run", "-a", "scripted", "hello"],
    ["run", "-a", "scripted", "--json", "plan"],
    ["run", "-a", "scripted", "--mode", "full", "command setsid sleep 300 >/dev/null 2>&1 & echo begun"],
    ["run", "-a", "scripted", "edit a.txt"],
    ["run", "-a", "scripted", "question"],
    ["run", "-a", "scripted", "die 3"],
    ["run", "-a", "scripted", "die_after_last"],
    ["run", "-a", "scripted", "error"],
    ["run", "-a", "scripted", "stderr 100000"],
    ["run", "-a", "nobody", "hello"],
    ["run", "-a", "scripted", ""],
    ["run", "--thread", "thr_0", "hello"],
    ["threads", "list"],
    ["threads", "show", "last"],
    ["threads", "diff", "last"],
    ["checkpoints", "list"],
    ["checkpoints", "plan", "last"],
    ["checkpoints", "restore", "last"],
    ["gc", "--dry-run"],
    ["gc"],
    ["requests", "list"],
    ["requests", "answer", "req_0", "accept"],
    ["agents"],
    ["doctor"],
    ["doctor", "--bundle"],
    ["capabilities", "scripted"],
    ["stop"],
    ["stop", "--agents"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_nothing_is_left(shell: Shell, arguments: list[str]) -> None:
    shell.run("hello")
    shell.call(*arguments)
    assert shell.leftovers() == []
    assert sorted(p.name for p in shell.root.iterdir()) == [
        "agent", "config", "data", "home", "tmp", "workspace",
    ]  # fmt: skip
    assert list((shell.root / "home").iterdir()) == []


def test_keep_keeps_one_agent_and_stop_ends_it(shell: Shell) -> None:
    shell.run("--keep", "edit a.txt")
    assert len(shell.processes()) == 2
    assert len(list((shell.data / "processes").iterdir())) == 1
    shell.call("stop", "--agents")
    assert shell.leftovers() == []
