"""Two older, flat lists of fields, answered from the tree.

Tools that know one of these lists can read a record through it: 66 fields in eleven groups of booleans and
strengths, and 37 fields with delivery values. Each field is one leaf or a named rule over leaves; nothing is
declared twice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from podium.contract.leaves import LEAVES
from podium.contract.values import LEVEL_NONE, Kind, LeafValue, level

Leaves = Mapping[str, LeafValue]
Rule = Callable[[Leaves], bool]


def requests_are_live_only(leaves: Leaves) -> bool:
    """There are requests, and none outlives the session's owner."""
    asks = level(leaves["approvals.native_requests"]) or level(leaves["approvals.user_input"])
    return bool(asks) and level(leaves["lifecycle.requests_survive_restart"]) == LEVEL_NONE


def has_thread_id(leaves: Leaves) -> bool:
    """There is some native thread id."""
    return level(leaves["identity.thread"]) > LEVEL_NONE


def has_turn_id(leaves: Leaves) -> bool:
    """There is some native turn id."""
    return level(leaves["identity.turn"]) > LEVEL_NONE


def has_tool_lifecycle(leaves: Leaves) -> bool:
    """Start and end of a tool call are both events."""
    return all(level(leaves[path]) > LEVEL_NONE for path in ("tools.started", "tools.completed"))


VIEW_000: Mapping[str, Mapping[str, str | Rule]] = MappingProxyType(
    {
        "sessions": {
            "supportsMultipleProviderThreadsPerSession": "lifecycle.multi_thread_per_session",
            "supportsModelSwitchInSession": "models.switch",
            "supportsProviderSwitchingViaHandoff": "lifecycle.switch_by_handoff",
            "supportsRuntimeModeSwitchInSession": "lifecycle.mode_switch",
            "pendingRequestsSurviveRestart": "lifecycle.requests_survive_restart",
        },
        "threads": {
            "canCreateEmptyThread": "lifecycle.empty_thread",
            "canReadThreadSnapshot": "lifecycle.read_snapshot",
            "canRollbackThread": "threads.rollback",
            "canForkThread": "threads.fork",
            "canForkFromTurn": "threads.fork_from_turn",
            "canForkFromSubagentThread": "threads.fork_from_subagent",
            "exposesNativeThreadId": has_thread_id,
        },
        "turns": {
            "exposesNativeTurnId": has_turn_id,
            "emitsTurnStarted": "turns.started",
            "emitsTurnCompleted": "turns.completed",
            "supportsInterrupt": "turns.interrupt",
            "supportsActiveSteering": "turns.steer_active",
            "supportsSteeringByInterruptRestart": "turns.steer_restart",
            "supportsQueuedMessages": "turns.queue",
            "terminalStatusQuality": "turns.terminal_quality",
        },
        "streaming": {
            "streamsAssistantText": "output.text_delta",
            "streamsReasoning": "output.reasoning",
            "streamsToolOutput": "output.tool_output",
            "streamsPlanText": "output.plan_text",
            "emitsMessageCompleted": "output.message_completed",
        },
        "tools": {
            "exposesToolItemIds": "tools.item_ids",
            "emitsToolStarted": "tools.started",
            "emitsToolCompleted": "tools.completed",
            "emitsToolOutput": "tools.output",
            "supportsMcpTools": "tools.mcp_external",
            "supportsDynamicToolCallbacks": "tools.dynamic_callbacks",
        },
        "approvals": {
            "supportsCommandApproval": "approvals.command",
            "supportsFileReadApproval": "approvals.file_read",
            "supportsFileChangeApproval": "approvals.file_change",
            "supportsApplyPatchApproval": "approvals.patch",
            "approvalsHaveNativeRequestIds": "approvals.native_request_ids",
            "approvalCallbacksAreLiveOnly": requests_are_live_only,
            "approvalsCanOriginateFromSubagents": "approvals.from_subagents",
        },
        "planning": {
            "emitsPlanUpdated": "planning.plan_updates",
            "emitsTodoList": "planning.todo_list",
            "emitsProposedPlan": "planning.proposed_plan",
            "supportsStructuredQuestions": "planning.questions",
            "planDeltasHaveItemIds": "planning.item_ids",
        },
        "subagents": {
            "supportsSubagents": "subagents.supported",
            "exposesSubagentThreadIds": "subagents.thread_ids",
            "emitsSubagentLifecycle": "subagents.lifecycle",
            "canWaitForSubagents": "subagents.wait",
            "canCloseSubagents": "subagents.close",
            "canForkSubagentThread": "subagents.fork",
        },
        "context": {
            "acceptsSystemContext": "context.system",
            "acceptsDeveloperContext": "context.developer",
            "acceptsSyntheticUserContext": "context.synthetic_user",
            "canGenerateSummaries": "context.summarize",
            "canConsumeHandoffSummaries": "context.consume",
            "supportsDeltaHandoff": "context.delta",
            "supportsFullThreadHandoff": "context.full",
            "maxRecommendedHandoffChars": "context.max_chars",
        },
        "checkpointing": {
            "appCanCheckpointFilesystem": "checkpoints.filesystem",
            "supportsNestedCheckpointScopes": "checkpoints.nested_scopes",
            "providerCanRollbackConversation": "threads.rollback",
            "providerRollbackReturnsSnapshot": "threads.rollback_returns_snapshot",
            "providerCanReadConversationSnapshot": "lifecycle.read_snapshot",
        },
        "identity": {
            "nativeThreadIds": "identity.thread",
            "nativeTurnIds": "identity.turn",
            "nativeItemIds": "identity.item",
            "nativeRequestIds": "identity.request",
        },
    }
)
"""The first list: group -> field -> leaf or rule."""

VIEW_001: Mapping[str, Mapping[str, str | Rule]] = MappingProxyType(
    {
        "lifecycle": {
            "persistent": "lifecycle.persistent",
            "lazyBinding": "lifecycle.lazy_binding",
            "resume": "lifecycle.resume",
            "attach": "lifecycle.attach",
            "listNativeSessions": "lifecycle.list_native",
            "fork": "threads.fork",
            "clone": "lifecycle.clone",
            "tree": "lifecycle.tree",
        },
        "input": {
            "text": "input.text",
            "images": "input.images",
            "audio": "input.audio",
            "steering": "turns.steer_active",
            "structuredOutput": "input.structured_output",
        },
        "output": {
            "assistantDeltas": "output.text_delta",
            "reasoning": "output.reasoning",
            "toolEvents": has_tool_lifecycle,
            "usage": "output.usage",
            "plans": "planning.plan_updates",
            "diffs": "output.diffs",
            "rawNativeEvents": "output.raw",
        },
        "tools": {"piboManaged": "tools.app_tools", "nativeToolYielding": "tools.native_yielding"},
        "mcp": {"externalServers": "tools.mcp_external", "statusInspection": "tools.mcp_status"},
        "models": {
            "catalog": "models.catalog",
            "switchInSession": "models.switch",
            "optionsSchema": "models.options_schema",
        },
        "reasoning": {"supported": "reasoning.supported", "values": "reasoning.values"},
        "approvals": {
            "supported": "approvals.native_requests",
            "structuredUserInput": "approvals.user_input",
        },
        "maintenance": {
            "compaction": "context.compaction",
            "contextUsage": "context.context_usage",
            "history": "maintenance.history",
            "health": "maintenance.health",
        },
        "delivery": {"skills": "resources.skills", "context": "resources.context_files"},
    }
)
"""The second list; its two fields that stand alone there are in the group `delivery` here."""


def _plain(path: str, value: LeafValue, *, deliveries: bool) -> Any:
    """A support leaf as a boolean, a delivery as one too or as its tagged value, anything else as it is."""
    kind = LEAVES[path].kind
    if kind is Kind.SUPPORT or (kind is Kind.DELIVERY and not deliveries):
        return level(value) > LEVEL_NONE
    if kind is Kind.DELIVERY:
        return msgspec.json.decode(msgspec.json.encode(value))
    if kind is Kind.STRENGTH:
        return str(value)
    return list(value) if isinstance(value, tuple) else copy.deepcopy(value)


def _view(
    table: Mapping[str, Mapping[str, str | Rule]], leaves: Leaves, *, deliveries: bool
) -> dict[str, dict[str, Any]]:
    return {
        group: {
            field: _plain(source, leaves[source], deliveries=deliveries)
            if isinstance(source, str)
            else source(leaves)
            for field, source in fields.items()
        }
        for group, fields in table.items()
    }


def view_000(leaves: Leaves) -> dict[str, dict[str, Any]]:
    """The first list as nested plain data, new at each call (F002, F287). Degraded counts as there."""
    return _view(VIEW_000, leaves, deliveries=False)


def view_001(leaves: Leaves) -> dict[str, dict[str, Any]]:
    """The second list as nested plain data, new at each call (F287). Degraded counts as there."""
    return _view(VIEW_001, leaves, deliveries=True)
