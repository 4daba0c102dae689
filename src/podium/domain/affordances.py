"""What can be done with a thread right now, each with its reason: pure, for every face alike (F114, F220).

An affordance is `available` (the agent does it), a `fallback` (Podium does something else in its place, and
says so beforehand) or `disabled`. It always has a reason, and names the capability and policy that decided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from podium.contract.capabilities import Capabilities
from podium.domain.decide import QUEUE_MAX
from podium.domain.entities import Checkpoint, Request, Run
from podium.domain.state import ThreadState
from podium.domain.steering import can_restart, running_turn
from podium.policy.config import Policy
from podium.policy.resolve import NOT_AVAILABLE_YET, Resolution, resolve

THREAD_SOURCE = "thread"
"""The source of a fork at the end of the whole conversation; others are run ids."""

Readiness = Literal["available", "fallback", "disabled"]


class Affordance(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one thing can be done now, and what would happen.

    `code` is stable and names the reason, `reason` says it in English. `outcome` is the policy's answer
    (native, restart, queue, ...), `consequence` what a person should know beforehand. `capability` is the
    leaf that decided, `standing` how its claim stands on the installed version, `evidence` the agent's own
    methods and events that it rests on.
    """

    state: Readiness
    code: str
    reason: str
    outcome: str = ""
    consequence: str = ""
    capability: str = ""
    policy: str = ""
    standing: str = ""
    evidence_class: str = ""
    evidence: tuple[str, ...] = ()


class MessageAffordances(msgspec.Struct, frozen=True):
    """What each intent of a message would do. `means` is what `auto` would do now."""

    means: Literal["start", "steer", "queue", "none"]
    auto: Affordance
    start: Affordance
    steer: Affordance
    restart: Affordance
    queue: Affordance


class InterruptAffordance(msgspec.Struct, frozen=True):
    """Whether the run can be stopped: by the agent, only with its whole session, or not (F114)."""

    state: Literal["available", "destructive_fallback", "unavailable"]
    how: Affordance


class ForkAffordance(msgspec.Struct, frozen=True):
    """Whether the conversation can branch at a source: a run's id, or `thread` for its end."""

    source: str
    how: Affordance


class RequestAffordance(msgspec.Struct, frozen=True):
    """Whether a request can still be answered (F142)."""

    request: str
    state: Literal["respondable", "expired"]
    code: str
    reason: str


class RollbackAffordance(msgspec.Struct, frozen=True):
    """What can go back to a checkpoint: its files, and the agent's own conversation with them."""

    checkpoint: str
    files: Affordance
    provider_conversation: Literal["supported", "restarted_divergent", "unsupported"]
    conversation: Affordance


class Affordances(msgspec.Struct, frozen=True):
    """Everything a face may offer for a thread."""

    message: MessageAffordances
    interrupt: InterruptAffordance
    fork: tuple[ForkAffordance, ...]
    requests: tuple[RequestAffordance, ...]
    plan_panel: Affordance
    rollback: tuple[RollbackAffordance, ...]
    images: Affordance
    model_switch: Affordance
    archive: Affordance


Answering = Callable[[str], Affordance]
"""Asks for a feature of the policy."""


class Seen(msgspec.Struct, frozen=True):
    """What is known beyond the open entities: ended runs, closed requests, checkpoints, whether a plan is.

    `unheld` is why no message is taken in the thread's mode: nothing holds the agent to it.
    """

    runs: tuple[Run, ...] = ()
    requests: tuple[Request, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    plan: bool = False
    unheld: Resolution | None = None


_REASONS = {
    "native": "The agent does this itself.",
    "degraded": "The agent does this in a lesser way.",
    "unsupported": "The agent cannot do this.",
    "must_be_proven": "This is not proven on the installed version of the agent, and it can lose work.",
    "unproven": "This is not proven on the installed version of the agent.",
    "pending": "This has not been tried on the agent yet.",
    "outside_range": "This is not claimed for the installed version of the agent.",
    "failed_here": "This was tried on the installed version of the agent and failed.",
    "strict": "The policy is strict and wants this proven on the installed version.",
    "refused_by_policy": "The policy forbids what Podium could do in its place.",
    "refused_by_strict": "The policy is strict and forbids what Podium could do in its place.",
    NOT_AVAILABLE_YET: "Podium does not do this yet.",
    "interrupt_unsupported": "The agent cannot stop a turn.",
    "steering_unsupported": "The agent takes no message while it works.",
    "model_switch_unsupported": "The agent cannot change its model in a session.",
}
"""English for the codes of the policy; a code that is not here is shown as it is."""


_RESTART = "The turn is interrupted and a new attempt of the same run carries the text."


def _words(code: str) -> str:
    return _REASONS.get(code) or f"The reason given is {code}."


def _known(found: Resolution, capabilities: Capabilities) -> Affordance:
    """A policy's answer as an affordance."""
    code = found.code or ("native" if found.is_native else found.outcome)
    state: Readiness = "disabled" if found.refused else "available" if found.is_native else "fallback"
    if found.fidelity == "degraded":
        state = "available"
    evidence = capabilities.evidence(found.capability) if found.capability else None
    return Affordance(
        state=state,
        code=code,
        reason=_words(code),
        outcome=found.outcome,
        consequence=found.consequence,
        capability=found.capability,
        policy=found.policy,
        standing=str(capabilities.standing(found.capability)) if found.capability else "",
        evidence_class=str(evidence.evidence_class) if evidence else "",
        evidence=evidence.native if evidence else (),
    )


def _said(state: Readiness, code: str, reason: str, outcome: str = "", consequence: str = "") -> Affordance:
    return Affordance(state=state, code=code, reason=reason, outcome=outcome, consequence=consequence)


def affordances(state: ThreadState, capabilities: Capabilities, policy: Policy, seen: Seen) -> Affordances:
    """What can be done with the thread now. `capabilities` must be the effective record."""

    def answer(feature: str) -> Affordance:
        return _known(resolve(feature, capabilities, policy), capabilities)

    fork = answer("fork")
    sources = (THREAD_SOURCE, *(r.id for r in seen.runs if r.state == "ended"))
    return Affordances(
        message=_unheld(seen.unheld, capabilities) or _message(state, answer, capabilities),
        interrupt=_interrupt(state, answer("interrupt")),
        fork=tuple(ForkAffordance(source, fork) for source in sources),
        requests=tuple(_request(r) for r in seen.requests),
        plan_panel=_plan(answer("plan_progress"), seen.plan),
        rollback=tuple(_rollback(c, answer("rollback")) for c in seen.checkpoints),
        images=answer("image_input"),
        model_switch=answer("model_switch"),
        archive=_archive(state),
    )


def _unheld(found: Resolution | None, capabilities: Capabilities) -> MessageAffordances | None:
    if found is None:
        return None
    no = msgspec.structs.replace(
        _known(found, capabilities),
        reason="Nothing holds this agent to the mode of the thread: it asks nobody before it acts.",
    )
    return MessageAffordances("none", no, no, no, no, no)


def _message(state: ThreadState, answer: Answering, capabilities: Capabilities) -> MessageAffordances:
    closed = _closed(state)
    if closed is not None:
        return MessageAffordances("none", closed, closed, closed, closed, closed)
    run = state.active
    idle = _said(
        "disabled", "run_not_active", "No run is working, so there is nothing to change or to wait for."
    )
    if run is None and not state.queue:
        start = answer("start")
        return MessageAffordances(
            "none" if start.state == "disabled" else "start", start, start, idle, idle, idle
        )
    queue = answer("queue")
    means = "none" if queue.state == "disabled" else "queue"
    if run is None:
        return MessageAffordances(means, queue, queue, idle, idle, queue)
    busy = _said(
        "disabled", "run_active", "A run is working; the message can wait for its end or go into it."
    )
    steer = answer("steer")
    native = steer.state == "available"
    if running_turn(state, run) is None:
        not_yet = _said("disabled", "turn_not_running", "The run has no turn at work right now.")
        steer = steer if steer.outcome == "queue" or steer.state == "disabled" else not_yet
        return MessageAffordances(means, queue, busy, steer, not_yet, queue)
    restart = _restart(capabilities)
    if native and run.state == "running" and not state.queue:
        return MessageAffordances("steer", steer, busy, steer, restart, queue)
    return MessageAffordances(means, queue, busy, steer, restart, queue)


def _closed(state: ThreadState) -> Affordance | None:
    """Why the thread takes no message at all right now, None if it does."""
    if state.thread is not None and state.thread.archived:
        return _said("disabled", "thread_archived", "The thread is archived; take it back first.")
    if len(state.queue) >= QUEUE_MAX:
        return _said("disabled", "queue_full", f"Already {QUEUE_MAX} messages wait.")
    if state.main is not None and state.main.state == "missing":
        return _said(
            "disabled",
            "conversation_missing",
            "The agent no longer has the conversation of this thread; a message can begin a new one.",
        )
    return None


def _restart(capabilities: Capabilities) -> Affordance:
    """Stopping the turn and beginning it anew with the message: never better than a fallback."""
    missing = next((p for p in ("turns.steer_restart", "turns.interrupt") if not capabilities.has(p)), "")
    leaf = missing or "turns.steer_restart"
    evidence = capabilities.evidence(leaf)
    return Affordance(
        state="fallback" if can_restart(capabilities) else "disabled",
        code="unsupported" if missing else "restart",
        reason=_words("unsupported") if missing else "Podium stops the turn and begins it again.",
        outcome="refuse" if missing else "restart",
        consequence="" if missing else _RESTART,
        capability=leaf,
        standing=str(capabilities.standing(leaf)),
        evidence_class=str(evidence.evidence_class) if evidence else "",
        evidence=evidence.native if evidence else (),
    )


def _interrupt(state: ThreadState, how: Affordance) -> InterruptAffordance:
    run = state.working
    if run is None:
        return InterruptAffordance(
            "unavailable",
            _said("disabled", "run_not_active", "No run is working, so there is nothing to stop."),
        )
    if run.interrupt_requested_at is not None:
        return InterruptAffordance(
            "unavailable", _said("disabled", "interrupt_requested", "The run was already asked to stop.")
        )
    if not_sent(state, run):
        ours = _said(
            "available", "not_sent", "The agent does not have the message yet; the run is cancelled."
        )
        return InterruptAffordance("available", ours)
    if how.state == "disabled":
        return InterruptAffordance("unavailable", how)
    return InterruptAffordance("available" if how.state == "available" else "destructive_fallback", how)


def not_sent(state: ThreadState, run: Run) -> bool:
    """Whether the run's prompt is still ours."""
    attempt = state.attempts.get(run.attempt_id or "")
    return attempt is not None and attempt.state == "new"


def _request(request: Request) -> RequestAffordance:
    if request.state == "pending":
        return RequestAffordance(request.id, "respondable", "pending", "The agent waits for the answer.")
    words = {
        "answered": "It was answered.",
        "expired": "The agent ended this request; nothing can be sent any more.",
        "dismissed": "The run ended before it was answered.",
    }
    code = request.reason or request.state
    return RequestAffordance(request.id, "expired", code, words.get(request.state, request.state))


def _plan(how: Affordance, there: bool) -> Affordance:
    if there or how.state == "disabled":
        return how
    return msgspec.structs.replace(
        how, state="disabled", code="no_plan", reason="The agent has shown no plan in this thread."
    )


def _rollback(checkpoint: Checkpoint, conversation: Affordance) -> RollbackAffordance:
    if checkpoint.state == "ready":
        files = _said(
            "available",
            "captured",
            "The files were captured.",
            "files",
            "A capture is made first; it can be undone.",
        )
    else:
        trouble = checkpoint.trouble
        files = _said(
            "disabled",
            trouble.code if trouble else f"checkpoint_{checkpoint.state}",
            (trouble.message if trouble else "") or f"The capture is {checkpoint.state}.",
        )
    told = {"available": "supported", "fallback": "restarted_divergent"}
    known: Literal["supported", "restarted_divergent", "unsupported"] = "unsupported"
    if files.state == "available" and conversation.state in told:
        known = "supported" if conversation.state == "available" else "restarted_divergent"
    return RollbackAffordance(checkpoint.id, files, known, conversation)


def _archive(state: ThreadState) -> Affordance:
    if state.thread is not None and state.thread.archived:
        return _said("available", "archived", "It is archived and can be taken back.")
    if state.runs:
        return _said("disabled", "run_active", "A run is working; stop it or wait for its end.")
    return _said("available", "idle", "Nothing is working.")
