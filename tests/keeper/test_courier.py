"""The courier between a keeper's pipes and an agent that is an HTTP server, with such agents' faults."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import podium.keeper
from podium.contract.adapter import HttpSend, HttpServer
from podium.keeper.courier import Events
from podium.transport.courier import argv_of, line_of

AGENT = Path(__file__).with_name("http_agent.py")
WAIT_MAX = 20.0
PLAN = HttpServer(
    stream="/events",
    listening=r"listening on http://127\.0\.0\.1:(\d+)",
    password="AGENT_PASSWORD",
    user="agent",
    silence_seconds=5.0,
)


class Carried:
    """A courier with its agent, as a keeper would hold it."""

    def __init__(self, folder: Path, fault: str = "", plan: HttpServer = PLAN) -> None:
        self.log = folder / "log"
        self.log.touch()
        self.process = subprocess.Popen(
            argv_of([sys.executable, str(AGENT), str(self.log), fault], plan),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self.errors: list[bytes] = []
        tasks = (self._read, self._read_errors)
        self._readers = [threading.Thread(target=task, daemon=True) for task in tasks]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)

    def send(self, tag: str, path: str, body: Any = None, seconds: float = 10.0) -> None:
        assert self.process.stdin is not None
        line = line_of(HttpSend(tag, "GET" if body is None else "POST", path, body, seconds=seconds))
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next line that fits."""
        deadline = time.monotonic() + WAIT_MAX
        while True:
            line = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            assert line is not None, f"the courier ended; {self.errors}"
            found = json.loads(line)
            if fits(found):
                return found

    def reply(self, tag: str) -> tuple[int, Any]:
        found = self.until(lambda line: line.get("tag") == tag)
        return found["status"], found["body"]

    def event(self, name: str) -> Any:
        return self.until(lambda line: line.get("name") == name)["data"]

    def asked(self, path: str) -> int:
        """How often the agent was asked for this."""
        return sum(line.split()[1] == path for line in self.log.read_text().splitlines())

    def ended(self) -> int:
        return self.process.wait(WAIT_MAX)

    def alive(self) -> list[str]:
        """What is left of the courier's session."""
        found = subprocess.run(
            ["ps", "-o", "args=", "-s", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return [line for line in found.stdout.splitlines() if "http_agent" in line]

    def close(self) -> None:
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(WAIT_MAX)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            for reader in self._readers:
                reader.join(WAIT_MAX)
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()


@pytest.fixture
def carried(tmp_path: Path) -> Iterator[Carried]:
    found = Carried(tmp_path)
    yield found
    found.close()


def test_it_is_run_by_path_and_the_password_stands_nowhere(carried: Carried) -> None:
    carried.send("a", "/say", {"n": 1})
    assert carried.reply("a")[0] == 200
    command = Path(f"/proc/{carried.process.pid}/cmdline").read_bytes()
    assert b"AGENT_PASSWORD" in command
    children = Path(f"/proc/{carried.process.pid}/task/{carried.process.pid}/children").read_text().split()
    [environment] = [Path(f"/proc/{child}/environ").read_bytes() for child in children]
    [secret] = [one.split(b"=")[1] for one in environment.split(b"\0") if one.startswith(b"AGENT_PASSWORD=")]
    assert len(secret) > 30
    assert secret not in command
    assert secret not in carried.log.read_bytes()
    place = Path(podium.keeper.__file__ or "").with_name("courier.py")
    assert str(place).encode() in command


def test_the_stream_is_there_before_anything_is_asked(carried: Carried) -> None:
    carried.send("a", "/say", {"n": 1})
    first = carried.until(lambda line: True)
    assert (first["name"], first["data"]) == ("open", None)
    assert json.loads(carried.event("news")["text"]) == {"n": 1}
    assert carried.log.read_text().splitlines()[0].startswith("GET /events")


@pytest.mark.behaviour("F280")
@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/broken", 500, {"error": "broken"}),
        ("/words", 200, "<html>no JSON</html>"),
        ("/empty", 204, None),
        ("/nothing", 404, {}),
        ("/cut", 0, "IncompleteRead"),
        ("/long", 0, "too_long"),
        ("/hang", 0, "timeout"),
    ],
)
def test_whatever_the_answer_the_request_is_made_once(
    carried: Carried, path: str, status: int, body: Any
) -> None:
    carried.send("a", path, seconds=1.0 if path == "/hang" else 10.0)
    carried.send("b", "/empty")
    replies: dict[str, Any] = {}
    while len(replies) < 2:
        line = carried.until(lambda line: "tag" in line)
        replies[line["tag"]] = (line["status"], line["body"])
    assert replies["a"] == (status, body)
    assert replies["b"] == (204, None)
    assert carried.asked(path) == 1 + (path == "/empty")


def test_a_request_that_hangs_holds_up_no_other(carried: Carried) -> None:
    carried.send("slow", "/hang", seconds=30.0)
    carried.send("fast", "/empty")
    assert carried.reply("fast") == (204, None)


def test_a_stream_that_breaks_is_told_and_opened_again(carried: Carried) -> None:
    assert carried.event("open") is None
    carried.send("a", "/lose")
    assert carried.until(lambda line: line["input"] == "stream_lost")["reason"]
    assert carried.event("open") is None
    carried.send("b", "/say", "again")
    assert carried.event("news")["text"] == '"again"'
    assert carried.asked("/events") == 2


def test_a_stream_that_says_nothing_is_opened_again(tmp_path: Path) -> None:
    plan = HttpServer("/events", PLAN.listening, PLAN.password, PLAN.user, silence_seconds=0.3)
    carried = Carried(tmp_path, "silent", plan)
    with contextlib.closing(carried):
        assert carried.event("open") is None
        assert carried.until(lambda line: line["input"] == "stream_lost")["reason"] == "silence"
        assert carried.event("open") is None


def test_an_agent_without_a_stream_is_ended(tmp_path: Path) -> None:
    carried = Carried(tmp_path, "no_stream")
    with contextlib.closing(carried):
        assert carried.ended() == 71
        assert any(b"stream cannot be had" in line for line in carried.errors)
        assert carried.alive() == []


def test_the_agents_death_is_the_couriers(carried: Carried) -> None:
    carried.send("a", "/die")
    assert carried.ended() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("fault", "way"), [("", "eof"), ("", "term"), ("stubborn", "eof"), ("stubborn", "term"), ("mute", "term")]
)
def test_its_end_is_the_agents(tmp_path: Path, fault: str, way: str) -> None:
    carried = Carried(tmp_path, fault)
    with contextlib.closing(carried):
        if fault != "mute":
            assert carried.event("open") is None
            if way == "eof":
                assert carried.process.stdin is not None
                carried.process.stdin.close()
        else:
            deadline = time.monotonic() + WAIT_MAX
            while not carried.errors and time.monotonic() < deadline:
                time.sleep(0.02)
        if way == "term":
            carried.process.terminate()
        assert carried.ended() == 0
        assert carried.alive() == []


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    done = subprocess.run(
        argv_of(["/nowhere/agent"], PLAN),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_MAX,
        check=False,
    )
    assert done.returncode == 70
    assert b"/nowhere/agent" in done.stderr


def test_lines_that_are_no_requests_are_passed_over(carried: Carried) -> None:
    assert carried.process.stdin is not None
    carried.process.stdin.write(b"no JSON\n[1]\n{}\n\n")
    carried.send("a", "/empty")
    assert carried.reply("a") == (204, None)


STREAM = b'event: one\ndata: {"a":\ndata:  1}\n\n: beat\n\ndata: 2\r\n\r\nid: 7\nevent: none\n\ndata: 3\n\n'


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_the_same_however_they_are_cut(size: int) -> None:
    events = Events()
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    found = [one for piece in pieces for one in events.feed(piece)]
    assert found == [("one", b'{"a":\n 1}'), ("", b"2"), ("", b"3")]


def test_an_event_over_the_bound_is_told_as_lost_and_the_next_is_whole() -> None:
    events = Events(limit=10)
    found = list(
        events.feed(b"data: " + b"x" * 50 + b"\n\ndata: ok\n\ndata: 123456\ndata: 789012\n\ndata: end\n\n")
    )
    assert found == [None, ("", b"ok"), None, ("", b"end")]
