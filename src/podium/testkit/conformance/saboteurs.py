"""For each leaf the agent that lacks it: made of the real one by taking exactly that away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Any

import msgspec

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    BackgroundSeen,
    DiffSeen,
    ItemContent,
    ItemKind,
    ItemSeen,
    OffersSeen,
    PlanSeen,
    ProviderEvent,
    RequestOpened,
    SubagentSeen,
    TextDelta,
    ThreadBound,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
    UsageSeen,
)
from podium.contract.inputs import (
    Command,
    CompactThread,
    EnsureThread,
    ForkThread,
    ImageBlock,
    InterruptTurn,
    ListModels,
    OpenSession,
    ReadThread,
    Respond,
    RollbackThread,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.contract.requests import RequestKind
from podium.testkit.conformance.play import TOOL_KINDS
from podium.testkit.conformance.saboteur import Events, Saboteur

Make = Callable[[], Saboteur]
"""A saboteur for one play: some count."""

_NOT_DONE = failure("validation", "capability_missing", "This agent does not do that.")

_MAKERS: dict[str, Make] = {}


def _for(*leaves: str) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        for leaf in leaves:
            _MAKERS[leaf] = make
        return make

    return register


def _drops(fits: Callable[[ProviderEvent], bool]) -> Saboteur:
    return Saboteur(event=lambda event: () if fits(event) else (event,))


def _changes(change: Callable[[ProviderEvent], ProviderEvent]) -> Saboteur:
    return Saboteur(event=lambda event: (change(event),))


def _refuses(fits: Callable[[Command], bool]) -> Saboteur:
    """The ask is refused."""
    return Saboteur(command=lambda c: (AskFailed(c.ask_id, _NOT_DONE),) if fits(c) else c)


def _swallows(fits: Callable[[Command], bool]) -> Saboteur:
    """The ask is said to be done, and is not."""
    return Saboteur(command=lambda c: (AskDone(c.ask_id),) if fits(c) else c)


def _never_asks(*kinds: RequestKind) -> Saboteur:
    return Saboteur(asks=lambda event: event.kind not in kinds)


def _with(command: Command, **fields: Any) -> Command:
    return msgspec.structs.replace(command, **fields)


def _tool(event: ProviderEvent) -> bool:
    return isinstance(event, ItemSeen) and event.kind in TOOL_KINDS


def _delta(kind: ItemKind | None = None, body: str | None = None) -> Callable[[ProviderEvent], bool]:
    def fits(event: ProviderEvent) -> bool:
        mine = isinstance(event, TextDelta) and (kind is None or event.kind == kind)
        return mine and (body is None or getattr(event, "body", None) == body)

    return fits


# --- turns and input


@_for("input.text")
def _no_text() -> Saboteur:
    def forgets(command: Command) -> Command | Events:
        return _with(command, blocks=(TextBlock("..."),)) if isinstance(command, SendTurn) else command

    return Saboteur(command=forgets)


@_for("input.images")
def _no_images() -> Saboteur:
    def forgets(command: Command) -> Command | Events:
        if not isinstance(command, SendTurn):
            return command
        return _with(command, blocks=tuple(b for b in command.blocks if not isinstance(b, ImageBlock)))

    return Saboteur(command=forgets)


@_for("turns.started")
def _no_start() -> Saboteur:
    return _drops(lambda event: isinstance(event, TurnStarted))


@_for("turns.completed")
def _no_end() -> Saboteur:
    return _drops(lambda event: isinstance(event, TurnEnded))


@_for("turns.terminal_quality")
def _always_well() -> Saboteur:
    def well(event: ProviderEvent) -> Events:
        if isinstance(event, TurnEnded):
            return (msgspec.structs.replace(event, outcome="completed", failure=None),)
        return () if isinstance(event, AskFailed) else (event,)

    return Saboteur(event=well)


@_for("turns.interrupt", "turns.steer_restart")
def _no_interrupt() -> Saboteur:
    return _swallows(lambda command: isinstance(command, InterruptTurn))


@_for("turns.interrupt_keeps_background")
def _lost_with_it() -> Saboteur:
    return Saboteur(ends_background=True)


@_for("turns.steer_active")
def _no_steering() -> Saboteur:
    return _swallows(lambda command: isinstance(command, SteerTurn))


@_for("turns.queue")
def _one_turn() -> Saboteur:
    turns = count()
    return _refuses(lambda command: isinstance(command, SendTurn) and next(turns) > 0)


@_for("identity.turn")
def _one_turn_id() -> Saboteur:
    def same(event: ProviderEvent) -> ProviderEvent:
        if isinstance(event, TurnAccepted | TurnStarted | TurnEnded):
            return msgspec.structs.replace(event, turn="turn")
        return event

    return _changes(same)


# --- output


@_for("output.text_delta")
def _no_deltas() -> Saboteur:
    return _drops(_delta("assistant_message"))


@_for("output.reasoning")
def _no_reasoning() -> Saboteur:
    def reasons(event: ProviderEvent) -> bool:
        return isinstance(event, TextDelta | ItemSeen) and event.kind == "reasoning"

    return _drops(reasons)


@_for("output.tool_output")
def _no_tool_deltas() -> Saboteur:
    return _drops(_delta(body="output"))


@_for("output.plan_text")
def _no_plan_deltas() -> Saboteur:
    return _drops(_delta("plan"))


@_for("output.message_completed")
def _open_messages() -> Saboteur:
    def ends(event: ProviderEvent) -> bool:
        return isinstance(event, ItemSeen) and event.kind == "assistant_message" and event.state != "open"

    return _drops(ends)


@_for("output.usage")
def _no_usage() -> Saboteur:
    return _drops(lambda event: isinstance(event, UsageSeen))


@_for("context.context_usage")
def _no_window() -> Saboteur:
    def narrow(event: ProviderEvent) -> ProviderEvent:
        return msgspec.structs.replace(event, context_window=None) if isinstance(event, UsageSeen) else event

    return _changes(narrow)


@_for("output.diffs")
def _no_diffs() -> Saboteur:
    def event_of(event: ProviderEvent) -> Events:
        if isinstance(event, DiffSeen) or _delta(body="diff")(event):
            return ()
        if not isinstance(event, ItemSeen):
            return (event,)
        changes = tuple(msgspec.structs.replace(change, diff="") for change in event.content.changes)
        content = msgspec.structs.replace(event.content, changes=changes)
        final = {body: text for body, text in event.final.items() if body != "diff"}
        return (msgspec.structs.replace(event, content=content, final=final),)

    return Saboteur(event=event_of)


@_for("output.raw")
def _no_frames() -> Saboteur:
    return Saboteur(frames=False)


# --- tools


@_for("tools.started")
def _no_tool_starts() -> Saboteur:
    return _drops(lambda event: _tool(event) and getattr(event, "state", "") == "open")


@_for("tools.completed")
def _no_tool_ends() -> Saboteur:
    return _drops(lambda event: _tool(event) and getattr(event, "state", "") != "open")


@_for("tools.output")
def _no_results() -> Saboteur:
    def silent(event: ProviderEvent) -> ProviderEvent:
        if isinstance(event, ItemSeen) and event.kind in TOOL_KINDS:
            content = msgspec.structs.replace(event.content, result=None)
            return msgspec.structs.replace(event, content=content, final={})
        return event

    return _changes(silent)


@_for("tools.item_ids", "identity.item")
def _no_item_ids() -> Saboteur:
    def nameless(event: ProviderEvent) -> ProviderEvent:
        if isinstance(event, ItemSeen | TextDelta) and event.kind in TOOL_KINDS:
            ref = msgspec.structs.replace(event.ref, id=None, fingerprint=None)
            return msgspec.structs.replace(event, ref=ref)
        return event

    return _changes(nameless)


@_for("tools.mcp_external")
def _no_servers() -> Saboteur:
    return _drops(lambda event: isinstance(event, ItemSeen) and event.content.server is not None)


# --- approvals


@_for("approvals.command")
def _never_about_commands() -> Saboteur:
    return _never_asks("command_approval", "tool_approval", "permission_approval", "unknown")


@_for("approvals.file_change", "approvals.patch")
def _never_about_files() -> Saboteur:
    return _never_asks("file_change_approval")


@_for("approvals.from_subagents")
def _children_never_ask() -> Saboteur:
    known: set[str] = set()

    def listen(event: ProviderEvent) -> Events:
        if isinstance(event, ThreadBound):
            known.add(event.thread)
        return (event,)

    return Saboteur(event=listen, asks=lambda event: event.ref.thread in known)


@_for("approvals.user_input", "planning.questions")
def _no_questions() -> Saboteur:
    return Saboteur(asks=lambda event: not event.content.questions)


@_for("approvals.native_request_ids", "identity.request")
def _one_request_id() -> Saboteur:
    real: list[str] = []

    def same(event: ProviderEvent) -> Events:
        if isinstance(event, RequestOpened):
            real.append(event.key)
            return (msgspec.structs.replace(event, key="request"),)
        return (event,)

    def newest(command: Command) -> Command | Events:
        return _with(command, request=real[-1]) if isinstance(command, Respond) else command

    return Saboteur(event=same, command=newest)


@_for("policy.enforcement")
def _everything_allowed() -> Saboteur:
    def free(command: Command) -> Command | Events:
        return (
            _with(command, mode="full")
            if isinstance(command, OpenSession | EnsureThread | SendTurn)
            else command
        )

    return Saboteur(command=free)


@_for("lifecycle.mode_switch")
def _one_mode() -> Saboteur:
    return Saboteur(command=lambda c: _with(c, mode="ask") if isinstance(c, SendTurn) else c)


# --- planning and subagents


@_for("planning.plan_updates", "planning.todo_list")
def _no_plans() -> Saboteur:
    return _drops(lambda event: isinstance(event, PlanSeen) and event.kind == "todo_list")


@_for("planning.proposed_plan")
def _no_proposals() -> Saboteur:
    return _drops(lambda event: isinstance(event, PlanSeen) and event.kind == "proposed_plan")


@_for("subagents.supported")
def _no_children() -> Saboteur:
    return _drops(lambda event: isinstance(event, SubagentSeen))


@_for("subagents.thread_ids")
def _nameless_children() -> Saboteur:
    def nameless(event: ProviderEvent) -> ProviderEvent:
        if isinstance(event, SubagentSeen):
            return msgspec.structs.replace(event, child=None, handle=None)
        return event

    return _changes(nameless)


@_for("subagents.lifecycle")
def _endless_children() -> Saboteur:
    return _drops(lambda event: isinstance(event, SubagentSeen) and event.state != "running")


@_for("subagents.background_jobs")
def _no_background() -> Saboteur:
    def event_of(event: ProviderEvent) -> Events:
        if isinstance(event, BackgroundSeen):
            return ()
        if isinstance(event, ItemSeen):
            content: ItemContent = msgspec.structs.replace(event.content, background=False)
            return (msgspec.structs.replace(event, content=content),)
        return (event,)

    return Saboteur(event=event_of)


# --- conversations


@_for("lifecycle.persistent")
def _forgetful() -> Saboteur:
    return Saboteur(command=lambda c: _with(c, handle=None) if isinstance(c, EnsureThread) else c)


@_for("identity.thread")
def _nameless() -> Saboteur:
    def anew(event: ProviderEvent) -> ProviderEvent:
        if isinstance(event, ThreadBound):
            handle = msgspec.structs.replace(event.handle, native_id="made-up")
            return msgspec.structs.replace(event, handle=handle)
        return event

    return _changes(anew)


@_for("lifecycle.empty_thread")
def _bound_late() -> Saboteur:
    return _refuses(lambda command: isinstance(command, EnsureThread))


@_for("lifecycle.multi_thread_per_session")
def _one_thread() -> Saboteur:
    threads = count()
    return _refuses(lambda command: isinstance(command, EnsureThread) and next(threads) > 0)


@_for("lifecycle.reattach")
def _lost_with_its_owner() -> Saboteur:
    return Saboteur(restores=False)


@_for("lifecycle.requests_survive_restart")
def _requests_lost() -> Saboteur:
    return Saboteur(keeps_requests=False)


@_for("lifecycle.read_snapshot")
def _unread() -> Saboteur:
    return _swallows(lambda command: isinstance(command, ReadThread))


@_for("models.catalog")
def _no_catalog() -> Saboteur:
    return _swallows(lambda command: isinstance(command, ListModels))


@_for("models.switch")
def _one_model() -> Saboteur:
    return Saboteur(command=lambda c: _with(c, model=None) if isinstance(c, SendTurn) else c)


@_for("commands.catalog")
def _no_slash_commands() -> Saboteur:
    def none(event: ProviderEvent) -> ProviderEvent:
        return msgspec.structs.replace(event, commands=None) if isinstance(event, OffersSeen) else event

    return _changes(none)


# --- branches and context


@_for("threads.fork")
def _no_fork() -> Saboteur:
    return _refuses(lambda command: isinstance(command, ForkThread))


@_for("threads.fork_from_subagent", "subagents.fork")
def _main_forks_only() -> Saboteur:
    known: set[str] = set()

    def listen(event: ProviderEvent) -> Events:
        if isinstance(event, ThreadBound):
            known.add(event.thread)
        return (event,)

    def refuse(command: Command) -> Command | Events:
        child = isinstance(command, ForkThread) and command.thread not in known
        return (AskFailed(command.ask_id, _NOT_DONE),) if child else command

    return Saboteur(event=listen, command=refuse)


@_for("threads.fork_from_turn")
def _whole_forks() -> Saboteur:
    return Saboteur(command=lambda c: _with(c, at_turn=None) if isinstance(c, ForkThread) else c)


@_for("threads.rollback")
def _no_rollback() -> Saboteur:
    return _swallows(lambda command: isinstance(command, RollbackThread))


@_for("context.synthetic_user", "context.consume", "context.full", "context.delta")
def _prompt_only() -> Saboteur:
    return Saboteur(command=lambda c: _with(c, blocks=c.blocks[-1:]) if isinstance(c, SendTurn) else c)


@_for("context.compaction")
def _no_compaction() -> Saboteur:
    return _swallows(lambda command: isinstance(command, CompactThread))


SABOTEURS: Mapping[str, Make] = MappingProxyType(_MAKERS)
"""The maker of a saboteur for each leaf that a scenario proves."""


def without(leaf: str) -> Saboteur:
    """An agent without this leaf. Raises `KeyError` for a leaf that no scenario proves."""
    return SABOTEURS[leaf]()
