"""Stands between a keeper's pipes and an agent that is an HTTP server: `python -I courier.py PLAN ARGV...`.

The keeper owns it as it owns any agent, so what an agent said is spooled and what it is told is numbered,
whoever dies (decision 0017). It starts ARGV with a password of its own making in the environment, learns the
port from what the program prints, and speaks JSON lines:

    in   {tag, method, path, body, seconds}                one request; it is made once, whatever comes of it
    out  {input: "http_reply", tag, status, body}          its answer; status 0: none came, body says why
         {input: "sse_event", name, data}                  an event of the stream; "open": it is there
         {input: "stream_lost", reason}                    events may be missing since the one before

The end of stdin or SIGTERM ends the program and then the courier; the program's end ends the courier, with
its code or by its signal. Standard library only; imported by nobody.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import http.client
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

HOST = "127.0.0.1"

START_SECONDS = 60.0
"""Seconds until the program must have said where it listens."""

CONNECT_SECONDS = 5.0
"""Seconds to connect, on this machine."""

REQUEST_SECONDS = 30.0
"""Seconds for a whole answer, where a request does not say otherwise."""

REQUEST_SECONDS_MAX = 600.0
"""Most seconds that a request may say."""

REQUESTS_MAX = 16
"""Requests at once; the next waits in its pipe."""

BODY_MAX = 32 << 20
"""Longest answer, in bytes; a longer one counts as none."""

EVENT_MAX = 16 << 20
"""Longest event, in bytes; a longer one is dropped and told as a loss."""

TEXT_MAX = 4096
"""Characters kept of an answer that is no JSON."""

RECONNECTS_MAX = 8
"""Attempts in a row to open the stream; after them the program is ended, as nobody could hear it."""

RECONNECT_SECONDS = 0.1
"""Seconds before the second attempt, doubled for each next one, up to RECONNECT_SECONDS_MAX."""

RECONNECT_SECONDS_MAX = 2.0

LINE_MAX = 64 << 20
"""Longest line taken from the owner, in bytes."""

WORDS_MAX = 64 << 10
"""Longest line of the program's own output that is looked at for its port, in bytes."""

STOP_SECONDS = 2.0
"""Seconds between asking the program to end and killing it; a keeper waits longer than this for us."""

LEAVE_SECONDS = 1.0
"""Seconds for what the program said last to be passed on."""

PASSWORD_BYTES = 32
READ = 64 << 10
PR_SET_PDEATHSIG = 1
NO_PORT, NO_STREAM = 70, 71
"""Exit codes of our own: it never listened; its stream could not be had."""


class Out:
    """Lines for the owner, whole, from any thread."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()

    def put(self, **line: Any) -> None:
        """Write one line; it waits while nobody reads."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        rest = memoryview(text.encode("utf-8", "replace") + b"\n")
        with self._lock:
            while rest:
                rest = rest[os.write(self._fd, rest) :]

    def leave(self, code: int) -> NoReturn:
        """End this process between two lines, with this code or, where it is negative, by that signal."""
        with self._lock:
            if code < 0:
                signal.signal(-code, signal.SIG_DFL) if -code not in (
                    signal.SIGKILL,
                    signal.SIGSTOP,
                ) else None
                os.kill(os.getpid(), -code)
            os._exit(code if code >= 0 else 128 - code)


class Lines:
    """Lines out of bytes, cut anywhere, without their newlines. A line over the limit is told as None."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are complete now."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._take(piece)
            yield None if self._dropping else bytes(self._held)
            self._held.clear()
            self._dropping = False
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        self._dropping = self._dropping or len(self._held) + len(piece) > self._limit
        if self._dropping:
            self._held.clear()
        else:
            self._held += piece


class Events:
    """The events of a stream out of its bytes, cut anywhere. One that is too long is told as None."""

    def __init__(self, limit: int = EVENT_MAX) -> None:
        self._limit = limit
        self._lines = Lines(limit)
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[tuple[str, bytes] | None]:
        """The events that are complete now: name and data."""
        for line in self._lines.feed(data):
            if line is None:
                self._size = self._limit + 1
                continue
            found = self._line(line.removesuffix(b"\r"))
            if found is not None:
                yield found if self._size <= self._limit else None
                self._name, self._data, self._size = "", [], 0

    def _line(self, line: bytes) -> tuple[str, bytes] | None:
        """Take one line; an empty one ends an event that has data."""
        if not line:
            if self._data or self._size > self._limit:
                return self._name, b"\n".join(self._data)
            self._name = ""
            return None
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._size += len(value)
            if self._size <= self._limit:
                self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None


class Server:
    """The program as seen over HTTP."""

    def __init__(self, port: int, user: str, password: str) -> None:
        self.port = port
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._stream: http.client.HTTPConnection | None = None
        self._headers = {"Authorization": f"Basic {pair}"}

    def request(self, method: str, path: str, body: Any, seconds: float) -> tuple[int, Any]:
        """One request and its whole answer; status 0 and the reason where none came."""
        deadline = time.monotonic() + seconds
        link = http.client.HTTPConnection(HOST, self.port, timeout=min(CONNECT_SECONDS, seconds))
        try:
            link.connect()
            headers, data = dict(self._headers), None
            if body is not None:
                headers["Content-Type"] = "application/json"
                data = json.dumps(body).encode()
            self._patience(link, deadline)
            link.request(method, path, data, headers)
            self._patience(link, deadline)
            answer = link.getresponse()
            return answer.status, _content(self._whole(link, answer, deadline))
        except TimeoutError:
            return 0, "timeout"
        except (OSError, http.client.HTTPException, ValueError) as error:
            return 0, str(error) if isinstance(error, _TooLong) else type(error).__name__
        finally:
            link.close()

    def _whole(
        self, link: http.client.HTTPConnection, answer: http.client.HTTPResponse, deadline: float
    ) -> bytes:
        data = bytearray()
        while True:
            self._patience(link, deadline)
            piece = answer.read1(READ)
            if not piece:
                break
            data += piece
            if len(data) > BODY_MAX:
                raise _TooLong("too_long")
        if answer.length:  # the server hung up before the end
            raise http.client.IncompleteRead(bytes(data[:1]), answer.length)
        return bytes(data)

    def _patience(self, link: http.client.HTTPConnection, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if link.sock is not None:
            link.sock.settimeout(left)

    def stream(self, path: str, silence: float) -> Iterator[bytes]:
        """The bytes of an event stream, b"" first once it is open. Raises what broke it."""
        link = self._stream = http.client.HTTPConnection(HOST, self.port, timeout=CONNECT_SECONDS)
        try:
            link.request("GET", path, None, {**self._headers, "Accept": "text/event-stream"})
            if link.sock is not None:
                link.sock.settimeout(silence)
            answer = link.getresponse()
            kind = answer.headers.get_content_type()
            if answer.status != 200 or kind != "text/event-stream":
                raise ConnectionError(f"no stream: {answer.status} {kind}")
            yield b""
            while piece := answer.read1(READ):
                yield piece
            raise ConnectionError("closed")
        finally:
            link.close()

    def hang_up(self) -> None:
        """End the stream: some servers wait for it when they are to end."""
        sock = self._stream.sock if self._stream is not None else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class _TooLong(ValueError):
    """An answer over its bound."""


def _content(data: bytes) -> Any:
    """The JSON of an answer, its beginning as text where it is none, None where it is empty."""
    if not data:
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data[: TEXT_MAX * 4].decode("utf-8", "replace")[:TEXT_MAX]


class Courier:
    """Carries for one program."""

    def __init__(self, plan: dict[str, Any], argv: list[str]) -> None:
        self.plan = plan
        self.out = Out(1)
        self.ending = threading.Event()
        self.listening = threading.Event()
        self.opened = threading.Event()
        self.room = threading.BoundedSemaphore(REQUESTS_MAX)
        self.server: Server | None = None
        self.code: int | None = None
        self.hearer = threading.Thread(target=self.hear, daemon=True)
        self.password = secrets.token_urlsafe(PASSWORD_BYTES)
        environment = {**os.environ, str(plan["password"]): self.password}
        self.program = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=environment,
            preexec_fn=_die_with_us,  # noqa: PLW1509 (no thread has begun yet)
        )

    def run(self) -> None:
        """Until one of both sides has ended."""
        for task in (self.words, self.watch):
            threading.Thread(target=task, daemon=True).start()
        self.hearer.start()
        try:
            # Nothing is asked before the stream is there: what a request causes would be missed.
            if self.opened.wait(START_SECONDS):
                self.carry()
            elif not self.listening.is_set():
                self.code = NO_PORT
                print("courier: the program did not say where it listens", file=sys.stderr, flush=True)
        except _Told:
            pass
        self.stop()
        threading.Event().wait(STOP_SECONDS * 2)  # `watch` ends us with the program
        self.out.leave(self.code or 0)

    def words(self) -> None:
        """Look for the port in what the program prints; all of it goes to the diagnostics."""
        stdout = self.program.stdout
        pattern = re.compile(str(self.plan["listening"]).encode())
        while stdout is not None and (line := stdout.readline(WORDS_MAX)):
            found = None if self.listening.is_set() else pattern.search(line)
            if found is not None:
                user = str(self.plan.get("user", ""))
                self.server = Server(int(found.group(1)), user, self.password)
                self.listening.set()
            with contextlib.suppress(OSError):
                os.write(2, line)

    def watch(self) -> None:
        """The program's end is ours, with its code or by its signal, once its last words are passed on."""
        code = self.program.wait()
        self.ending.set()
        deadline = time.monotonic() + LEAVE_SECONDS
        self.hearer.join(LEAVE_SECONDS)
        for _ in range(REQUESTS_MAX):
            self.room.acquire(timeout=max(0.0, deadline - time.monotonic()))
        self.out.leave(self.code if self.code is not None else code)

    def stop(self) -> None:
        """Ask the program to end, and kill it after a while."""
        self.ending.set()
        self.code = self.code or 0
        if self.server is not None:
            self.server.hang_up()
        with contextlib.suppress(OSError):
            self.program.terminate()
        threading.Timer(STOP_SECONDS, self.program.kill).start()

    def carry(self) -> None:
        """Take requests until the end of the input. They are made in their order, whatever their answers."""
        for line in _input():
            try:
                given = json.loads(line)
                tag, method, path = str(given["tag"]), str(given["method"]), str(given["path"])
                seconds = min(float(given.get("seconds", REQUEST_SECONDS)), REQUEST_SECONDS_MAX)
            except (ValueError, TypeError, KeyError):
                print("courier: a line that is no request", file=sys.stderr, flush=True)
                continue
            self.room.acquire()
            work = (tag, method, path, given.get("body"), seconds)
            threading.Thread(target=self.deliver, args=work, daemon=True).start()

    def deliver(self, tag: str, method: str, path: str, body: Any, seconds: float) -> None:
        """Make one request, once, and say what came of it."""
        status, content = 0, "not_made"
        try:
            if self.server is not None:
                status, content = self.server.request(method, path, body, seconds)
        finally:
            self.out.put(input="http_reply", tag=tag, status=status, body=content)
            self.room.release()

    def hear(self) -> None:
        """Read the event stream; what breaks it is told, and it is opened again within its bound."""
        while not self.listening.wait(LEAVE_SECONDS):
            if self.ending.is_set():
                return
        failed = 0
        while failed < RECONNECTS_MAX and not self.ending.is_set():
            if failed > 1:
                time.sleep(min(RECONNECT_SECONDS * 2 ** (failed - 2), RECONNECT_SECONDS_MAX))
            opened, reason = self.listen()
            failed = 1 if opened else failed + 1
            if opened and not self.ending.is_set():
                self.out.put(input="stream_lost", reason=reason)
        if not self.ending.is_set():
            print("courier: the event stream cannot be had", file=sys.stderr, flush=True)
            self.code = NO_STREAM
            self.stop()

    def listen(self) -> tuple[bool, str]:
        """One connection to the stream: whether it opened, and why it ended."""
        opened, events = False, Events()
        try:
            assert self.server is not None
            for piece in self.server.stream(self.plan["stream"], float(self.plan["silence_seconds"])):
                if not opened:
                    opened = True
                    self.out.put(input="sse_event", name="open", data=None)
                    self.opened.set()
                for found in events.feed(piece):
                    if found is None:
                        return opened, "event_too_long"
                    name, data = found
                    self.out.put(input="sse_event", name=name or "message", data=_content(data))
        except TimeoutError:
            return opened, "silence"
        except (OSError, http.client.HTTPException, ValueError) as error:
            return opened, type(error).__name__
        return opened, "closed"


class _Told(Exception):
    """SIGTERM came."""


def _told(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Told


def _input() -> Iterator[bytes]:
    """The lines of the owner; one over the bound is dropped."""
    lines = Lines(LINE_MAX)
    while data := os.read(0, READ):
        yield from (line for line in lines.feed(data) if line is not None)


def _die_with_us() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def main() -> None:
    """Start the program and carry for it."""
    signal.signal(signal.SIGTERM, _told)
    try:
        Courier(json.loads(sys.argv[1]), sys.argv[2:]).run()
    except _Told:
        os._exit(0)
    except OSError as error:
        print(f"courier: {error.strerror}: {error.filename}", file=sys.stderr, flush=True)
        os._exit(NO_PORT)


if __name__ == "__main__":
    main()
