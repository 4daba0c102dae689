"""What an adapter reports, in one vocabulary (F075).

Native ids stand in `Ref`; the correlator turns them into ours. An adapter may repeat itself: the core is
idempotent. Text travels as deltas and is never repeated in an item's content; the agent's own final text goes
into `final`, and the core decides whether the deltas were the truth (R6).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.errors import Failure
from podium.contract.handles import Handle
from podium.contract.requests import Option, RequestContent, RequestKind

Body = Literal["text", "output", "reasoning", "summary", "diff"]
"""The bodies an item can have. Each is append-only within an epoch."""


class Ref(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a native thing lives: conversation, turn, id.

    `id` is None where the agent gives none; `fingerprint` steadies a weak id. How far it is trusted is a
    capability (identity.*), never a field here.
    """

    thread: str
    turn: str | None = None
    id: str | None = None
    fingerprint: str | None = None


class SessionReady(msgspec.Struct, frozen=True, tag_field="event", tag="session_ready", omit_defaults=True):
    """Handshake done. `narrowed` maps leaf paths to what was negotiated: it can only narrow (F286)."""

    ask_id: str
    agent_version: str | None = None
    narrowed: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class ThreadBound(msgspec.Struct, frozen=True, tag_field="event", tag="thread_bound", omit_defaults=True):
    """The agent has a conversation for us: a new one, or the very one the handle named.

    It also answers `ForkThread`. Without an ask it proves a known conversation again, with a moved note.
    """

    ask_id: str | None
    thread: str
    handle: Handle
    resumed: bool = False
    model: str | None = None


class ThreadMissing(msgspec.Struct, frozen=True, tag_field="event", tag="thread_missing", omit_defaults=True):
    """The named conversation cannot be resumed: missing, or not resumable with the reason (F074)."""

    ask_id: str
    kind: Literal["missing", "not_resumable"]
    failure: Failure


class ThreadChanged(msgspec.Struct, frozen=True, tag_field="event", tag="thread_changed", omit_defaults=True):
    """The agent reports settings of a conversation: what it really runs with."""

    thread: str
    model: str | None = None
    mode: str | None = None
    title: str | None = None


class SlashCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that the agent itself understands where a message begins with it. `hint`: what may follow."""

    name: str
    description: str = ""
    hint: str | None = None


class OffersSeen(msgspec.Struct, frozen=True, tag_field="event", tag="offers_seen", omit_defaults=True):
    """What an agent offers in a conversation, in its own words. What is None was not said this time."""

    thread: str
    models: tuple[str, ...] | None = None
    modes: tuple[str, ...] | None = None
    commands: tuple[SlashCommand, ...] | None = None


class TurnAccepted(msgspec.Struct, frozen=True, tag_field="event", tag="turn_accepted", omit_defaults=True):
    """The agent took the prompt of this ask; the turn's id if it names one."""

    ask_id: str
    thread: str
    turn: str | None = None


class TurnStarted(msgspec.Struct, frozen=True, tag_field="event", tag="turn_started", omit_defaults=True):
    """A turn runs. `client_id` where the agent echoes ours; where no run waits, the agent began by itself."""

    thread: str
    turn: str
    client_id: str | None = None
    root_turn: str | None = None


Outcome = Literal["completed", "interrupted", "failed"]
Evidence = Literal["provider", "inferred"]


class TurnEnded(msgspec.Struct, frozen=True, tag_field="event", tag="turn_ended", omit_defaults=True):
    """A turn is over. An inferred end says so (F047); an outcome the agent did not state is None, unknown."""

    thread: str
    turn: str
    outcome: Outcome | None
    evidence: Evidence = "provider"
    failure: Failure | None = None
    word: str | None = None


ItemKind = Literal[
    "user_message",
    "assistant_message",
    "reasoning",
    "command",
    "file_change",
    "tool_call",
    "web_search",
    "image",
    "plan",
    "subagent",
    "compaction",
    "review",
    "question",
    "opaque",
]
ItemState = Literal["open", "completed", "failed", "declined", "interrupted", "unverifiable"]


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One path of a structured file change. `diff` is bounded text for reading, not for applying."""

    path: str
    kind: Literal["add", "update", "delete", "move"]
    diff: str = ""
    moved_to: str | None = None


class ItemContent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fields of an item besides its bodies. Only what the agent said; nothing is derived from prose."""

    title: str | None = None
    command: str | None = None
    cwd: str | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    changes: tuple[FileChange, ...] = ()
    tool: str | None = None
    server: str | None = None
    arguments: Any = None
    result: Any = None
    phase: str | None = None
    path: str | None = None
    query: str | None = None
    background: bool = False
    native_kind: str | None = None
    payload: Any = None
    failure: Failure | None = None


class ItemSeen(msgspec.Struct, frozen=True, tag_field="event", tag="item_seen", omit_defaults=True):
    """An item began, changed or ended. `final` holds the agent's own whole text of a body, if it gave one.

    `content` says what this frame said; the core merges it into what it knows.
    """

    ref: Ref
    kind: ItemKind
    state: ItemState
    content: ItemContent = ItemContent()
    final: dict[Body, str] = msgspec.field(default_factory=dict[Body, str])
    client_id: str | None = None


class TextDelta(msgspec.Struct, frozen=True, tag_field="event", tag="text_delta"):
    """More text of one body of one item."""

    ref: Ref
    kind: ItemKind
    body: Body
    text: str


PlanStepState = Literal["pending", "in_progress", "completed"]


class PlanStep(msgspec.Struct, frozen=True):
    """One step of a structured plan."""

    text: str
    state: PlanStepState = "pending"


class PlanSeen(msgspec.Struct, frozen=True, tag_field="event", tag="plan_seen", omit_defaults=True):
    """The agent's structured plan or todo list, whole. Prose with numbers is not a plan (F060)."""

    ref: Ref
    kind: Literal["todo_list", "proposed_plan"]
    steps: tuple[PlanStep, ...] = ()
    text: str | None = None
    explanation: str | None = None


class DiffSeen(msgspec.Struct, frozen=True, tag_field="event", tag="diff_seen"):
    """The agent's own view of what the turn changed, as patch text."""

    thread: str
    turn: str
    diff: str


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens. Unknown is None, never 0."""

    input: int | None = None
    cached_input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None


class UsageSeen(msgspec.Struct, frozen=True, tag_field="event", tag="usage_seen", omit_defaults=True):
    """What the agent used, and its context window if it says.

    With a `key`, `last` is one model response: each key counts once and they add up (F127). Without one it is
    the turn so far and replaces what was known.
    """

    thread: str
    turn: str | None
    last: Usage
    total: Usage | None = None
    context_window: int | None = None
    key: str | None = None


class RequestOpened(msgspec.Struct, frozen=True, tag_field="event", tag="request_opened", omit_defaults=True):
    """The agent waits for a person. `key` is the adapter's own key, unique within the process."""

    key: str
    ref: Ref
    kind: RequestKind
    content: RequestContent
    options: tuple[Option, ...]
    item: Ref | None = None


class RequestClosed(msgspec.Struct, frozen=True, tag_field="event", tag="request_closed", omit_defaults=True):
    """The agent no longer waits: it took our answer, or gave up by itself."""

    key: str
    by: Literal["answer", "agent"]
    reason: str = ""


class SubagentSeen(msgspec.Struct, frozen=True, tag_field="event", tag="subagent_seen", omit_defaults=True):
    """A child works. With `child` its own conversation is addressable; `item` is the call that made it."""

    ref: Ref
    state: Literal["running", "completed", "failed", "interrupted", "unknown"]
    child: str | None = None
    handle: Handle | None = None
    name: str | None = None
    prompt: str | None = None


class BackgroundSeen(msgspec.Struct, frozen=True, tag_field="event", tag="background_seen"):
    """Items that keep working after their turn."""

    thread: str
    refs: tuple[Ref, ...]


class ContextCleared(
    msgspec.Struct, frozen=True, tag_field="event", tag="context_cleared", omit_defaults=True
):
    """The agent dropped its context: a new epoch of the conversation (F168)."""

    thread: str
    handle: Handle | None = None


class AskDone(msgspec.Struct, frozen=True, tag_field="event", tag="ask_done", omit_defaults=True):
    """The agent answered an ask that has no event of its own."""

    ask_id: str
    result: Any = None


class AskFailed(msgspec.Struct, frozen=True, tag_field="event", tag="ask_failed"):
    """The agent refused an ask. A refused prompt is rejected, never lost: its text stays with us."""

    ask_id: str
    failure: Failure


class Limited(msgspec.Struct, frozen=True, tag_field="event", tag="limited", omit_defaults=True):
    """The agent may not work now. `until` is a unix time in seconds, None where unknown."""

    scope: str
    until: float | None = None


class Retrying(msgspec.Struct, frozen=True, tag_field="event", tag="retrying", omit_defaults=True):
    """The agent tries again by itself (F278)."""

    thread: str
    turn: str | None
    failure: Failure
    attempt: int | None = None
    maximum: int | None = None
    delay: float | None = None


class Notice(msgspec.Struct, frozen=True, tag_field="event", tag="notice", omit_defaults=True):
    """Something a person should see and nothing depends on."""

    level: Literal["info", "warning", "error"]
    code: str
    text: str
    thread: str | None = None
    turn: str | None = None


class OpaqueSeen(msgspec.Struct, frozen=True, tag_field="event", tag="opaque_seen", omit_defaults=True):
    """A frame this adapter does not know, kept as it is (B73)."""

    name: str
    payload: Any
    thread: str | None = None
    turn: str | None = None


class DiagnosticSeen(msgspec.Struct, frozen=True, tag_field="event", tag="diagnostic_seen"):
    """A known frame that changes nothing for us; it is counted."""

    name: str


ProviderEvent = (
    SessionReady
    | ThreadBound
    | ThreadMissing
    | ThreadChanged
    | OffersSeen
    | TurnAccepted
    | TurnStarted
    | TurnEnded
    | ItemSeen
    | TextDelta
    | PlanSeen
    | DiffSeen
    | UsageSeen
    | RequestOpened
    | RequestClosed
    | SubagentSeen
    | BackgroundSeen
    | ContextCleared
    | AskDone
    | AskFailed
    | Limited
    | Retrying
    | Notice
    | OpaqueSeen
    | DiagnosticSeen
)
