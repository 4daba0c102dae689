"""Turns: a user message, the answers to it, and the rest that follows.

The agent says that it rests once after a good end, and twice after an error or an interrupt, the second time
up to half a second late. So resting ends a turn only once its newest answer is complete (H2).
"""

from __future__ import annotations

import msgspec

from podium.contract.errors import Failure, failure
from podium.contract.events import (
    DiagnosticSeen,
    Evidence,
    ItemSeen,
    ItemState,
    Outcome,
    RequestClosed,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.providers.opencode.drafting import Draft, part_ref
from podium.providers.opencode.state import Call, Prompt, Session, Turn

EMPTY_MAX = 5
"""Answers in a row without a word and without a reason to stop, after which the agent is stopped: it goes on
for ever otherwise (H1)."""

SETTLE_SECONDS = 2.0
"""Seconds that an agent may rest with an answer open before its record is read."""

SETTLE = "settle:"
WELL = ("stop", "end_turn")
ENDLESS = "endless_steps"


def begin(draft: Draft, session: Session, user: str, prompt: Prompt | None) -> Session:
    """A turn begins: with our prompt, or by itself."""
    session = draft.put_message(session, user, "user")
    session = draft.put(session, turn=Turn(user, (user,)), parts={})
    if prompt is None:
        draft.emit(TurnStarted(session.id, user))
        return session
    session = draft.put(session, prompt=None)
    draft.emit(TurnAccepted(prompt.ask_id, session.id, user))
    draft.emit(TurnStarted(session.id, user, prompt.client_id))
    if prompt.stop is not None:
        session = stop(draft, session, prompt.stop)
    return session


def stop(draft: Draft, session: Session, ask_id: str | None) -> Session:
    """Interrupt what runs in a conversation."""
    if session.turn is not None:
        session = draft.put_turn(session, session.turn, stopping=True)
    draft.call(Call("abort", ask_id, session.id), "POST", f"/session/{session.id}/abort")
    return session


def rests(draft: Draft, session: Session) -> None:
    """The agent rests in this conversation. Whether that is the end of the turn, its answer says."""
    turn = session.turn
    if turn is None:
        draft.emit(DiagnosticSeen("rests_again"))
    elif (turn.answer is not None and not turn.open) or (turn.answer is None and turn.failure is not None):
        end(draft, session, turn)
    else:
        draft.timer(SETTLE + session.id, SETTLE_SECONDS)


def end(draft: Draft, session: Session, turn: Turn, evidence: Evidence = "provider") -> None:
    """The turn is over, and with it whatever was open in it."""
    outcome, why = verdict(turn)
    state: ItemState = "completed" if outcome == "completed" else "interrupted"
    for name, part in session.parts.items():
        if part.open:
            spoken = part.kind in ("assistant_message", "reasoning")
            draft.emit(
                ItemSeen(part_ref(session, name, part), part.kind, state if spoken else _left(outcome))
            )
    for key, request in tuple(draft.state.requests.items()):
        if request.thread == session.id:
            draft.drop_request(key)
            draft.emit(RequestClosed(key, "agent", "turn_ended"))
    draft.timer(SETTLE + session.id, None)
    draft.put(session, turn=None, parts={})
    draft.emit(TurnEnded(session.id, turn.id, outcome, evidence, why, turn.word))


def _left(outcome: Outcome | None) -> ItemState:
    """What becomes of an act that was not told to be over."""
    return "interrupted" if outcome == "interrupted" else "unverifiable"


def verdict(turn: Turn) -> tuple[Outcome | None, Failure | None]:
    """How a turn ended, by the agent's own words. A word that says nothing is no success."""
    if turn.failure is not None:
        return "failed", turn.failure
    if turn.aborted:
        return "interrupted", None
    if turn.word in WELL:
        return "completed", None
    if turn.stopping or turn.word == "tool-calls":  # it stops behind a call that a person declined
        return "interrupted", None
    if turn.word in ("length", "content-filter", "error"):
        return "failed", failure("provider", f"stop_{turn.word}", "The model stopped before its end.")
    return None, None


def endless(draft: Draft, session: Session, turn: Turn) -> None:
    """The agent asks its model again and again and hears nothing: it is stopped."""
    why = failure("provider", ENDLESS, "The model gave no answer and no end, again and again.")
    session = draft.put(session, turn=msgspec.structs.replace(turn, failure=why))
    stop(draft, session, None)
