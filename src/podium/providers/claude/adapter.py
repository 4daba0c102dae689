"""The adapter: one function over frames and asks (R1)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.adapter import Descriptor, EnvVar, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.events import DiagnosticSeen, RequestClosed
from podium.contract.inputs import Ask, Exit, Frame, Input
from podium.providers.claude import news
from podium.providers.claude.asks import ASKS, ask
from podium.providers.claude.declaration import declare
from podium.providers.claude.draft import Draft
from podium.providers.claude.state import STATE_VERSION, State

TRANSPORT = "claude-stream-json"
"""The protocol whose id space the native ids live in."""

BRIDGE = Path(__file__).with_name("bridge.py")

NATIVE_PROGRAMS = (
    # Where npm's installer did not run, bin holds a stub and the program lies in the package of the platform.
    "../node_modules/@anthropic-ai/claude-code-*/claude",
    "../../claude-code-*/claude",
    "../lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe",
)

QUIET: dict[str, str] = {
    "CLAUDE_CODE_ENABLE_TASKS": "0",
    "DISABLE_AUTOUPDATER": "1",
}
"""Variables of the program. Without its newer task tools it writes whole to-do lists; a running program is
never replaced under a conversation.
"""


class ClaudeAdapter:
    """Drives `claude -p` behind the bridge. Name and brand are parameters: nothing may depend on them."""

    def __init__(self, name: str = "claude", agent_kind: str = "claude") -> None:
        self._descriptor = Descriptor(
            adapter=name,
            agent_kind=agent_kind,
            display_name="Claude Code",
            transport=TRANSPORT,
            executables=("claude",),
            native_programs=NATIVE_PROGRAMS,
            environment=(
                EnvVar("CLAUDE_CONFIG_DIR", "config"),
                EnvVar("ANTHROPIC_API_KEY", "credential", secret=True),
                EnvVar("ANTHROPIC_AUTH_TOKEN", "credential", secret=True),
                EnvVar("CLAUDE_CODE_OAUTH_TOKEN", "credential", secret=True),
                EnvVar("ANTHROPIC_BASE_URL", "endpoint"),
                EnvVar("ANTHROPIC_MODEL", "other"),
                EnvVar("CLAUDE_CODE_MAX_RETRIES", "other"),
                EnvVar("CLAUDE_CODE_TMPDIR", "other"),
                EnvVar("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "other"),
                EnvVar("DISABLE_TELEMETRY", "other"),
                EnvVar("DISABLE_ERROR_REPORTING", "other"),
                EnvVar("IS_SANDBOX", "other"),
            ),
            install_hint="npm install -g @anthropic-ai/claude-code",
            login_hint="claude, then /login",
            login_command="claude auth login",
            start_seconds=60.0,
            reattach="replay",
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
        """Start the bridge; which conversation is wanted is known later, so it starts the agent itself."""
        return LaunchPlan((sys.executable, "-I", str(BRIDGE), settings.program), dict(QUIET))

    def new(self) -> State:
        """The state of a bridge that has not spoken yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """Take one input; never raises on what an agent sends."""
        draft = Draft(state, self._descriptor.transport, self._descriptor.agent_kind)
        match given:
            case Frame(data=data):
                draft.frames += 1
                news.heard(draft, data)
                if not draft.events and not draft.sends:
                    draft.passed("nothing_new")
            case Ask(command=command):
                ask(draft, command)
            case Exit():
                # No frame can follow. Whether a last answer was taken is unknown, so it does not count.
                draft.emit(*(RequestClosed(key, "agent", "process_exit") for key in draft.waiting))
                draft.waiting.clear()
            case _:
                # A new owner reads the same bytes on; the other inputs belong to other kinds of agents.
                draft.emit(DiagnosticSeen(type(given).__name__.lower()))
        return draft.step()

    def dump(self, state: State) -> bytes:
        """The state as stored."""
        return msgspec.json.encode(state)

    def load(self, data: bytes) -> State | None:
        """A stored state of this version, or None where it must be reconciled."""
        try:
            state: Any = msgspec.json.decode(data, type=State)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None
        return state if state.state_version == STATE_VERSION else None
