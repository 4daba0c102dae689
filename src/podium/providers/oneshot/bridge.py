"""The bridge: a small program that runs a person's command once for each prompt. Standard library only.

It is started by path on our own interpreter (`python -I bridge.py PROGRAM ARGUMENT ...`), lives as long as
the session, and no module imports it. It reads JSON lines on stdin and writes JSON lines on stdout:

    {op: "hello", id}          {say: "ready", id, session, version, command}
    {op: "run", turn, text}    {say: "started", turn}, or {say: "refused", turn, code, message}
                               {say: "text", turn, text} for each piece of what is printed
                               {say: "ended", turn, code, signal, why, stderr, bytes, left}

The prompt goes to the command's stdin, byte for byte, and never into its arguments (B09). A command is its
process group: once the program itself has ended, what is left of the group is ended too. The end of the
bridge's own stdin, or SIGTERM, ends the command and then the bridge.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

VERSION = "bridge-1.0.0"
"""The version that the claims of the adapter are proven on; no command's own version looks like it."""

LINE_MAX = 64 << 20
"""Longest line taken from Podium, in bytes; a longer one is dropped."""

ANSWER_MAX = 16 << 20
"""Longest answer, in bytes; a command that prints more is ended, and what it printed so far is kept."""

STDERR_MAX = 4 << 10
"""Bytes kept of the end of what a command wrote to stderr."""

STDERR_LINES = 20
"""Most lines kept of it."""

READ = 64 << 10
"""Bytes of one read, and so of one piece of the answer."""

OUT_MAX = 1 << 20
"""Bytes that may wait for Podium to read them; beyond it the command waits at its own pipe."""

DRAIN_SECONDS = 2.0
"""How long something that a command left behind may hold its output open after the command has ended."""

STOP_SECONDS = 2.0
"""Seconds between asking a command to end and killing it; the keeper waits longer than this for us."""

KILL_SECONDS = 2.0
"""Seconds that a killed command may take to be gone; after them it is reported as it is."""

LEAVE_SECONDS = 1.0
"""Seconds for the last words of the bridge to be read."""

PR_SET_PDEATHSIG = 1
NEVER = float("inf")


class Lines:
    """Lines out of bytes, cut anywhere. A line over the limit is dropped and told as None."""

    def __init__(self, limit: int = LINE_MAX) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are complete now, without their newlines."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._take(piece)
            yield None if self._dropping else bytes(self._held)
            self._held.clear()
            self._dropping = False
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        if self._dropping or len(self._held) + len(piece) > self._limit:
            self._held.clear()
            self._dropping = True
        else:
            self._held += piece


class Tail:
    """The end of a stream of bytes: the last lines, bounded."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Take more, and forget what is too old."""
        self._bytes += data
        del self._bytes[:-STDERR_MAX]

    def text(self) -> str:
        """What is kept, as text."""
        lines = self._bytes.decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-STDERR_LINES:])


class Answer:
    """What a command prints, as text and within the limit: characters may be cut anywhere, or be none."""

    def __init__(self, limit: int = ANSWER_MAX) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._limit = limit
        self.taken = 0
        self.full = False

    def feed(self, data: bytes) -> str:
        """More bytes; the text that is certain now. Nothing more once the answer is full."""
        if self.full:
            return ""
        room = self._limit - self.taken
        self.full = len(data) > room
        self.taken += min(len(data), room)
        return self._decoder.decode(data[:room])

    def finish(self) -> str:
        """The rest: a character that was never completed."""
        return self._decoder.decode(b"", final=True)


class NotStarted(Exception):
    """The command could not be started: (code, message)."""


class Command:
    """One run of the command: its process group, its pipes and what is known of its end."""

    def __init__(self, argv: Sequence[str], turn: str, prompt: bytes) -> None:
        self.turn = turn
        self.answer, self.errors = Answer(), Tail()
        self.prompt = memoryview(prompt)
        self.process, self.stdin, self.stdout, self.stderr = _start(argv)
        self.why: str | None = None
        self.kill_at = self.give_up_at = self.drain_at = NEVER

    def exited(self) -> bool:
        """Whether the program itself has ended. It is left unreaped, so that its group keeps its number."""
        if sys.platform == "darwin":
            return self.process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return self.process.returncode is not None or os.waitid(os.P_PID, self.process.pid, flags) is not None

    def signal(self, number: int) -> None:
        """Tell the whole group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def stop(self, why: str, now: float) -> None:
        """Ask the group to end, and kill it after a while. The first reason stands."""
        if self.why is None:
            self.why = why
            self.signal(signal.SIGTERM)
            self.signal(signal.SIGCONT)
            self.kill_at = now + STOP_SECONDS

    def write(self) -> bool:
        """Give the command more of its prompt; whether all of it is written, or will never be read."""
        try:
            while self.prompt:
                self.prompt = self.prompt[os.write(self.stdin, self.prompt[:READ]) :]
        except BlockingIOError:
            return False
        except OSError:  # the command does not read it, which is its right
            return True
        return True


def _start(argv: Sequence[str]) -> tuple[subprocess.Popen[bytes], int, int, int]:
    """Start the command in a group of its own; it and our ends of its pipes. Raises NotStarted."""
    (read_in, stdin), (stdout, write_out), (stderr, write_err) = (os.pipe() for _ in range(3))
    try:
        process = subprocess.Popen(
            argv,
            stdin=read_in,
            stdout=write_out,
            stderr=write_err,
            process_group=0,
            preexec_fn=_die_with_us,  # noqa: PLW1509 (there are no threads here)
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        for fd in (stdin, stdout, stderr):
            os.close(fd)
        number = error.errno if isinstance(error, OSError) else None
        codes = {errno.ENOENT: "binary_missing", errno.EACCES: "binary_not_executable"}
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise NotStarted(codes.get(number or 0, "spawn_failed"), why) from error
    finally:
        for fd in (read_in, write_out, write_err):
            os.close(fd)
    for fd in (stdin, stdout, stderr):
        os.set_blocking(fd, False)
    return process, stdin, stdout, stderr


def _arm() -> Callable[[], None]:
    """What a new command does before it begins: where the system can, it dies with this bridge."""
    if sys.platform != "linux":
        return lambda: None
    import ctypes

    library = ctypes.CDLL(None)

    def arm() -> None:
        library.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))

    return arm


_die_with_us = _arm()


class Bridge:
    """The one loop: Podium's lines, the command's pipes, and the end."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.argv = argv
        self.session = os.urandom(8).hex()
        self.lines = Lines()
        self.out = bytearray()
        self.running: Command | None = None
        self.leaving = False
        self.leave_at = NEVER
        self.reading = True
        self.selector = selectors.DefaultSelector()
        self.waiting: dict[int, tuple[int, Callable[[], None]]] = {}
        self.woken, wake = os.pipe()
        for fd in (self.woken, wake, 0, 1):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, self.nothing)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.told)
        self.watch(self.woken, selectors.EVENT_READ, self.awake)
        self.watch(0, selectors.EVENT_READ, self.read_podium)

    def told(self, *_: object) -> None:
        """A signal: end."""
        self.leaving = True

    def nothing(self, *_: object) -> None:
        """A command ended: being woken is enough."""

    def awake(self) -> None:
        """Something was signalled; the loop looks for itself what."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, READ)

    def watch(self, fd: int, events: int, act: Callable[[], None]) -> None:
        """Call when the descriptor is ready; events 0 means never again."""
        held = self.waiting.pop(fd, None)
        if held is not None and (held[0] != events or not events):
            self.selector.unregister(fd)
        if events:
            if held is None or held[0] != events:
                self.selector.register(fd, events)
            self.waiting[fd] = (events, act)

    # ---- Podium

    def say(self, word: str, **more: Any) -> None:
        """One line for Podium."""
        self.out += json.dumps({"say": word, **more}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    def flush(self) -> None:
        """Write what Podium takes now."""
        try:
            while self.out:
                del self.out[: os.write(1, self.out[:READ])]
        except BlockingIOError:
            pass
        except OSError:  # nobody reads any more
            self.out.clear()
            self.leaving = True
        self.watch(1, selectors.EVENT_WRITE if self.out else 0, lambda: None)

    def read_podium(self) -> None:
        """Lines of Podium; the end of them is the end of the session."""
        data = os.read(0, READ)
        if not data:
            self.watch(0, 0, self.read_podium)
            self.leaving = True
        for line in self.lines.feed(data):
            self.take(line)

    def take(self, line: bytes | None) -> None:
        """One line. What is no request of ours is told and nothing more."""
        try:
            found: Any = json.loads(line) if line is not None else None
        except (ValueError, RecursionError):
            found = None
        match found:
            case {"op": "hello", "id": str(name)}:
                self.say("ready", id=name, session=self.session, version=VERSION, command=bool(self.argv))
            case {"op": "run", "turn": str(turn), "text": str(text)} if not self.leaving:
                self.begin(turn, text)
            case _:
                self.say("unread", bytes=len(line) if line is not None else LINE_MAX)

    def begin(self, turn: str, text: str) -> None:
        """Run the command for one prompt; one at a time."""
        if self.running is not None:
            self.say("refused", turn=turn, code="turn_running", message="A command is running.")
            return
        try:
            command = Command(self.argv, turn, text.encode("utf-8", "replace"))
        except NotStarted as error:
            code, message = error.args
            self.say("refused", turn=turn, code=code, message=message)
            return
        self.running = command
        self.say("started", turn=turn)
        self.watch(command.stdin, selectors.EVENT_WRITE, self.feed_command)
        self.watch(command.stderr, selectors.EVENT_READ, self.read_errors)
        self.listen()

    # ---- the command

    def listen(self) -> None:
        """Read the command's answer only while Podium reads ours."""
        command = self.running
        if command is None or command.stdout < 0:
            return
        self.reading = len(self.out) < OUT_MAX
        self.watch(command.stdout, selectors.EVENT_READ if self.reading else 0, self.read_answer)

    def feed_command(self) -> None:
        """Write the prompt; the end of it is the end of the command's input."""
        command = self.running
        if command is not None and command.write():
            command.stdin = self.close(command.stdin)

    def read_answer(self) -> None:
        """What the command prints."""
        command = self.running
        if command is None:
            return
        data = self.take_bytes(command.stdout)
        if data == b"":
            command.stdout = self.close(command.stdout)
        elif data:
            self.tell(command, command.answer.feed(data))
            if command.answer.full:
                command.stop("answer_too_long", time.monotonic())

    def read_errors(self) -> None:
        """What the command complains of: kept, and passed on for the diagnostics as far as they take it."""
        command = self.running
        if command is None:
            return
        data = self.take_bytes(command.stderr)
        if data == b"":
            command.stderr = self.close(command.stderr)
        elif data:
            command.errors.add(data)
            with contextlib.suppress(OSError):
                os.write(2, data)

    def take_bytes(self, fd: int) -> bytes | None:
        """Read once; None if there is nothing after all."""
        try:
            return os.read(fd, READ)
        except BlockingIOError:
            return None

    def tell(self, command: Command, text: str) -> None:
        """A piece of the answer."""
        if text:
            self.say("text", turn=command.turn, text=text)

    def close(self, fd: int) -> int:
        """Let go of a pipe of the command."""
        self.watch(fd, 0, self.awake)
        os.close(fd)
        return -1

    def attend(self, command: Command, now: float) -> None:
        """See whether the command is over, and make it so where it has to be."""
        if self.leaving:
            command.stop("stopped", now)
        if now >= command.kill_at:
            command.kill_at = NEVER
            command.signal(signal.SIGKILL)
            command.give_up_at = now + KILL_SECONDS
        if not command.exited():
            if now >= command.give_up_at:
                self.end(command)
            return
        held = command.stdout >= 0 or command.stderr >= 0
        if not self.reading and not self.leaving:
            command.drain_at = NEVER  # it is Podium that does not read
        elif command.drain_at == NEVER:
            command.drain_at = now + DRAIN_SECONDS
        if not held or now >= command.drain_at:
            self.end(command)

    def end(self, command: Command) -> None:
        """The command is over: end what is left of its group, and tell how it went."""
        self.running = None
        self.reading = True
        left = command.stdout >= 0 or command.stderr >= 0
        command.signal(signal.SIGKILL)
        status = command.process.poll()
        for fd in (command.stdin, command.stdout, command.stderr):
            if fd >= 0:
                self.close(fd)
        self.tell(command, command.answer.finish())
        self.say(
            "ended",
            turn=command.turn,
            code=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            why=command.why,
            stderr=command.errors.text(),
            bytes=command.answer.taken,
            left=left,
        )

    # ---- the loop

    def run(self) -> int:
        """Until the session is over and everything was told, or nobody listens."""
        while True:
            now = time.monotonic()
            if self.running is not None:
                self.attend(self.running, now)
            self.flush()
            self.listen()
            if self.leaving and self.running is None:
                self.leave_at = min(self.leave_at, now + LEAVE_SECONDS)
                if not self.out or now >= self.leave_at:
                    return 0
            dates = [self.leave_at]
            if self.running is not None:
                command = self.running
                dates += [command.kill_at, command.give_up_at, command.drain_at]
            wait = min(dates) - now
            for key, _ in self.selector.select(None if wait == NEVER else max(0.0, wait)):
                held = self.waiting.get(key.fd)
                if held is not None:
                    held[1]()


if __name__ == "__main__":
    sys.exit(Bridge(sys.argv[1:]).run())
