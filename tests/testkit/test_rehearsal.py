"""The friendly face of the rehearsal agent as a bare program: every play over its own pipes."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from podium.testkit.rehearsal import phrases, running, writing
from podium.testkit.rehearsal.plays import NOTICE, PLAYS
from tools.behaviours import ROOT

WAIT = 30.0
Json = dict[str, Any]
YES: Json = {"outcome": {"outcome": "selected", "optionId": "yes"}}
NO: Json = {"outcome": {"outcome": "selected", "optionId": "no"}}


class Client:
    """The smallest client: it answers what is asked and keeps what is told."""

    def __init__(self, workspace: Path, home: Path | None = None, *switches: str) -> None:
        environment = {"PATH": os.environ["PATH"]}
        if home is not None:
            environment["SCRIPTED_HOME"] = str(home)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "podium.testkit.rehearsal", *switches],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.workspace = workspace
        self.answer: Json = YES
        self.told: list[Json] = []
        self.requests: list[Json] = []
        self.on_update: Callable[[Json], None] = lambda update: None
        self.calls = 0
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.offers = self.call(
            "initialize", protocolVersion=1, clientCapabilities={"elicitation": {"form": {}}}
        )

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def send(self, frame: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
        self.process.stdin.flush()

    def call(self, method: str, **params: Any) -> Json:
        """One call to its answer; requests on the way are answered. Empty where the agent is gone."""
        self.calls += 1
        number = self.calls
        self.send({"id": number, "method": method, "params": params})
        while True:
            line = self._lines.get(timeout=WAIT)
            if not line:
                return {}
            frame: Json = json.loads(line)
            if frame.get("method") == "session/update":
                self.told.append(frame["params"])
                self.on_update(frame["params"])
            elif "method" in frame:
                self.requests.append(frame)
                self.send({"id": frame["id"], "result": self.answer})
            elif frame["id"] == number:
                return frame

    def begin(self) -> str:
        found = self.call("session/new", cwd=str(self.workspace), mcpServers=[])
        session: str = found["result"]["sessionId"]
        return session

    def prompt(self, session: str, text: str) -> Json:
        self.told.clear()
        self.requests.clear()
        return self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def updates(self, kind: str, session: str | None = None) -> list[Json]:
        return [
            told["update"]
            for told in self.told
            if told["update"]["sessionUpdate"] == kind and session in (None, told["sessionId"])
        ]

    def said(self, session: str | None = None, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"]["text"] for update in self.updates(kind, session))

    def output(self) -> str:
        found = [
            u.get("_meta", {}).get("terminal_output_delta", {}) for u in self.updates("tool_call_update")
        ]
        return "".join(delta.get("data", "") for delta in found)

    def close(self) -> int:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            return self.process.wait(WAIT)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self._reader.join(WAIT)
            assert self.process.stdout is not None
            self.process.stdout.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture
def client(tmp_path: Path, workspace: Path) -> Iterator[Client]:
    one = Client(workspace, tmp_path / "home", "--rehearsal")
    yield one
    one.close()


def test_the_first_answer_and_the_help_say_that_it_is_a_rehearsal(client: Client) -> None:
    session = client.begin()
    assert client.prompt(session, "say hello")["result"]["stopReason"] == "end_turn"
    assert client.said().startswith(NOTICE)
    client.prompt(session, "say hello")
    assert NOTICE not in client.said()
    client.prompt(session, "help")
    assert client.said().count(NOTICE) == 1
    for name, _, like in phrases.HELP:
        assert f"**{name}**" in client.said()
        assert like in client.said()
    other = client.begin()
    client.prompt(other, "help")
    assert client.said().count(NOTICE) == 1


def test_every_example_of_the_help_leads_to_its_play_alone() -> None:
    for name, _, like in phrases.HELP:
        assert [row["do"] for row in phrases.read(like)] == [name]
        assert name in PLAYS
    assert {rule.play for rule in phrases.RULES} == {name for name, _, _ in phrases.HELP} | {"help"}


def test_the_document_lists_every_play_and_every_word() -> None:
    page = (ROOT / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    for name, shows, like in phrases.HELP:
        assert f"| {name} | {shows} | {like} |\n" in page
    for rule in phrases.RULES:
        assert f"| {rule.play} | {', '.join(rule.words)} |" in page
    assert f"{phrases.PLAYS_MAX} plays" in page


@pytest.mark.parametrize(
    ("text", "plays"),
    [
        ("Show me an approval, a question and a plan", ["edit", "question", "plan"]),
        ("edit a file", ["edit"]),
        ("Write a long answer", ["long"]),
        ("run a command and then fail", ["command", "failure"]),
        ("make a plan to change README.md", ["plan", "edit"]),
        ("`ls -la`", ["command"]),
        ("show me reasoning and text", ["reasoning", "text"]),
        ("a plan with approval", ["plan"]),
        ("approval", ["edit"]),
        ("can you help me add a line?", ["edit"]),
        ("PLAN", ["plan"]),
        ("?", ["help"]),
        ("what is the weather", []),
        ("planet", []),
        ("this is a test", []),
        ('"plan"', []),
        ("", []),
        ("plan, " * 50, ["plan"] * phrases.PLAYS_MAX),
    ],
)
def test_words_name_plays_in_their_order(text: str, plays: list[str]) -> None:
    assert [row["do"] for row in phrases.read(text)] == plays


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("add a line to README.md", {"file": "README.md", "says": None}),
        ("create hello.py that prints hello", {"file": "hello.py", "says": "hello"}),
        ('add "one, two and three" to docs/a.txt.', {"file": "docs/a.txt", "says": "one, two and three"}),
        ("create a file called notes", {"file": "notes", "says": None}),
        ("edit ../other.txt", {"file": "../other.txt", "says": None}),
        ('edit "my notes 🎉.txt"', {"file": "my notes 🎉.txt", "says": None}),
        ('add "a line" to "my notes.txt"', {"file": "my notes.txt", "says": "a line"}),
        ('edit the file "long list of tests"', {"file": "long list of tests", "says": None}),
        ("edit `salt and pepper.txt`", {"file": "salt and pepper.txt", "says": None}),
        ("edit 🎉.txt", {"file": "🎉.txt", "says": None}),
        ("edit docs/party-🎉✨.md.", {"file": "docs/party-🎉✨.md", "says": None}),
        ("edit a file, e.g. mine", {"file": "rehearsal.md", "says": None}),
        ("write a hello world program", {"file": "hello.py", "says": "Hello, world!"}),
        ("list the files", {}),
        ("run the tests", {"tests": True}),
        ("run `echo a, b and c; ls`", {"command": "echo a, b and c; ls"}),
        ("run git status", {"command": "git status"}),
        ("please run npm test", {"command": "npm test"}),
        ("run a command", {}),
        ("ask me a multiple choice question", {"kinds": ["multiple"]}),
        ("a free text question", {"kinds": ["text"]}),
        ("a form", {"kinds": ["single", "multiple", "text"]}),
        ("a question", {"kinds": ["single"]}),
        ("be slow for 2.5 seconds", {"seconds": 2.5}),
        ("be slow for 999999 seconds", {"seconds": phrases.SLOW_SECONDS_MAX}),
    ],
)
def test_details_of_a_play(text: str, details: Json) -> None:
    row = phrases.read(text)[0]
    assert {key: value for key, value in row.items() if key != "do"} == details


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (
            "edit my slow notes.txt, then edit salt and pepper.txt",
            ["my slow notes.txt", "salt and pepper.txt"],
        ),
        ("add a line to plan for the party.", ["plan for the party"]),
        ('add "plan for the party" to a.txt', ["a.txt"]),
        ('update "plan for the party"', ["plan for the party"]),
        ("edit my other notes.txt", ["notes.txt"]),
    ],
)
def test_a_file_that_is_there_may_have_spaces_in_its_name(text: str, files: list[str]) -> None:
    there = {"my slow notes.txt", "salt and pepper.txt", "plan for the party", "slow notes.txt"}
    rows = phrases.read(text, there.__contains__)
    assert [(row["do"], row["file"]) for row in rows] == [("edit", file) for file in files]


def test_a_file_with_spaces_is_edited(client: Client, workspace: Path) -> None:
    (workspace / "my notes 🎉.txt").write_text("one\n")
    client.prompt(client.begin(), "edit my notes 🎉.txt")
    assert (workspace / "my notes 🎉.txt").read_text().count("\n") == 2
    assert not (workspace / "rehearsal.md").exists()


def test_a_file_that_was_made_before_it_can_be_run() -> None:
    _, row = phrases.read("Create hello.py that prints hello and run it")
    assert row == {"do": "command", "of": "hello.py"}
    assert running.command_for("hello.py") == "python3 hello.py"
    assert running.command_for("a b; ls.sh") == "sh 'a b; ls.sh'"


def test_unknown_words_get_an_honest_answer(client: Client) -> None:
    client.prompt(client.begin(), "what is the weather")
    assert "did not understand" in client.said()
    assert "Write `help`" in client.said()


def test_an_edit_asks_with_its_diff_and_adds_one_line(client: Client, workspace: Path) -> None:
    (workspace / "README.md").write_bytes(b"# Mine\r\n\r\nlast")
    client.prompt(client.begin(), "add a line to README.md")
    [asked] = client.requests
    [call] = client.updates("tool_call")
    assert asked["params"]["toolCall"]["toolCallId"] == call["toolCallId"]
    [diff] = call["content"]
    assert diff["oldText"] == "# Mine\r\n\r\nlast"
    assert (workspace / "README.md").read_bytes() == f"# Mine\r\n\r\nlast\r\n{writing.LINE}\r\n".encode()
    assert diff["newText"].encode() == (workspace / "README.md").read_bytes()
    assert client.updates("tool_call_update")[-1]["status"] == "completed"


def test_a_new_program_prints_what_was_asked_and_runs(client: Client, workspace: Path) -> None:
    client.prompt(client.begin(), "Create src/hello.py that prints hello and run it")
    assert (workspace / "src" / "hello.py").read_text() == 'print("hello")\n'
    assert client.output() == "hello\n"
    assert len(client.requests) == 2
    assert client.said().endswith("The command ended with 0.\n")


def test_what_is_declined_is_not_done_and_the_rest_goes_on(client: Client, workspace: Path) -> None:
    (workspace / "a.txt").write_text("mine\n")
    client.answer = NO
    client.prompt(client.begin(), "edit a.txt, run `touch b.txt` and make a plan")
    assert (workspace / "a.txt").read_text() == "mine\n"
    assert sorted(p.name for p in workspace.iterdir()) == ["a.txt"]
    assert client.said().count("You declined") == 2
    assert client.updates("plan")[-1]["entries"][-1]["status"] == "completed"


@pytest.mark.parametrize(
    "name",
    ["../out.txt", "/etc/hostname", "~/out.txt", "way/out.txt", "link.txt", "folder.d", "pipe.x", "b.bin"],
)
def test_no_edit_leaves_the_workspace_or_breaks_what_is_no_text(
    client: Client, workspace: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "out.txt").write_text("theirs")
    (workspace / "way").symlink_to(outside)
    (workspace / "link.txt").symlink_to(outside / "out.txt")
    (workspace / "folder.d").mkdir()
    os.mkfifo(workspace / "pipe.x")
    (workspace / "b.bin").write_bytes(b"\xff\xfe\x00")
    before = sorted(workspace.rglob("*"))
    assert client.prompt(client.begin(), f"edit {name}")["result"]["stopReason"] == "end_turn"
    assert client.requests == []
    assert (outside / "out.txt").read_text() == "theirs"
    assert (workspace / "b.bin").read_bytes() == b"\xff\xfe\x00"
    assert sorted(workspace.rglob("*")) == before
    assert not (tmp_path / "out.txt").exists()
    assert name in client.said()


def test_a_file_that_changes_while_the_person_thinks_is_left_alone(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    change = writing.planned(workspace, "a.txt", None)
    (workspace / "a.txt").write_text("two\n")
    with pytest.raises(writing.NotEdited, match="changed meanwhile"):
        writing.carry_out(workspace, change)
    assert (workspace / "a.txt").read_text() == "two\n"
    fresh = writing.planned(workspace, "b.txt", None)
    (workspace / "b.txt").symlink_to(workspace.parent / "b.txt")
    with pytest.raises(writing.NotEdited):
        writing.carry_out(workspace, fresh)
    assert not (workspace.parent / "b.txt").exists()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.md", writing.LINE),
        ("a.py", f"# {writing.LINE}"),
        ("a.ts", f"// {writing.LINE}"),
        ("a.json", ""),
        ("Makefile.unknown", writing.LINE),
    ],
)
def test_the_added_line_breaks_no_program(workspace: Path, name: str, line: str) -> None:
    (workspace / name).write_text("1\n")
    assert writing.planned(workspace, name, None).new == f"1\n{line}\n"


def test_a_large_file_is_not_edited(workspace: Path) -> None:
    (workspace / "large.txt").write_bytes(b"x" * (writing.EDIT_BYTES_MAX + 1))
    with pytest.raises(writing.NotEdited, match="larger"):
        writing.planned(workspace, "large.txt", None)


@pytest.mark.parametrize(
    ("mode", "asked", "done"), [("read", 0, False), ("ask", 2, True), ("edit", 1, True), ("full", 0, True)]
)
def test_the_modes(client: Client, workspace: Path, mode: str, asked: int, done: bool) -> None:
    session = client.begin()
    client.call("session/set_mode", sessionId=session, modeId=mode)
    client.prompt(session, "edit a.txt and run `touch b.txt`")
    assert len(client.requests) == asked
    assert (workspace / "a.txt").exists() is (workspace / "b.txt").exists() is done
    assert client.said().count("mode `read`") == (2 if mode == "read" else 0)


def test_a_command_streams_and_its_output_is_bounded(client: Client, workspace: Path) -> None:
    session = client.begin()
    client.prompt(session, "run `printf 'é1'; printf '2\\n'; pwd; exit 4`")
    assert client.output() == f"é12\n{workspace}\n"
    assert client.said().endswith("The command ended with 4.\n")
    assert client.updates("tool_call_update")[-1]["status"] == "failed"
    client.prompt(session, "run `head -c 1000000 /dev/zero | tr '\\0' x`")
    assert client.output() == "x" * running.SHOWN_MAX
    assert "only the first" in client.said()


def test_what_a_command_leaves_in_the_background_ends_with_it(client: Client, workspace: Path) -> None:
    client.prompt(client.begin(), "run `sleep 300 & echo $! > pid`")
    pid = int((workspace / "pid").read_text())
    for _ in range(300):
        if not alive(pid):
            break
        time.sleep(0.05)
    assert not alive(pid)


def alive(pid: int) -> bool:
    """Whether a process lives; one that only waits to be counted does not."""
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def test_a_stopped_command_is_killed(client: Client) -> None:
    session = client.begin()

    def stop(told: Json) -> None:
        if "terminal_output_delta" in told["update"].get("_meta", {}):
            client.send({"method": "session/cancel", "params": {"sessionId": session}})

    client.on_update = stop
    answer = client.prompt(session, "run `echo begun; sleep 300`")
    assert answer["result"]["stopReason"] == "cancelled"
    assert client.updates("tool_call_update")[-1]["status"] == "failed"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "all:\n\ntest: all\n"}, "make test"),
        ({"package.json": "{}"}, "npm test"),
        ({"conftest.py": ""}, "python3 -m pytest"),
        ({"pyproject.toml": ""}, "python3 -m unittest discover -v"),
        ({"Makefile": "all:\n"}, None),
    ],
)
def test_the_tests_of_a_workspace(workspace: Path, files: dict[str, str], command: str | None) -> None:
    for name, text in files.items():
        (workspace / name).write_text(text)
    assert running.tests_of(workspace) == command


def test_questions_of_every_kind(client: Client) -> None:
    session = client.begin()
    client.answer = {
        "action": "accept",
        "content": {"colour": "Blue", "meals": ["Bread", "Soup"], "words": "fine"},
    }
    client.prompt(session, "show me a form")
    fields = client.requests[0]["params"]["requestedSchema"]["properties"]
    assert [field["type"] for field in fields.values()] == ["string", "array", "string"]
    assert "colour: Blue; meals: Bread, Soup; words: fine" in client.said()
    client.answer = {"action": "decline"}
    client.prompt(session, "ask me something")
    assert "chose not to say" in client.said()


def test_a_subagent_has_its_own_words_and_its_own_approval(client: Client, workspace: Path) -> None:
    session = client.begin()
    client.prompt(session, "delegate to a subagent")
    [asked] = client.requests
    child = asked["params"]["sessionId"]
    assert child != session
    assert "I am the subagent" in client.said(child)
    assert "I am the subagent" not in client.said(session)
    assert client.updates("tool_call", child)[0]["kind"] == "edit"
    assert client.updates("tool_call", session)[0]["_meta"]["childSessionId"] == child
    assert (workspace / "subagent.md").read_text() == "A line written by a subagent.\n"


def test_a_long_stream_is_markdown_in_hundreds_of_pieces(client: Client) -> None:
    session = client.begin()
    client.prompt(session, "say hello")
    client.prompt(session, "long stream")
    assert len(client.updates("agent_message_chunk")) > 200
    for mark in ("# A long answer\n", "\n## ", "\n- ", "\n| ", "\n```python\n", "\n```\n"):
        assert mark in client.said()


def test_a_running_turn_takes_a_message_and_does_what_it_says(client: Client) -> None:
    session = client.begin()
    sent: list[str] = []

    def steer(told: Json) -> None:
        if not sent and "steer me now" in client.said():
            sent.append("yes")
            prompt = [{"type": "text", "text": "make a plan instead"}]
            params = {"sessionId": session, "prompt": prompt, "messageId": "m-1"}
            client.send({"id": 900, "method": "_session/steering", "params": params})

    client.on_update = steer
    client.prompt(session, "let me steer you")
    assert 'You steered me: "make a plan instead"' in client.said()
    assert client.updates("plan")


def test_a_failure_a_crash_and_a_silence(client: Client) -> None:
    session = client.begin()
    error = client.prompt(session, "fail")["error"]
    assert "rehearsed failure" in error["message"]
    assert "on purpose" in client.said()

    def stop(told: Json) -> None:
        if "Stop me" in client.said():
            client.send({"method": "session/cancel", "params": {"sessionId": session}})

    client.on_update = stop
    assert client.prompt(session, "be slow")["result"]["stopReason"] == "cancelled"
    assert "again" not in client.said()
    client.on_update = lambda update: None
    client.prompt(session, "be slow for 0.1 seconds")
    assert client.said().endswith("Here I am again.\n")
    assert client.prompt(session, "crash") == {}
    assert client.said().endswith("this sen")
    assert client.process.wait(WAIT) == 3


def test_a_loaded_conversation_remembers(tmp_path: Path, workspace: Path) -> None:
    home = tmp_path / "home"
    first = Client(workspace, home, "--rehearsal")
    session = first.begin()
    first.prompt(session, "what did I ask before?")
    assert "your first prompt" in first.said()
    first.prompt(session, "make a plan")
    first.close()
    second = Client(workspace, home, "--rehearsal")
    second.call("session/load", sessionId=session, cwd=str(workspace), mcpServers=[])
    second.prompt(session, "what did I ask before?")
    assert "1. what did I ask before?\n2. make a plan\n" in second.said()
    assert NOTICE not in second.said()
    second.close()


def test_without_the_switch_it_is_the_scripted_agent(workspace: Path) -> None:
    scripted = Client(workspace)
    session = scripted.begin()
    scripted.prompt(session, "make a plan")
    assert "You said: make a plan" in scripted.said()
    assert scripted.updates("plan") == []
    assert scripted.close() == 0
