"""What the HTTP face takes and gives besides the types of the domain; published in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from podium.contract.events import Body, SlashCommand
from podium.contract.inputs import Mode
from podium.domain.entities import Checkpoint, Entity, Node, Request
from podium.runtime.health import SignInFlow
from podium.runtime.snapshot import Snapshot
from podium.workspace.values import RestorePlan

ResetReason = Literal[
    "cursor_malformed", "cursor_ahead", "journal_changed", "too_far_behind", "reader_too_slow"
]
"""Why a cursor cannot be used (F243)."""

CommandId = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
"""Chosen by the client: the same id again gives the same receipt (F240)."""

TEXT_MAX = 4 * 1024 * 1024
"""Longest text of one message over HTTP, in characters."""


class NewThread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Begin a thread in a folder of the server's machine. Without an agent, the default one is taken."""

    workspace: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    agent: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    model: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    mode: Mode | None = None
    title: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    command_id: CommandId | None = None


class NewMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say something. `client_id` makes a repeat harmless (F281); `fresh` begins a new conversation."""

    client_id: CommandId
    text: Annotated[str, msgspec.Meta(max_length=TEXT_MAX)]
    intent: Literal["auto", "start", "steer", "restart", "queue"] = "auto"
    model: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    fresh: bool = False


class Interrupt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask a run to stop; the active one if none is named."""

    run: str | None = None
    command_id: CommandId | None = None


class ThreadChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Put a thread away, or back."""

    archived: bool
    command_id: CommandId | None = None


class GivenAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision: the id of an offered option; questions take one list of answers each, in order (F144)."""

    decision: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    answers: tuple[tuple[str, ...], ...] | None = None
    text: str | None = None
    updated_input: dict[str, Any] | None = None
    command_id: CommandId | None = None


class Code(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A one-time code from the fragment of a printed URL."""

    code: Annotated[str, msgspec.Meta(max_length=200)]


class PlanWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to take back: a run, a thread or a checkpoint; with `undo` a restore, by its safety checkpoint."""

    target: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    force: bool = False
    undo: bool = False


class RestoreWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Carry out a plan that was shown: its wish again, and its `digest`.

    The plan is made anew; where it differs from what was shown, nothing is touched.
    """

    wish: PlanWish
    digest: Annotated[str, msgspec.Meta(min_length=64, max_length=64)]


class ShownPlan(msgspec.Struct, frozen=True):
    """What a restore would do, with what names exactly that."""

    plan: RestorePlan
    digest: str


class SignedIn(msgspec.Struct, frozen=True):
    """A browser may call now; `boot` names the runtime."""

    boot: str


class Ok(msgspec.Struct, frozen=True):
    """It is."""

    ok: bool = True


class Info(msgspec.Struct, frozen=True):
    """What this server is and can. `limits` are in the units that their names say."""

    version: str
    boot: str
    journal: str
    features: tuple[str, ...]
    limits: dict[str, int]


class AgentCard(msgspec.Struct, frozen=True):
    """An agent with what was found of it, and the command that mends what is wrong.

    `mode` is the one that it begins in where nobody chooses, `modes` are those that it can be held to.
    """

    id: str
    name: str
    agent_kind: str
    adapter: str
    health: Literal["ok", "missing", "problem", "rejected"]
    version: str | None
    problem: str
    fix: str
    sign_in: str
    sign_in_hint: str
    sign_in_flows: tuple[SignInFlow, ...]
    rehearsal: bool
    default: bool
    model: str | None = None
    mode: Mode | None = None
    modes: tuple[Mode, ...] = ()


class Agents(msgspec.Struct, frozen=True):
    """All agents of this server."""

    agents: tuple[AgentCard, ...]


class Leaf(msgspec.Struct, frozen=True):
    """One capability: its value, the proof, and how that stands on the installed version (R8)."""

    leaf: str
    value: Any
    word: str
    evidence: str | None
    native: tuple[str, ...]
    standing: str
    reason: str


class Feature(msgspec.Struct, frozen=True):
    """What happens with one feature: native, a recorded fallback, or a refusal."""

    feature: str
    outcome: str
    capability: str
    policy: str
    code: str
    reason: str
    fidelity: str
    consequence: str


class CapabilityReport(msgspec.Struct, frozen=True):
    """The effective capabilities of an agent on its installed version."""

    agent: str
    agent_kind: str
    version: str | None
    schema_version: int
    leaves: tuple[Leaf, ...]
    features: tuple[Feature, ...]


class Requests(msgspec.Struct, frozen=True):
    """Everything that waits for a person, oldest first."""

    sequence: int
    requests: tuple[Request, ...]


class Checkpoints(msgspec.Struct, frozen=True):
    """Checkpoints, newest first."""

    checkpoints: tuple[Checkpoint, ...]


class Nodes(msgspec.Struct, frozen=True):
    """Every action of a thread as a tree: roots, tools, subagents; oldest first."""

    nodes: tuple[Node, ...]


class Commands(msgspec.Struct, frozen=True):
    """The slash commands that the agent offers in the thread; one is run by sending it as a message."""

    commands: tuple[SlashCommand, ...]


class InputBlock(msgspec.Struct, frozen=True):
    """One block of what the agent was sent, as it was sent, and who it is from (J)."""

    type: Literal["text", "image"]
    origin: Literal["user"]
    message: str
    text: str | None = None
    attachment: dict[str, Any] | None = None


class RunInput(msgspec.Struct, frozen=True):
    """The exact blocks of a run's messages, in order: nothing is added to what a person wrote."""

    run: str
    blocks: tuple[InputBlock, ...]


class Workspaces(msgspec.Struct, frozen=True):
    """Folders that threads were begun in, newest first; `home` is where the server was started."""

    home: str
    workspaces: tuple[str, ...]


class Diagnostics(msgspec.Struct, frozen=True):
    """What the agent sent that nothing else shows, masked; oldest first."""

    lines: tuple[str, ...]


class Hello(msgspec.Struct, frozen=True):
    """`event: hello`, the first frame of a stream."""

    boot: str
    journal: str
    sequence: int


class EventLine(msgspec.Struct, frozen=True):
    """`event: event`: something that is now true, with its entity whole; None once it was compacted away."""

    sequence: int
    type: str
    thread_id: str
    run_id: str | None
    at: float
    actor: str
    command_id: str | None
    entity: Entity | None


class DeltaLine(msgspec.Struct, frozen=True):
    """`event: delta`: text of parts `from_part` to `to_part`, before it is durable."""

    type: Literal["delta"]
    thread_id: str
    item: str
    field: Body
    body_epoch: int
    from_part: int
    to_part: int
    text: str


class Heartbeat(msgspec.Struct, frozen=True):
    """`event: heartbeat`: how far the stream is, past events of other threads too."""

    sequence: int


class Reset(msgspec.Struct, frozen=True):
    """`event: reset`: the cursor cannot be used; snapshots follow as `event: snapshot`."""

    reason: ResetReason
    sequence: int
    boot: str


class Frames(msgspec.Struct, frozen=True):
    """One of each frame of the event stream, by the name that stands in its `event` field."""

    hello: Hello
    event: EventLine
    delta: DeltaLine
    heartbeat: Heartbeat
    reset: Reset
    snapshot: Snapshot
