"""The adapter: a pure function of its inputs, and a few facts about its program (R1).

An adapter does no I/O, awaits nothing, reads no clock and draws no random number. Whoever holds the state
feeds it inputs and carries out what it returns.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.errors import MESSAGE_MAX, PodiumError
from podium.contract.events import DiagnosticSeen, ItemSeen, OpaqueSeen, ProviderEvent
from podium.contract.inputs import Input, Mode
from podium.contract.serving import Serve

ADAPTER_STATE_MAX = 256 * 1024
"""Largest encoded adapter state, in bytes (R1): open ids and counters, never text bodies."""

S = TypeVar("S")


class EnvVar(msgspec.Struct, frozen=True):
    """A variable the agent reads. Only declared ones reach it; a secret is masked everywhere (B15)."""

    name: str
    purpose: Literal["home", "config", "endpoint", "credential", "other"]
    secret: bool = False


class Preset(msgspec.Struct, frozen=True):
    """A known program that an adapter can drive once it is configured: what `podium agents add NAME` writes.

    `options` go to the adapter; `inherit` are names of the user's own variables that the program needs.
    """

    name: str
    display_name: str
    program: str
    options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    inherit: tuple[str, ...] = ()
    install_hint: str = ""


class HttpServer(msgspec.Struct, frozen=True):
    """How a program is reached that is an HTTP server on the loopback (decision 0017).

    `stream` is the path of its event stream; `listening` a regular expression over what it prints, whose
    first group is its port; `password` the variable that tells it the password to ask for, which is made
    anew for each process and known to nobody else; `user` the name that goes with it. A stream that says
    nothing for `silence_seconds` is opened again.
    """

    stream: str
    listening: str
    password: str
    user: str = ""
    silence_seconds: float = 60.0


class Descriptor(msgspec.Struct, frozen=True):
    """What the core may know of an agent program without naming it (F042).

    `transport` names the protocol whose id space native ids live in. `native_programs` are glob patterns
    relative to the folder of the resolved executable, for a real program behind a launcher script. An agent
    whose `role` is rehearsal needs no model and no account: it is taken where no other is there, and said so.
    One whose role is command is a program of the user's that nothing holds: it is taken only by its name.
    With `http` the program is an HTTP server: it is sent `HttpSend` only, and its plan's `argv` starts it.
    """

    adapter: str
    agent_kind: str
    display_name: str
    transport: str
    executables: tuple[str, ...]
    version_args: tuple[str, ...] = ("--version",)
    version_pattern: str = r"(\d+\.\d+\.\d+\S*)"
    native_programs: tuple[str, ...] = ()
    environment: tuple[EnvVar, ...] = ()
    install_hint: str = ""
    login_hint: str = ""
    login_command: str = ""
    start_seconds: float = 30.0
    stuck_seconds: float | None = None
    reattach: Literal["replay", "reconcile", "none"] = "replay"
    lossy_output: bool = False
    presets: tuple[Preset, ...] = ()
    role: Literal["agent", "rehearsal", "command"] = "agent"
    http: HttpServer | None = None


class LaunchSettings(msgspec.Struct, frozen=True):
    """What a launch may depend on."""

    program: str
    workspace: str
    mode: Mode = "ask"
    model: str | None = None
    options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class LaunchPlan(msgspec.Struct, frozen=True):
    """How to start the program. Prompts and secrets never stand in `argv` (B09)."""

    argv: tuple[str, ...]
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Send(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line for the agent's input, without its newline.

    `ask_id` says whose it is; `prompt` marks one that starts work (F280).
    """

    line: str
    ask_id: str | None = None
    prompt: bool = False


HTTP_SECONDS = 30.0
"""Longest wait for a whole answer to a request, where it does not say otherwise."""


class HttpSend(msgspec.Struct, frozen=True, omit_defaults=True):
    """One HTTP request to an agent that is a server; its answer returns as `HttpReply(tag)`.

    It is made once. Several are under way at once, so one that must not overtake another waits for its reply.
    """

    tag: str
    method: str
    path: str
    body: Any = None
    ask_id: str | None = None
    prompt: bool = False
    seconds: float = HTTP_SECONDS


class SetTimer(msgspec.Struct, frozen=True):
    """Call back with `Timer(name)` after `seconds`; the same name again replaces it; None cancels."""

    name: str
    seconds: float | None


class Step(msgspec.Struct, Generic[S], frozen=True):
    """The result of one input: the next state, what was learned, what to send, what to wait for.

    `serves` is what the agent wants done in its workspace, in this order.
    """

    state: S
    events: tuple[ProviderEvent, ...] = ()
    sends: tuple[Send | HttpSend, ...] = ()
    timers: tuple[SetTimer, ...] = ()
    serves: tuple[Serve, ...] = ()

    @property
    def handled(self) -> Literal["mapped", "opaque", "diagnostic"]:
        """How this input was dealt with, for the counts that tests pin."""
        if any(
            isinstance(e, OpaqueSeen) or (isinstance(e, ItemSeen) and e.kind == "opaque") for e in self.events
        ):
            return "opaque"
        if self.events and all(isinstance(e, DiagnosticSeen) for e in self.events):
            return "diagnostic"
        return "mapped"


class Adapter(Protocol[S]):
    """What an adapter author writes. Subclass nothing; satisfy this and register the entry point."""

    @property
    def descriptor(self) -> Descriptor:
        """The facts about the program."""
        ...

    def capabilities(self) -> Capabilities:
        """The most this adapter can drive, each claim with its evidence (R8); a fresh copy (F287)."""
        ...

    def asks(self) -> frozenset[str]:
        """The tags of the asks `step` handles; checked against the declaration at registration (F031)."""
        ...

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """How to start the program; pure."""
        ...

    def new(self) -> S:
        """The state of a process that has not spoken yet."""
        ...

    def step(self, state: S, given: Input) -> Step[S]:
        """Take one input. Never raises on what an agent sends; never changes `state` in place."""
        ...

    def dump(self, state: S) -> bytes:
        """The state as stored, with its `state_version`."""
        ...

    def load(self, data: bytes) -> S | None:
        """A stored state, upgraded if old; None where that cannot be done and the run must be reconciled."""
        ...


class AdapterFault(PodiumError):
    """An adapter broke its contract: it raised, or its state grew over the bound. The session fails alone."""

    def __init__(self, adapter: str, message: str) -> None:
        super().__init__(
            "adapter_fault", f"Adapter {adapter}: {message}", fix="Report it with `podium doctor --bundle`."
        )


class Machine:
    """One live adapter with its state; the one place where inputs meet `step`.

    Whatever an adapter raises here becomes an `AdapterFault`, and the state stays as it was before.
    """

    def __init__(self, adapter: Adapter[Any], state: Any = None) -> None:
        self.adapter = adapter
        self.state: Any = adapter.new() if state is None else state

    @classmethod
    def restore(cls, adapter: Adapter[Any], data: bytes) -> Machine | None:
        """Continue from a stored state, or None where the adapter cannot read it."""
        try:
            state = adapter.load(data)
        except Exception as error:
            raise _fault(adapter, f"load raised {type(error).__name__}: {error}") from error
        return None if state is None else cls(adapter, state)

    def feed(self, given: Input) -> Step[Any]:
        """Step once and keep the new state. A raising adapter becomes a typed fault."""
        try:
            step = self.adapter.step(self.state, given)
        except Exception as error:
            raise _fault(self.adapter, f"step raised {type(error).__name__}: {error}") from error
        if not _is_step(step):
            raise _fault(self.adapter, f"step returned {type(step).__name__}, not a Step")
        self.state = step.state
        return step

    def dump(self) -> bytes:
        """The state as stored, within its bound."""
        try:
            data = self.adapter.dump(self.state)
        except Exception as error:
            raise _fault(self.adapter, f"dump raised {type(error).__name__}: {error}") from error
        if len(data) > ADAPTER_STATE_MAX:
            raise _fault(self.adapter, f"its state takes {len(data)} bytes; the limit is {ADAPTER_STATE_MAX}")
        return data


def _is_step(found: object) -> bool:
    """Whether an adapter of another package kept to what its type promises."""
    return isinstance(found, Step)


def _fault(adapter: Adapter[Any], message: str) -> AdapterFault:
    return AdapterFault(adapter.descriptor.adapter, f"{message[:MESSAGE_MAX]}.")
