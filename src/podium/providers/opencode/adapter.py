"""The adapter for the first generation of OpenCode: a pure function of its inputs (R1)."""

from __future__ import annotations

import msgspec

from podium.contract.adapter import Descriptor, EnvVar, HttpServer, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.errors import failure
from podium.contract.events import AskFailed, DiagnosticSeen, OpaqueSeen
from podium.contract.inputs import Ask, Exit, Frame, HttpReply, Input, SseEvent, StreamLost, Timer
from podium.contract.leaves import MANDATORY_ASKS
from podium.providers.opencode.asks import ask
from podium.providers.opencode.declaration import declare
from podium.providers.opencode.drafting import Draft
from podium.providers.opencode.news import heard
from podium.providers.opencode.replies import reply
from podium.providers.opencode.rules import ASKS
from podium.providers.opencode.settling import LOOK, again, broken, looked, settle
from podium.providers.opencode.state import STATE_VERSION, State
from podium.providers.opencode.turns import SETTLE

NAME = "opencode"
TRANSPORT = "opencode-http"
MORE_ASKS = frozenset(
    {
        "steer_turn",
        "interrupt_turn",
        "respond",
        "read_thread",
        "rollback_thread",
        "fork_thread",
        "list_models",
        "compact_thread",
    }
)

CONFIGURATION = {"agent": {"explore": {"permission": {"edit": "deny"}}}}
"""The agent's own explorer changes nothing; what is set for the whole process would let it ask to."""

ENVIRONMENT = (
    EnvVar("XDG_CONFIG_HOME", "home"),
    EnvVar("XDG_DATA_HOME", "home"),
    EnvVar("XDG_CACHE_HOME", "home"),
    EnvVar("XDG_STATE_HOME", "home"),
    EnvVar("OPENCODE_CONFIG", "config"),
    EnvVar("OPENCODE_CONFIG_DIR", "config"),
    EnvVar("OPENCODE_DISABLE_MODELS_FETCH", "config"),
    EnvVar("OPENCODE_DISABLE_LSP_DOWNLOAD", "config"),
    EnvVar("OPENCODE_DISABLE_DEFAULT_PLUGINS", "config"),
    EnvVar("OPENCODE_DISABLE_CLAUDE_CODE", "config"),
    EnvVar("OPENCODE_DISABLE_EXTERNAL_SKILLS", "config"),
    EnvVar("OPENCODE_API_KEY", "credential", secret=True),
    EnvVar("ANTHROPIC_API_KEY", "credential", secret=True),
    EnvVar("OPENAI_API_KEY", "credential", secret=True),
    EnvVar("GEMINI_API_KEY", "credential", secret=True),
    EnvVar("OPENROUTER_API_KEY", "credential", secret=True),
)
"""What the program reads of a person's environment."""


class OpenCodeAdapter:
    """Drives `opencode serve`. Name and brand are parameters, nothing depends on them."""

    def __init__(self, name: str = NAME, agent_kind: str = NAME) -> None:
        self._name = name
        self._agent_kind = agent_kind

    @property
    def descriptor(self) -> Descriptor:
        """The facts about the program."""
        return Descriptor(
            adapter=self._name,
            agent_kind=self._agent_kind,
            display_name="OpenCode",
            transport=TRANSPORT,
            executables=("opencode",),
            environment=ENVIRONMENT,
            install_hint="npm install -g opencode-ai",
            login_hint="opencode auth login",
            login_command="opencode auth login",
            # The first start makes a database, and took seven seconds on a busy machine.
            start_seconds=60.0,
            stuck_seconds=600.0,
            http=HttpServer(
                stream="/event",
                listening=r"listening on http://127\.0\.0\.1:(\d+)",
                password="OPENCODE_SERVER_PASSWORD",
                user="opencode",
            ),
        )

    def capabilities(self) -> Capabilities:
        """The most this adapter can drive, with its evidence; a fresh record each time."""
        return declare(self._name, self._agent_kind, TRANSPORT)

    def asks(self) -> frozenset[str]:
        """The asks that `step` handles."""
        return MANDATORY_ASKS | MORE_ASKS

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """A server on the loopback, on a port of its own choice, that asks before it acts."""
        argv = (settings.program, "serve", "--hostname", "127.0.0.1", "--port", "0")
        environment = {
            "OPENCODE_SERVER_USERNAME": "opencode",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_EMBEDDED_WEB_UI": "1",
            "OPENCODE_PERMISSION": msgspec.json.encode(ASKS).decode(),
            "OPENCODE_CONFIG_CONTENT": msgspec.json.encode(CONFIGURATION).decode(),
        }
        return LaunchPlan(argv, environment)

    def new(self) -> State:
        """A process that has not spoken yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """Take one input."""
        draft = Draft(state, TRANSPORT, self._agent_kind)
        match given:
            case SseEvent("open", None):
                again(draft)
            case SseEvent(data=data):
                heard(draft, data)
            case HttpReply():
                reply(draft, given)
            case Ask():
                ask(draft, given.command)
            case Timer(name):
                due(draft, name)
            case StreamLost(reason):
                broken(draft, reason)
            case Exit():
                gone(draft, given)
            case Frame(data):
                draft.emit(OpaqueSeen("frame", data))
            case _:
                draft.emit(DiagnosticSeen("input_unused"))
        return draft.done()

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


def due(draft: Draft, name: str) -> None:
    """A timer: something should have been heard by now."""
    session = draft.session(name.removeprefix(SETTLE).removeprefix(LOOK))
    if session is None:
        draft.emit(DiagnosticSeen("timer_unused"))
    elif name.startswith(LOOK) and session.prompt is not None:
        looked(draft, session)
    elif name.startswith(SETTLE) and session.turn is not None:
        settle(draft, session)
    else:
        draft.emit(DiagnosticSeen("timer_unused"))


def gone(draft: Draft, given: Exit) -> None:
    """The process is gone. What became of its turns is the core's to say; a prompt stays unknown (F280)."""
    why = failure("process", "process_exit", f"The agent ended ({given.reason}).", exit_code=given.code)
    for call in draft.state.calls.values():
        if call.ask_id is not None and call.kind != "prompt":
            draft.emit(AskFailed(call.ask_id, why))
    draft.state = State()
