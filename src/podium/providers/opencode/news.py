"""Events of the agent's stream. `{type, properties}`: what is known changes something or is counted."""

from __future__ import annotations

import msgspec

from podium.contract.errors import failure
from podium.contract.events import (
    AskFailed,
    DiagnosticSeen,
    ItemSeen,
    OpaqueSeen,
    PlanSeen,
    PlanStep,
    PlanStepState,
    Ref,
    Retrying,
    ThreadChanged,
)
from podium.providers.opencode.children import announced
from podium.providers.opencode.drafting import Draft, part_ref
from podium.providers.opencode.failures import ABORTED, problem
from podium.providers.opencode.items import delta, part_seen
from podium.providers.opencode.reading import Json, count, ident, is_object, obj, objects, text
from podium.providers.opencode.requests import asked, closed, questioned
from podium.providers.opencode.state import Session, Turn
from podium.providers.opencode.turns import EMPTY_MAX, begin, endless, rests

QUIET = (
    "catalog.", "command.", "file.", "ide.", "installation.", "integration.", "lsp.", "mcp.", "plugin.",
    "project.", "pty.", "reference.", "server.", "session.deleted", "session.diff", "session.updated",
    "message.removed", "message.part.removed", "tui.", "vcs.", "workspace.", "worktree.", "models-dev.",
    "skill.", "account.", "global.", "todo.", "agent.", "config.",
)  # fmt: skip
"""How the names of events begin that change nothing here."""

STEPS: dict[str, PlanStepState] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
STEPS_MAX = 200


def heard(draft: Draft, data: object) -> None:
    """One event."""
    name = text(data, "type") if is_object(data) else None
    if not is_object(data) or name is None:
        draft.emit(OpaqueSeen("event", data))
        return
    given = obj(data, "properties")
    session = draft.session(ident(given, "sessionID"))
    match name:
        case "permission.asked":
            asked(draft, session, given)
        case "question.asked":
            questioned(draft, session, given)
        case "permission.replied" | "question.replied" | "question.rejected":
            closed(draft, given)
        case "session.created":
            created(draft, obj(given, "info"))
        case _ if session is not None and of_session(draft, session, name, given):
            pass
        case _ if session is None and "sessionID" in given:
            draft.emit(DiagnosticSeen("other_conversation"))
        case _ if name.startswith(QUIET):
            draft.emit(DiagnosticSeen(name[:100]))
        case _:
            draft.emit(OpaqueSeen(name[:100], data, session.id if session is not None else None))


def of_session(draft: Draft, session: Session, name: str, given: Json) -> bool:
    """What concerns one conversation. Whether the event is known."""
    match name:
        case "message.updated":
            message_seen(draft, session, obj(given, "info"))
        case "message.part.updated":
            part_seen(draft, session, obj(given, "part"))
        case "message.part.delta":
            delta(draft, session, given)
        case "session.idle":
            rests(draft, session)
        case "session.status":
            status(draft, session, obj(given, "status"))
        case "session.error":
            failed(draft, session, obj(given, "error"))
        case "session.compacted":
            compacted(draft, session)
        case "todo.updated":
            todos(draft, session, given)
        case _:
            return False
    return True


def created(draft: Draft, info: Json) -> None:
    """A conversation was opened; one below another is a child's."""
    parent, native = draft.session(ident(info, "parentID")), ident(info, "id")
    if parent is not None and native is not None:
        announced(draft, parent, native, text(info, "title"))
    else:
        draft.emit(DiagnosticSeen("session.created"))


def message_seen(draft: Draft, session: Session, info: Json) -> None:
    """A message began, changed or is complete. A user message becomes a turn by its mark or by its answer."""
    message, role = ident(info, "id"), text(info, "role")
    if message is None or role not in ("user", "assistant"):
        draft.emit(OpaqueSeen("message.updated", info, session.id))
        return
    known = message in session.messages
    if role == "assistant" and info.get("summary") is True:
        role = "summary"
    session = draft.put_message(session, message, role)
    turn, parent = session.turn, ident(info, "parentID") or ""
    if role == "user" or (known and (turn is None or turn.answer != message)):
        draft.emit(DiagnosticSeen("message_told"))
        return
    if turn is None:
        session = begin(draft, session, parent, None)
        turn = session.turn
        assert turn is not None
    if parent not in turn.users:
        turn = msgspec.structs.replace(turn, users=(*turn.users, parent))
    answered(draft, session, turn, message, info)


def answered(draft: Draft, session: Session, turn: Turn, message: str, info: Json) -> None:
    """The newest answer of a turn."""
    error, word = obj(info, "error"), text(info, "finish")
    complete = count(obj(info, "time"), "completed") is not None
    name = text(error, "name")
    said = any(part.message == message for part in session.parts.values())
    before = turn.answer == message and not turn.open
    empty = turn.empty if before or not complete else 0 if said or word != "unknown" else turn.empty + 1
    why = turn.failure or (problem(error) if name is not None and name != ABORTED else None)
    turn = msgspec.structs.replace(
        turn,
        answer=message,
        open=not complete,
        word=word[:100] if word else None,
        aborted=name == ABORTED,
        failure=why,
        empty=empty,
    )
    model = f"{text(info, 'providerID')}/{text(info, 'modelID')}"
    if model != session.told_model:
        draft.emit(ThreadChanged(session.id, model))
    session = draft.put(session, turn=turn, told_model=model[:200])
    if empty >= EMPTY_MAX and not turn.stopping:
        endless(draft, session, turn)


def status(draft: Draft, session: Session, given: Json) -> None:
    """The agent works, waits for its model, or rests; resting has an event of its own too."""
    word = text(given, "type")
    if word == "retry":
        why = failure(
            "provider", "retrying", text(given, "message") or "The agent tries again.", retryable=True
        )
        turn = session.turn.id if session.turn is not None else None
        draft.emit(Retrying(session.id, turn, why, count(given, "attempt")))
    else:
        draft.emit(DiagnosticSeen(f"session.status.{word}"[:100]))


def failed(draft: Draft, session: Session, error: Json) -> None:
    """Something went wrong: with the turn, or with a prompt that never became one."""
    if text(error, "name") == ABORTED:
        draft.emit(DiagnosticSeen("session.error.aborted"))
    elif session.turn is not None:
        draft.put_turn(session, session.turn, failure=session.turn.failure or problem(error))
    elif session.prompt is not None:
        draft.put(session, prompt=None)
        draft.emit(AskFailed(session.prompt.ask_id, problem(error)))
    else:
        draft.emit(DiagnosticSeen("session.error"))


def compacted(draft: Draft, session: Session) -> None:
    """The conversation is shorter now."""
    for name, part in session.parts.items():
        if part.kind == "compaction" and part.open:
            draft.put_part(session, name, msgspec.structs.replace(part, open=False))
            draft.emit(ItemSeen(part_ref(session, name, part), "compaction", "completed"))
            return
    draft.emit(DiagnosticSeen("session.compacted"))


def todos(draft: Draft, session: Session, given: Json) -> None:
    """The agent's list of what is to do; what it dropped is not on it any more."""
    steps = [
        PlanStep(text(row, "content") or "", STEPS[text(row, "status") or ""])
        for row in objects(given.get("todos"))[:STEPS_MAX]
        if text(row, "status") in STEPS
    ]
    turn = session.turn.id if session.turn is not None else None
    draft.emit(PlanSeen(Ref(session.id, turn, f"todos:{session.id}"), "todo_list", tuple(steps)))
