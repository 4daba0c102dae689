"""The agent's turns: which run they belong to, and how their end ends it."""

from __future__ import annotations

from podium.contract.errors import failure
from podium.contract.events import TurnAccepted, TurnEnded, TurnStarted
from podium.domain.checkpoints import capture_start, end_overtaken, forget_start
from podium.domain.ending import close_items, end_run, finish_run
from podium.domain.entities import EndEvidence, Node, ProviderThread, Run, RunOutcome, Turn
from podium.domain.flow import STEER, TURN, parse_ask
from podium.domain.naming import turn_id
from podium.domain.outputs import Draft, SetDeadline, StopSession, derived
from podium.domain.steering import replace_attempt, steered
from podium.domain.waiting import settle_waiting


def turn_of(draft: Draft, thread: str, native: str | None) -> Turn | None:
    """The turn a native pair names; without a turn id, the one running in that conversation."""
    provider_thread = draft.state.by_native(thread)
    if provider_thread is None:
        return None
    if native is None:
        return next(
            (t for t in draft.state.turns.values() if t.provider_thread_id == provider_thread.id), None
        )
    key = turn_id(provider_thread, native)
    held = draft.state.turns.get(key) or draft.state.known.get(key)
    return held if isinstance(held, Turn) else None


def run_of(draft: Draft, turn: Turn | None) -> Run | None:
    """The run a turn works for, if it is still open; the active run where no turn is known."""
    return draft.state.working if turn is None else draft.state.open_run(turn.run_id)


def open_turn(draft: Draft, provider_thread: ProviderThread, native: str, run: Run, *, root: bool) -> Turn:
    """Record a running turn, under the run's root node or the subagent's own.

    A conversation runs one turn at a time: where an earlier one never ended, a new one is the proof that it
    is over, and nothing more is known of it.
    """
    for earlier in list(draft.state.turns.values()):
        if earlier.provider_thread_id == provider_thread.id:
            close_items(draft, "unverifiable", turn_id=earlier.id)
            draft.change(
                earlier, state="ended", outcome="unverifiable", evidence="inferred", correlation="weak"
            )
    node_id = provider_thread.parent_node_id if not root else run.node_id
    if node_id is None:
        node_id = derived("nod", run.id, "root")
        draft.put(Node(id=node_id, thread_id=draft.thread_id, run_id=run.id, node_kind="root"))
        run = draft.change(run, node_id=node_id)
    return draft.put(
        Turn(
            id=turn_id(provider_thread, native),
            thread_id=draft.thread_id,
            provider_thread_id=provider_thread.id,
            native_id=native,
            run_id=run.id,
            node_id=node_id,
            root=root,
            attempt_id=run.attempt_id if root else None,
        )
    )


def mark_running(draft: Draft, run: Run) -> None:
    """The agent works on this run."""
    held = draft.state.runs[run.id]
    if held.state == "starting":
        draft.change(held, state="running", started_at=draft.facts.now)
    attempt = draft.state.attempts.get(held.attempt_id or "")
    if attempt is not None and attempt.state != "running":
        draft.change(attempt, state="running")
    settle_waiting(draft, held)


def accept_message(draft: Draft, run: Run, how: str) -> None:
    """The agent has the prompt of this run."""
    message = draft.state.messages.get(run.message_id or "")
    if message is not None and message.delivery == "pending":
        draft.change(message, delivery="accepted", how=how)


def turn_accepted(draft: Draft, event: TurnAccepted) -> None:
    """The agent took our prompt; with a turn id the turn is known before it speaks."""
    purpose, target = parse_ask(event.ask_id)
    if purpose == STEER:
        steered(draft, target, taken=True)
        return
    attempt = draft.state.attempts.get(target) if purpose == TURN else None
    run = draft.state.open_run(attempt.run_id) if attempt else None
    provider_thread = draft.state.by_native(event.thread)
    if run is None or attempt is None or attempt.state == "new" or provider_thread is None:
        return
    accept_message(draft, run, "reply")
    own = provider_thread.parent_node_id is None
    if own and event.turn is not None and turn_of(draft, event.thread, event.turn) is None:
        open_turn(draft, provider_thread, event.turn, run, root=True)
    mark_running(draft, run)


def turn_started(draft: Draft, event: TurnStarted) -> None:
    """A turn runs: ours, a subagent's, or one the agent began by itself (R10)."""
    provider_thread = draft.state.by_native(event.thread)
    if provider_thread is None or turn_of(draft, event.thread, event.turn) is not None:
        return
    if provider_thread.parent_node_id is not None:
        run = _run_of_child(draft, provider_thread)
        if run is not None:
            open_turn(draft, provider_thread, event.turn, run, root=False)
        return
    active = draft.state.active
    if active is not None and active.ending is not None:
        end_overtaken(draft, active)
        finish_run(draft, active, active.ending)
        active = None
    if active is not None and not_sent(draft, active):
        put_back(draft, active)
        active = None
    if active is None:
        active = _run_by_agent(draft)
    accept_message(draft, active, "turn_started")
    open_turn(draft, provider_thread, event.turn, active, root=True)
    mark_running(draft, active)


def not_sent(draft: Draft, run: Run) -> bool:
    """Whether this run's prompt is still ours to send."""
    attempt = draft.state.attempts.get(run.attempt_id or "")
    return attempt is not None and attempt.state == "new"


def put_back(draft: Draft, run: Run) -> None:
    """The agent began by itself before this prompt was sent: the run keeps its place and waits (R10)."""
    draft.do(SetDeadline("start", run.id, armed=False))
    forget_start(draft, run)
    draft.change(run, state="queued")


def _run_of_child(draft: Draft, provider_thread: ProviderThread) -> Run | None:
    node = draft.state.nodes.get(provider_thread.parent_node_id or "")
    return draft.state.open_run(node.run_id) if node else draft.state.working


def _run_by_agent(draft: Draft) -> Run:
    thread = draft.state.thread
    assert thread is not None
    run = draft.put(
        Run(
            id=draft.facts.fresh("run"),
            thread_id=thread.id,
            ordinal=draft.state.runs_seen + 1,
            origin="agent",
            agent=thread.agent,
            created_at=draft.facts.now,
        )
    )
    capture_start(draft, run, quiescent=False)  # it works already
    return run


def turn_ended(draft: Draft, event: TurnEnded) -> None:
    """A child's end ends its turn; only the root's end ends the run (F110)."""
    turn = turn_of(draft, event.thread, event.turn)
    if turn is None or turn.state == "ended":
        return
    run = draft.state.open_run(turn.run_id)
    outcome: RunOutcome = event.outcome or "unverifiable"
    evidence: EndEvidence = event.evidence
    if run is not None and turn.root and (run.interrupt_requested_at or run.next_message_id):
        outcome = "interrupted"
    close_items(draft, outcome, turn_id=turn.id)
    draft.change(
        draft.state.turns[turn.id],
        state="ended",
        outcome=outcome,
        evidence=evidence,
        correlation="weak" if evidence == "inferred" else turn.correlation,
        failure=event.failure,
        word=event.word,
    )
    if run is None or not turn.root or replace_attempt(draft, run):
        return
    why = event.failure if outcome == "failed" else None
    if outcome == "failed" and why is None:
        why = failure("unknown", "turn_failed", "The agent said the turn failed and gave no reason.")
    end_run(draft, run, outcome, evidence, why)
    session = draft.state.session
    if why is not None and why.code == "auth_required" and session is not None:
        # A running program does not see a new login: the next message starts it again (B77).
        draft.change(session, state="ending", ended_reason="auth_required")
        draft.do(StopSession(session.id, "auth_required"))
