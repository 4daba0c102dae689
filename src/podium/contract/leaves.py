"""The capability tree as data: every leaf with its meaning, what it implies and what it guards.

Facts that only take away are not leaves, because a leaf must not become worse when it rises: "requests live
only as long as the session" is the absence of `lifecycle.requests_survive_restart`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from podium.contract.leaf import Leaf, derived, leaf
from podium.contract.values import Kind

_PERSISTENT = ("lifecycle.persistent",)
_SUBAGENTS = ("subagents.supported",)
_RESPOND = ("respond",)

_LIFECYCLE = (
    leaf(
        "lifecycle.persistent",
        "The agent keeps its conversation across its own restarts",
        "stable id, read again",
    ),
    derived(
        "lifecycle.resume",
        "A stored conversation can go on; resuming itself is mandatory and may answer that it cannot (F074)",
        "same",
        "lifecycle.persistent",
        asks=("ensure_thread",),
        feature="resume",
    ),
    leaf(
        "lifecycle.reattach",
        "A new owner continues a live process: native by replay, degraded by reconciling, else not (R4)",
        "restart of the owner in mid-turn",
        feature="request_survival",
    ),
    leaf(
        "lifecycle.lazy_binding",
        "A thread may start unbound and bind when the agent creates its own",
        "first bind",
    ),
    leaf(
        "lifecycle.attach",
        "A conversation that was not started here can be taken over",
        "official attach or read method",
        implies=_PERSISTENT,
        asks=("attach_thread",),
    ),
    leaf(
        "lifecycle.writing_load",
        "A load that may write into the agent's own record is safe",
        "the record before and after a load",
        implies=_PERSISTENT,
    ),
    leaf(
        "lifecycle.list_native",
        "The agent's stored conversations can be listed",
        "bounded official list method",
        implies=_PERSISTENT,
        asks=("list_threads",),
    ),
    leaf(
        "lifecycle.clone",
        "A whole conversation can be copied",
        "official clone semantics",
        implies=_PERSISTENT,
        asks=("clone_thread",),
    ),
    leaf(
        "lifecycle.tree",
        "The branches of a conversation can be inspected",
        "tree, read and navigation methods",
        implies=_PERSISTENT,
        asks=("read_tree",),
    ),
    leaf(
        "lifecycle.multi_thread_per_session",
        "One live session serves several threads",
        "two threads, one process",
    ),
    leaf(
        "lifecycle.empty_thread",
        "A conversation can exist before its first message",
        "create without a turn",
        fully_with=_PERSISTENT,
    ),
    leaf(
        "lifecycle.read_snapshot",
        "The agent's own record of a thread can be read",
        "read method",
        asks=("read_thread",),
    ),
    leaf(
        "lifecycle.mode_switch",
        "What the agent may do can change on a live session",
        "change between two turns",
    ),
    leaf(
        "lifecycle.switch_by_handoff",
        "A started thread can move to or from this agent",
        "switch there and back",
    ),
    leaf(
        "lifecycle.requests_survive_restart",
        "An open request can still be answered after the owner's restart",
        "open request, restart, answer",
        feature="request_survival",
    ),
)

_THREADS = (
    leaf(
        "threads.fork",
        "A conversation can branch",
        "fork semantics and id mapping",
        asks=("fork_thread",),
        feature="fork",
    ),
    leaf(
        "threads.fork_from_turn",
        "A branch can start at a chosen turn",
        "fork at a turn",
        implies=("threads.fork",),
        asks=("fork_thread",),
        feature="fork",
    ),
    leaf(
        "threads.fork_from_subagent",
        "A subagent's conversation can branch into a thread",
        "fork of a child conversation",
        implies=("threads.fork", "subagents.thread_ids"),
        asks=("fork_thread",),
        feature="fork",
    ),
    leaf(
        "threads.rollback",
        "The conversation can go back to before a turn",
        "rollback, then a turn that does not remember",
        asks=("rollback_thread",),
        feature="rollback",
    ),
    leaf(
        "threads.rollback_returns_snapshot",
        "A rollback answers with the conversation that is left",
        "the answer of a rollback",
        implies=("threads.rollback",),
    ),
    leaf(
        "threads.rewind_scope",
        "What the agent's own rewind takes back: conversation, files",
        "rewind with changed files",
        kind=Kind.LIST,
    ),
    leaf(
        "threads.delete",
        "The agent's own record can be deleted",
        "delete, then a listing",
        asks=("delete_thread",),
    ),
)

_TURNS = (
    leaf("turns.started", "The agent says when a turn starts", "start event"),
    leaf("turns.completed", "The agent says when a turn ends", "terminal event", feature="terminal"),
    leaf(
        "turns.interrupt",
        "A running turn can be stopped and the session lives on",
        "interrupt method and terminal event",
        asks=("interrupt_turn",),
        feature="interrupt",
    ),
    leaf(
        "turns.interrupt_keeps_background",
        "An interrupt may leave background work running",
        "interrupt with a background job",
        implies=("turns.interrupt",),
    ),
    leaf(
        "turns.steer_active",
        "A running turn can be changed",
        "steer method, text seen within the turn",
        asks=("steer_turn",),
        feature="steer",
    ),
    leaf(
        "turns.steer_restart",
        "A turn can be interrupted and followed at once by another",
        "interrupt, then a turn that remembers",
        implies=("turns.interrupt",),
        asks=("interrupt_turn", "send_turn"),
        feature="steer",
    ),
    leaf(
        "turns.queue",
        "A further turn can start when one has ended",
        "two turns in one conversation",
        asks=("send_turn",),
        feature="queue",
    ),
    leaf(
        "turns.terminal_quality",
        "How far the end of a turn can be trusted",
        "ends of completed, failed and interrupted turns",
        kind=Kind.STRENGTH,
        feature="terminal",
    ),
)

_INPUT = (
    leaf("input.text", "Text prompts", "a turn", asks=("send_turn",), feature="start"),
    leaf(
        "input.images",
        "Images, carried by a field of the protocol",
        "a turn with an image",
        feature="image_input",
    ),
    leaf("input.audio", "Audio, carried by a field of the protocol", "a turn with audio"),
    leaf("input.structured_output", "An answer can be asked for in a given shape", "a turn with a shape"),
    leaf(
        "input.max_chars", "Longest prompt, in characters", "a prompt at and over the limit", kind=Kind.NUMBER
    ),
)

_OUTPUT = (
    leaf("output.text_delta", "The answer arrives in parts", "delta events"),
    leaf("output.reasoning", "Reasoning arrives as events of its own", "reasoning events"),
    leaf("output.tool_output", "The output of a tool arrives in parts", "output events"),
    leaf("output.plan_text", "The text of a plan arrives in parts", "plan delta events"),
    leaf(
        "output.message_completed",
        "The end of a message is an event",
        "message end event",
        feature="message_close",
    ),
    leaf("output.usage", "Token use is reported", "usage event"),
    leaf("output.diffs", "File changes are reported as diffs", "diff event"),
    leaf("output.raw", "Frames reach a bounded, masked diagnostic ring", "frames in the ring"),
)

_TOOLS = (
    leaf("tools.item_ids", "Tool calls carry ids of the agent's own", "the same id at start and end"),
    leaf("tools.started", "The start of a tool call is an event", "start event"),
    leaf("tools.completed", "The end of a tool call is an event", "end event"),
    leaf("tools.output", "The result of a tool call is reported", "result in an event"),
    leaf("tools.app_tools", "Podium's tools reach the agent", "a call from the agent", kind=Kind.DELIVERY),
    leaf(
        "tools.native_inspection", "The agent's own tools can be listed", "list method", asks=("list_tools",)
    ),
    leaf(
        "tools.native_yielding",
        "The agent's own tools can be handed over",
        "a wrapped call",
        kind=Kind.DELIVERY,
    ),
    leaf("tools.mcp_external", "A person's MCP servers reach the agent", "a call to one", kind=Kind.DELIVERY),
    leaf(
        "tools.mcp_status",
        "The real connection and inventory of MCP servers is reported",
        "a dead server reported as failed",
        asks=("read_mcp_status",),
    ),
    leaf(
        "tools.dynamic_callbacks", "The agent can call tools that were registered at run time", "a callback"
    ),
)

_APPROVALS = (
    derived(
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
    leaf(
        "approvals.command", "Asks before a command", "request and answer", asks=_RESPOND, feature="approvals"
    ),
    leaf(
        "approvals.file_read",
        "Asks before reading a file",
        "request and answer",
        asks=_RESPOND,
        feature="approvals",
    ),
    leaf(
        "approvals.file_change",
        "Asks before changing a file",
        "request and answer",
        asks=_RESPOND,
        feature="approvals",
    ),
    leaf(
        "approvals.patch",
        "Asks before applying a patch",
        "request and answer",
        asks=_RESPOND,
        feature="approvals",
    ),
    leaf("approvals.native_request_ids", "Requests carry ids of the agent's own", "two requests at once"),
    leaf(
        "approvals.from_subagents",
        "Requests can come from subagents",
        "request of a child",
        implies=_SUBAGENTS,
    ),
    leaf(
        "approvals.user_input",
        "The agent can ask a person for structured input",
        "request and answer",
        asks=_RESPOND,
        feature="structured_questions",
    ),
    derived(
        "approvals.enforcement",
        "How far an answer is held to",
        "same",
        "policy.enforcement",
        feature="approvals",
    ),
)

_POLICY = (
    leaf(
        "policy.enforcement",
        "Who holds the agent to its mode: native itself, degraded a client boundary or a sandbox only",
        "a forbidden command, tried",
        feature="approvals",
    ),
)

_PLANNING = (
    leaf(
        "planning.plan_updates", "Plans arrive as events, not as prose", "plan event", feature="plan_progress"
    ),
    leaf(
        "planning.todo_list", "A to-do list with states is reported", "to-do event", feature="plan_progress"
    ),
    leaf("planning.proposed_plan", "A plan can be proposed for acceptance", "proposal event"),
    leaf(
        "planning.questions",
        "Structured questions can be asked and answered",
        "question and answer",
        implies=("approvals.user_input",),
        asks=_RESPOND,
        feature="structured_questions",
    ),
    leaf("planning.item_ids", "Parts of a plan carry ids", "the same id in two events"),
    leaf("planning.thread_goal", "A goal for the whole thread can be set", "goal event", asks=("set_goal",)),
)

_SUBAGENT_LEAVES = (
    leaf("subagents.supported", "The agent starts agents of its own and says so", "a subagent event"),
    leaf("subagents.thread_ids", "Subagents have conversations of their own", "child id", implies=_SUBAGENTS),
    leaf(
        "subagents.lifecycle", "Starts and ends of subagents are events", "start and end", implies=_SUBAGENTS
    ),
    leaf(
        "subagents.wait",
        "A subagent can be waited for",
        "wait method",
        implies=_SUBAGENTS,
        asks=("wait_subagent",),
    ),
    leaf(
        "subagents.close",
        "A subagent can be closed",
        "close method",
        implies=_SUBAGENTS,
        asks=("close_subagent",),
    ),
    leaf(
        "subagents.fork",
        "A subagent's conversation can branch",
        "fork of a child",
        implies=("subagents.supported", "subagents.thread_ids"),
        asks=("fork_thread",),
        feature="fork",
    ),
    leaf("subagents.background_jobs", "Work that outlives a turn is reported", "background event"),
)

_CONTEXT = (
    leaf("context.system", "Takes added context as system text", "a turn that uses it"),
    leaf("context.developer", "Takes added context as developer text", "a turn that uses it"),
    leaf("context.synthetic_user", "Takes added context as a user message", "a turn that uses it"),
    leaf("context.summarize", "Can write a summary for a handoff", "a summary", feature="summariser"),
    leaf("context.consume", "Can go on from a handoff", "a turn that uses it"),
    leaf("context.delta", "Can go on from what it missed only", "return to a thread", feature="return"),
    leaf("context.full", "Can go on from a whole thread's summary", "a fresh thread", feature="return"),
    leaf("context.max_chars", "Longest handoff, in characters", "a handoff at the limit", kind=Kind.NUMBER),
    leaf("context.clear_epoch", "Clearing a conversation is seen", "clear event"),
    leaf("context.compaction", "The context can be shortened", "compact method", asks=("compact_thread",)),
    leaf("context.context_usage", "How full the context is, is reported", "usage of the window"),
)

_REST = (
    leaf("checkpoints.filesystem", "Files can be captured around a turn", "capture and restore"),
    leaf(
        "checkpoints.nested_scopes",
        "A subagent's files can be captured apart",
        "capture of a child",
        implies=("checkpoints.filesystem",),
        feature="nested_checkpoint",
    ),
    leaf(
        "identity.thread",
        "Trust in the agent's thread ids",
        "ids over a restart",
        kind=Kind.STRENGTH,
        fully_with=_PERSISTENT,
    ),
    leaf("identity.turn", "Trust in the agent's turn ids", "ids over a turn", kind=Kind.STRENGTH),
    leaf("identity.item", "Trust in the agent's item ids", "ids over an item", kind=Kind.STRENGTH),
    leaf("identity.request", "Trust in the agent's request ids", "two requests at once", kind=Kind.STRENGTH),
    leaf("models.catalog", "The agent lists the models it offers", "list method", asks=("list_models",)),
    leaf(
        "models.switch",
        "The model can change on a live session",
        "two turns",
        asks=("send_turn",),
        feature="model_switch",
    ),
    leaf(
        "models.options_schema", "The shape of the agent's own options", "official schema", kind=Kind.SCHEMA
    ),
    leaf(
        "reasoning.supported",
        "The reasoning effort can be read and set",
        "get and set methods",
        asks=("get_reasoning", "set_reasoning"),
    ),
    leaf(
        "reasoning.values", "The exact efforts that are accepted", "an unlisted one refused", kind=Kind.LIST
    ),
    leaf("auth.status", "The agent says whether somebody is signed in", "signed in and out"),
    leaf("auth.kinds", "Ways to sign in", "one sign-in each", kind=Kind.LIST),
    leaf("maintenance.health", "Health is reported within a bound", "a broken set-up named"),
    leaf(
        "maintenance.history",
        "The agent's stored conversations can be looked over and read",
        "both methods",
        asks=("inspect_history", "read_history"),
    ),
    leaf("commands.catalog", "The agent lists its slash commands", "a listed command run"),
    leaf("resources.skills", "Selected skills reach the agent", "a skill used", kind=Kind.DELIVERY),
    leaf(
        "resources.context_files", "Selected context files reach the agent", "a file used", kind=Kind.DELIVERY
    ),
    derived(
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

LEAVES: Mapping[str, Leaf] = MappingProxyType({one.path: one for one in _ALL})
"""Every leaf by its path."""

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(one.group for one in _ALL))
"""The groups in their order."""

DERIVED: Mapping[str, Leaf] = MappingProxyType({path: one for path, one in LEAVES.items() if one.derived})
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
    return tuple(path for path, one in LEAVES.items() if ask in one.asks)
