"""What a scenario plays with: the agent, its conversations, and a note of what each leaf was seen to do."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import msgspec

from podium.contract.adapter import Adapter, Machine
from podium.contract.events import (
    AskDone,
    AskFailed,
    Body,
    ItemKind,
    ItemSeen,
    ProviderEvent,
    RequestOpened,
    SessionReady,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Attached,
    Block,
    Command,
    EnsureThread,
    Frame,
    HttpReply,
    ImageBlock,
    Input,
    InterruptTurn,
    Mode,
    OpenSession,
    Respond,
    SendTurn,
    SseEvent,
    TextBlock,
)
from podium.contract.requests import ACCEPT, Answer
from podium.contract.values import LEVEL_NATIVE, LEVEL_NONE
from podium.testkit.conformance.moves import Move
from podium.testkit.conformance.saboteur import Sabotaged, Saboteur
from podium.testkit.conformance.stage import Stage
from podium.testkit.driving import Drive, DriveError
from podium.transport.environment import PROCESS_TOKEN
from podium.transport.reaper import kill_processes, supported

EVENT_SECONDS = 20.0
"""Longest wait for one thing that an agent should do."""

START_SECONDS = 60.0
"""Longest wait for a process to start and for a conversation to open: on a busy machine some take long."""

QUIET_SECONDS = 8.0
"""Silence of an agent after which a turn that was answered, stopped or ended has nothing more to say."""

MISSING_SECONDS = 5.0
"""Silence after which a saboteur is taken to lack what is waited for: what comes later is lacking too."""

SAW_MAX = 300
"""Longest note of what was seen instead, in characters."""

TOKEN_BYTES = 16
"""Length of the random token that all processes of a play carry."""

LOOK_SECONDS = 0.1
"""How often a file is looked for."""

TOOL_KINDS: frozenset[ItemKind] = frozenset({"command", "file_change", "tool_call", "web_search"})

_E = TypeVar("_E")


class Unstaged(Exception):
    """This agent cannot be made to do what the scenario needs; the text says why."""


class NotStarted(Exception):
    """The agent's process made no handshake in time: nothing of the scenario was tried."""


class Play:
    """One scenario on one agent. `levels` holds what was shown, `saw` what was seen where it was less."""

    def __init__(
        self,
        adapter: Adapter[Any],
        stage: Stage,
        program: str,
        saboteur: Saboteur | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.stage, self.program, self.options = stage, program, dict(options or {})
        self.saboteur = saboteur
        self.adapter: Adapter[Any] = adapter if saboteur is None else Sabotaged(adapter, saboteur)
        self.levels: dict[str, int] = {}
        self.saw: dict[str, str] = {}
        self.drives: list[Drive] = []
        self.token = secrets.token_hex(TOKEN_BYTES)
        self.start()

    @property
    def drive(self) -> Drive:
        """The agent's process of now."""
        return self.drives[-1]

    def start(self) -> None:
        """Start the agent: a new process on the same home."""
        environment = {**self.stage.environment, PROCESS_TOKEN: self.token}
        drive = Drive(self.adapter, self.stage.workspace, environment, self.options, program=self.program)
        self.drives.append(drive)

    @property
    def version(self) -> str:
        """What the agent said its version is, in its handshake."""
        said = [event.agent_version for drive in self.drives for event in drive.of(SessionReady)]
        return next((version for version in reversed(said) if version), "")

    def leave(self) -> None:
        """End the agent's process."""
        self.drive.close()

    def close(self) -> None:
        """End every process of this play, and whatever these left behind."""
        for drive in self.drives:
            drive.close()
        self.end_background()

    def end_background(self) -> None:
        """End what the agent started and lets run, but not the agent; where the system shows it."""
        if supported():
            living = [drive.process.pid for drive in self.drives if drive.process.poll() is None]
            anyio.run(partial(kill_processes, self.token, spare=living))

    def shows(self, leaf: str, shown: bool | int, saw: object = "") -> None:
        """Note how far a leaf was seen to do what it says; the least of several notes counts."""
        level = LEVEL_NATIVE * shown if isinstance(shown, bool) else shown
        self.levels[leaf] = min(level, self.levels.get(leaf, LEVEL_NATIVE))
        if saw and level < LEVEL_NATIVE:
            self.saw[leaf] = str(saw)[:SAW_MAX]

    def frames(self) -> list[dict[str, Any]]:
        """Everything the agent wrote, over all its processes."""
        if self.saboteur is not None and not self.saboteur.frames:
            return []
        return [frame for drive in self.drives for given, _ in drive.steps for frame in _written(given)]

    def claims(self, leaf: str) -> bool:
        """Whether the agent is said to have a leaf, so that its absence need not be waited for."""
        return self.adapter.capabilities().has(leaf)

    def native(self, name: str | None) -> bool:
        """Whether the agent itself wrote this name."""
        return name is not None and any(_holds(frame, name) for frame in self.frames())

    def stages(self, *moves: Move) -> None:
        """Raises `Unstaged` where the agent cannot be made to do one of these."""
        for move in moves:
            if (why := self.stage.cannot(move)) is not None:
                raise Unstaged(why)

    def owner_restarts(self) -> bool:
        """The owner of the running process dies and another one goes on; False if the state is lost."""
        machine = Machine.restore(self.adapter, self.drive.machine.dump())
        if machine is None:
            return False
        self.drive.machine = machine
        self.drive.feed(Attached("replay"))
        return True

    def ask(
        self, command: Command, *, surely: bool = False
    ) -> AskDone | AskFailed | ThreadBound | ThreadMissing | None:
        """One ask, and the agent's answer to it; None if none came."""
        at = len(self.drive.events)
        self.drive.ask(command)

        def mine(event: ProviderEvent) -> bool:
            answers = isinstance(event, AskDone | AskFailed | ThreadBound | ThreadMissing)
            return answers and event.ask_id == command.ask_id

        found = self.wait(mine, after=at, surely=surely)
        return found if isinstance(found, AskDone | AskFailed | ThreadBound | ThreadMissing) else None

    def wait(
        self,
        fits: Callable[[ProviderEvent], bool],
        *,
        after: int = 0,
        silence: float = EVENT_SECONDS,
        surely: bool = False,
    ) -> ProviderEvent | None:
        """The first event from number `after` on that fits; None if none came in time.

        `silence` is how long the agent may say nothing at all meanwhile, in seconds; a saboteur may for less.
        What comes `surely`, on a saboteur too, is awaited for as long as a start may take.
        """
        longest = EVENT_SECONDS
        if surely:
            longest = silence = START_SECONDS
        elif self.saboteur is not None:
            silence = min(silence, MISSING_SECONDS)
        deadline = time.monotonic() + longest
        heard, steps = time.monotonic(), len(self.drive.steps)
        while True:
            if len(self.drive.steps) > steps:
                heard, steps = time.monotonic(), len(self.drive.steps)
            events = self.drive.events
            for event in events[after:]:
                if fits(event):
                    return event
            after = len(events)
            left = min(deadline, heard + silence) - time.monotonic()
            if left <= 0 or not self.drive.breathe(left):
                return None

    def finds(self, file: Path) -> bool:
        """Wait until a file is there."""
        deadline = time.monotonic() + (MISSING_SECONDS if self.saboteur else EVENT_SECONDS)
        while not file.exists() and time.monotonic() < deadline:
            self.drive.breathe(LOOK_SECONDS)
        return file.exists()

    def thread(
        self, mode: Mode | None = None, *, handle: Handle | None = None, model: str | None = None
    ) -> Thread:
        """A conversation, new or the one a handle names. Its mode is `ask`; of an agent that nothing holds it
        is `full`, as Podium takes it in no other.

        Raises `DriveError` where there is none, `NotStarted` where there is no agent to ask for it.
        """
        workspace = str(self.stage.workspace)
        mode = mode or ("ask" if self.claims("policy.enforcement") else "full")
        if not self.drive.of(SessionReady):
            self.drive.ask(OpenSession("open", workspace, mode))
            if self.wait(lambda event: isinstance(event, SessionReady), surely=True) is None:
                raise NotStarted(f"no handshake; stderr {list(self.drive.errors)[-3:]}")
        name = f"thread-{len(self.drive.events)}"
        answer = self.ask(EnsureThread(name, workspace, mode, handle, model), surely=True)
        if not isinstance(answer, ThreadBound):
            raise DriveError(f"no conversation: {answer}")
        return Thread(self, answer)


class Thread:
    """One conversation of the agent's."""

    def __init__(self, play: Play, bound: ThreadBound) -> None:
        self.play, self.bound, self.id = play, bound, bound.thread
        self._sent = 0
        self._last: Turn | None = None

    def send(
        self,
        *moves: Move,
        words: str = "",
        before: str = "",
        image: str = "",
        mode: Mode | None = None,
        model: str | None = None,
    ) -> Turn:
        """Prompt the agent to do these moves. `before` is a text block in front, as a handoff is."""
        self.play.stages(*moves)
        self._sent += 1
        drive = self.play.drive
        blocks: list[Block] = [TextBlock(before)] if before else []
        blocks.append(TextBlock(self.play.stage.prompt(moves, words)))
        if image:
            blocks.append(ImageBlock(image, "image/png"))
        turn = Turn(self, len(drive.events), f"turn-{self.id}-{self._sent}-{len(drive.events)}")
        if self._last is not None:
            self._last.stop = turn.start
        self._last = turn
        drive.ask(
            SendTurn(turn.ask_id, self.id, f"client-{turn.ask_id}", tuple(blocks), model=model, mode=mode)
        )
        return turn

    def turn(self, *moves: Move, answer: Answer | None = None, **more: Any) -> Turn:
        """The same, with every request answered, up to the turn's end."""
        return self.send(*moves, **more).finish(answer)


class Turn:
    """One turn: everything from its prompt to the next prompt of its conversation."""

    def __init__(self, thread: Thread, start: int, ask_id: str) -> None:
        self.thread, self.play, self.start, self.ask_id = thread, thread.play, start, ask_id
        self._answered = start
        self.stop: int | None = None

    @property
    def events(self) -> list[ProviderEvent]:
        """What was reported since the prompt."""
        return self.play.drive.events[self.start : self.stop]

    @property
    def ended(self) -> TurnEnded | None:
        """The turn's end."""
        ends = (e for e in self.events if isinstance(e, TurnEnded) and e.thread == self.thread.id)
        return next(ends, None)

    @property
    def refused(self) -> AskFailed | None:
        """The prompt's refusal."""
        failed = (e for e in self.events if isinstance(e, AskFailed) and e.ask_id == self.ask_id)
        return next(failed, None)

    @property
    def id(self) -> str | None:
        """The turn's own id, as the agent or the adapter names it."""
        for event in self.events:
            match event:
                case TurnAccepted(ask_id=ask_id, turn=str(turn)) if ask_id == self.ask_id:
                    return turn
                case TurnEnded(thread=thread, turn=turn) if thread == self.thread.id:
                    return turn
                case _:
                    pass
        return None

    def of(self, kind: type[_E]) -> list[_E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def items(self, *kinds: ItemKind) -> list[ItemSeen]:
        """What was said of items of these kinds."""
        return [event for event in self.of(ItemSeen) if event.kind in kinds]

    def text(self, kind: ItemKind = "assistant_message", body: Body = "text") -> str:
        """The text of one kind of item in this conversation: streamed, else as the agent gave it whole."""
        streamed = "".join(
            e.text
            for e in self.of(TextDelta)
            if e.kind == kind and e.body == body and e.ref.thread == self.thread.id
        )
        whole = [
            i.final[body] for i in self.items(kind) if body in i.final and i.ref.thread == self.thread.id
        ]
        return streamed or "".join(whole)

    def until(self, fits: Callable[[ProviderEvent], bool], silence: float = EVENT_SECONDS) -> bool:
        """Wait for an event of this turn."""
        return self.play.wait(fits, after=self.start, silence=silence) is not None

    def speaks(self) -> bool:
        """Wait until the agent has said or shown something."""
        return self.until(lambda event: isinstance(event, TextDelta | ItemSeen | RequestOpened))

    def request(self) -> RequestOpened | None:
        """The next open request; None if the agent does not ask."""
        found = self.play.wait(
            lambda event: isinstance(event, RequestOpened) or self._over(event), after=self._answered
        )
        return found if isinstance(found, RequestOpened) else None

    def answer(self, request: RequestOpened, answer: Answer | None = None) -> None:
        """Answer a request; by default with yes and the first of what is offered."""
        drive = self.play.drive
        self._answered = drive.events.index(request, self._answered) + 1
        chosen = tuple((q.options[0].label if q.options else "words",) for q in request.content.questions)
        given = answer or Answer(ACCEPT)
        if chosen and given.decision == ACCEPT and given.answers is None:
            given = Answer(ACCEPT, chosen)
        drive.ask(Respond(f"answer-{len(drive.events)}", request.key, given))

    def interrupt(self) -> None:
        """Ask the agent to stop this turn."""
        drive = self.play.drive
        drive.ask(InterruptTurn(f"stop-{len(drive.events)}", self.thread.id, self.id))
        if self.play.saboteur is not None and self.play.saboteur.ends_background:
            self.play.end_background()

    def finish(self, answer: Answer | None = None) -> Turn:
        """Answer what is asked, up to the end. An agent that says nothing any more is left, bounded."""
        while self.ended is None and self.refused is None and self.play.drive.exit is None:
            found = self.play.wait(
                lambda event: isinstance(event, RequestOpened) or self._over(event),
                after=self._answered,
                silence=QUIET_SECONDS if self._quiet() else EVENT_SECONDS,
            )
            if isinstance(found, RequestOpened):
                self.answer(found, answer)
            else:
                break
        return self

    def _quiet(self) -> bool:
        """Whether the agent has answered already, so that only its end can be missing."""
        return bool(self.items("assistant_message") or self.text())

    def _over(self, event: ProviderEvent) -> bool:
        mine = isinstance(event, TurnEnded) and event.thread == self.thread.id
        return mine or (isinstance(event, AskFailed) and event.ask_id == self.ask_id)


def steady(ids: Iterable[str | None]) -> bool:
    """Whether there are ids, all of them different."""
    found = list(ids)
    return bool(found) and None not in found and len(set(found)) == len(found)


def trust(play: Play, ids: Iterable[str | None]) -> int:
    """How far ids can be trusted: named by the agent itself, only told apart, or neither."""
    found = list(ids)
    if not steady(found):
        return LEVEL_NONE
    return LEVEL_NATIVE if all(play.native(name) for name in found) else LEVEL_NATIVE - 1


def _written(given: Input) -> tuple[dict[str, Any], ...]:
    """What the agent wrote of an input, if it did."""
    match given:
        case Frame(data):
            return (data,)
        case HttpReply(body=body) | SseEvent(data=body) if body is not None:
            return ({"body": body},)
        case _:
            return ()


def _holds(frame: dict[str, Any], name: str) -> bool:
    """Whether a frame says this name, as a text or a number."""
    text = msgspec.json.encode(frame).decode()
    return msgspec.json.encode(name).decode() in text or bool(
        re.search(rf"[:,\[]{re.escape(name)}[,}}\]]", text)
    )
