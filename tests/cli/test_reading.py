"""Commands that only read: they start nothing, lock nothing, change nothing, and work beside everything."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from podium.cli.threads import in_order
from podium.domain.entities import Item, Run
from tests.cli.calling import Shell, wait

READERS: list[list[str]] = [
    ["threads", "list"],
    ["threads", "list", "--json"],
    ["threads", "show", "last"],
    ["threads", "show", "last", "--json"],
    ["requests", "list"],
    ["requests", "list", "--json"],
]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but SQLite's own two beside the database, which any reader of a WAL may make."""
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and not p.name.endswith(("-wal", "-shm"))
    }


@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_reading_changes_nothing(shell: Shell, arguments: list[str]) -> None:
    shell.run("hello")
    before = contents(shell.data)
    done = shell.call(*arguments)
    assert done.code == 0, done.err
    assert done.err == ""
    assert contents(shell.data) == before
    assert shell.leftovers() == []


@pytest.mark.parametrize("arguments", [a for a in READERS if a[1] == "list"], ids=" ".join)
def test_reading_makes_no_data_folder(shell: Shell, arguments: list[str]) -> None:
    assert shell.call(*arguments).code == 0
    assert not shell.data.exists()


def test_reading_works_beside_a_running_command(shell: Shell) -> None:
    process = shell.start("run", "-a", "scripted", "slow 5")
    wait(lambda: shell.log("prompt"))
    count = len(shell.processes())
    assert shell.threads()[0]["state"] == "working"
    assert "user message" in shell.call("threads", "show", "last").out
    assert len(shell.processes()) == count
    assert process.wait(60) == 0
    process.communicate()
    assert shell.threads()[0]["state"] == "idle"


def test_everything_written_is_private(shell: Shell) -> None:
    shell.run("--keep", "edit a.txt")
    for path in [shell.data, *shell.data.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.is_relative_to(shell.agent_home) or path.is_socket():
            continue
        captured = "objects" in path.parts and path.is_file()  # git itself makes them unchangeable
        assert mode == (0o700 if path.is_dir() else 0o400 if captured else 0o600), path


def test_a_list_is_newest_first_and_says_what_it_is_about(shell: Shell) -> None:
    shell.run("hello")
    shell.run("die 3")
    rows = shell.threads()
    assert [r["last_run"]["outcome"] for r in rows] == ["failed", "completed"]
    lines = shell.call("threads", "list").out.splitlines()
    assert "die 3" in lines[1]
    assert "failed (process_exit)" in lines[1]
    assert "hello" in lines[2]
    assert [r["id"] for r in rows] == [line.split()[0] for line in lines[1:]]


@pytest.mark.behaviour("F275")
def test_a_thread_is_shown_in_its_stored_order(shell: Shell) -> None:
    thread = shell.run("hello").id("thr")
    shell.call("run", "--thread", thread, "plan")
    shell.call("run", "--thread", thread, "die 4")
    rows = shell.call("threads", "show", thread, "--json").rows
    items = [r for r in rows if r["kind"] == "item"]
    assert [i["position"] for i in items] == list(range(1, len(items) + 1))
    assert [r["ordinal"] for r in rows if r["kind"] == "run"] == [1, 2, 3]
    text = shell.call("threads", "show", thread).out
    places = [text.index(w) for w in ("run 1", "hello", "run 2", "plan is done", "run 3", "no ")]
    assert places == sorted(places)
    assert "ended with code 4" in text
    assert "Read the prompt (completed)" in text


def test_what_was_decided_is_shown_where_it_was_asked_with_the_words_that_went_with_it(shell: Shell) -> None:
    asked = shell.run("--keep", "edit a.txt")
    thread, declined = asked.id("thr"), asked.id("req")
    answered = shell.call("requests", "answer", declined, "decline", "--text", "use \u202emake", "--follow")
    assert answered.code == 0, answered.err
    expired = shell.call("run", "--thread", thread, "edit b.txt").id("req")
    shell.call("run", "--thread", thread, "hello again")
    text = shell.call("threads", "show", thread).out
    places = [
        text.index(w) for w in ("run 1", "saying: use \\u202emake", "run 2", "expired (no_host)", "run 3")
    ]
    assert places == sorted(places)
    rows = {r["id"]: r for r in shell.call("threads", "show", thread, "--json").rows}
    assert (rows[declined]["state"], rows[expired]["state"]) == ("answered", "expired")
    assert rows[declined]["answer"]["text"] == "use \u202emake"
    assert shell.call("requests", "list").out == "Nothing waits.\n"
    everything = shell.call("requests", "list", "--all").out
    assert "saying: use \\u202emake" in everything and "expired (no_host)" in everything
    listed = shell.call("requests", "list", "--all", "--json").rows
    assert [r["id"] for r in listed] == [declined, expired]


def test_a_message_that_waited_is_shown_where_its_run_begins() -> None:
    runs = {f"r{n}": Run(id=f"r{n}", thread_id="t", ordinal=n) for n in (1, 2, 3)}

    def item(name: str, position: int, run: str) -> Item:
        return Item(id=name, thread_id="t", item_kind="user_message", position=position, run_id=run)

    first, second, third = item("u1", 1, "r1"), item("u2", 2, "r2"), item("u3", 4, "r3")
    answer, again, other = item("a1", 3, "r1"), item("a1b", 5, "r1"), item("a2", 6, "r2")

    def order(*items: Item) -> list[str]:
        return [i.id for i in in_order(list(items), runs, {"u2", "u3"})]

    assert order(first, second, answer, third, again) == ["u1", "a1", "a1b", "u2", "u3"]
    assert order(first, second, answer, third, again, other) == ["u1", "a1", "a1b", "u2", "a2", "u3"]


def test_a_long_text_is_shown_by_its_ends(shell: Shell) -> None:
    shell.run("flood 3000")
    text = shell.call("threads", "show", "last").out
    assert "word 0 " in text
    assert "characters left out" in text
    assert "word 2999" in text
    assert "word 1500 " not in text
    whole = shell.call("threads", "show", "last", "--json").out
    assert "word 1500 " in whole


def test_a_long_thread_is_shown_from_its_end(shell: Shell) -> None:
    shell.run("hello")
    shell.call("run", "--thread", "last", "recall")
    text = shell.call("threads", "show", "last", "--limit", "1").out
    assert "You wrote 1 prompts" in text
    assert "hello\n" not in text.split("[4]")[0]


def test_terminal_sequences_are_not_shown(shell: Shell) -> None:
    shell.run("hello \x1b]0;title\x07\x9b2J there")
    for arguments in (["threads", "list"], ["threads", "show", "last"]):
        out = shell.call(*arguments).out
        assert not set(out) & {"\x1b", "\x07", "\x9b"}
        assert "hello  there" in " ".join(out.split("\n")) or "hello there" in out


def test_a_data_folder_that_cannot_be_made(shell: Shell) -> None:
    done = shell.call("run", "-a", "scripted", "hello", environment={"PODIUM_DATA": "/proc/nowhere"})
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "PODIUM_DATA" in done.err
    assert shell.call("threads", "list", environment={"PODIUM_DATA": "/proc/nowhere"}).code == 0
