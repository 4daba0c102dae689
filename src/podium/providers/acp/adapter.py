"""The adapter of any agent that speaks the protocol: a pure function of its inputs (R1)."""

from __future__ import annotations

import msgspec

from podium.contract.adapter import Descriptor, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.errors import failure
from podium.contract.events import AskFailed, DiagnosticSeen, OpaqueSeen
from podium.contract.inputs import Ask, Attached, Exit, Frame, Input, Served, Timer
from podium.providers.acp.asks import ask
from podium.providers.acp.children import known
from podium.providers.acp.declaring import Claims, asks_of, record
from podium.providers.acp.drafting import TRANSPORT, Draft
from podium.providers.acp.flavour import Flavour, Program
from podium.providers.acp.flavours import named
from podium.providers.acp.news import notified
from podium.providers.acp.reading import Json, fits, is_list, native_id, obj, text, whole
from podium.providers.acp.replies import loaded, reply
from podium.providers.acp.requests import lost, request
from podium.providers.acp.serving import asked, interrupted, served
from podium.providers.acp.state import STATE_VERSION, State
from podium.providers.acp.turns import LOADING, LOADING_END, QUIET, silence
from podium.providers.acp.updates import update


class AcpAdapter:
    """Drives one agent, or with the general flavour any agent. Name and brand are parameters."""

    def __init__(
        self, flavour: Flavour, program: Program, claims: Claims, *, name: str = "", agent_kind: str = ""
    ) -> None:
        self._flavour = flavour
        self._program = program
        self._claims = claims
        self._name = name or flavour.name
        self._agent_kind = agent_kind or self._name

    def named(self, name: str, agent_kind: str) -> AcpAdapter:
        """The same adapter under another name and brand."""
        return AcpAdapter(self._flavour, self._program, self._claims, name=name, agent_kind=agent_kind)

    @property
    def descriptor(self) -> Descriptor:
        """The facts about the program."""
        program = self._program
        return Descriptor(
            adapter=self._name,
            agent_kind=self._agent_kind,
            display_name=program.display_name,
            transport=TRANSPORT,
            executables=program.executables,
            version_args=program.version_args,
            native_programs=program.native_programs,
            environment=program.environment,
            install_hint=program.install_hint,
            login_hint=program.login_hint,
            login_command=program.login_command,
            presets=program.presets,
            start_seconds=program.start_seconds,
            stuck_seconds=program.stuck_seconds,
        )

    def capabilities(self) -> Capabilities:
        """The most this adapter can drive, with its evidence; a fresh record each time."""
        return record(self._claims, self._name, self._agent_kind)

    def asks(self) -> frozenset[str]:
        """The asks that `step` handles."""
        return asks_of(self._flavour)

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """The configured program, else the agent's own, with what makes it speak the protocol."""
        program = self._program
        given = settings.options.get(program.option)
        extra = tuple(map(str, given)) if is_list(given) else None
        arguments = program.arguments if extra is None or program.adds else ()
        start = (settings.program,) if settings.program else program.own
        return LaunchPlan((*start, *arguments, *(extra or ())))

    def new(self) -> State:
        """A process that has not spoken yet."""
        return State()

    def step(self, state: State, given: Input) -> Step[State]:
        """Take one input."""
        flavour = (named(state.flavour) if state.flavour else None) or self._flavour
        draft = Draft(state, flavour, self._agent_kind)
        match given:
            case Frame():
                frame(draft, given)
            case Ask():
                ask(draft, given.command)
            case Timer(name) if name.startswith(QUIET):
                silence(draft, name)
            case Timer(name) if name.startswith((LOADING, LOADING_END)):
                loaded(draft, name)
            case Exit():
                gone(draft, given)
            case Attached():
                interrupted(draft)
            case Served():
                served(draft, given)
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
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
            return None
        return state if state.state_version == STATE_VERSION else None


def frame(draft: Draft, given: Frame) -> None:
    """One object of the agent: a request, a notification or an answer."""
    data = given.data
    method = text(data, "method")
    rpc_id = data.get("id")
    params = obj(data, "params")
    if method == "session/update":
        update(draft, params, history=given.history)
    elif method is not None and (whole(data, "id") is not None or isinstance(rpc_id, str)):
        wanted(draft, method, rpc_id if isinstance(rpc_id, str) else whole(data, "id") or 0, params)
    elif method is None and ("result" in data or "error" in data):
        reply(draft, data)
    elif method is not None:
        notified(draft, method, data)
    else:
        draft.emit(OpaqueSeen("frame", data))


def wanted(draft: Draft, method: str, rpc_id: int | str, params: Json) -> None:
    """A request of the agent: for the workspace where that was offered, else for a person."""
    thread = native_id(params, "sessionId")
    serves = method in draft.state.offered and thread is not None and fits(str(rpc_id))
    session = known(draft, thread, params) if serves and thread is not None else None
    if session is not None:
        asked(draft, session, method, rpc_id, params)
    else:
        request(draft, method, rpc_id, params)


def gone(draft: Draft, given: Exit) -> None:
    """The process is gone. What became of its turns is the core's to say; a prompt stays unknown (F280)."""
    why = failure("process", "process_exit", f"The agent ended ({given.reason}).", exit_code=given.code)
    for call in draft.state.calls.values():
        if call.ask_id is not None and call.kind != "prompt":
            draft.emit(AskFailed(call.ask_id, why))
    for session in draft.state.sessions.values():
        waiting = session.settling or session.held
        if waiting is not None and waiting.ask_id is not None:
            draft.emit(AskFailed(waiting.ask_id, why))
    lost(draft, "process_exit")
    draft.state = msgspec.structs.replace(draft.state, calls={}, errands={})
