"""Plays a recorded conversation through the real core: pump, correlator, decide, evolve, bodies, journal.

The asks of a cassette were made by hand when it was recorded; here the core makes them. So a reference
adapter reads the recording beside the core, and each request the core's adapter makes is paired with the
request that the recording shows for the same thing. An answer in the recording is handed to the request it
is paired with, under the number that one has here. Where the recording asked for something the core does not
do yet (fork, rollback, steering), the recorded ask goes straight to the adapter.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgspec

from podium.contract.adapter import Adapter, Machine, Send
from podium.contract.capabilities import Capabilities
from podium.contract.events import ThreadBound
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    EnsureThread,
    Exit,
    Frame,
    ImageBlock,
    Input,
    InterruptTurn,
    OpenSession,
    Respond,
    SendTurn,
    TextBlock,
    Timer,
)
from podium.domain.commands import (
    AnswerRequest,
    CreateThread,
    InterruptRun,
    SendMessage,
    SessionEnded,
    SessionOpened,
)
from podium.domain.outputs import StartSession, derived
from podium.domain.state import ThreadState
from podium.journal.rows import SendRow
from podium.journal.store import Journal
from podium.policy.config import Policy
from podium.providers.codex import CodexAdapter
from podium.runtime.correlator import Grade
from podium.runtime.engine import Engine
from podium.runtime.gathering import Hook
from podium.runtime.pump import Process, Pump, Report, identity_strength
from podium.transport.masking import Secrets
from tests.providers.codex.playing import cassette

VERSION = "0.171.0"
"""The version all these recordings are of."""

NOT_OURS = 1_000_000
"""Added to the number of an answer that is paired with no request, so that it meets none."""

STARTS = "thread/start"
CLOCK = 1_800_000_000.0


def unheeded(*news: object) -> None:
    """News of the core that a play needs no answer to."""


@dataclass
class Pairs:
    """Requests of the recording and of the core that are for the same thing, first with first."""

    recorded: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    played: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    number: dict[int, int] = field(default_factory=dict[int, int])
    thread_key: str = "threadId"

    def add(self, side: dict[str, list[int]], lines: Iterable[str]) -> None:
        """Note what one side asked of the agent."""
        for line in lines:
            data = json.loads(line)
            if "method" in data and "id" in data:
                side[f"{data['method']} {data['params'].get(self.thread_key)}"].append(data["id"])
        for key, mine in self.recorded.items():
            theirs = self.played[key]
            while mine and theirs:
                self.number[mine.pop(0)] = theirs.pop(0)

    def waits(self, method: str) -> str | None:
        """A request of the core for which the recording has none yet."""
        return next((k for k, ids in self.played.items() if ids and k.startswith(method)), None)


class HeardPump(Pump):
    """A pump that also tells which lines it handed over for the agent."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.lines_out: list[str] = []

    def take_sends(self) -> list[SendRow]:
        """The sends since the last call, remembered for the pairing."""
        rows = super().take_sends()
        self.lines_out += [row.line for row in rows]
        return rows

    def said(self) -> list[str]:
        """The lines since the last call."""
        lines, self.lines_out = self.lines_out, []
        return lines


@dataclass
class Plan:
    """What must be known of a recording before it is played: its main conversation and how it came to be."""

    thread: str
    prompt: SendTurn | None
    bound_by: int | None
    handle: Handle | None
    mode: str

    @classmethod
    def of(cls, adapter: Adapter[Any], inputs: list[Input]) -> Plan:
        """Read the recording once with the adapter alone."""
        asks = [given.command for given in inputs if isinstance(given, Ask)]
        prompt = next((c for c in asks if isinstance(c, SendTurn)), None)
        mode = next((c.mode for c in asks if isinstance(c, OpenSession)), "ask")
        bound: list[ThreadBound] = []
        machine = Machine(adapter)
        for given in inputs:
            bound += [e for e in machine.feed(given).events if isinstance(e, ThreadBound)]
        thread = prompt.thread if prompt else bound[0].thread if bound else "thread-of-nobody"
        binding = next((e for e in bound if e.thread == thread and e.ask_id), None)
        ensure = [
            (place, given.command)
            for place, given in enumerate(inputs)
            if isinstance(given, Ask)
            and isinstance(given.command, EnsureThread)
            and binding is not None
            and given.command.ask_id == binding.ask_id
        ]
        place, command = ensure[0] if ensure else (None, None)
        return cls(thread, prompt, place, command.handle if command else None, mode)


class CorePlayer:
    """One recording, one thread of the core, one data folder."""

    THREAD_KEY = "threadId"
    """The parameter of the agent's protocol that names a conversation."""

    def __init__(
        self,
        folder: Path,
        adapter: Adapter[Any],
        instance: str,
        inputs: list[Input],
        grade: Grade | None = None,
        version: str = VERSION,
    ) -> None:
        self.adapter = adapter
        self.instance = instance
        declared = msgspec.structs.replace(adapter.capabilities(), instance=instance)
        self._record = declared.effective(version)
        self.grade = grade or identity_strength(self._record)
        self.inputs = inputs
        self.plan = Plan.of(adapter, inputs)
        self.reference = Machine(adapter)
        self.pairs = Pairs(thread_key=self.THREAD_KEY)
        self.pumps: list[HeardPump] = []
        self.starts: list[StartSession] = []
        self.counts: dict[str, int] = {}
        self.messages: dict[str, str] = {}
        self.ticks = 0
        self.thread_id = ""
        self.journal = Journal(folder)
        self.engine = Engine(
            self.journal,
            capabilities=self._capabilities,
            policy=self._policy,
            clock=self._clock,
            entropy=self._entropy,
            fault=unheeded,
            hook=Hook(
                self._effect,
                send=unheeded,
                timers=unheeded,
                committed=unheeded,
                dropped=unheeded,
                serve=unheeded,
            ),
        )

    # ---- the world of the core

    def _capabilities(self, state: ThreadState) -> Capabilities:
        return self._record

    def _policy(self, state: ThreadState) -> Policy:
        return Policy()

    def _clock(self) -> float:
        return CLOCK

    def _entropy(self) -> str:
        self.ticks += 1
        return f"seed-{self.ticks}"

    def _effect(self, thread_id: str, effect: object) -> None:
        if isinstance(effect, StartSession):
            self.starts.append(effect)

    @property
    def state(self) -> ThreadState:
        """The thread as it is now."""
        return self.engine.live(self.thread_id).state

    @property
    def pump(self) -> HeardPump:
        """The agent process that works now."""
        return self.pumps[-1]

    # ---- the whole play

    async def play(self) -> None:
        """From the first input to the end of the process; everything is in the journal afterwards."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.engine.run)
            await self._begin()
            for place, given in enumerate(self.inputs):
                await self._input(place, given)
            await self.engine.settle()
            group.cancel_scope.cancel()
        self.journal.close()

    async def _begin(self) -> None:
        create = CreateThread(
            workspace="/w",
            agent=self.instance,
            agent_kind=self.adapter.descriptor.agent_kind,
            mode=msgspec.convert(self.plan.mode, Any),
        )
        receipt = await self.engine.submit(None, create, actor="user")
        self.thread_id = receipt.result["thread"]
        if self.plan.handle is not None:
            await self.earlier_session(self.plan.handle)
        await self.message(self.plan.prompt)

    async def message(self, prompt: SendTurn | None) -> None:
        """What the recording sent, as a person's message."""
        blocks = prompt.blocks if prompt else ()
        text = "".join(b.text for b in blocks if isinstance(b, TextBlock)) or "(nothing was sent)"
        images = tuple(
            {"path": b.path, "media_type": b.media_type} for b in blocks if isinstance(b, ImageBlock)
        )
        client = prompt.client_id if prompt else "none"
        command = SendMessage(client, text, attachments=images, model=prompt.model if prompt else None)
        receipt = await self.engine.submit(self.thread_id, command, actor="user")
        self.messages[client] = receipt.result["message"]
        await self._opened()

    async def _opened(self) -> None:
        """Start the process the core wants, with the handshake as its first ask."""
        await self.engine.settle()
        for start in self.starts:
            process = Process(f"prc-{start.session_id}", start.session_id, self.thread_id, "rt", "", "")
            pump = HeardPump(process, self.adapter, self.grade, Secrets({}))
            self.pumps.append(pump)
            self.engine.pumps[start.session_id] = pump
            self.engine.apply(self.thread_id, SessionOpened(start.session_id))
        self.starts.clear()
        self._pair()

    def _pair(self) -> None:
        self.pairs.add(self.pairs.played, self.pump.said())

    async def earlier_session(self, handle: Handle) -> None:
        """The session in which the conversation that the recording resumes was made."""
        await self.message(SendTurn("", "", "earlier", (TextBlock("earlier"),)))
        self.say({"id": 1, "result": {"userAgent": f"earlier/{VERSION}", "platformOs": "linux"}})
        self.say({"id": 2, "result": begun(handle.native_id)})
        if not handle.note:  # else the conversation was left without a turn
            where = {"threadId": handle.native_id}
            turn: dict[str, Any] = {"id": "earlier", "items": [], "status": "completed", "error": None}
            self.say({"id": 3, "result": {"turn": {**turn, "status": "inProgress"}}})
            self.say({"method": "turn/started", "params": {**where, "turn": turn}})
            self.say({"method": "turn/completed", "params": {**where, "turn": turn}})
        self.end(Exit(0))
        self.engine.pumps.clear()
        self.pairs = Pairs(thread_key=self.THREAD_KEY)

    def say(self, data: dict[str, Any]) -> None:
        self._frame(data)
        self._pair()

    # ---- inputs

    def _consume(self, reports: list[Report]) -> None:
        self.engine.consume(self.pump, reports)

    def _frame(self, data: dict[str, Any]) -> None:
        for line in self.pump.lines(msgspec.json.encode(data) + b"\n"):
            self._consume(self.pump.line(line))

    async def _input(self, place: int, given: Input) -> None:
        step = self.reference.feed(given)
        lines = [send.line for send in step.sends if isinstance(send, Send)]
        match given:
            case Ask():
                await self._asked(place, given, lines)
            case Frame(data=data):
                self.pairs.add(self.pairs.recorded, lines)
                self._frame(self._translated(data))
            case Exit():
                self.end(given)
            case Timer(name=name):
                self.pairs.add(self.pairs.recorded, lines)
                self._consume(self.pump.timer(name))
            case _:
                raise AssertionError(f"a recording holds no {given}")
        self._pair()
        self._bind_unrecorded()

    def _bind_unrecorded(self) -> None:
        """A recording that shows no start of its conversation: the core's own start is answered with it."""
        key = self.pairs.waits(STARTS) if self.plan.bound_by is None else None
        if key is not None:
            number = self.pairs.played[key].pop(0)
            self.say({"id": number, "result": begun(self.plan.thread)})

    def _translated(self, data: dict[str, Any]) -> dict[str, Any]:
        """The frame as it would have come to this adapter: other numbers, other client ids."""
        number = data.get("id")
        if isinstance(number, int) and "method" not in data:
            return {**data, "id": self.pairs.number.get(number, number + NOT_OURS)}
        text = json.dumps(data)
        for client, message in self.messages.items():
            text = text.replace(f'"clientId": "{client}"', f'"clientId": "{message}"')
        return json.loads(text)

    def end(self, given: Exit) -> None:
        pump, session = self.pump, self.pump.process.session_id
        self._consume(pump.exit(given.code, given.signal, given.reason))
        self.engine.apply(self.thread_id, SessionEnded(session, given.reason, given.code, given.signal))
        pump.closed = True
        self.engine.touch(pump)
        self.counts = {name: pump.counts.get(name, 0) for name in ("mapped", "opaque", "diagnostic")}

    # ---- asks

    async def _asked(self, place: int, given: Ask, lines: list[str]) -> None:
        """Have the core ask for the same; what it asked for already is only paired."""
        command = given.command
        done = place == self.plan.bound_by or isinstance(command, OpenSession) or command is self.plan.prompt
        if not done and not await self._commanded(given):
            self._direct(given, lines)
            return
        self.pairs.add(self.pairs.recorded, lines)

    def _direct(self, given: Ask, lines: list[str]) -> None:
        """Hand a recorded ask to the adapter. What it sends is for what the recording shows at this place."""
        self._pair()
        self._consume(self.pump.ask(given.command))
        asked = [json.loads(line) for line in lines]
        mine = [m for line in self.pump.said() if "method" in (m := json.loads(line))]
        for one, other in zip(mine, (a for a in asked if "method" in a), strict=False):
            self.pairs.number[other["id"]] = one["id"]

    async def _commanded(self, given: Ask) -> bool:
        """Whether a person's command leads the core to this ask."""
        match given.command:
            case SendTurn() as prompt if prompt.thread == self.plan.thread and self.state.active is None:
                await self.message(prompt)
            case InterruptTurn(thread=thread) if thread == self.plan.thread and self._can_interrupt():
                await self.engine.submit(self.thread_id, InterruptRun(), actor="user")
            case Respond(request=key, answer=answer) if self._pending(key):
                command = AnswerRequest(self._request(key), answer)
                await self.engine.submit(self.thread_id, command, actor="user")
            case _:
                return False
        return True

    def _can_interrupt(self) -> bool:
        """Whether a turn runs that a person may stop; before the recorded prompt there is none."""
        active = self.state.active
        running = any(turn.root for turn in self.state.turns.values())
        return active is not None and running and active.interrupt_requested_at is None

    def _request(self, key: str) -> str:
        return derived("req", self.pump.process.session_id, key)

    def _pending(self, key: str) -> bool:
        held = self.state.requests.get(self._request(key))
        return held is not None and held.state == "pending"


def begun(thread: str) -> dict[str, Any]:
    """The agent's answer to the start of a conversation, as far as the adapter reads it."""
    return {"thread": {"id": thread, "turns": [], "status": {"type": "idle"}}, "model": "m"}


@dataclass
class Played:
    """A finished play."""

    folder: Path
    thread_id: str
    counts: dict[str, int]


def play(
    folder: Path,
    name: str,
    *,
    adapter: CodexAdapter | None = None,
    instance: str = "codex",
    grade: Grade | None = None,
    change: Callable[[list[Input]], list[Input]] = lambda inputs: inputs,
) -> Played:
    """Play a cassette, perhaps changed, into a fresh data folder. `grade`: the trust in item ids."""
    folder.mkdir(parents=True)
    player = CorePlayer(folder, adapter or CodexAdapter(), instance, change(cassette(name)), grade)
    anyio.run(player.play)
    return Played(folder, player.thread_id, player.counts)
