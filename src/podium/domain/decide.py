"""decide(state, command, facts): events and effects, or a typed refusal. Pure; what the command means."""

from __future__ import annotations

import hashlib

import msgspec

from podium.contract.errors import MESSAGE_MAX, failure
from podium.contract.inputs import InterruptTurn
from podium.contract.requests import ACCEPT, DECLINE
from podium.domain.answering import answer
from podium.domain.capturing import captured, give_up_start, restored
from podium.domain.commands import (
    AnswerRequest,
    ArchiveThread,
    Captured,
    CreateThread,
    DeadlinePassed,
    DomainCommand,
    EndSession,
    InterruptRun,
    NoteTrouble,
    Reported,
    Restored,
    SendMessage,
    SessionEnded,
    SessionFailed,
    SessionOpened,
    UserCommand,
)
from podium.domain.ending import anything_sent, end_run, session_ended
from podium.domain.entities import Message, NoticeEntry, ProviderThread, Run, Thread
from podium.domain.flow import STOP, advance, ask_id, greet, parse_ask
from podium.domain.items import ACTIONS
from podium.domain.naming import message_id
from podium.domain.normalize import report
from podium.domain.outputs import (
    AskAgent,
    Draft,
    Facts,
    Output,
    Refusal,
    SetDeadline,
    StopSession,
    derived,
)
from podium.domain.state import ThreadState
from podium.domain.steering import steer, words_of
from podium.domain.turns import not_sent
from podium.policy.resolve import resolve

TEXT_MAX = 4 * 1024 * 1024
"""Longest message text, in characters."""

QUEUE_MAX = 256
"""Most messages that wait behind a run."""


class Decision(msgspec.Struct, frozen=True):
    """What a command comes to. `result` names the entities it made, for the receipt."""

    state: ThreadState
    outputs: tuple[Output, ...] = ()
    refusal: Refusal | None = None
    result: dict[str, str] = msgspec.field(default_factory=dict[str, str])


def fingerprint(command: SendMessage) -> str:
    """What makes two sends the same send (F281)."""
    text = msgspec.json.encode([command.text, command.attachments, command.model])
    return hashlib.sha256(text).hexdigest()


def decide(state: ThreadState, command: DomainCommand, facts: Facts) -> Decision:
    """The one entrance. Nothing outside its arguments is read, nothing is changed in place."""
    draft = Draft(state, facts)
    result = _route(draft, command)
    if isinstance(result, Refusal):
        return Decision(state, refusal=result)
    return Decision(draft.state, tuple(draft.outputs), result=result)


def writable(command: DomainCommand) -> bool:
    """Whether every text of a command can be stored and sent: a lone surrogate cannot (B04)."""
    try:
        msgspec.json.encode(command)
    except UnicodeEncodeError:
        return False
    return True


def _route(draft: Draft, command: DomainCommand) -> Refusal | dict[str, str]:
    if isinstance(command, UserCommand) and not writable(command):
        return Refusal(
            "bad_input",
            "text_invalid",
            "The text holds characters that are no text (half of a surrogate pair).",
            "Send it as UTF-8.",
        )
    match command:
        case CreateThread():
            return _create(draft, command)
        case SendMessage():
            return _send(draft, command)
        case InterruptRun():
            return _interrupt(draft, command)
        case AnswerRequest():
            return answer(draft, command)
        case ArchiveThread():
            return _archive(draft, command)
        case _:
            _shell(draft, command)
            return {}


def _shell(draft: Draft, command: DomainCommand) -> None:
    if draft.state.thread is None:
        return  # a report about a thread that is not there changes nothing
    session = draft.state.session
    match command:
        case SessionOpened() if session is not None and session.id == command.session_id:
            greet(draft, session)
        case SessionFailed() if session is not None and session.id == command.session_id:
            run = draft.state.active
            if run is not None and run.interrupt_requested_at is not None:
                end_run(draft, run, "interrupted", "forced", command.failure)
            elif run is not None:
                sent = anything_sent(draft, run)
                end_run(draft, run, "failed", "provider" if sent else "start_failed", command.failure)
            session_ended(draft, session, f"failed:{command.failure.code}", None, None)
            draft.do(StopSession(session.id, command.failure.code))
            advance(draft)
        case SessionEnded() if session is not None and session.id == command.session_id:
            for ask in command.unsent:
                attempt = draft.state.attempts.get(parse_ask(ask)[1])
                if attempt is not None and attempt.state == "asked":
                    draft.change(attempt, state="new")
            session_ended(draft, session, command.reason, command.code, command.signal)
            advance(draft)
        case EndSession() if session is not None and session.id == command.session_id:
            draft.change(session, state="ending", ended_reason=command.reason)
            draft.do(StopSession(session.id, command.reason))
        case DeadlinePassed():
            _deadline(draft, command)
        case Reported() if session is not None and session.id == command.session_id:
            report(draft, command, session)
            advance(draft)
        case NoteTrouble():
            active = draft.state.active
            draft.put(
                NoticeEntry(
                    id=draft.facts.fresh("not"),
                    thread_id=draft.thread_id,
                    level=command.level,
                    code=command.code,
                    text=command.text[:MESSAGE_MAX],
                    detail=command.detail,
                    run_id=active.id if active else None,
                )
            )
        case Captured():
            captured(draft, command)
        case Restored():
            restored(draft, command)
        case _:
            pass  # a report of a session that this thread no longer has: nothing of it is current (F250)


def _create(draft: Draft, command: CreateThread) -> Refusal | dict[str, str]:
    if draft.state.thread is not None:
        return Refusal("conflict", "thread_exists", "This thread was created before.", "Use it as it is.")
    thread = draft.put(
        Thread(
            id=draft.facts.fresh("thr"),
            workspace=command.workspace,
            agent=command.agent,
            agent_kind=command.agent_kind,
            mode=command.mode,
            model=command.model,
            title=command.title,
            profile=command.profile,
            created_at=draft.facts.now,
        )
    )
    return {"thread": thread.id}


def _missing_thread() -> Refusal:
    return Refusal(
        "not_found", "thread_unknown", "There is no such thread.", "List them: podium threads list"
    )


def _check_message(draft: Draft, command: SendMessage) -> Refusal | None:
    state = draft.state
    if state.thread is None:
        return _missing_thread()
    if state.thread.archived:
        return Refusal("refused", "thread_archived", "This thread is archived.", "Unarchive it first.")
    if not command.text.strip() and not command.attachments:
        return Refusal("bad_input", "prompt_empty", "The prompt is empty.", "Write what the agent should do.")
    if len(command.text) > TEXT_MAX:
        return Refusal(
            "bad_input",
            "prompt_too_long",
            f"The prompt has {len(command.text)} characters; the limit is {TEXT_MAX}.",
            "Put the material into a file of the workspace and name it.",
        )
    if command.fresh and (state.active is not None or state.queue):
        return Refusal(
            "conflict",
            "run_active",
            "A new conversation cannot begin while a run works or waits.",
            "Wait for it to end, or interrupt it first.",
        )
    if len(state.queue) >= QUEUE_MAX:
        return Refusal(
            "refused", "queue_full", f"{QUEUE_MAX} messages wait already.", "Wait for the run to end."
        )
    if command.attachments:
        resolution = resolve("image_input", draft.facts.capabilities, draft.facts.policy)
        if resolution.outcome == "refuse":
            return Refusal(
                "refused",
                "capability_missing",
                "This agent takes no images.",
                capability=resolution.capability,
                policy=resolution.policy,
                detail={"reason": resolution.reason},
            )
    main = state.main
    if main is not None and main.state == "missing" and not command.fresh:
        return Refusal(
            "refused",
            "conversation_missing",
            "The agent no longer has the conversation of this thread.",
            "Send with --fresh to continue in a new conversation; it will not know what was said before.",
            capability="lifecycle.resume",
        )
    return None


def _told(draft: Draft, command: SendMessage) -> Refusal | dict[str, str] | None:
    """The answer a message with this client id got before, if there was one (F281)."""
    thread = draft.state.thread
    if thread is None:
        return None
    key = message_id(thread.id, command.client_id)
    held = draft.state.messages.get(key) or draft.state.known.get(key)
    if not isinstance(held, Message):
        return None
    if held.fingerprint != fingerprint(command):
        return Refusal(
            "conflict", "client_id_reused", "This client id was used for another message.", "Use a new id."
        )
    return {"run": held.run_id, "message": held.id, "item": held.item_id}


def _send(draft: Draft, command: SendMessage) -> Refusal | dict[str, str]:
    state = draft.state
    thread = state.thread
    told = _told(draft, command)
    if told is not None:
        return told
    refusal = _check_message(draft, command)
    if refusal is not None:
        return refusal
    assert thread is not None
    active = state.active
    intent = command.intent
    done = steer(draft, command, fingerprint(command))
    if done is not None:
        return done
    if intent == "start" and active is not None:
        return Refusal("conflict", "run_active", "A run is working.", "Use the intent auto or queue.")
    if command.fresh:
        _start_fresh(draft)
    sent_id = message_id(thread.id, command.client_id)
    run_id, item_id = draft.facts.fresh("run"), derived("itm", thread.id, "user", command.client_id)
    queued = active is not None or bool(state.queue)
    run = draft.put(
        Run(
            id=run_id,
            thread_id=thread.id,
            ordinal=state.runs_seen + 1,
            origin="queue" if queued else "user",
            state="queued",
            message_id=sent_id,
            agent=thread.agent,
            model=command.model,
            created_at=draft.facts.now,
        )
    )
    draft.put(
        Message(
            id=sent_id,
            thread_id=thread.id,
            client_id=command.client_id,
            fingerprint=fingerprint(command),
            item_id=item_id,
            run_id=run_id,
            intent="queue" if queued else "start",
            attachments=command.attachments,
            actor=draft.facts.actor,
        )
    )
    words_of(draft, command, run)
    advance(draft)
    return {"run": run_id, "message": sent_id, "item": item_id}


def _start_fresh(draft: Draft) -> None:
    """A new conversation of the same agent; the loss of context is recorded, never silent (F212)."""
    main = draft.state.main
    if main is None or main.chain.current is None:
        return
    thread = draft.state.thread
    assert thread is not None
    draft.put(
        ProviderThread(
            id=derived("pth", thread.id, thread.agent, str(main.epoch + 1)),
            thread_id=thread.id,
            agent=thread.agent,
            epoch=main.epoch + 1,
        )
    )
    draft.note(
        "warning",
        "context_lost",
        "A new conversation was begun; the agent does not know what was said before.",
    )


def _interrupt(draft: Draft, command: InterruptRun) -> Refusal | dict[str, str]:
    state = draft.state
    if state.thread is None:
        return _missing_thread()
    run = state.runs.get(command.run_id) if command.run_id else state.active
    if run is None:
        return Refusal(
            "conflict", "run_not_active", "There is no such run at work.", "Nothing needs to stop."
        )
    if run.state == "queued" or not_sent(draft, run):
        sent = run.attempt_id is not None and anything_sent(draft, run)  # a queued run has no attempt yet
        end_run(draft, run, "interrupted" if sent else "cancelled", "user")
        advance(draft)
        return {"run": run.id}
    if run.interrupt_requested_at is not None or run.ending is not None:
        return {"run": run.id}
    resolution = resolve("interrupt", draft.facts.capabilities, draft.facts.policy)
    if resolution.outcome == "refuse":
        return Refusal(
            "refused",
            "capability_missing",
            "This agent cannot be interrupted.",
            "Allow it with interrupt = 'stop_session' under [policy], or wait for the run to end.",
            capability=resolution.capability,
            policy=resolution.policy,
            detail={"reason": resolution.reason},
        )
    run = draft.change(run, interrupt_requested_at=draft.facts.now, interrupt_by=draft.facts.actor)
    session = state.session
    if session is None:
        return {"run": run.id}
    main = state.main
    handle = main.chain.current if main else None
    if resolution.outcome == "native" and handle is not None:
        turn = next((t for t in state.turns.values() if t.run_id == run.id and t.root), None)
        draft.do(
            AskAgent(
                session.id,
                InterruptTurn(ask_id(STOP, run.id), handle.native_id, turn.native_id if turn else None),
            ),
            SetDeadline("interrupt", run.id),
        )
    else:
        draft.degrade(resolution, run.id)
        draft.change(session, state="ending", ended_reason="interrupt")
        draft.do(StopSession(session.id, "interrupt"))
    return {"run": run.id}


def _archive(draft: Draft, command: ArchiveThread) -> Refusal | dict[str, str]:
    thread = draft.state.thread
    if thread is None:
        return _missing_thread()
    if draft.state.active is not None or draft.state.queue:
        return Refusal("conflict", "run_active", "A run is working in this thread.", "Interrupt it first.")
    draft.change(thread, archived=command.archived)
    if command.archived and draft.state.session is not None:
        session = draft.change(draft.state.session, state="ending", ended_reason="archived")
        draft.do(StopSession(session.id, "archived"))
    return {"thread": thread.id}


def _deadline(draft: Draft, command: DeadlinePassed) -> None:
    run = draft.state.open_run(command.run_id)
    session = draft.state.session
    if run is None or run.state in ("queued", "ended"):
        return
    if command.name == "interrupt":
        if run.interrupt_requested_at is None and run.next_message_id is None:
            return
        end_run(draft, run, "interrupted", "forced")
    elif command.name == "stuck":
        working = [i for i in draft.state.items.values() if i.run_id == run.id and i.item_kind in ACTIONS]
        waiting = any(r.run_id == run.id and r.state == "pending" for r in draft.state.requests.values())
        if waiting or working:  # while something is open, silence is not death (B17)
            draft.note(
                "warning", "stalled", "The agent has been silent for long; something of it is still open."
            )
            return
        end_run(
            draft,
            run,
            "failed",
            "timeout",
            failure(
                "provider",
                "agent_stuck",
                "The agent was silent for too long and never ended the turn.",
                fix="Check its model endpoint and network, then send the next message.",
            ),
        )
    else:
        attempt = draft.state.attempts.get(run.attempt_id or "")
        if attempt is None or attempt.state != "new" or give_up_start(draft, run):
            return
        end_run(
            draft,
            run,
            "failed",
            "start_failed",
            failure(
                "process",
                "start_timeout",
                "The agent program was not ready for the prompt in time.",
                fix="Run `podium doctor` for its last words.",
            ),
        )
    if session is not None:
        draft.change(session, state="ending", ended_reason=f"{command.name}_deadline")
        draft.do(StopSession(session.id, f"{command.name}_deadline"))


__all__ = ["ACCEPT", "DECLINE", "Decision", "decide", "fingerprint"]
