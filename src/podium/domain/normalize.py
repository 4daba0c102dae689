"""What an adapter reported, as domain events. Idempotent: an adapter may repeat itself (C14)."""

from __future__ import annotations

import msgspec

from podium.contract.errors import MESSAGE_MAX, Failure, failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    BackgroundSeen,
    ContextCleared,
    DiagnosticSeen,
    DiffSeen,
    ItemSeen,
    Limited,
    Notice,
    OffersSeen,
    OpaqueSeen,
    PlanSeen,
    RequestClosed,
    RequestOpened,
    Retrying,
    SessionReady,
    SubagentSeen,
    TextDelta,
    ThreadBound,
    ThreadChanged,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageSeen,
)
from podium.contract.handles import HandleLink
from podium.contract.values import CapabilityError
from podium.domain.commands import Reported
from podium.domain.ending import anything_sent, end_run
from podium.domain.entities import NoticeEntry, Offers, Plan, ProviderThread, Request, Session
from podium.domain.flow import ANSWER, BIND, OPEN, STEER, STOP, TURN, parse_ask
from podium.domain.items import item_seen, opaque_seen, subagent_seen, text_delta
from podium.domain.naming import request_id
from podium.domain.narrowing import met
from podium.domain.outputs import Draft, Settle, StopSession, derived
from podium.domain.steering import replace_attempt, steered
from podium.domain.turns import run_of, turn_accepted, turn_ended, turn_of, turn_started
from podium.domain.waiting import settle_waiting

DIFF_MAX = 256 * 1024
"""Longest turn diff stored, in characters; the workspace has the whole truth."""


def report(draft: Draft, command: Reported, session: Session) -> None:
    """Turn one provider event into what it means here."""
    event = command.event
    match event:
        case TextDelta():
            text_delta(draft, event, command)
        case ItemSeen():
            item_seen(draft, event, command)
        case TurnStarted():
            turn_started(draft, event)
        case TurnAccepted():
            turn_accepted(draft, event)
        case TurnEnded():
            turn_ended(draft, event)
        case SessionReady():
            _ready(draft, event, session)
        case ThreadBound():
            _bound(draft, event, session)
        case ThreadMissing():
            _missing(draft, event)
        case ThreadChanged():
            held = draft.state.by_native(event.thread)
            if held is not None:
                draft.change(
                    held,
                    model=event.model or held.model,
                    mode=event.mode or held.mode,
                    title=event.title or held.title,
                )
        case OffersSeen():
            held = draft.state.by_native(event.thread)
            if held is not None:
                said = {name: getattr(event, name) for name in Offers.__struct_fields__}
                news = {name: value for name, value in said.items() if value is not None}
                draft.change(held, offers=msgspec.structs.replace(held.offers, **news))
        case PlanSeen():
            _plan(draft, event)
        case UsageSeen():
            _usage(draft, event)
        case DiffSeen():
            turn = turn_of(draft, event.thread, event.turn)
            if turn is not None:
                draft.do(Settle(turn.id, "diff", event.diff[:DIFF_MAX], close=False))
        case RequestOpened():
            _request(draft, event, session, command)
        case RequestClosed():
            _request_closed(draft, event, session)
        case SubagentSeen():
            subagent_seen(draft, event, command, session)
        case AskFailed():
            _ask_failed(draft, event)
        case AskDone():
            _ask_done(draft, event)
        case Limited():
            _limited(draft, event)
        case Retrying():
            _notice(draft, "info", event.failure.code, event.failure.message, event.thread, event.turn)
        case Notice():
            _notice(draft, event.level, event.code, event.text, event.thread, event.turn)
        case OpaqueSeen():
            opaque_seen(draft, event, command)
        case ContextCleared():
            _cleared(draft, event, session)
        case BackgroundSeen() | DiagnosticSeen():
            pass


def _ready(draft: Draft, event: SessionReady, session: Session) -> None:
    """The handshake is done. Said again it can only narrow further (F176), and it revives nothing."""
    state = "ready" if session.state == "opening" else session.state
    try:
        narrowed = met(session.narrowed, event.narrowed)
    except CapabilityError as error:
        why = failure(
            "provider", "handshake_unreadable", error.message, leaf=str(error.detail.get("leaf", ""))
        )
        session_refused(draft, session, why)
        return
    version = event.agent_version or session.agent_version
    draft.change(session, state=state, agent_version=version, narrowed=narrowed)


def session_refused(draft: Draft, session: Session, why: Failure) -> None:
    """The agent cannot be worked with: what was to start fails with it, and its program is let go."""
    active = draft.state.active
    if active is not None:
        sent = anything_sent(draft, active)
        end_run(draft, active, "failed", "provider" if sent else "start_failed", why)
    draft.change(session, state="ending", ended_reason=f"failed:{why.code}")
    draft.do(StopSession(session.id, why.code))


def _bound(draft: Draft, event: ThreadBound, session: Session) -> None:
    purpose, target = parse_ask(event.ask_id or "")
    held = (
        draft.state.provider_threads.get(target) if purpose == BIND else draft.state.by_native(event.thread)
    )
    if held is None:
        return
    last = held.chain.current
    same = last is not None and last.same_conversation(event.handle)
    if last is not None and not same:
        draft.note(
            "warning",
            "conversation_replaced",
            "The agent continues in another conversation than the one named; it may not know what was said.",
        )
    chain = held.chain.append(HandleLink(event.handle, "resumed" if same else "created", session.fence))
    draft.change(
        held, chain=chain, state="bound", session_id=session.id, model=event.model or held.model, failure=None
    )


def _missing(draft: Draft, event: ThreadMissing) -> None:
    purpose, target = parse_ask(event.ask_id)
    held = draft.state.provider_threads.get(target)
    if held is None or purpose != BIND or held.state != "binding":
        return
    fresh = held.chain.current is None
    draft.change(held, state="unbound" if fresh else "missing", failure=event.failure, session_id=None)
    active = draft.state.active
    if active is not None and not anything_sent(draft, active):
        end_run(draft, active, "failed", "start_failed", event.failure)


def _plan(draft: Draft, event: PlanSeen) -> None:
    turn = turn_of(draft, event.ref.thread, event.ref.turn)
    run = run_of(draft, turn)
    if run is None:
        return
    key = event.ref.id if event.kind == "proposed_plan" and event.ref.id else event.kind
    plan_id = derived("pln", turn.id if turn else run.id, key)
    held = draft.state.plans.get(plan_id)
    if held is None:
        draft.put(
            Plan(
                id=plan_id,
                thread_id=draft.thread_id,
                run_id=run.id,
                plan_kind=event.kind,
                turn_id=turn.id if turn else None,
                steps=event.steps,
                text=event.text,
                explanation=event.explanation,
            )
        )
    else:
        draft.change(held, steps=event.steps, text=event.text, explanation=event.explanation)


def added(one: int | None, other: int | None) -> int | None:
    """The sum where both are known; unknown stays unknown, never 0."""
    return one if other is None else other if one is None else one + other


def total(one: Usage | None, other: Usage) -> Usage:
    """Two usages together."""
    if one is None:
        return other
    return Usage(*(added(getattr(one, f), getattr(other, f)) for f in Usage.__struct_fields__))


def _usage(draft: Draft, event: UsageSeen) -> None:
    turn = turn_of(draft, event.thread, event.turn)
    if turn is None or (event.key is not None and event.key == turn.usage_key):
        return
    window = event.context_window or turn.context_window
    if event.last == Usage():  # it tells how full the context is, and nothing that was used
        draft.change(turn, context_window=window)
        return
    usage = event.last if event.key is None else total(turn.usage, event.last)
    draft.change(turn, usage=usage, context_window=window, usage_key=event.key)
    run = run_of(draft, turn)
    if run is not None and turn.root:
        draft.change(run, usage=usage)


def _request(draft: Draft, event: RequestOpened, session: Session, command: Reported) -> None:
    turn = turn_of(draft, event.ref.thread, event.ref.turn)
    run = run_of(draft, turn)
    key = request_id(session.id, event.key)
    if key in draft.state.requests or key in draft.state.known:
        return
    item = draft.state.items.get(command.item_id or "")
    draft.put(
        Request(
            id=key,
            thread_id=draft.thread_id,
            session_id=session.id,
            key=event.key,
            request_kind=event.kind,
            content=event.content,
            options=event.options,
            run_id=run.id if run else None,
            node_id=(item.node_id if item else None) or (turn.node_id if turn else None),
            item_id=item.id if item else None,
            created_at=draft.facts.now,
        )
    )
    settle_waiting(draft, run)


def _request_closed(draft: Draft, event: RequestClosed, session: Session) -> None:
    held = draft.state.requests.get(request_id(session.id, event.key))
    if held is None:
        return
    if held.state == "answered":
        draft.change(held, delivery="unknown" if event.reason == "process_exit" else "accepted")
    elif event.reason == "process_exit":
        draft.change(held, state="expired", reason="process_exit", closed_at=draft.facts.now)
    else:
        draft.change(held, state="dismissed", reason=event.reason or "agent", closed_at=draft.facts.now)
    settle_waiting(draft, draft.state.runs.get(held.run_id or ""))


def _ask_failed(draft: Draft, event: AskFailed) -> None:
    purpose, target = parse_ask(event.ask_id)
    session = draft.state.session
    if purpose == TURN:
        _prompt_refused(draft, target, event.failure)
    elif purpose == STOP:
        run = draft.state.open_run(target)
        if run is not None and event.failure.code == "no_active_turn" and not replace_attempt(draft, run):
            end_run(draft, run, "interrupted", "provider")
    elif purpose == STEER:
        steered(draft, target, taken=False)
    elif purpose == ANSWER:
        request = draft.state.requests.get(target)
        if request is not None:
            draft.change(request, delivery="rejected", reason=event.failure.code)
    elif purpose == BIND:
        _missing(draft, ThreadMissing(event.ask_id, "not_resumable", event.failure))
    elif purpose == OPEN and session is not None and session.state == "opening":
        session_refused(draft, session, event.failure)


def _prompt_refused(draft: Draft, attempt_id: str, why: Failure) -> None:
    """The agent refused a prompt. One that it had taken stays accepted; its run failed all the same."""
    attempt = draft.state.attempts.get(attempt_id)
    run = draft.state.open_run(attempt.run_id) if attempt else None
    if run is None or not anything_sent(draft, run):
        return
    message = draft.state.messages.get(run.message_id or "")
    taken = message is not None and message.delivery == "accepted"
    if message is not None and message.delivery == "pending":
        draft.change(message, delivery="rejected", how="agent")
    end_run(draft, run, "failed", "provider" if taken else "rejected", why)


def _ask_done(draft: Draft, event: AskDone) -> None:
    purpose, target = parse_ask(event.ask_id)
    if purpose == ANSWER:
        request = draft.state.requests.get(target)
        if request is not None:
            draft.change(request, delivery="accepted")
    elif purpose == STEER:
        steered(draft, target, taken=True)


def _limited(draft: Draft, event: Limited) -> None:
    active = draft.state.working
    if active is not None:
        draft.change(active, limited={"scope": event.scope, "until": event.until})


def _notice(draft: Draft, level: str, code: str, text: str, thread: str | None, turn: str | None) -> None:
    run = run_of(draft, turn_of(draft, thread, turn)) if thread else draft.state.active
    known = level if level in ("info", "warning", "error") else "info"
    draft.put(
        msgspec.structs.replace(
            NoticeEntry(
                id=draft.facts.fresh("not"),
                thread_id=draft.thread_id,
                level="info",
                code=code,
                text=text[:MESSAGE_MAX],
                run_id=run.id if run else None,
            ),
            level=known,
        )
    )


def _cleared(draft: Draft, event: ContextCleared, session: Session) -> None:
    """A new identity of the conversation: the epoch rises, the thread goes on (C11)."""
    held: ProviderThread | None = draft.state.by_native(event.thread)
    if held is None:
        return
    chain = held.chain
    if event.handle is not None:
        chain = chain.append(HandleLink(event.handle, "cleared", session.fence))
    draft.change(held, epoch=held.epoch + 1, chain=chain)
    draft.note("info", "context_cleared", "The agent began with an empty context.")
