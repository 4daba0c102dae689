"""A whole adapter for a small, made-up agent: the one that docs/adapters.md explains, line by line.

It stands on `podium.contract` alone. The agent speaks JSON lines: each of our requests has an `id` that its
answer repeats, and everything else it says is news.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from podium.contract.adapter import Descriptor, LaunchPlan, LaunchSettings, Send, Step
from podium.contract.capabilities import NATIVE, Capabilities, Evidence, EvidenceClass, Strength, unsupported
from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    ItemContent,
    ItemSeen,
    ItemState,
    OpaqueSeen,
    Outcome,
    ProviderEvent,
    Ref,
    RequestClosed,
    RequestOpened,
    SessionReady,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    CloseSession,
    Command,
    EnsureThread,
    Exit,
    Frame,
    Input,
    InterruptTurn,
    ListModels,
    OpenSession,
    Respond,
    SendTurn,
    TextBlock,
)
from podium.contract.requests import ACCEPT, DECLINE, Option, RequestContent

# What the agent says. A frame of another shape is not an error: it is kept as it is, and counted.


class Said(msgspec.Struct, tag_field="op"):
    """Anything the agent says."""


class Ready(Said, tag="ready"):
    id: str
    version: str
    can: tuple[str, ...] = ()


class Opened(Said, tag="opened"):
    id: str
    thread: str
    resumed: bool


class NoThread(Said, tag="no_thread"):
    id: str
    thread: str


class Started(Said, tag="started"):
    id: str
    thread: str
    turn: str


class Text(Said, tag="text"):
    thread: str
    turn: str
    item: str
    text: str


class Message(Said, tag="message"):
    thread: str
    turn: str
    item: str
    text: str


class Tool(Said, tag="tool"):
    thread: str
    turn: str
    item: str
    command: str
    state: Literal["running", "ok", "failed", "declined"]


class Wants(Said, tag="wants"):
    key: str
    thread: str
    turn: str
    item: str
    command: str


class Ended(Said, tag="ended"):
    thread: str
    turn: str
    how: Literal["done", "stopped", "broken"]
    why: str = ""


class Refused(Said, tag="refused"):
    id: str
    why: str


class Done(Said, tag="done"):
    id: str


class Models(Said, tag="models"):
    id: str
    models: tuple[str, ...]


class Tick(Said, tag="tick"):
    """A sign of life that means nothing to us."""


Known = (
    Ready
    | Opened
    | NoThread
    | Started
    | Text
    | Message
    | Tool
    | Wants
    | Ended
    | Refused
    | Done
    | Models
    | Tick
)


class State(msgspec.Struct, frozen=True):
    """What must not be forgotten between two inputs: open requests, by key. Never a text."""

    state_version: int = 1
    waiting: dict[str, str] = msgspec.field(default_factory=dict[str, str])


CLAIMS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "lifecycle.persistent": (NATIVE, ("open", "opened")),
    "input.text": (NATIVE, ("say",)),
    "turns.started": (NATIVE, ("started",)),
    "turns.completed": (NATIVE, ("ended",)),
    "turns.interrupt": (NATIVE, ("stop", "ended")),
    "output.text_delta": (NATIVE, ("text",)),
    "output.message_completed": (NATIVE, ("message",)),
    "tools.item_ids": (NATIVE, ("tool",)),
    "tools.started": (NATIVE, ("tool",)),
    "tools.completed": (NATIVE, ("tool",)),
    "approvals.command": (NATIVE, ("wants", "answer")),
    "models.catalog": (NATIVE, ("models",)),
    "identity.thread": (Strength.STRONG, ("opened",)),
    "identity.turn": (Strength.STRONG, ("started",)),
    "identity.item": (Strength.STRONG, ("tool", "message")),
    "identity.request": (Strength.STRONG, ("wants",)),
}

ASKS = frozenset(
    {
        "open_session",
        "ensure_thread",
        "send_turn",
        "interrupt_turn",
        "respond",
        "list_models",
        "close_session",
    }
)

OPTIONS = (Option(ACCEPT, "Allow", "allow_once"), Option(DECLINE, "Decline", "decline"))
ITEM_STATES: dict[str, ItemState] = {
    "running": "open",
    "ok": "completed",
    "failed": "failed",
    "declined": "declined",
}
OUTCOMES: dict[str, Outcome] = {"done": "completed", "stopped": "interrupted", "broken": "failed"}


def proof(native: tuple[str, ...]) -> Evidence:
    """Shown on version 1.0 by the tests of this folder."""
    return Evidence(
        evidence_class=EvidenceClass.PROVEN_NATIVE,
        native=native,
        proven_on=("1.0",),
        scenario="own:whole_day",
        date="2026-11-30",
    )


class SmallAdapter:
    """Satisfies `podium.contract.adapter.Adapter`; nothing is subclassed."""

    descriptor = Descriptor(
        adapter="small",
        agent_kind="small",
        display_name="Small",
        transport="small-lines",
        executables=("small-agent",),
        install_hint="There is nothing to install: it is made up.",
    )

    def capabilities(self) -> Capabilities:
        """The most this adapter can drive, each claim with its proof."""
        return Capabilities.build(
            {path: value for path, (value, _) in CLAIMS.items()},
            evidence={path: proof(native) for path, (_, native) in CLAIMS.items()},
            adapter="small",
            agent_kind="small",
            transport="small-lines",
        )

    def asks(self) -> frozenset[str]:
        """What `step` handles."""
        return ASKS

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """How to start the program."""
        return LaunchPlan((settings.program, "--lines"))

    def new(self) -> State:
        """Nothing was said yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """One input in; the next state, events and lines to send out."""
        match given:
            case Ask(command=command):
                return asked(state, command)
            case Frame(data=data):
                try:
                    return heard(state, msgspec.convert(data, Known))
                except msgspec.ValidationError:
                    return Step(state, (OpaqueSeen("frame", data),))
            case Exit():
                closed = (RequestClosed(key, "agent", "process_exit") for key in state.waiting)
                return Step(State(), tuple(closed))
            case _:
                return Step(state)

    def dump(self, state: State) -> bytes:
        """The state as stored."""
        return msgspec.json.encode(state)

    def load(self, data: bytes) -> State | None:
        """A stored state of this version, or None."""
        try:
            state = msgspec.json.decode(data, type=State)
        except msgspec.DecodeError:
            return None
        return state if state.state_version == 1 else None


def asked(state: State, command: Command) -> Step[State]:
    """What the core wants, in the agent's words."""
    match command:
        case OpenSession(ask_id=ask, workspace=folder, mode=mode):
            return say(state, "hello", ask, folder=folder, mode=mode)
        case EnsureThread(ask_id=ask, handle=None):
            return say(state, "open", ask)
        case EnsureThread(ask_id=ask, handle=Handle(native_id=thread)):
            return say(state, "open", ask, thread=thread)
        case SendTurn(ask_id=ask, thread=thread, blocks=blocks):
            text = "".join(block.text for block in blocks if isinstance(block, TextBlock))
            return say(state, "say", ask, prompt=True, thread=thread, text=text)
        case InterruptTurn(ask_id=ask, thread=thread):
            return say(state, "stop", ask, thread=thread)
        case Respond(ask_id=ask, request=key, answer=answer):
            if key not in state.waiting:
                why = failure("validation", "request_unknown", "The agent does not wait for this.")
                return Step(state, (AskFailed(ask, why),))
            left = {held: item for held, item in state.waiting.items() if held != key}
            step = say(State(waiting=left), "answer", ask, key=key, yes=answer.decision == ACCEPT)
            return msgspec.structs.replace(step, events=(RequestClosed(key, "answer"),))
        case ListModels(ask_id=ask):
            return say(state, "models", ask)
        case CloseSession(ask_id=ask):
            return say(state, "bye", ask)
        case _:
            why = failure("validation", "ask_unknown", "This adapter does not handle that.")
            return Step(state, (AskFailed(command.ask_id, why),))


def say(state: State, op: str, ask: str, *, prompt: bool = False, **more: Any) -> Step[State]:
    """One line for the agent. Its id is the ask's, so the answer says whose it is."""
    return Step(state, sends=(Send(json.dumps({"op": op, "id": ask, **more}), ask, prompt),))


def heard(state: State, said: Known) -> Step[State]:
    """What the agent said, in the contract's words."""
    match said:
        case Wants():
            waiting = {**state.waiting, said.key: said.item}
            return Step(State(waiting=waiting), (card(said),))
        case Ended():
            return Step(state, (ended(said),))
        case _:
            return Step(state, news(said))


def news(said: Known) -> tuple[ProviderEvent, ...]:
    """Frames that change nothing we remember."""
    match said:
        case Ready(id=ask, version=version, can=can):
            missing = {} if "models" in can else {"models.catalog": unsupported("not_advertised")}
            return (SessionReady(ask, version, dict(missing)),)
        case Opened(id=ask, thread=thread, resumed=resumed):
            return (ThreadBound(ask, thread, Handle("small-lines", "small", thread), resumed),)
        case NoThread(id=ask, thread=thread):
            why = failure("provider", "thread_missing", f"The agent has no conversation {thread}.")
            return (ThreadMissing(ask, "missing", why),)
        case Started(id=ask, thread=thread, turn=turn):
            return TurnAccepted(ask, thread, turn), TurnStarted(thread, turn)
        case Text(thread, turn, item, text):
            return (TextDelta(Ref(thread, turn, item), "assistant_message", "text", text),)
        case Message(thread, turn, item, text):
            return (
                ItemSeen(Ref(thread, turn, item), "assistant_message", "completed", final={"text": text}),
            )
        case Tool(thread, turn, item, command, state):
            content = ItemContent(command=command)
            return (ItemSeen(Ref(thread, turn, item), "command", ITEM_STATES[state], content),)
        case Refused(id=ask, why=why):
            return (AskFailed(ask, failure("provider", "refused", why)),)
        case Done(id=ask):
            return (AskDone(ask),)
        case Models(id=ask, models=models):
            return (AskDone(ask, list(models)),)
        case _:
            return (DiagnosticSeen("tick"),)


def card(said: Wants) -> RequestOpened:
    """A request of the agent, with our own options and labels."""
    ref = Ref(said.thread, said.turn, said.item)
    content = RequestContent(title="Run a command", command=said.command)
    return RequestOpened(said.key, ref, "command_approval", content, OPTIONS, item=ref)


def ended(said: Ended) -> TurnEnded:
    """The end of a turn, with the agent's own word kept beside ours."""
    why = failure("provider", "turn_failed", said.why) if said.how == "broken" else None
    return TurnEnded(said.thread, said.turn, OUTCOMES[said.how], failure=why, word=said.how)


adapter = SmallAdapter()
