"""The adapter of a command that is run once for each prompt: a pure function of its inputs (R1, F035)."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from podium.contract.adapter import Descriptor, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.events import DiagnosticSeen, OpaqueSeen
from podium.contract.inputs import Ask, Exit, Frame, Input
from podium.contract.leaves import MANDATORY_ASKS
from podium.providers.oneshot.asks import ARGUMENTS, asked, is_texts
from podium.providers.oneshot.declaration import NAME, record
from podium.providers.oneshot.news import heard
from podium.providers.oneshot.state import STATE_VERSION, Known, State

BRIDGE = Path(__file__).with_name("bridge.py")


class OneShotAdapter:
    """Drives the bridge that runs the configured command."""

    descriptor = Descriptor(
        adapter=NAME,
        agent_kind=NAME,
        display_name="One-shot command",
        transport=NAME,
        executables=(),
        version_args=(),
        install_hint="Name the command: podium agents add NAME --one-shot -- COMMAND ARGUMENTS",
        login_hint="Whatever the command itself needs.",
        # Many commands print nothing until they are done.
        stuck_seconds=3600.0,
        role="command",
    )

    def capabilities(self) -> Capabilities:
        """Text in, one answer out, each claim with its evidence; a fresh record each time."""
        return record()

    def asks(self) -> frozenset[str]:
        """The four that every adapter handles."""
        return MANDATORY_ASKS

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """The bridge, with the command as its arguments; a prompt never stands there (B09)."""
        given = settings.options.get(ARGUMENTS, ())
        command = (settings.program, *(given if is_texts(given) else ())) if settings.program else ()
        return LaunchPlan((sys.executable, "-I", str(BRIDGE), *command))

    def new(self) -> State:
        """A bridge that has not spoken yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """Take one input."""
        match given:
            case Ask(command=command):
                return asked(state, command)
            case Frame(data=data):
                try:
                    return heard(state, msgspec.convert(data, Known))
                except msgspec.ValidationError:
                    return Step(state, (OpaqueSeen("frame", data),))
            case Exit():
                return Step(State())  # what became of the prompt is the core's to say (R10)
            case _:
                return Step(state, (DiagnosticSeen("input_unused"),))

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
