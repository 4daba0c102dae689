"""The bridge: a small program that keeps one agent process for each conversation. Standard library only.

The agent takes a conversation's id, its resume and its fork as arguments, so each conversation is a process
of its own, and none can be started before it is known which one is wanted. This program stands in between. It
is started by path on our own interpreter (`python -I bridge.py PROGRAM`) and no module imports it. It reads
JSON lines on stdin and writes JSON lines on stdout:

    {op: "hello", id}             {say: "ready", id, nonce, version}
    {op: "open", of, arguments}   {say: "opened", of, pid}, or {say: "unopened", of, code, message}
    {op: "send", of, frame}       nothing, or {say: "unsent", of, uuid, code, message}
    {op: "close", of}             the end of that process's input
    {op: "leave"}                 the bridge ends
                                  {say: "frame", of, frame} for each line the agent writes
                                  {say: "noise", of, head} for each that is no JSON object
                                  {say: "ended", of, code, signal, stderr}

Two things are put into what is sent, because an adapter reads no files and keeps no bodies: an image that
names a file (`source: {type: "path", path, media_type}`), and the input of a permission that is granted as it
was asked for, which the agent wants back. The end of the bridge's own stdin, or SIGTERM, ends the agents and
then the bridge.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

VERSION = "1"
"""The version of this protocol."""

PROCESSES_MAX = 8
"""Most agent processes at once; one more is refused."""

QUEUE_MAX = 1000
"""Lines that may wait for an agent to read them; one that takes no more is ended."""

IMAGE_MAX = 10 << 20
"""Largest image put into a frame, in bytes."""

ASKED_MAX = 256
"""Most open permissions whose input is kept, of one agent; the oldest goes first."""

STDERR_LINES = 20
"""Most lines kept of the end of what an agent wrote to stderr."""

HEAD_MAX = 200
"""Characters told of a line that is no frame."""

CLOSE_SECONDS = 3.0
"""Seconds an agent may take to end after the end of its input."""

STOP_SECONDS = 2.0
"""Seconds between asking an agent to end and killing it."""


class Unreadable(Exception):
    """An image cannot be put in: (code, message)."""


class Mouth:
    """Our stdout, one whole line at a time, shared by all readers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def say(self, word: str, **more: Any) -> None:
        """One line for Podium."""
        self.write(json.dumps({"say": word, **more}, ensure_ascii=False).encode("utf-8", "replace"))

    def pass_on(self, of: str, line: bytes) -> None:
        """A frame of an agent, byte for byte."""
        self.write(b'{"say":"frame","of":' + json.dumps(of).encode() + b',"frame":' + line + b"}")

    def write(self, line: bytes) -> None:
        """Bytes and a newline; where nobody reads any more, nothing."""
        with self._lock, contextlib.suppress(OSError):
            view = memoryview(line + b"\n")
            while view:
                view = view[os.write(1, view) :]


class Agent:
    """One agent process with its pipes; each pipe has a thread."""

    def __init__(self, mouth: Mouth, of: str, argv: list[str]) -> None:
        self.mouth, self.of = mouth, of
        self.lines: queue.Queue[bytes | None] = queue.Queue(QUEUE_MAX)
        self.errors: deque[str] = deque(maxlen=STDERR_LINES)
        self.asked: dict[str, Any] = {}
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.ended = threading.Event()
        self._listening = [
            threading.Thread(target=self.read, daemon=True),
            threading.Thread(target=self.read_errors, daemon=True),
        ]
        mouth.say("opened", of=of, pid=self.process.pid)
        for thread in [*self._listening, threading.Thread(target=self.feed, daemon=True)]:
            thread.start()
        threading.Thread(target=self.attend, daemon=True).start()

    def send(self, line: bytes | None) -> None:
        """A line for the agent, or the end of its input. One that reads nothing any more is ended."""
        try:
            self.lines.put_nowait(line)
        except queue.Full:
            self.process.terminate()

    def feed(self) -> None:
        """Write what waits."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            while (line := self.lines.get()) is not None:
                self.process.stdin.write(line + b"\n")
                self.process.stdin.flush()
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def read(self) -> None:
        """Pass on what the agent writes."""
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            line = raw.strip()
            try:
                frame = json.loads(line)
            except (ValueError, RecursionError):
                frame = None
            if isinstance(frame, dict):
                self.notice(frame)
                self.mouth.pass_on(self.of, line)
            elif line:
                self.mouth.say("noise", of=self.of, head=line.decode("utf-8", "replace")[:HEAD_MAX])

    def notice(self, frame: Any) -> None:
        """Keep what a permission is asked for; an answer that changes nothing gives it back."""
        match frame:
            case {"type": "control_request", "request_id": str(name), "request": {"input": given}}:
                self.asked[name] = given
                while len(self.asked) > ASKED_MAX:
                    del self.asked[next(iter(self.asked))]
            case {"type": "control_cancel_request", "request_id": str(name)}:
                self.asked.pop(name, None)
            case _:
                pass

    def grant(self, frame: Any) -> None:
        """Give the input of a granted permission back, where the answer holds none of its own."""
        match frame:
            case {"type": "control_response", "response": {"request_id": str(name), "response": {**answer}}}:
                given = self.asked.pop(name, None)
                if answer.get("behavior") == "allow" and "updatedInput" not in answer and given is not None:
                    frame["response"]["response"]["updatedInput"] = given
            case _:
                pass

    def read_errors(self) -> None:
        """What the agent complains of: kept, and passed on for the diagnostics."""
        assert self.process.stderr is not None
        for raw in self.process.stderr:
            self.errors.append(raw.decode("utf-8", "replace").rstrip())
            with contextlib.suppress(OSError):
                os.write(2, raw)

    def attend(self) -> None:
        """Tell of the end, once everything the agent wrote was passed on."""
        code = self.process.wait()
        for thread in self._listening:
            thread.join(STOP_SECONDS)
        self.mouth.say(
            "ended",
            of=self.of,
            code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            stderr="\n".join(self.errors),
        )
        self.ended.set()


class Bridge:
    """Podium's lines, and the agents they are for."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.mouth = Mouth()
        self.agents: dict[str, Agent] = {}

    def take(self, line: bytes) -> bool:
        """One line of Podium; False where it is the last one."""
        try:
            found: Any = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        match found:
            case {"op": "hello", "id": str(name)}:
                self.mouth.say("ready", id=name, nonce=os.urandom(16).hex(), version=VERSION)
            case {"op": "open", "of": str(of), "arguments": [*arguments]}:
                self.open(of, [str(argument) for argument in arguments])
            case {"op": "send", "of": str(of), "frame": {**frame}}:
                self.send(of, frame)
            case {"op": "close", "of": str(of)}:
                if of in self.agents:
                    self.agents[of].send(None)
            case {"op": "leave"}:
                return False
            case _:
                self.mouth.say("unread", bytes=len(line))
        return True

    def open(self, of: str, arguments: list[str]) -> None:
        """Start an agent for a conversation, after the one it had is gone."""
        self.agents = {name: agent for name, agent in self.agents.items() if not agent.ended.is_set()}
        if of in self.agents:
            stop([self.agents.pop(of)])
        if len(self.agents) >= PROCESSES_MAX:
            self.mouth.say("unopened", of=of, code="too_many", message="Too many conversations are open.")
            return
        try:
            self.agents[of] = Agent(self.mouth, of, [self.program, *arguments])
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.mouth.say("unopened", of=of, code="spawn_failed", message=str(error))

    def send(self, of: str, frame: dict[str, Any]) -> None:
        """A frame for an agent, with its images put in."""
        agent, uuid = self.agents.get(of), frame.get("uuid")
        if agent is None:
            self.mouth.say(
                "unsent", of=of, uuid=uuid, code="thread_missing", message="This conversation is not open."
            )
            return
        try:
            put_images(frame)
        except Unreadable as error:
            code, message = error.args
            self.mouth.say("unsent", of=of, uuid=uuid, code=code, message=message)
            return
        agent.grant(frame)
        agent.send(json.dumps(frame, ensure_ascii=False).encode("utf-8", "replace"))

    def run(self) -> int:
        """Until Podium is gone or says so."""
        try:
            for line in sys.stdin.buffer:
                if not self.take(line):
                    break
        except KeyboardInterrupt:
            for agent in self.agents.values():
                agent.process.terminate()
        stop(list(self.agents.values()))
        return 0


def put_images(frame: dict[str, Any]) -> None:
    """Replace images that name a file by their bytes. Raises Unreadable."""
    match frame:
        case {"type": "user", "message": {"content": [*blocks]}}:
            for block in blocks:
                match block:
                    case {"type": "image", "source": {"type": "path", "path": str(path), "media_type": kind}}:
                        data = base64.b64encode(picture(path)).decode()
                        block["source"] = {"type": "base64", "media_type": kind, "data": data}
                    case _:
                        pass
        case _:
            pass


def picture(path: str) -> bytes:
    """The bytes of an image. Raises Unreadable."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(IMAGE_MAX + 1)
    except OSError as error:
        raise Unreadable("image_unreadable", f"{path}: {error.strerror}") from error
    if len(data) > IMAGE_MAX:
        raise Unreadable("image_too_large", f"{path} is larger than {IMAGE_MAX} bytes.")
    return data


def stop(agents: list[Agent]) -> None:
    """End agents in good order: their input first, then by a signal, then by force."""
    for agent in agents:
        agent.send(None)
    for seconds, end in ((CLOSE_SECONDS, "terminate"), (STOP_SECONDS, "kill"), (STOP_SECONDS, "")):
        deadline = time.monotonic() + seconds
        for agent in agents:
            agent.ended.wait(max(0.0, deadline - time.monotonic()))
        for agent in agents:
            if end and not agent.ended.is_set():
                getattr(agent.process, end)()


def told(number: int, _: object) -> None:
    """A signal: end."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, told)
    sys.exit(Bridge(sys.argv[1]).run())
