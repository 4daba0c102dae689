"""How things end: the completion barrier, and the legal ends of a run (R10).

Order at the end of a run (F248): text is closed, messages and tools, plans, children, requests, the files are
captured, then the run.
What the agent left open is closed by us and says so; it is never made better than it was (E).
"""

from __future__ import annotations

import msgspec

from podium.contract.errors import Failure, failure
from podium.contract.events import ItemState
from podium.domain.checkpoints import capture_end, forget_start, has_start
from podium.domain.entities import EndEvidence, Ending, Item, Run, RunOutcome, Session
from podium.domain.outputs import CloseBodies, Draft, SetDeadline

PROSE = frozenset({"assistant_message", "reasoning", "user_message", "plan"})
"""Items that are text and nothing else: they are whole when their turn completed (F049)."""


BROKEN = {
    "stdout_closed": (
        "output_closed",
        "The agent closed its output, so it could say nothing more, and was ended.",
    ),
    "ended:stdin_closed": (
        "input_closed",
        "The agent closed its input, so it took no more messages, and was ended.",
    ),
}
"""What an agent did that made us end it, by the end of its process: code and words."""

EXPIRY = {
    "exited": "process_exit",
    "stdout_closed": "process_exit",
    "ended:stdin_closed": "process_exit",
    "owner_lost": "not_resumable",
    "keeper_lost": "not_resumable",
    "ended:no_host": "no_host",
}
"""Why a pending request can no longer be answered, by the end of its process (F046)."""


def left_open(item: Item, outcome: RunOutcome) -> ItemState:
    """The state of an item the agent never ended: prose of a completed turn is complete, an action is not."""
    if item.item_kind in PROSE and outcome == "completed":
        return "completed"
    if outcome in ("interrupted", "cancelled"):
        return "interrupted"
    return "interrupted" if item.item_kind in PROSE else "unverifiable"


def close_items(
    draft: Draft, outcome: RunOutcome, *, run_id: str | None = None, turn_id: str | None = None
) -> None:
    """Close what is still open in a run, or in one turn of it."""
    for item in sorted(draft.state.items.values(), key=lambda i: i.position):
        if (run_id is None or item.run_id == run_id) and (turn_id is None or item.turn_id == turn_id):
            close_item(draft, item, left_open(item, outcome))


def close_item(draft: Draft, item: Item, state: ItemState) -> None:
    """Close one item by the barrier."""
    draft.do(CloseBodies(item.id))
    draft.change(item, state=state, closed_by="barrier")
    node = draft.state.nodes.get(item.node_id or "")
    if node is not None and node.item_id == item.id:
        word = state if state in ("completed", "interrupted", "unverifiable") else "failed"
        draft.change(node, state=word)


def expire_requests(draft: Draft, reason: str, *, run_id: str | None = None) -> None:
    """Pending requests get one terminal event; a late answer is told so (B27)."""
    for request in list(draft.state.requests.values()):
        if run_id is not None and request.run_id != run_id:
            continue
        if request.state == "pending":
            draft.change(request, state="expired", reason=reason, closed_at=draft.facts.now)
        else:
            draft.change(request, delivery="unknown")


def end_run(
    draft: Draft,
    run: Run,
    outcome: RunOutcome,
    evidence: EndEvidence,
    why: Failure | None = None,
) -> None:
    """The barrier, then the end of the run, at once or when the files it left are captured.

    Does nothing to a run that has ended, or whose end is decided (F251).
    """
    held = draft.state.open_run(run.id)
    if held is None:
        return
    sent = anything_sent(draft, held)
    close_items(draft, outcome, run_id=run.id)
    for plan in list(draft.state.plans.values()):
        if plan.run_id == run.id:
            draft.change(plan, final=True)
    for turn in list(draft.state.turns.values()):
        if turn.run_id == run.id:
            word = "unverifiable" if outcome == "completed" else outcome
            draft.change(turn, state="ended", outcome=word, evidence=evidence)
    for node in sorted(draft.state.nodes.values(), key=lambda n: n.parent_id is None):
        if node.run_id == run.id:
            word = (
                outcome
                if outcome in ("completed", "interrupted", "failed", "unverifiable")
                else "interrupted"
            )
            if node.node_kind == "subagent" and outcome == "completed":
                word = "unverifiable"
            draft.change(node, state=word)
    expire_requests(draft, "run_ended" if evidence == "provider" else str(evidence), run_id=run.id)
    settle_delivery(draft, held, outcome, why)
    attempt = draft.state.attempts.get(held.attempt_id or "")
    if attempt is not None:
        draft.change(attempt, state="ended")
    draft.do(SetDeadline("interrupt", run.id, armed=False), SetDeadline("start", run.id, armed=False))
    ending = Ending(outcome, evidence, why)
    if sent and has_start(draft, held):
        capture_end(draft, draft.change(held, state="running", ending=ending))
    else:
        finish_run(draft, held, ending)


def finish_run(draft: Draft, run: Run, ending: Ending) -> None:
    """Publish the end that was decided. A start that is still being captured is of no use any more."""
    forget_start(draft, run, pending_only=True)
    draft.change(
        run,
        state="ended",
        outcome=ending.outcome,
        evidence=ending.evidence,
        failure=ending.failure,
        ending=None,
        ended_at=draft.facts.now,
    )


def settle_delivery(draft: Draft, run: Run, outcome: RunOutcome, why: Failure | None) -> None:
    """A prompt whose fate the agent took with it is unknown, one never sent was not delivered (F280)."""
    for other in [m for m in draft.state.messages.values() if m.run_id == run.id and m.id != run.message_id]:
        if other.delivery == "pending":  # a steering message: sent with its turn, or waiting for its attempt
            unsent = other.id == run.next_message_id
            word, how = ("rejected", "not_sent") if unsent else ("unknown", "unconfirmed")
            draft.change(other, delivery=word, how=how)
    message = draft.state.messages.get(run.message_id or "")
    if message is None or message.delivery != "pending":
        return
    attempt = draft.state.attempts.get(run.attempt_id or "")
    if attempt is None or attempt.state == "new":
        draft.change(message, delivery="rejected", how="not_sent")
    elif outcome == "completed":
        draft.change(message, delivery="accepted", how="inferred")
    else:
        draft.change(message, delivery="unknown", how="unconfirmed")


def anything_sent(draft: Draft, run: Run) -> bool:
    """Whether a prompt of this run was handed to the agent's input, by this attempt or an earlier one."""
    attempt = draft.state.attempts.get(run.attempt_id or "")
    return attempt is None or attempt.state != "new" or attempt.ordinal > 1


def session_ended(draft: Draft, session: Session, reason: str, code: int | None, signal: int | None) -> None:
    """The agent process is gone: every open thing of it gets its legal end (R10)."""
    expire_requests(draft, EXPIRY.get(reason, "session_ended"))
    for run in [r for r in draft.state.runs.values() if r.state not in ("queued", "ended")]:
        outcome, evidence, why = end_by_exit(draft, run, reason, code, signal)
        end_run(draft, run, outcome, evidence, why)
    close_items(draft, "interrupted")
    for provider_thread in list(draft.state.provider_threads.values()):
        if provider_thread.session_id == session.id:
            waiting = provider_thread.state == "binding"
            draft.change(
                provider_thread, session_id=None, state="unbound" if waiting else provider_thread.state
            )
    draft.put(
        msgspec.structs.replace(
            session,
            revision=session.revision + 1,
            state="ended",
            ended_reason=reason,
            exit_code=code,
            exit_signal=signal,
        )
    )


def end_by_exit(
    draft: Draft, run: Run, reason: str, code: int | None, signal: int | None
) -> tuple[RunOutcome, EndEvidence, Failure | None]:
    """Outcome, evidence and failure of a run whose agent process is gone."""
    how = (
        f"code {code}" if code is not None else f"signal {signal}" if signal is not None else "unknown status"
    )
    gone = failure(
        "process",
        "process_exit",
        f"The agent program ended with {how} before it finished.",
        fix="Send the next message to continue the same conversation; `podium doctor` checks the program.",
        exit_code=code,
        signal=signal,
    )
    if run.interrupt_requested_at is not None:
        return "interrupted", "forced" if reason.startswith("ended:") else "process_exit", None
    session = draft.state.session
    if reason == "exited" and session is not None and session.state == "opening":
        words = f"The agent program ended with {how} before it was ready."
        return "failed", "start_failed", msgspec.structs.replace(gone, message=words)
    if reason == "exited":
        return "failed", "process_exit", gone
    if reason in BROKEN:
        code_word, words = BROKEN[reason]
        return "failed", "process_exit", msgspec.structs.replace(gone, code=code_word, message=words)
    lost = failure(
        "process",
        "host_lost",
        "Podium stopped while this run was working and the agent could not be reached again.",
        fix="Send the next message to continue the same conversation.",
    )
    if not anything_sent(draft, run):
        return "cancelled", "host_lost", lost
    return "interrupted", "host_lost", lost
