"""The adapter: one function over frames, asks and timers (R1)."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import Descriptor, EnvVar, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.events import DiagnosticSeen, OpaqueSeen, RequestClosed
from podium.contract.inputs import Ask, Exit, Frame, Input, Timer
from podium.providers.codex import children, login, settle
from podium.providers.codex.asks import ASKS, ask
from podium.providers.codex.cards import opened
from podium.providers.codex.declaration import declare
from podium.providers.codex.draft import STOP_TIMER, Draft
from podium.providers.codex.edges import ID_MAX, bounded, ident, table
from podium.providers.codex.notes import noted
from podium.providers.codex.replies import answered
from podium.providers.codex.state import STATE_VERSION, State

TRANSPORT = "codex-app-server"
"""The protocol whose id space the native ids live in."""

REQUEST_ID_MAX = 2**63
"""Request ids are 64-bit whole numbers or short strings."""

NATIVE_PROGRAMS = (
    # The npm package's bin/codex.js only starts the native program of a platform package beside or below it.
    "../node_modules/@openai/codex-*/vendor/*/bin/codex",
    "../../codex-*/vendor/*/bin/codex",
    "../vendor/*/bin/codex",
    "../vendor/*/codex/codex",
)


class CodexAdapter:
    """Drives `codex app-server` over stdio. Name and brand are parameters: nothing may depend on them."""

    def __init__(self, name: str = "codex", agent_kind: str = "codex") -> None:
        self._descriptor = Descriptor(
            adapter=name,
            agent_kind=agent_kind,
            display_name="Codex",
            transport=TRANSPORT,
            executables=("codex",),
            native_programs=NATIVE_PROGRAMS,
            environment=(
                EnvVar("CODEX_HOME", "home"),
                EnvVar("OPENAI_API_KEY", "credential", secret=True),
                EnvVar("CODEX_API_KEY", "credential", secret=True),
                EnvVar("OPENAI_BASE_URL", "endpoint"),
            ),
            install_hint="npm install -g @openai/codex",
            login_hint="codex login",
            login_command="codex login",
            start_seconds=30.0,
            # A refused connection never ends a turn: the agent waits for the network for ever.
            stuck_seconds=300.0,
            reattach="replay",
            # Output deltas of quick commands lose their beginning; the final output is whole.
            lossy_output=True,
        )

    @property
    def descriptor(self) -> Descriptor:
        """The facts about the program."""
        return self._descriptor

    def capabilities(self) -> Capabilities:
        """The most this adapter can drive, with evidence; a fresh copy each time."""
        return declare(self._descriptor.adapter, self._descriptor.agent_kind, TRANSPORT)

    def asks(self) -> frozenset[str]:
        """The tags of the asks that `step` handles."""
        return ASKS

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """Start the app server; prompts and secrets never stand in the arguments."""
        return LaunchPlan((settings.program, "app-server"))

    def new(self) -> State:
        """The state of a process that has not spoken yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """Take one input; never raises on what an agent sends."""
        draft = Draft(state, self._descriptor.transport, self._descriptor.agent_kind)
        match given:
            case Frame(data=data):
                draft.frames += 1
                _frame(draft, data)
            case Ask(command=command):
                ask(draft, command)
            case Timer(name=name) if name.startswith(login.TIMER):
                login.due(draft, name)
            case Timer(name=name) if name.startswith(STOP_TIMER):
                draft.stop_now(name.removeprefix(STOP_TIMER))
            case Timer(name=name):
                settle.due(draft, name)
            case Exit():
                # No frame can follow. Whether a last answer was taken is unknown, so it does not count.
                draft.emit(*(RequestClosed(key, "agent", "process_exit") for key in draft.waiting))
                draft.waiting.clear()
                login.gone(draft)
            case _:
                # A new owner reads the same bytes on; the other inputs belong to agents behind HTTP.
                draft.emit(DiagnosticSeen(type(given).__name__.lower()))
        settle.arm(draft)
        login.watch(draft)
        return draft.step()

    def dump(self, state: State) -> bytes:
        """The state as stored."""
        return msgspec.json.encode(state)

    def load(self, data: bytes) -> State | None:
        """A stored state of this version, or None where it must be reconciled."""
        try:
            state = msgspec.json.decode(data, type=State)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None
        return state if state.state_version == STATE_VERSION else None


def _frame(draft: Draft, data: dict[str, Any]) -> None:
    method = data.get("method")
    native = data.get("id")
    if isinstance(method, str):
        params = table(data, "params")
        if native is None:
            noted(draft, method, params)
        elif _is_request_id(native):
            thread, turn = ident(params, "threadId"), ident(params, "turnId")
            if thread is not None:
                children.introduce(draft, thread)
                if turn is not None:
                    draft.start_turn(thread, turn)
            opened(draft, native, method, params)
        else:
            _opaque(draft, data)
    elif native is not None and ("result" in data or "error" in data):
        answered(draft, data)
    else:
        _opaque(draft, data)


def _is_request_id(native: Any) -> bool:
    if isinstance(native, bool):
        return False
    if isinstance(native, int):
        return abs(native) < REQUEST_ID_MAX
    return isinstance(native, str) and len(native) <= ID_MAX


def _opaque(draft: Draft, data: dict[str, Any]) -> None:
    draft.opaque += 1
    draft.emit(OpaqueSeen("frame", bounded(data)))
