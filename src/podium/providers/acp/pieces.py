"""What agents tell in pieces of text that is none of a message: modes, usage, retries, errors."""

from __future__ import annotations

import msgspec

from podium.contract.errors import failure
from podium.contract.events import DiagnosticSeen, ItemKind, Retrying
from podium.providers.acp import usage
from podium.providers.acp.drafting import Draft
from podium.providers.acp.failures import named_in
from podium.providers.acp.reading import Json, obj
from podium.providers.acp.state import Session
from podium.providers.acp.turns import close_message, working

SAID_MAX = 500
"""Longest words of a retry that are passed on, in characters."""


def beside(
    draft: Draft, session: Session, given: Json, kind: ItemKind, said: str
) -> tuple[Session, bool] | None:
    """The conversation, and whether the text is a message of its own; None where it is no message's text."""
    flavour, meta = draft.flavour, obj(given, "_meta")
    if echoes_mode(draft, session, said):
        draft.emit(DiagnosticSeen("mode said as text"))
        return None
    if flavour.counts_pieces and "usage" in meta and session.turn is not None:
        session, turn = working(draft, session)
        session = usage.piece_usage(draft, session, turn, given)
    message = session.message
    if not said and (message is None or not message.open or message.kind != kind):
        empty(draft, session, kind)
        return None
    if says_retry(draft, said):
        session, turn = working(draft, session)
        why = failure("provider", "model_unreachable", said[:SAID_MAX], retryable=True)
        draft.emit(Retrying(session.id, turn.id, why))
        return None
    told = bool(flavour.error_words) and kind == "assistant_message" and said.startswith(flavour.error_words)
    session = note_error(draft, session, named_in(said) if told else "")
    alone = told or (bool(flavour.alone_meta) and meta.get(flavour.alone_meta) is True)
    if alone:
        session = close_message(draft, session, forget=True)
    return session, alone


def echoes_mode(draft: Draft, session: Session, said: str) -> bool:
    """Whether a text only repeats the mode that is being set: it is none of the conversation's."""
    echo = draft.flavour.mode_echo
    setting_it = any(call.kind == "mode" and call.thread == session.id for call in draft.state.calls.values())
    return bool(echo) and setting_it and said.startswith(echo)


def says_retry(draft: Draft, said: str) -> bool:
    """Whether a text says that the agent tries again by itself."""
    begins, ends = draft.flavour.retry_words
    return bool(begins) and said.startswith(begins) and said.endswith(ends)


def note_error(draft: Draft, session: Session, code: str) -> Session:
    """Remember that the newest text tells an error; whatever is said behind it takes that back."""
    turn = session.turn
    if turn is None or turn.error == code:
        return session
    turn = msgspec.structs.replace(turn, error=code)
    return draft.put(msgspec.structs.replace(session, turn=turn))


def empty(draft: Draft, session: Session, kind: str) -> None:
    """A piece without text opens no message: agents send them with what they tell beside it."""
    if session.turn is not None:
        working(draft, session)
    draft.emit(DiagnosticSeen(f"{kind} without text"))
