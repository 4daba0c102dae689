"""Tokens: in the answer to a prompt, in its `_meta`, or as news of the conversation."""

from __future__ import annotations

import msgspec

from podium.contract.events import Usage, UsageSeen
from podium.providers.acp.drafting import Draft
from podium.providers.acp.reading import Json, obj, whole
from podium.providers.acp.state import Session, Spent, Turn


def usage_of(result: Json) -> Usage | None:
    """The usage that an answer states: the draft's field, or one of the places that agents use instead."""
    meta = obj(result, "_meta")
    for given in (obj(result, "usage"), obj(meta, "usage")):
        if given:
            thought = whole(given, "thoughtTokens")
            return Usage(
                whole(given, "inputTokens"),
                whole(given, "cachedReadTokens"),
                whole(given, "outputTokens"),
                thought if thought is not None else whole(given, "reasoningTokens"),
                whole(given, "totalTokens"),
            )
    counted = obj(obj(meta, "quota"), "token_count")
    return Usage(whole(counted, "input_tokens"), output=whole(counted, "output_tokens")) if counted else None


def turn_usage(draft: Draft, session: Session, turn: str, result: Json) -> Session:
    """Report what a turn has used, once. Of a count for the whole conversation it is the difference."""
    stated = usage_of(result)
    if stated is None or draft.flavour.counts_pieces:
        return session
    if draft.flavour.usage_of == "conversation":
        before = session.used
        now = Spent(*(getattr(stated, name) or 0 for name in Usage.__struct_fields__))
        session = draft.put(msgspec.structs.replace(session, used=now))
        if before is None:
            return session
        more = [
            max(given - getattr(before, kept), 0) if given is not None else None
            for given, kept in zip(msgspec.structs.astuple(stated), Spent.__struct_fields__, strict=True)
        ]
        stated = Usage(*more)
    draft.emit(UsageSeen(session.id, turn, stated, key=f"{session.id}:{turn}"))
    return session


def piece_usage(draft: Draft, session: Session, turn: Turn, given: Json) -> Session:
    """One answer of the model has ended, and a piece of it tells what it took: these add up."""
    stated = usage_of(given)
    if stated is None:
        return session
    turn = msgspec.structs.replace(turn, answers=turn.answers + 1)
    draft.emit(UsageSeen(session.id, turn.id, stated, key=f"{session.id}:{turn.id}:{turn.answers}"))
    return draft.put(msgspec.structs.replace(session, turn=turn))


def context(draft: Draft, session: Session, given: Json) -> None:
    """How full the conversation's context is. It says nothing of one turn."""
    turn = session.turn.id if session.turn is not None else None
    used, size = whole(given, "used"), whole(given, "size")
    meta = obj(given, "_meta")
    if draft.flavour.usage_of == "conversation" and session.turn is None and "totalTokens" in meta:
        fields = ("promptTokens", "cachedTokens", "completionTokens", "", "totalTokens")
        spent = Spent(*(whole(meta, name) or 0 for name in fields))
        session = draft.put(msgspec.structs.replace(session, used=spent))
    draft.emit(UsageSeen(session.id, turn, Usage(), Usage(total=used), context_window=size))
