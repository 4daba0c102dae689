"""One agent process and one adapter, joined by real pipes in the smallest loop there is.

For adapter authors and tests: no keeper, no journal, no recovery. Every input that was fed is kept, so that a
drive can be written down as a cassette.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from podium.contract.adapter import Adapter, LaunchSettings, Machine, Send, Step
from podium.contract.events import (
    AskFailed,
    Body,
    ItemKind,
    ProviderEvent,
    RequestOpened,
    SessionReady,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnEnded,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    Command,
    EnsureThread,
    Exit,
    Frame,
    Input,
    Mode,
    OpenSession,
    Respond,
    SendTurn,
    Served,
    TextBlock,
    Timer,
)
from podium.contract.requests import ACCEPT, Answer
from podium.transport.courier import argv_of, line_of, received
from podium.workspace.texts import Texts

SILENCE_SECONDS = 1.0
"""How long an agent is silent before a wait for its silence is over."""

WAIT_SECONDS = 30.0
"""Longest wait for something an agent should do."""

NOISE_MAX = 1000
"""Lines kept that were no frames."""

ERRORS_MAX = 1000
"""Lines kept of what the agent wrote to stderr."""

_E = TypeVar("_E")


class DriveError(AssertionError):
    """The agent did not do in time what was waited for."""


class Drive:
    """A live agent. `steps` holds every input with what the adapter made of it."""

    def __init__(
        self,
        adapter: Adapter[Any],
        workspace: Path,
        environment: Mapping[str, str],
        options: Mapping[str, Any] | None = None,
        *,
        program: str = "",
    ) -> None:
        self.machine = Machine(adapter)
        self.texts = Texts(str(workspace.resolve()), "", b".podium-drive", str)
        self.workspace = workspace
        self.steps: list[tuple[Input, Step[Any]]] = []
        self.events: list[ProviderEvent] = []
        self.timers: dict[str, float] = {}
        self.due: dict[str, float] = {}
        self.noise: deque[str] = deque(maxlen=NOISE_MAX)
        self.errors: deque[str] = deque(maxlen=ERRORS_MAX)
        self.exit: Exit | None = None
        settings = LaunchSettings(program, str(workspace), options=dict(options or {}))
        plan = adapter.launch(settings)
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            argv_of(plan.argv, adapter.descriptor.http),
            cwd=workspace,
            env={**environment, **plan.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the agent: the end of its input first, then by force."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(WAIT_SECONDS)
        for reader in self._readers:
            reader.join(WAIT_SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def kill(self) -> None:
        """Kill the agent, as a crash would."""
        self.process.kill()
        self.drain()

    def _read(self) -> None:
        if self.process.stdout is not None:
            for line in self.process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        if self.process.stderr is not None:
            for line in self.process.stderr:
                self.errors.append(line)

    def feed(self, given: Input) -> Step[Any]:
        """One input through the adapter; what it sends goes to the agent."""
        step = self.machine.feed(given)
        self.steps.append((given, step))
        self.events.extend(step.events)
        for timer in step.timers:
            if timer.seconds is None:
                self.timers.pop(timer.name, None)
                self.due.pop(timer.name, None)
            else:
                self.timers[timer.name] = timer.seconds
                self.due[timer.name] = time.monotonic() + timer.seconds
        for send in step.sends:
            line = send.line if isinstance(send, Send) else line_of(send)
            if self.process.stdin is not None:
                with contextlib.suppress(OSError):
                    self.process.stdin.write(line + "\n")
                    self.process.stdin.flush()
        for serve in step.serves:
            self.feed(Served(serve.tag, self.texts.serve(serve.request)))
        return step

    def ask(self, command: Command) -> Step[Any]:
        """One ask of the core."""
        return self.feed(Ask(command))

    def fire(self, name: str) -> Step[Any]:
        """Let a timer be due, whatever its seconds."""
        self.timers.pop(name, None)
        self.due.pop(name, None)
        return self.feed(Timer(name))

    def pump(self, seconds: float = WAIT_SECONDS) -> bool:
        """Take one line of the agent, or its end. False if nothing came in time or it is gone."""
        if self.exit is not None:
            return False
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return False
        if line is None:
            code = self.process.wait(WAIT_SECONDS)
            self.exit = Exit(code=code) if code >= 0 else Exit(signal=-code)
            self.feed(self.exit)
            return False
        try:
            frame = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, msgspec.ValidationError):
            self.noise.append(line)
            return True
        self.feed(received(frame) if self.machine.adapter.descriptor.http is not None else Frame(frame))
        return True

    def breathe(self, seconds: float) -> bool:
        """Take one line, or fire the timer that is due, whichever is first. False once the agent is gone."""
        now = time.monotonic()
        name = min(self.due, key=lambda one: self.due[one], default=None)
        if name is not None and self.due[name] <= now:
            self.fire(name)
            return True
        self.pump(max(0.0, min(seconds, self.due[name] - now if name is not None else seconds)))
        return self.exit is None

    def drain(self) -> None:
        """Take everything up to the agent's end, what it complained of last too."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.exit is None and time.monotonic() < deadline:
            self.pump()
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))

    def until(self, kind: type[_E], fits: Callable[[_E], bool] = lambda _: True, *, after: int = 0) -> _E:
        """The first event of this kind that fits, among those from number `after` on; waits for it."""
        deadline = time.monotonic() + WAIT_SECONDS
        at = after
        while True:
            while at < len(self.events):
                event = self.events[at]
                if isinstance(event, kind) and fits(event):
                    return event
                at += 1
            left = deadline - time.monotonic()
            if left <= 0 or (not self.pump(left) and self.exit is not None and at >= len(self.events)):
                raise DriveError(
                    f"no {kind.__name__}; saw {self.events[-20:]}; stderr {list(self.errors)[-5:]}"
                )

    def of(self, kind: type[_E]) -> list[_E]:
        """All events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]


class Conversation:
    """One conversation of a drive: opened, then prompted turn by turn, with ids that count up."""

    def __init__(
        self, drive: Drive, *, handle: Handle | None = None, mode: Mode = "ask", model: str | None = None
    ) -> None:
        self.drive = drive
        self._count = 0
        workspace = str(drive.workspace)
        if not drive.of(SessionReady):
            drive.ask(OpenSession("open", workspace, mode))
            drive.until(SessionReady)
        after = len(drive.events)
        drive.ask(EnsureThread(f"thread-{after}", workspace, mode, handle, model))
        if handle is not None:
            self._loaded(after)
        self.bound = drive.until(ThreadBound, after=after)
        self.thread = self.bound.thread

    def _loaded(self, after: int) -> None:
        """Some adapters wait for silence behind a load: once it is silent, what they wait for is due.

        An agent that is slow to load is silent too, before the adapter waits for anything.
        """
        drive = self.drive
        deadline = time.monotonic() + WAIT_SECONDS
        while not any(isinstance(event, ThreadBound | ThreadMissing) for event in drive.events[after:]):
            if not drive.pump(SILENCE_SECONDS):
                if drive.exit is not None or time.monotonic() > deadline:
                    return
                for name in list(drive.timers):
                    drive.fire(name)

    def send(self, text: str, mode: Mode | None = None, model: str | None = None) -> int:
        """Prompt; returns the number of the first event that can belong to it."""
        self._count += 1
        at = len(self.drive.events)
        name = f"{self._count}-{at}"
        blocks = (TextBlock(text),)
        self.drive.ask(SendTurn(f"turn-{name}", self.thread, f"client-{name}", blocks, model, mode))
        return at

    def turn(self, text: str, answer: Answer | None = None, mode: Mode | None = None) -> list[ProviderEvent]:
        """Prompt, answer what is asked; the events up to the turn's end or the prompt's refusal."""
        drive, at = self.drive, self.send(text, mode)
        seen = at
        while True:
            event = drive.until(object, after=seen)
            seen += 1
            if isinstance(event, RequestOpened):
                drive.ask(Respond(f"answer-{seen}", event.key, answer or Answer(ACCEPT)))
            ended = isinstance(event, TurnEnded) and event.thread == self.thread
            if ended or isinstance(event, AskFailed):
                return drive.events[at:seen]


def said(events: Iterable[ProviderEvent], kind: ItemKind = "assistant_message", body: Body = "text") -> str:
    """The streamed text of one kind of item, in order."""
    return "".join(
        event.text
        for event in events
        if isinstance(event, TextDelta) and event.kind == kind and event.body == body
    )
