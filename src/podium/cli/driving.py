"""Driving a run from the command line: follow it, answer what it asks as told, let a person interrupt."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import anyio.abc
import msgspec

from podium.cli.asking import Typist, answer_command, question_lines, request_lines
from podium.cli.narrating import Lines, Narrator
from podium.cli.output import Output
from podium.cli.printing import error_line, short
from podium.cli.stream import Stream
from podium.contract.errors import Conflict, Failure, Gone, PodiumError
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.domain.entities import Request, Run
from podium.runtime.feed import Committed
from podium.runtime.interface import AnyPodium, AnyThread
from podium.runtime.place import read_place
from podium.runtime.podium import open as open_podium
from podium.runtime.settings import data_folder

Approve = Literal["ask", "all", "none"]

COMPLETED, FAILED, REFUSED, UNAVAILABLE, WAITING, INTERRUPTED = 0, 1, 3, 4, 5, 130

LEAVES = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Signals that end the command, with its exit codes."""

WAITING_GRACE = 1.0
"""Seconds that a request may be open while its run is not called waiting, before it counts as waiting."""

LEAVING_MAX = 1.0
"""Seconds that a reader of our output gets when the person leaves."""

STOPPING_MAX = 5.0
"""Longest wait for a server's word that it stops a run, in seconds, when the command is told to end."""

ENDING_MAX = 30.0
"""Longest wait for the end of a run whose agent was told to end, in seconds."""

QUESTIONS = frozenset({"question", "elicitation", "plan_decision", "unknown"})
"""Requests that only a person can answer."""

UNAVAILABLE_CODES = frozenset(
    {"agent_missing", "adapter_rejected", "binary_missing", "binary_not_executable"}
)


class Choices(msgspec.Struct, frozen=True):
    """How the person wants a run to be driven.

    A server keeps its agents whatever was asked (`keep`); `stays` says that the person wants the run to go on
    when this command is told to end.
    """

    approve: Approve = "ask"
    wait: bool = False
    keep: bool = False
    json: bool = False
    served: bool = False
    stays: bool = False


def exit_code(run: Run) -> int:
    """What a run's end means to the shell."""
    why = run.failure
    if run.outcome == "completed":
        return COMPLETED
    if run.evidence == "start_failed" or (why is not None and why.code in UNAVAILABLE_CODES):
        return UNAVAILABLE
    if run.evidence == "refused":
        return REFUSED
    if run.outcome == "interrupted" and run.interrupt_requested_at is not None:
        return INTERRUPTED
    if run.outcome == "cancelled" and run.evidence == "user":
        return INTERRUPTED
    return FAILED


def failure_words(why: Failure) -> str:
    """What went wrong and the next step, with the exit code of the program where its message has none."""
    code = why.detail.get("exit_code")
    told = "" if code is None or f"code {code}" in why.message else f" It left with code {code}."
    return f"{why.message}{told} {why.fix}".strip()


class Hand:
    """The person's signals: the first Ctrl-C asks the run to stop, the next leaves, the third leaves at once.

    SIGTERM and SIGHUP leave; a run that was not to be kept ends with the command, here and at a server.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._presses = 0
        self.drive: Drive | None = None
        self.left: int | None = None
        self.scope = anyio.CancelScope()

    async def watch(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Listen until cancelled."""
        heard = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
            heard.append(signal.SIGHUP)
        with anyio.open_signal_receiver(*heard) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGINT:
                    await self._pressed()
                    continue
                if self.drive is not None and self.left is None:
                    await self.drive.abandon()
                self._leave(LEAVES[number])

    def trouble(self, error: PodiumError | None) -> None:
        """The server is away or cannot write; with None, that is over."""
        if error is None:
            self._say("the server is there again, and the run goes on")
        elif error.code == "server_unreachable":
            self._say("the server does not answer; waiting for it. Its agents go on; Ctrl-C leaves")
        else:
            self._say(f"the server cannot go on: {error.message} {error.fix} Waiting; Ctrl-C leaves")

    def _say(self, text: str) -> None:
        if self.drive is not None:
            self.drive.tell(text)
        else:
            self._output.put(self._output.err, error_line(text))

    async def _pressed(self) -> None:
        self._presses += 1
        if self._presses > 2:
            os._exit(INTERRUPTED)
        if self._presses == 2 or self.drive is None or not await self.drive.interrupt():
            self._leave(INTERRUPTED)

    def again(self) -> anyio.CancelScope:
        """Another block that a person may leave."""
        self.scope = anyio.CancelScope()
        return self.scope

    def _leave(self, code: int) -> None:
        if self.left is not None:
            os._exit(code)
        self.left = code
        self.scope.cancel()


Work = Callable[[AnyPodium, Output, Hand], Awaitable[int]]


@asynccontextmanager
async def opened(
    linger: float, *, alone: bool = False, told: Callable[[PodiumError | None], None] | None = None
) -> AsyncGenerator[AnyPodium]:
    """The running server's data folder through the server, else opened here; `alone` never asks a server.

    `told` hears when the server is away or cannot write, and with None when that is over.
    """
    place = None if alone else read_place(data_folder(os.environ))
    if place is None:
        async with open_podium(linger=linger) as podium:
            yield podium
        return
    from podium.client.connected import connect

    async with connect(place.url, place.token, told=told) as podium:
        yield podium


def served() -> bool:
    """Whether a server runs on this data folder."""
    return read_place(data_folder(os.environ)) is not None


async def attended(linger: float, work: Work, *, alone: bool = False) -> int:
    """Do something with Podium while a person may interrupt it; the exit code."""
    output = Output()
    hand = Hand(output)
    code = COMPLETED
    try:
        async with anyio.create_task_group() as group:
            await group.start(hand.watch)
            group.start_soon(output.run)
            async with opened(linger, alone=alone, told=hand.trouble) as podium:
                with hand.scope:  # inside, so that leaving closes the runtime in good order
                    code = await work(podium, output, hand)
            if hand.left is None:
                with hand.again():  # nobody may be reading what is left
                    await output.drain()
            if hand.left is not None:
                code = hand.left
                with anyio.move_on_after(LEAVING_MAX):
                    await output.drain()
                if output.waits:
                    os._exit(code)  # a thread hangs in a write that nobody reads
            group.cancel_scope.cancel()
    except BaseException:
        output.say_the_rest()
        raise
    if output.out.fault is not None and code == COMPLETED:
        raise output.out.fault
    return code


class Drive:
    """One thread in the hands of a command."""

    def __init__(self, podium: AnyPodium, stream: Stream, output: Output, choices: Choices) -> None:
        self._podium = podium
        self._stream = stream
        self._output = output
        self._choices = choices
        self._narrator = Narrator(output)
        self._lines = Lines(output)
        self._interactive = (
            choices.approve == "ask" and not choices.json and os.isatty(0) and output.err.terminal
        )
        self._typist = Typist(self._narrator.tell)
        self._asked: set[str] = set()
        self._asking: dict[str, anyio.CancelScope] = {}
        self._turn = anyio.Lock()
        self._listening = anyio.CancelScope()
        self._run_id: str | None = None
        self.thread: AnyThread | None = None
        self.person: dict[str, Request] = {}

    def tell(self, text: str) -> None:
        """A line on stderr."""
        self._narrator.tell(f"podium: {short(text, 600)}")

    def begin(self, thread: AnyThread) -> None:
        """The thread this is about, with what is open in it already."""
        self.thread = thread
        self._stream.of(thread.id)
        children = thread.provider_threads()
        for item in thread.state.items.values():
            self._stream.want(item.id)
            self._narrator.know(item, children)

    async def interrupt(self) -> bool:
        """Ask the run to stop. False if nothing of it runs, or the agent cannot be asked."""
        if self.thread is None or self._run_id is None:
            return False
        for scope in self._asking.values():
            scope.cancel()
        try:
            await self.thread.interrupt(self._run_id)
        except PodiumError as error:
            self._output.put(self._output.err, error_line(error.message, fix=error.fix))
            return False
        self.tell("interrupting; press Ctrl-C again to leave at once")
        return True

    async def abandon(self) -> None:
        """The command is told to end: the run of a server ends too, unless it was to be kept."""
        if not self._choices.served or self.thread is None or self._run_id is None:
            return
        if self._choices.stays:
            self.tell(f"the run goes on at the server; follow it with podium run --thread {self.thread.id}")
            return
        stopping = False
        with anyio.move_on_after(STOPPING_MAX):
            try:
                await self.thread.interrupt(self._run_id)
                stopping = True
            except PodiumError as error:
                self._output.put(self._output.err, error_line(error.message, fix=error.fix))
        how = "the server stops the run" if stopping else "the run may go on at the server"
        self.tell(f"{how}; go on with podium run --thread {self.thread.id}")

    async def follow(self, run_id: str) -> Run | None:
        """Until the run has ended: the run. Until it waits for a person that is not here: None."""
        thread = self._thread()
        self._run_id = run_id
        self.person.clear()
        run: Run | None = None
        async with anyio.create_task_group() as group:
            for request in list(thread.state.requests.values()):
                await self._asks(request, group)
            run = await self._until_settled(run_id, group)
            group.cancel_scope.cancel()
        self._run_id = None
        return run

    async def _until_settled(self, run_id: str, group: anyio.abc.TaskGroup) -> Run | None:
        thread = self._thread()
        if thread.state.runs.get(run_id) is None:
            run = thread.run(run_id)
            if run.state == "ended" and self._stream.sequence >= self._podium.sequence:
                return run
        while True:
            await self._output.room()
            entry = None
            self._listening = anyio.move_on_after(WAITING_GRACE) if self.person else anyio.CancelScope()
            with self._listening:
                entry = await self._stream.next()
                if entry is None:
                    return thread.run(run_id)
            if entry is None:
                if self.person:
                    return None
                continue
            (self._lines if self._choices.json else self._narrator)(entry)
            if not isinstance(entry, Committed):
                continue
            entity = entry.event.entity
            if isinstance(entity, Request):
                await self._asks(entity, group)
            elif isinstance(entity, Run) and entity.id == run_id:
                if entity.state == "ended":
                    return entity
                if entity.state == "waiting" and self.person:
                    return None

    def _thread(self) -> AnyThread:
        assert self.thread is not None
        return self.thread

    async def _asks(self, request: Request, group: anyio.abc.TaskGroup) -> None:
        if request.state != "pending":
            self.person.pop(request.id, None)
            if request.id in self._asking:
                self._asking[request.id].cancel()
            return
        if request.id in self._asked:
            return
        self._asked.add(request.id)
        offered = {o.id for o in request.options}
        approve = self._choices.approve
        if approve == "all" and request.request_kind not in QUESTIONS and ACCEPT in offered:
            await self._give(request, Answer(ACCEPT))
        elif approve == "none" and DECLINE in offered:
            await self._give(request, Answer(DECLINE))
        elif self._interactive:
            group.start_soon(self._ask_person, request)
        elif self._choices.wait:
            self.tell(f"waiting for an answer to request {request.id} in thread {request.thread_id}")
        else:
            self.person[request.id] = request

    async def _ask_person(self, request: Request) -> None:
        with anyio.CancelScope() as scope:
            self._asking[request.id] = scope
            async with self._turn:
                answer = await self._typist.answer(request)
            if answer is None:  # the terminal is gone
                self.person[request.id] = request
                self._listening.cancel()
            else:
                await self._give(request, answer)
        self._asking.pop(request.id, None)

    async def _give(self, request: Request, answer: Answer) -> None:
        try:
            await self._podium.requests.answer(request.id, answer)
        except (Conflict, Gone) as late:
            self._output.put(self._output.err, error_line(late.message, fix=late.fix))

    # ---- ends

    def waits(self) -> None:
        """Say who waits, and how to answer."""
        for request in self.person.values():
            offered = ", ".join(o.id for o in request.options)
            questions = [line for q in request.content.questions for line in question_lines(q)]
            for line in (*request_lines(request), *questions):
                self._narrator.tell(f"    {line}")
            self.tell(
                f"waiting for a person: thread {request.thread_id} request {request.id}; answer with:"
                f" {answer_command(request)}  (offered: {offered})"
            )
        if not self._choices.keep:
            self.tell(
                "without --keep the request ends with this command; add --keep to answer later,"
                " or --approve all or none"
            )

    async def expire(self, run_id: str) -> None:
        """End the agent, and show how that ends the run."""
        await self._podium.stop_agents("no_host")
        self._choices = msgspec.structs.replace(self._choices, wait=True)
        with anyio.move_on_after(ENDING_MAX):
            await self.follow(run_id)

    def summary(self, run: Run) -> None:
        """How the run ended and how to go on, in one line."""
        thread = self._thread()
        parts = [run.outcome or run.state]
        if run.evidence not in ("provider", None):
            parts[0] += f" ({run.evidence})"
        if run.failure is not None:
            parts.append(failure_words(run.failure))
        main = thread.state.main
        if main is not None and main.state == "missing":
            parts.append("with --fresh a new conversation begins that does not know what was said before")
        if run.usage is not None and (run.usage.input is not None or run.usage.output is not None):
            counts = [f"{n} {word}" for n, word in ((run.usage.input, "in"), (run.usage.output, "out")) if n]
            parts.append(f"tokens: {', '.join(counts)}")
        self.tell(f"{'; '.join(parts)}; go on with: podium run --thread {thread.id} PROMPT")

    def kept(self) -> None:
        """What stays behind."""
        thread = self._thread()
        session = thread.state.session
        if session is not None and session.state != "ended":
            self.tell(
                f"kept: the agent of thread {thread.id} goes on working;"
                f" follow it with podium run --thread {thread.id} --keep, end it with podium stop --agents"
            )
