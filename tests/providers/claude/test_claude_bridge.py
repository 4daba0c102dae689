"""The bridge with a small program in the agent's place."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from podium.providers.claude.adapter import BRIDGE

WAIT = 20.0

AGENT = """\
#!{python} -I
import json, sys
print(json.dumps({{"type": "began", "arguments": sys.argv[1:]}}), flush=True)
print("no frame", flush=True)
for line in sys.stdin:
    frame = json.loads(line)
    if frame.get("type") == "ask":
        frame = {{"type": "control_request", "request_id": "k", "request": {{"input": {{"big": "x" * 900}}}}}}
    elif frame.get("type") == "die":
        print("words on stderr", file=sys.stderr, flush=True)
        sys.exit(3)
    print(json.dumps(frame), flush=True)
"""


class Bridge:
    """A bridge that runs."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", str(BRIDGE), program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.lines: Queue[dict[str, Any]] = Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def tell(self, op: str, **fields: Any) -> None:
        """One line for it."""
        self.raw(json.dumps({"op": op, **fields}).encode())

    def raw(self, line: bytes) -> None:
        """Any line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hears(self, say: str) -> dict[str, Any]:
        """The next line of this kind, with those before it left out."""
        while True:
            found = self.lines.get(timeout=WAIT)
            if found["say"] == say:
                return found

    def ends(self) -> int | None:
        """Wait for its end; its exit code."""
        assert self.process.stdin is not None and self.process.stdout is not None
        code = self.process.wait(WAIT)
        self.reader.join(WAIT)
        self.process.stdin.close()
        self.process.stdout.close()
        return code

    def opened(self, of: str = "a", *arguments: str) -> Bridge:
        """With a conversation."""
        self.tell("open", of=of, arguments=list(arguments))
        self.hears("opened")
        assert self.hears("frame")["frame"] == {"type": "began", "arguments": list(arguments)}
        return self


@pytest.fixture
def program(tmp_path: Path) -> str:
    place = tmp_path / "agent"
    place.write_text(AGENT.format(python=sys.executable))
    place.chmod(0o755)
    return str(place)


@pytest.fixture
def bridge(program: str) -> Iterator[Bridge]:
    found = Bridge(program)
    yield found
    assert found.process.stdin is not None
    found.process.stdin.close()
    assert found.ends() == 0


def test_it_greets_with_a_nonce_of_its_own(bridge: Bridge) -> None:
    bridge.tell("hello", id="x")
    ready = bridge.hears("ready")
    assert ready["id"] == "x" and len(ready["nonce"]) == 32


def test_frames_go_both_ways_and_noise_is_told(bridge: Bridge) -> None:
    bridge.opened("a", "--one", "two")
    assert bridge.hears("noise")["head"] == "no frame"
    frame = {"type": "user", "message": {"content": "Grüße 🎭"}}
    bridge.tell("send", of="a", frame=frame)
    assert bridge.hears("frame") == {"say": "frame", "of": "a", "frame": frame}


def test_two_conversations_are_two_processes(bridge: Bridge) -> None:
    bridge.opened("a")
    bridge.opened("b")
    bridge.tell("send", of="b", frame={"type": "hello"})
    assert bridge.hears("frame")["of"] == "b"


def test_what_is_no_request_never_reaches_an_agent(bridge: Bridge) -> None:
    bridge.opened()
    for line in (b"nonsense", b"[]", b'{"op": "send", "of": "a", "frame": "text"}', b'{"op": "new"}'):
        bridge.raw(line)
        bridge.hears("unread")
    bridge.tell("send", of="nobody", frame={"type": "user", "uuid": "u"})
    assert bridge.hears("unsent")["code"] == "thread_missing"


def test_an_image_is_put_in_and_one_that_is_not_there_is_told(bridge: Bridge, tmp_path: Path) -> None:
    bridge.opened()
    picture = tmp_path / "a.png"
    picture.write_bytes(b"picture")

    def message(path: Path) -> dict[str, Any]:
        source = {"type": "path", "path": str(path), "media_type": "image/png"}
        return {"type": "user", "uuid": "u", "message": {"content": [{"type": "image", "source": source}]}}

    bridge.tell("send", of="a", frame=message(picture))
    [block] = bridge.hears("frame")["frame"]["message"]["content"]
    assert block["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(b"picture").decode(),
    }
    bridge.tell("send", of="a", frame=message(tmp_path / "none.png"))
    assert (told := bridge.hears("unsent"))["code"] == "image_unreadable" and told["uuid"] == "u"


@pytest.mark.parametrize(
    ("answer", "back"),
    [
        ({"behavior": "allow"}, {"behavior": "allow", "updatedInput": {"big": "x" * 900}}),
        ({"behavior": "allow", "updatedInput": {"a": 1}}, {"behavior": "allow", "updatedInput": {"a": 1}}),
        ({"behavior": "deny", "message": "no"}, {"behavior": "deny", "message": "no"}),
    ],
)
def test_a_permission_granted_as_asked_gets_its_input_back(
    bridge: Bridge, answer: dict[str, Any], back: dict[str, Any]
) -> None:
    bridge.opened()
    bridge.tell("send", of="a", frame={"type": "ask"})
    assert bridge.hears("frame")["frame"]["request_id"] == "k"
    response = {"subtype": "success", "request_id": "k", "response": answer}
    bridge.tell("send", of="a", frame={"type": "control_response", "response": response})
    assert bridge.hears("frame")["frame"]["response"]["response"] == back


def test_the_end_of_an_agent_is_told_behind_all_that_it_wrote(bridge: Bridge) -> None:
    bridge.opened()
    bridge.tell("send", of="a", frame={"type": "die"})
    told = bridge.hears("ended")
    assert (told["of"], told["code"], told["signal"], told["stderr"]) == ("a", 3, None, "words on stderr")
    bridge.opened("a", "again")


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    found = Bridge(str(tmp_path / "none"))
    found.tell("open", of="a", arguments=[])
    assert found.hears("unopened")["code"] == "spawn_failed"
    found.tell("leave")
    assert found.ends() == 0


def test_told_to_end_it_ends_its_agents(program: str) -> None:
    found = Bridge(program).opened()
    found.process.terminate()
    assert found.hears("ended")["of"] == "a"
    assert found.ends() == 0
