"""The adapter: a pure function of its inputs (R1)."""

from __future__ import annotations

import msgspec

from podium.contract.adapter import Descriptor, EnvVar, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.errors import failure
from podium.contract.events import AskFailed, DiagnosticSeen, OpaqueSeen
from podium.contract.inputs import Ask, Exit, Frame, Input
from podium.providers.pi.asks import ASKS, asked
from podium.providers.pi.declaration import record
from podium.providers.pi.draft import NAME, TRANSPORT, Draft
from podium.providers.pi.news import heard
from podium.providers.pi.said import QUIET, Known
from podium.providers.pi.state import STATE_VERSION, State
from podium.providers.pi.tools import bounded


class PiAdapter:
    """Drives `pi --mode rpc` over stdio."""

    descriptor = Descriptor(
        adapter=NAME,
        agent_kind=NAME,
        display_name="Pi",
        transport=TRANSPORT,
        executables=("pi",),
        environment=(
            EnvVar("PI_CODING_AGENT_DIR", "home"),
            EnvVar("PI_OFFLINE", "config"),
            EnvVar("ANTHROPIC_API_KEY", "credential", secret=True),
            EnvVar("OPENAI_API_KEY", "credential", secret=True),
            EnvVar("GEMINI_API_KEY", "credential", secret=True),
            EnvVar("OPENROUTER_API_KEY", "credential", secret=True),
        ),
        install_hint="npm install -g @earendil-works/pi-coding-agent (needs Node 22.19 or newer)",
        login_hint="Run pi and type /login, or set the API key of a provider.",
        # A model's server that hangs is waited for without a word.
        stuck_seconds=300.0,
        reattach="replay",
        # A long output is passed on by its end only; the end of the command has it as the agent kept it.
        lossy_output=True,
    )

    def capabilities(self) -> Capabilities:
        """The most this adapter can drive, with evidence; a fresh copy each time."""
        return record()

    def asks(self) -> frozenset[str]:
        """The tags of the asks that `step` handles."""
        return ASKS

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """Start the program; prompts and secrets never stand in the arguments."""
        return LaunchPlan((settings.program, "--mode", "rpc"))

    def new(self) -> State:
        """The state of a process that has not spoken yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """Take one input; never raises on what an agent sends."""
        draft = Draft(state)
        match given:
            case Ask(command=command):
                asked(draft, command)
            case Frame(data={"type": str(name)}) if name in QUIET:
                draft.emit(DiagnosticSeen(name))
            case Frame(data=data):
                try:
                    said = msgspec.convert(data, Known)
                except msgspec.ValidationError:
                    draft.emit(OpaqueSeen(str(data.get("type", "frame"))[:80], bounded(data)))
                else:
                    heard(draft, said)
            case Exit():
                gone(draft)
            case _:
                draft.emit(DiagnosticSeen(type(given).__name__.lower()))
        return draft.step()

    def dump(self, state: State) -> bytes:
        """The state as stored."""
        return msgspec.json.encode(state)

    def load(self, data: bytes) -> State | None:
        """A stored state of this version; None for any other or a broken one."""
        try:
            state = msgspec.json.decode(data, type=State)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return state if state.state_version == STATE_VERSION else None


def gone(draft: Draft) -> None:
    """The process ended. A prompt that waited for its model was never written, and says so."""
    for pending in draft.state.pending.values():
        if pending.held is not None:
            why = failure("process", "not_sent", "The agent ended before the message was sent.")
            draft.emit(AskFailed(pending.held.ask_id, why))
    draft.state = State()
