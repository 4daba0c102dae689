"""A message for a run that works: into its turn, in place of its turn, or behind it (F048, F052, F252).

Native steering changes the running turn. A restart interrupts it and gives the same run a new attempt that
carries the message; the old attempt stays for audit (F108). Which of them happens is the policy's answer, and
whatever is less than asked is recorded.
"""

from __future__ import annotations

from podium.contract.capabilities import Capabilities
from podium.contract.inputs import InterruptTurn, SteerTurn
from podium.domain.commands import SendMessage
from podium.domain.entities import Attempt, Item, Message, Run, Turn
from podium.domain.flow import STEER, STOP, ask_id, blocks_of
from podium.domain.naming import message_id
from podium.domain.outputs import Append, AskAgent, CloseBodies, Draft, Refusal, SetDeadline, derived
from podium.domain.state import ThreadState
from podium.policy.resolve import Resolution, resolve


def words_of(draft: Draft, command: SendMessage, run: Run, turn: Turn | None = None) -> Item:
    """The user's words at the next position of the timeline."""
    item = draft.put(
        Item(
            id=derived("itm", draft.thread_id, "user", command.client_id),
            thread_id=draft.thread_id,
            item_kind="user_message",
            position=draft.state.items_seen + 1,
            run_id=run.id,
            turn_id=turn.id if turn else None,
        )
    )
    draft.do(Append(item.id, "text", command.text), CloseBodies(item.id))
    return draft.change(item, state="completed", closed_by="agent")


def running_turn(state: ThreadState, run: Run) -> Turn | None:
    """The root turn of a run that works and was not told to stop."""
    if run.state not in ("running", "waiting") or run.interrupt_requested_at or run.next_message_id:
        return None
    return next((t for t in state.turns.values() if t.run_id == run.id and t.root), None)


def can_restart(capabilities: Capabilities) -> bool:
    """Whether a turn of this agent can be stopped and begun anew in the same run."""
    return capabilities.has("turns.steer_restart") and capabilities.has("turns.interrupt")


def steer(draft: Draft, command: SendMessage, mark: str) -> Refusal | dict[str, str] | None:
    """Carry out the intents steer and restart, and auto while a run works. None: it is to be queued."""
    active = draft.state.active
    if command.intent not in ("auto", "steer", "restart") or (command.intent == "auto" and active is None):
        return None
    if active is None:
        return Refusal(
            "conflict", "run_not_active", "No run works, so none can be steered.", "Use the intent auto."
        )
    resolution = resolve("steer", draft.facts.capabilities, draft.facts.policy)
    turn = running_turn(draft.state, active)
    if command.intent == "auto":
        quiet = turn is not None and active.state == "running" and not draft.state.queue
        return (
            _native(draft, command, active, turn, mark) if quiet and turn and resolution.is_native else None
        )
    if command.intent == "restart" and not can_restart(draft.facts.capabilities):
        return _refused(resolution, "This agent's turn cannot be replaced.")
    outcome = "restart" if command.intent == "restart" else resolution.outcome
    if outcome in ("native", "degraded", "restart") and turn is None:
        return Refusal(
            "conflict",
            "turn_not_running",
            "The run has no turn at work right now.",
            "Send it again in a moment, or with the intent queue.",
        )
    if outcome in ("native", "degraded") and turn is not None:
        return _native(draft, command, active, turn, mark)
    if outcome == "restart" and turn is not None:
        if command.intent == "steer":
            draft.degrade(resolution, active.id)
        return _restart(draft, command, active, turn, mark)
    if outcome == "queue":
        draft.degrade(resolution, active.id)
        return None
    return _refused(resolution, "This agent cannot be steered.")


def _refused(resolution: Resolution, text: str) -> Refusal:
    return Refusal(
        "refused",
        "capability_missing",
        text,
        "Send it with the intent queue, or interrupt the run first.",
        capability=resolution.capability,
        policy=resolution.policy,
        detail={"reason": resolution.reason},
    )


def _told(draft: Draft, command: SendMessage, run: Run, turn: Turn, mark: str, intent: str) -> Message:
    item = words_of(draft, command, run, turn)
    return draft.put(
        Message(
            id=message_id(draft.thread_id, command.client_id),
            thread_id=draft.thread_id,
            client_id=command.client_id,
            fingerprint=mark,
            item_id=item.id,
            run_id=run.id,
            intent="restart" if intent == "restart" else "steer",
            attachments=command.attachments,
            actor=draft.facts.actor,
        )
    )


def _result(run: Run, message: Message) -> dict[str, str]:
    return {"run": run.id, "message": message.id, "item": message.item_id}


def _native(draft: Draft, command: SendMessage, run: Run, turn: Turn, mark: str) -> dict[str, str]:
    message = _told(draft, command, run, turn, mark, "steer")
    session, handle = draft.state.session, _handle(draft)
    assert session is not None
    ask = SteerTurn(
        ask_id(STEER, message.id), handle, turn.native_id, client_id=message.id, blocks=blocks_of(message)
    )
    draft.do(AskAgent(session.id, ask))
    return _result(run, message)


def _restart(draft: Draft, command: SendMessage, run: Run, turn: Turn, mark: str) -> dict[str, str]:
    message = _told(draft, command, run, turn, mark, "restart")
    run = draft.change(run, next_message_id=message.id)
    session, handle = draft.state.session, _handle(draft)
    assert session is not None
    draft.do(
        AskAgent(session.id, InterruptTurn(ask_id(STOP, run.id, message.id), handle, turn.native_id)),
        SetDeadline("interrupt", run.id),
    )
    return _result(run, message)


def _handle(draft: Draft) -> str:
    main = draft.state.main
    handle = main.chain.current if main else None
    assert handle is not None
    return handle.native_id


def replace_attempt(draft: Draft, run: Run) -> bool:
    """The interrupted turn of a restart is over: the same run goes on with a new attempt, if one waits."""
    message = draft.state.messages.get(run.next_message_id or "")
    if message is None or run.interrupt_requested_at is not None:
        return False
    old = draft.state.attempts.get(run.attempt_id or "")
    if old is not None:
        draft.change(old, state="superseded")
    attempt = draft.put(
        Attempt(
            id=draft.facts.fresh("att"),
            thread_id=draft.thread_id,
            run_id=run.id,
            ordinal=(old.ordinal if old else 1) + 1,
            reason="steering_restart",
        )
    )
    draft.do(SetDeadline("interrupt", run.id, armed=False))
    draft.change(run, state="starting", attempt_id=attempt.id, message_id=message.id, next_message_id=None)
    return True


def steered(draft: Draft, steered_id: str, taken: bool) -> None:
    """The agent took a message into its running turn, or refused it: then its words stay with us (F087)."""
    message = draft.state.messages.get(steered_id)
    if message is None or message.delivery != "pending":
        return
    if taken:
        draft.change(message, delivery="accepted", how="steered_native")
        return
    draft.change(message, delivery="rejected", how="agent")
    draft.note(
        "warning",
        "steer_refused",
        "The agent did not take the message into its running turn; send it again with the intent queue.",
        message.run_id,
    )
