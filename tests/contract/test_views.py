"""Both flat lists of fields are answered in full from the tree."""

from __future__ import annotations

import pytest

from podium.contract.capabilities import Capabilities
from podium.contract.leaves import LEAVES
from podium.contract.values import DIRECT, NATIVE, Kind, LeafValue, Mcp, degraded, mcp
from podium.contract.views import VIEW_000, VIEW_001

FIELDS_000 = {
    "sessions": (
        "supportsMultipleProviderThreadsPerSession supportsModelSwitchInSession "
        "supportsProviderSwitchingViaHandoff supportsRuntimeModeSwitchInSession pendingRequestsSurviveRestart"
    ),
    "threads": (
        "canCreateEmptyThread canReadThreadSnapshot canRollbackThread canForkThread canForkFromTurn "
        "canForkFromSubagentThread exposesNativeThreadId"
    ),
    "turns": (
        "exposesNativeTurnId emitsTurnStarted emitsTurnCompleted supportsInterrupt supportsActiveSteering "
        "supportsSteeringByInterruptRestart supportsQueuedMessages terminalStatusQuality"
    ),
    "streaming": (
        "streamsAssistantText streamsReasoning streamsToolOutput streamsPlanText emitsMessageCompleted"
    ),
    "tools": (
        "exposesToolItemIds emitsToolStarted emitsToolCompleted emitsToolOutput supportsMcpTools "
        "supportsDynamicToolCallbacks"
    ),
    "approvals": (
        "supportsCommandApproval supportsFileReadApproval supportsFileChangeApproval "
        "supportsApplyPatchApproval approvalsHaveNativeRequestIds approvalCallbacksAreLiveOnly "
        "approvalsCanOriginateFromSubagents"
    ),
    "planning": (
        "emitsPlanUpdated emitsTodoList emitsProposedPlan supportsStructuredQuestions planDeltasHaveItemIds"
    ),
    "subagents": (
        "supportsSubagents exposesSubagentThreadIds emitsSubagentLifecycle canWaitForSubagents "
        "canCloseSubagents canForkSubagentThread"
    ),
    "context": (
        "acceptsSystemContext acceptsDeveloperContext acceptsSyntheticUserContext canGenerateSummaries "
        "canConsumeHandoffSummaries supportsDeltaHandoff supportsFullThreadHandoff maxRecommendedHandoffChars"
    ),
    "checkpointing": (
        "appCanCheckpointFilesystem supportsNestedCheckpointScopes providerCanRollbackConversation "
        "providerRollbackReturnsSnapshot providerCanReadConversationSnapshot"
    ),
    "identity": "nativeThreadIds nativeTurnIds nativeItemIds nativeRequestIds",
}

FIELDS_001 = {
    "lifecycle": "persistent lazyBinding resume attach listNativeSessions fork clone tree",
    "input": "text images audio steering structuredOutput",
    "output": "assistantDeltas reasoning toolEvents usage plans diffs rawNativeEvents",
    "tools": "piboManaged nativeToolYielding",
    "mcp": "externalServers statusInspection",
    "models": "catalog switchInSession optionsSchema",
    "reasoning": "supported values",
    "approvals": "supported structuredUserInput",
    "maintenance": "compaction contextUsage history health",
    "delivery": "skills context",
}

VIEWS = [(VIEW_000, FIELDS_000, 66), (VIEW_001, FIELDS_001, 37)]
NONE = Capabilities.minimal("zz")


def best(path: str) -> LeafValue:
    values: dict[Kind, LeafValue] = {Kind.SUPPORT: NATIVE, Kind.DELIVERY: DIRECT, Kind.NUMBER: 10}
    if LEAVES[path].kind is Kind.SCHEMA:
        return {"type": "object"}
    return values.get(LEAVES[path].kind, ("low",))


def everything() -> Capabilities:
    declared = {
        path: "strong" if leaf.kind is Kind.STRENGTH else best(path)
        for path, leaf in LEAVES.items()
        if not leaf.derived
    }
    return Capabilities.build(declared, adapter="zz")


@pytest.mark.behaviour("F004", "F005", "F007", "F008", "F009", "F010", "F011", "F012", "F013", "F014", "F015")
@pytest.mark.behaviour("F002", "F017", "F019", "F021")
def test_every_field_of_both_lists_has_one_leaf_or_rule() -> None:
    for table, fields, count in VIEWS:
        assert {group: set(names) for group, names in table.items()} == {
            group: set(names.split()) for group, names in fields.items()
        }
        assert sum(len(names) for names in table.values()) == count
        for names in table.values():
            for source in names.values():
                assert not isinstance(source, str) or source in LEAVES
                assert isinstance(source, str) or source.__doc__


@pytest.mark.behaviour("F002")
def test_the_views_answer_every_field_they_list() -> None:
    for record in (NONE, everything()):
        assert {g: set(v) for g, v in record.view_000().items()} == {g: set(v) for g, v in VIEW_000.items()}
        assert {g: set(v) for g, v in record.view_001().items()} == {g: set(v) for g, v in VIEW_001.items()}


def test_each_field_moves_with_its_leaf_and_only_with_it() -> None:
    """From nothing, raising the declared leaf behind a field changes that field (F004 to F021)."""
    for table, view in ((VIEW_000, Capabilities.view_000), (VIEW_001, Capabilities.view_001)):
        for group, names in table.items():
            for field, source in names.items():
                if not isinstance(source, str) or LEAVES[source].derived:
                    continue
                value = "strong" if LEAVES[source].kind is Kind.STRENGTH else best(source)
                raised = Capabilities.build({source: value}, adapter="zz")
                assert view(raised)[group][field] != view(NONE)[group][field], (group, field)
                sources = {other for other in names.values() if isinstance(other, str)} - {source}
                others = Capabilities.build(
                    {
                        other: "strong" if LEAVES[other].kind is Kind.STRENGTH else best(other)
                        for other in sources
                        if not LEAVES[other].derived
                    },
                    adapter="zz",
                )
                assert view(others)[group][field] == view(NONE)[group][field], (group, field)


def test_the_named_rules() -> None:
    view = Capabilities.build({"approvals.command": NATIVE}, adapter="zz").view_000()
    assert view["approvals"]["approvalCallbacksAreLiveOnly"] is True
    assert NONE.view_000()["approvals"]["approvalCallbacksAreLiveOnly"] is False
    assert everything().view_000()["approvals"]["approvalCallbacksAreLiveOnly"] is False
    weak = Capabilities.build({"identity.thread": "weak", "identity.turn": "weak"}, adapter="zz").view_000()
    assert weak["threads"]["exposesNativeThreadId"] is True and weak["turns"]["exposesNativeTurnId"] is True
    assert NONE.view_000()["threads"]["exposesNativeThreadId"] is False
    started = Capabilities.build({"tools.started": NATIVE}, adapter="zz")
    assert started.view_001()["output"]["toolEvents"] is False
    assert started.narrowed({}).view_000()["tools"]["emitsToolStarted"] is True
    assert everything().view_001()["output"]["toolEvents"] is True


def test_values_keep_what_the_other_lists_can_say() -> None:
    record = Capabilities.build(
        {
            "tools.app_tools": mcp("http"),
            "tools.native_yielding": degraded("late", "only after the call"),
            "identity.turn": "weak",
            "context.max_chars": 9000,
            "reasoning.values": ("low",),
        },
        adapter="zz",
    )
    assert record.delivery("tools.app_tools") == Mcp(("http",))
    assert record.view_001()["tools"] == {
        "piboManaged": {"support": "mcp", "transports": ["http"]},
        "nativeToolYielding": {"support": "degraded", "mode": "late", "reason": "only after the call"},
    }
    assert record.view_001()["delivery"]["skills"] == {"support": "unsupported", "reason": "not_declared"}
    assert record.view_001()["reasoning"]["values"] == ["low"]
    assert record.view_000()["identity"]["nativeTurnIds"] == "weak"
    assert record.view_000()["context"]["maxRecommendedHandoffChars"] == 9000
