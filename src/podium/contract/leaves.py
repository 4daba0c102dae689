"""The capability tree as data: every leaf with its meaning, what it implies and what it guards.

`implies`: leaves that must be usable where this one is; `fully_with`: those without which it is degraded or
weak at most. `needs`: the evidence a claim rests on. `asks`: the
asks (tags of `contract.inputs`) an adapter must handle to claim it, and that may only be sent where it is
usable. `feature`: the policy row that answers when it is missing. `derived`: the rule by which the leaf
follows from others; such a leaf cannot be declared.

Facts that only take away are not leaves, because a leaf must not become worse when it rises: "requests live
only as long as the session" is the absence of `lifecycle.requests_survive_restart`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from podium.contract.values import Kind

Rule = Literal["same", "any"]


class Leaf(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One leaf of the tree. A derived leaf is the same as its one source, or the best of its sources."""

    path: str
    kind: Kind
    meaning: str
    needs: str = ""
    implies: tuple[str, ...] = ()
    fully_with: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    feature: str | None = None
    derived: Rule | None = None
    derived_from: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The first part of the path."""
        return self.path.partition(".")[0]


def _leaf(
    path: str,
    meaning: str,
    needs: str = "",
    *,
    kind: Kind = Kind.SUPPORT,
    implies: tuple[str, ...] = (),
    fully_with: tuple[str, ...] = (),
    asks: tuple[str, ...] = (),
    feature: str | None = None,
) -> Leaf:
    return Leaf(
        path=path,
        kind=kind,
        meaning=meaning,
        needs=needs,
        implies=implies,
        fully_with=fully_with,
        asks=asks,
        feature=feature,
    )


def _derived(
    path: str, meaning: str, rule: Rule, *sources: str, asks: tuple[str, ...] = (), **more: str
) -> Leaf:
    return Leaf(
        path=path,
        kind=Kind(more.get("kind", "support")),
        meaning=meaning,
        asks=asks,
        feature=more.get("feature"),
        derived=rule,
        derived_from=sources,
    )


_PERSISTENT = ("lifecycle.persistent",)
_SUBAGENTS = ("subagents.supported",)
_RESPOND = ("respond",)

_LIFECYCLE = (
    _leaf(
        "lifecycle.persistent",
        "The agent keeps its conversation across its own restarts",
        "stable id, read again",
    ),
    _derived(
        "lifecycle.resume",
        "A stored conversation can go on; resuming itself is mandatory and may answer that it cannot (F074)",
        "same",
        "lifecycle.persistent",
        asks=("ensure_thread",),
        feature="resume",
    ),
    _leaf(
        "lifecycle.reattach",
        "A new owner continues a live process: native by replay, degraded by reconciling, else not (R4)",
        "restart of the owner in mid-turn",
        feature="request_survival",
    ),
    _leaf(
        "lifecycle.lazy_binding",
        "A thread may start unbound and bind when the agent creates its own",
        "first bind",
    ),
    _leaf(
        "lifecycle.attach",
        "A conversation that was not started here can be taken over",
        "official attach or read method",
        implies=_PERSISTENT,
        asks=("attach_thread",),
    ),
    _leaf(
        "lifecycle.writing_load",
        "A load that may write into the agent's own record is safe",
        "the record before and after a load",
        implies=_PERSISTENT,
    ),
    _leaf(
        "lifecycle.list_native",
        "The agent's stored conversations can be listed",
        "bounded official list method",
        implies=_PERSISTENT,
        asks=("list_threads",),
    ),
    _leaf(
        "lifecycle.clone",
        "A whole conversation can be copied",
        "official clone semantics",
        implies=_PERSISTENT,
        asks=("clone_thread",),
    ),
    _leaf(
        "lifecycle.tree",
        "The branches of a conversation can be inspected",
        "tree, read and navigation methods",
        implies=_PERSISTENT,
        asks=("read_tree",),
    ),
    _leaf(
        "lifecycle.multi_thread_per_session",
        "One live session serves several threads",
        "two threads, one process",
    ),
    _leaf(
        "lifecycle.empty_thread",
        "A conversation can exist before its first message",
        "create without a turn",
        fully_with=_PERSISTENT,
    ),
    _leaf(
        "lifecycle.read_snapshot",
        "The agent's own record of a thread can be read",
        "read method",
        asks=("read_thread",),
    ),
    _leaf(
        "lifecycle.mode_switch",
        "What the agent may do can change on a live session",
        "change between two turns",
    ),
    _leaf(
        "lifecycle.switch_by_handoff",
        "A started thread can move to or from this agent",
        "switch there and back",
    ),
    _leaf(
        "lifecycle.requests_survive_restart",
        "An open request can still be answered after the owner's restart",
        "open request, restart, answer",
        feature="request_survival",
    ),
)

_THREADS = (
    _leaf(
        "threads.fork",
        "A conversation can branch",
        "fork semantics and id mapping",
        asks=("fork_thread",),
        feature="fork",
    ),
    _leaf(
        "threads.fork_from_turn",
        "A branch can start at a chosen turn",
        "fork at a turn",
        implies=("threads.fork",),
        asks=("fork_thread",),
        feature="fork",
    ),
    _leaf(
        "threads.fork_from_subagent",
        "A subagent's conversation can branch into a thread",
        "fork of a child conversation",
        implies=("threads.fork", "subagents.thread_ids"),
        asks=("fork_thread",),
        feature="fork",
    ),
    _leaf(
        "threads.rollback",
        "The conversation can go back to before a turn",
        "rollback, then a turn that does not remember",
        asks=("rollback_thread",),
        feature="rollback",
    ),
    _leaf(
        "threads.rollback_returns_snapshot",
        "A rollback answers with the conversation that is left",
        "the answer of a rollback",
        implies=("threads.rollback",),
    ),
    _leaf(
        "threads.rewind_scope",
        "What the agent's own rewind takes back: conversation, files",
        "rewind with changed files",
        kind=Kind.LIST,
    ),
    _leaf(
        "threads.delete",
        "The agent's own record can be deleted",
        "delete, then a listing",
        asks=("delete_thread",),
    ),
)

_TURNS = (
    _leaf("turns.started", "The agent says when a turn starts", "start event"),
    _leaf("turns.completed", "The agent says when a turn ends", "terminal event", feature="terminal"),
    _leaf(
        "turns.interrupt",
        "A running turn can be stopped and the session lives on",
        "interrupt method and terminal event",
        asks=("interrupt_turn",),
        feature="interrupt",
    ),
    _leaf(
        "turns.interrupt_keeps_background",
        "An interrupt may leave background work running",
        "interrupt with a background job",
        implies=("turns.interrupt",),
    ),
    _leaf(
        "turns.steer_active",
        "A running turn can be changed",
        "steer method, text seen within the turn",
        asks=("steer_turn",),
        feature="steer",
    ),
    _leaf(
        "turns.steer_restart",
        "A turn can be interrupted and followed at once by another",
        "interrupt, then a turn that remembers",
        implies=("turns.interrupt",),
        asks=("interrupt_turn", "send_turn"),
        feature="steer",
    ),
    _leaf(
        "turns.queue",
        "A further turn can start when one has ended",
        "two turns in one conversation",
        asks=("send_turn",),
        feature="queue",
    ),
    _leaf(
        "turns.terminal_quality",
        "How far the end of a turn can be trusted",
        "ends of completed, failed and interrupted turns",
        kind=Kind.STRENGTH,
        feature="terminal",
    ),
)

_INPUT = (
    _leaf("input.text", "Text prompts", "a turn", asks=("send_turn",), feature="start"),
    _leaf(
        "input.images",
        "Images, carried by a field of the protocol",
        "a turn with an image",
        feature="image_input",
    ),
    _leaf("input.audio", "Audio, carried by a field of the protocol", "a turn with audio"),
    _leaf("input.structured_output", "An answer can be asked for in a given shape", "a turn with a shape"),
    _leaf(
        "input.max_chars", "Longest prompt, in characters", "a prompt at and over the limit", kind=Kind.NUMBER
    ),
)

_OUTPUT = (
    _leaf("output.text_delta", "The answer arrives in parts", "delta events"),
    _leaf("output.reasoning", "Reasoning arrives as events of its own", "reasoning events"),
    _leaf("output.tool_output", "The output of a tool arrives in parts", "output events"),
    _leaf("output.plan_text", "The text of a plan arrives in parts", "plan delta events"),
    _leaf(
        "output.message_completed",
        "The end of a message is an event",
        "message end event",
        feature="message_close",
    ),
    _leaf("output.usage", "Token use is reported", "usage event"),
    _leaf("output.diffs", "File changes are reported as diffs", "diff event"),
    _leaf("output.raw", "Frames reach a bounded, masked diagnostic ring", "frames in the ring"),
)

_TOOLS = (
    _leaf("tools.item_ids", "Tool calls carry ids of the agent's own", "the same id at start and end"),
    _leaf("tools.started", "The start of a tool call is an event", "start event"),
    _leaf("tools.completed", "The end of a tool call is an event", "end event"),
    _leaf("tools.output", "The result of a tool call is reported", "result in an event"),
    _leaf("tools.app_tools", "Podium's tools reach the agent", "a call from the agent", kind=Kind.DELIVERY),
    _leaf(
        "tools.native_inspection", "The agent's own tools can be listed", "list method", asks=("list_tools",)
    ),
    _leaf(
        "tools.native_yielding",
        "The agent's own tools can be handed over",
        "a wrapped call",
        kind=Kind.DELIVERY,
    ),
    _leaf(
        "tools.mcp_external", "A person's MCP servers reach the agent", "a call to one", kind=Kind.DELIVERY
    ),
    _leaf(
        "tools.mcp_status",
        "The real connection and inventory of MCP servers is reported",
        "a dead server reported as failed",
        asks=("read_mcp_status",),
    ),
    _leaf(
        "tools.dynamic_callbacks", "The agent can call tools that were registered at run time", "a callback"
    ),
)

_APPROVALS = (
    _derived(
        "approvals.native_requests",
        "The agent asks by its own protocol before it acts; blocking from outside is no such request (C12)",
        "any",
        "approvals.command",
        "approvals.file_read",
        "approvals.file_change",
        "approvals.patch",
        asks=_RESPOND,
        feature="approvals",
    ),
    _leaf(
        "approvals.command", "Asks before a command", "request and answer", asks=_RESPOND, feature="approvals"
    ),
    _leaf(
        "approvals.file_read",
        "Asks before reading a file",
        "request and answer",
        asks=_RESPOND,
        feature="approvals",
    ),
    _leaf(
        "approvals.file_change",
        "Asks before changing a file",
        "request and answer",
        asks=_RESPOND,
        feature="approvals",
    ),
    _leaf(
        "approvals.patch",
        "Asks before applying a patch",
        "request and answer",
        asks=_RESPOND,
        feature="approvals",
    ),
    _leaf("approvals.native_request_ids", "Requests carry ids of the agent's own", "two requests at once"),
    _leaf(
        "approvals.from_subagents",
        "Requests can come from subagents",
        "request of a child",
        implies=_SUBAGENTS,
    ),
    _leaf(
        "approvals.user_input",
        "The agent can ask a person for structured input",
        "request and answer",
        asks=_RESPOND,
        feature="structured_questions",
    ),
    _derived(
        "approvals.enforcement",
        "How far an answer is held to",
        "same",
        "policy.enforcement",
        feature="approvals",
    ),
)

_POLICY = (
    _leaf(
        "policy.enforcement",
        "Who holds the agent to its mode: native itself, degraded a client boundary or a sandbox only",
        "a forbidden command, tried",
        feature="approvals",
    ),
)

_PLANNING = (
    _leaf(
        "planning.plan_updates", "Plans arrive as events, not as prose", "plan event", feature="plan_progress"
    ),
    _leaf(
        "planning.todo_list", "A to-do list with states is reported", "to-do event", feature="plan_progress"
    ),
    _leaf("planning.proposed_plan", "A plan can be proposed for acceptance", "proposal event"),
    _leaf(
        "planning.questions",
        "Structured questions can be asked and answered",
        "question and answer",
        implies=("approvals.user_input",),
        asks=_RESPOND,
        feature="structured_questions",
    ),
    _leaf("planning.item_ids", "Parts of a plan carry ids", "the same id in two events"),
    _leaf("planning.thread_goal", "A goal for the whole thread can be set", "goal event", asks=("set_goal",)),
)

_SUBAGENT_LEAVES = (
    _leaf("subagents.supported", "The agent starts agents of its own and says so", "a subagent event"),
    _leaf(
        "subagents.thread_ids", "Subagents have conversations of their own", "child id", implies=_SUBAGENTS
    ),
    _leaf(
        "subagents.lifecycle", "Starts and ends of subagents are events", "start and end", implies=_SUBAGENTS
    ),
    _leaf(
        "subagents.wait",
        "A subagent can be waited for",
        "wait method",
        implies=_SUBAGENTS,
        asks=("wait_subagent",),
    ),
    _leaf(
        "subagents.close",
        "A subagent can be closed",
        "close method",
        implies=_SUBAGENTS,
        asks=("close_subagent",),
    ),
    _leaf(
        "subagents.fork",
        "A subagent's conversation can branch",
        "fork of a child",
        implies=("subagents.supported", "subagents.thread_ids"),
        asks=("fork_thread",),
        feature="fork",
    ),
    _leaf("subagents.background_jobs", "Work that outlives a turn is reported", "background event"),
)

_CONTEXT = (
    _leaf("context.system", "Takes added context as system text", "a turn that uses it"),
    _leaf("context.developer", "Takes added context as developer text", "a turn that uses it"),
    _leaf("context.synthetic_user", "Takes added context as a user message", "a turn that uses it"),
    _leaf("context.summarize", "Can write a summary for a handoff", "a summary", feature="summariser"),
    _leaf("context.consume", "Can go on from a handoff", "a turn that uses it"),
    _leaf("context.delta", "Can go on from what it missed only", "return to a thread", feature="return"),
    _leaf("context.full", "Can go on from a whole thread's summary", "a fresh thread", feature="return"),
    _leaf("context.max_chars", "Longest handoff, in characters", "a handoff at the limit", kind=Kind.NUMBER),
    _leaf("context.clear_epoch", "Clearing a conversation is seen", "clear event"),
    _leaf("context.compaction", "The context can be shortened", "compact method", asks=("compact_thread",)),
    _leaf("context.context_usage", "How full the context is, is reported", "usage of the window"),
)

_REST = (
    _leaf("checkpoints.filesystem", "Files can be captured around a turn", "capture and restore"),
    _leaf(
        "checkpoints.nested_scopes",
        "A subagent's files can be captured apart",
        "capture of a child",
        implies=("checkpoints.filesystem",),
        feature="nested_checkpoint",
    ),
    _leaf(
        "identity.thread",
        "Trust in the agent's thread ids",
        "ids over a restart",
        kind=Kind.STRENGTH,
        fully_with=_PERSISTENT,
    ),
    _leaf("identity.turn", "Trust in the agent's turn ids", "ids over a turn", kind=Kind.STRENGTH),
    _leaf("identity.item", "Trust in the agent's item ids", "ids over an item", kind=Kind.STRENGTH),
    _leaf("identity.request", "Trust in the agent's request ids", "two requests at once", kind=Kind.STRENGTH),
    _leaf("models.catalog", "The agent lists the models it offers", "list method", asks=("list_models",)),
    _leaf(
        "models.switch",
        "The model can change on a live session",
        "two turns",
        asks=("send_turn",),
        feature="model_switch",
    ),
    _leaf(
        "models.options_schema", "The shape of the agent's own options", "official schema", kind=Kind.SCHEMA
    ),
    _leaf(
        "reasoning.supported",
        "The reasoning effort can be read and set",
        "get and set methods",
        asks=("get_reasoning", "set_reasoning"),
    ),
    _leaf(
        "reasoning.values", "The exact efforts that are accepted", "an unlisted one refused", kind=Kind.LIST
    ),
    _leaf("auth.status", "The agent says whether somebody is signed in", "signed in and out"),
    _leaf("auth.kinds", "Ways to sign in", "one sign-in each", kind=Kind.LIST),
    _leaf("maintenance.health", "Health is reported within a bound", "a broken set-up named"),
    _leaf(
        "maintenance.history",
        "The agent's stored conversations can be looked over and read",
        "both methods",
        asks=("inspect_history", "read_history"),
    ),
    _leaf("commands.catalog", "The agent lists its slash commands", "a listed command run"),
    _leaf("resources.skills", "Selected skills reach the agent", "a skill used", kind=Kind.DELIVERY),
    _leaf(
        "resources.context_files", "Selected context files reach the agent", "a file used", kind=Kind.DELIVERY
    ),
    _derived(
        "resources.mcp_delivery",
        "How a person's MCP servers reach the agent",
        "same",
        "tools.mcp_external",
        kind="delivery",
    ),
)

_ALL = (
    *_LIFECYCLE,
    *_THREADS,
    *_TURNS,
    *_INPUT,
    *_OUTPUT,
    *_TOOLS,
    *_APPROVALS,
    *_POLICY,
    *_PLANNING,
    *_SUBAGENT_LEAVES,
    *_CONTEXT,
    *_REST,
)

LEAVES: Mapping[str, Leaf] = MappingProxyType({leaf.path: leaf for leaf in _ALL})
"""Every leaf by its path."""

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(leaf.group for leaf in _ALL))
"""The groups in their order."""

DERIVED: Mapping[str, Leaf] = MappingProxyType({path: leaf for path, leaf in LEAVES.items() if leaf.derived})
"""The leaves that follow from others and cannot be declared."""

MUST_BE_PROVEN: frozenset[str] = frozenset(
    {
        "policy.enforcement",
        "threads.rollback",
        "threads.rewind_scope",
        "threads.fork",
        "threads.fork_from_turn",
        "threads.fork_from_subagent",
        "subagents.fork",
        "threads.delete",
        "turns.steer_active",
        "lifecycle.attach",
        "lifecycle.writing_load",
    }
)
"""Leaves that can lose work or widen rights: usable only where proven on the very version installed (R8)."""


MANDATORY_ASKS: frozenset[str] = frozenset({"open_session", "ensure_thread", "send_turn", "close_session"})
"""What every adapter handles, whatever it declares (F072, F074)."""


def guards(ask: str) -> tuple[str, ...]:
    """The leaves that guard an ask: one must be usable for it to be sent. Mandatory asks have none."""
    if ask in MANDATORY_ASKS:
        return ()
    return tuple(path for path, leaf in LEAVES.items() if ask in leaf.asks)
