"""The entities of the one domain model. Each event carries one of them whole, with its revision (C19).

Ids are ours and primary; native ids are optional references (F091). Times are unix seconds. Unknown is None.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import (
    Body,
    FileChange,
    ItemContent,
    ItemKind,
    ItemState,
    PlanStep,
    SlashCommand,
    Usage,
)
from podium.contract.handles import HandleChain
from podium.contract.inputs import Mode
from podium.contract.requests import Answer, Option, RequestContent, RequestKind

__all__ = ["FileChange", "ItemContent"]

RunState = Literal["preparing", "queued", "starting", "running", "waiting", "ended"]
RunOutcome = Literal["completed", "interrupted", "failed", "cancelled", "unverifiable"]
RunOrigin = Literal["user", "queue", "agent", "schedule"]
EndEvidence = Literal[
    "provider",
    "inferred",
    "process_exit",
    "host_lost",
    "forced",
    "start_failed",
    "rejected",
    "refused",
    "timeout",
    "user",
]
"""What proves that a run is over (R10)."""

Delivery = Literal["pending", "accepted", "rejected", "unknown"]
"""Whether the agent has what we sent. Unknown is shown as unconfirmed and never sent again (F280)."""


class Thread(msgspec.Struct, frozen=True, tag_field="kind", tag="thread", omit_defaults=True):
    """The canonical conversation, whatever agents back it (F107).

    `uncaptured` is the code of why its files could not be captured, as it was last told.
    """

    id: str
    workspace: str
    agent: str
    agent_kind: str
    revision: int = 1
    title: str | None = None
    model: str | None = None
    mode: Mode = "ask"
    profile: str | None = None
    host: str | None = None
    archived: bool = False
    uncaptured: str | None = None
    created_at: float = 0.0


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a run ends: decided, and published once the files it left are captured (F248)."""

    outcome: RunOutcome
    evidence: EndEvidence
    failure: Failure | None = None


class Run(msgspec.Struct, frozen=True, tag_field="kind", tag="run", omit_defaults=True):
    """One piece of work asked for, from its message to its end."""

    id: str
    thread_id: str
    ordinal: int
    revision: int = 1
    origin: RunOrigin = "user"
    state: RunState = "starting"
    outcome: RunOutcome | None = None
    evidence: EndEvidence | None = None
    failure: Failure | None = None
    ending: Ending | None = None
    message_id: str | None = None
    next_message_id: str | None = None
    attempt_id: str | None = None
    node_id: str | None = None
    agent: str = ""
    model: str | None = None
    interrupt_requested_at: float | None = None
    interrupt_by: str | None = None
    rolled_back_by: str | None = None
    limited: dict[str, Any] | None = None
    usage: Usage | None = None
    cost: float | None = None
    created_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None


class Attempt(msgspec.Struct, frozen=True, tag_field="kind", tag="attempt", omit_defaults=True):
    """One try at a run. A replacement keeps the run and its ordinal (F108)."""

    id: str
    thread_id: str
    run_id: str
    ordinal: int
    revision: int = 1
    reason: Literal["initial", "steering_restart"] = "initial"
    state: Literal["new", "asked", "running", "ended", "superseded"] = "new"


class Node(msgspec.Struct, frozen=True, tag_field="kind", tag="node", omit_defaults=True):
    """One action in the tree of a run: its root, a tool, a subagent."""

    id: str
    thread_id: str
    run_id: str
    node_kind: Literal["root", "tool", "subagent"]
    revision: int = 1
    parent_id: str | None = None
    item_id: str | None = None
    provider_thread_id: str | None = None
    title: str | None = None
    state: Literal["running", "completed", "failed", "interrupted", "unverifiable"] = "running"


class Turn(msgspec.Struct, frozen=True, tag_field="kind", tag="turn", omit_defaults=True):
    """The agent's own unit of work, under a run or under a subagent's node."""

    id: str
    thread_id: str
    provider_thread_id: str
    native_id: str
    run_id: str
    node_id: str
    revision: int = 1
    root: bool = True
    attempt_id: str | None = None
    state: Literal["running", "ended"] = "running"
    outcome: RunOutcome | None = None
    evidence: EndEvidence | None = None
    correlation: Literal["strong", "weak"] = "strong"
    failure: Failure | None = None
    word: str | None = None
    usage: Usage | None = None
    context_window: int | None = None
    usage_key: str | None = None
    bodies: dict[Body, BodyRef] = msgspec.field(default_factory=dict[Body, "BodyRef"])


class Message(msgspec.Struct, frozen=True, tag_field="kind", tag="message", omit_defaults=True):
    """What a user sent. Its text is the body of its item; the fingerprint makes a repeat harmless (F281)."""

    id: str
    thread_id: str
    client_id: str
    fingerprint: str
    item_id: str
    run_id: str
    revision: int = 1
    intent: Literal["start", "steer", "restart", "queue"] = "start"
    delivery: Delivery = "pending"
    how: str | None = None
    attachments: tuple[dict[str, Any], ...] = ()
    actor: str = "user"


class BodyRef(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a body stands: how many parts and characters, and its hash once closed (R6)."""

    epoch: int = 1
    parts: int = 0
    chars: int = 0
    sha256: str | None = None
    closed: bool = False


class NativeRef(msgspec.Struct, frozen=True, omit_defaults=True):
    """The agent's own names of an item, kept for reading; never primary."""

    turn: str | None = None
    id: str | None = None
    strength: Literal["strong", "weak", "none"] = "strong"


class Item(msgspec.Struct, frozen=True, tag_field="kind", tag="item", omit_defaults=True):
    """One entry of the timeline. `position` is the stored order within the thread (F275)."""

    id: str
    thread_id: str
    item_kind: ItemKind
    position: int
    revision: int = 1
    run_id: str | None = None
    turn_id: str | None = None
    node_id: str | None = None
    provider_thread_id: str | None = None
    state: ItemState = "open"
    content: ItemContent = ItemContent()
    bodies: dict[Body, BodyRef] = msgspec.field(default_factory=dict[Body, BodyRef])
    native: NativeRef | None = None
    closed_by: Literal["agent", "barrier"] | None = None
    corrected: bool = False


class Request(msgspec.Struct, frozen=True, tag_field="kind", tag="request", omit_defaults=True):
    """Something the agent waits for a person to decide. Resolved exactly once, by compare-and-set (C13)."""

    id: str
    thread_id: str
    session_id: str
    key: str
    request_kind: RequestKind
    content: RequestContent
    options: tuple[Option, ...]
    revision: int = 1
    run_id: str | None = None
    node_id: str | None = None
    item_id: str | None = None
    state: Literal["pending", "answered", "expired", "dismissed"] = "pending"
    answer: Answer | None = None
    answered_by: str | None = None
    reason: str | None = None
    delivery: Delivery = "pending"
    created_at: float = 0.0
    closed_at: float | None = None


class Session(msgspec.Struct, frozen=True, tag_field="kind", tag="session", omit_defaults=True):
    """A live runtime of an agent program for a thread."""

    id: str
    thread_id: str
    agent: str
    adapter: str
    revision: int = 1
    fence: int = 1
    state: Literal["opening", "ready", "ending", "ended"] = "opening"
    agent_version: str | None = None
    narrowed: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    ended_reason: str | None = None
    exit_code: int | None = None
    exit_signal: int | None = None


class Offers(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent offers in a conversation, in its own words, as it said last."""

    models: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    commands: tuple[SlashCommand, ...] = ()


class ProviderThread(
    msgspec.Struct, frozen=True, tag_field="kind", tag="provider_thread", omit_defaults=True
):
    """Binds a thread to an agent's own conversation through a chain of handles."""

    id: str
    thread_id: str
    agent: str
    revision: int = 1
    epoch: int = 1
    chain: HandleChain = HandleChain()
    state: Literal["unbound", "binding", "bound", "missing", "error"] = "unbound"
    session_id: str | None = None
    parent_node_id: str | None = None
    divergent: bool = False
    model: str | None = None
    mode: str | None = None
    title: str | None = None
    offers: Offers = Offers()
    failure: Failure | None = None


class Plan(msgspec.Struct, frozen=True, tag_field="kind", tag="plan", omit_defaults=True):
    """A structured plan or todo list of a turn (F154)."""

    id: str
    thread_id: str
    run_id: str
    plan_kind: Literal["todo_list", "proposed_plan"]
    revision: int = 1
    turn_id: str | None = None
    steps: tuple[PlanStep, ...] = ()
    text: str | None = None
    explanation: str | None = None
    final: bool = False


Moment = Literal["start", "end", "safety"]


class Checkpoint(msgspec.Struct, frozen=True, tag_field="kind", tag="checkpoint", omit_defaults=True):
    """The files of a thread's checkout at one moment of a run (R11), or before a restore (`safety`).

    `capture` is what the workspace room made, as plain data; `checkout` and `root` say of which folder. A
    failed or stale one can never be restored. `restore` is what was put back after a safety capture.
    """

    id: str
    thread_id: str
    moment: Moment
    revision: int = 1
    run_id: str | None = None
    scope: Literal["run"] = "run"
    state: Literal["pending", "ready", "failed", "stale"] = "pending"
    capture: dict[str, Any] | None = None
    checkout: str = ""
    root: str = ""
    quiescent: bool = True
    trouble: Failure | None = None
    restore: dict[str, Any] | None = None
    at: float = 0.0


class Degradation(msgspec.Struct, frozen=True, tag_field="kind", tag="degradation", omit_defaults=True):
    """A recorded fallback: what was asked, what happened instead, and why (C4)."""

    id: str
    thread_id: str
    feature: str
    outcome: str
    reason: str
    consequence: str
    revision: int = 1
    run_id: str | None = None
    capability: str | None = None
    policy: str | None = None
    fidelity: str | None = None


class NoticeEntry(msgspec.Struct, frozen=True, tag_field="kind", tag="notice", omit_defaults=True):
    """Something a person should see and nothing depends on."""

    id: str
    thread_id: str
    level: Literal["info", "warning", "error"]
    code: str
    text: str
    revision: int = 1
    run_id: str | None = None
    detail: dict[str, Any] | None = None


Entity = (
    Thread
    | Run
    | Attempt
    | Node
    | Turn
    | Message
    | Item
    | Request
    | Session
    | ProviderThread
    | Plan
    | Checkpoint
    | Degradation
    | NoticeEntry
)
