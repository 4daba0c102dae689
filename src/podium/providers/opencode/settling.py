"""Where news may be missing: the agent's own record is read, and said again as if it were news (R4).

The stream can break, a prompt's answer can be lost, and an agent can rest with an answer open. Parts are told
whole in the record, so that what was streamed in part is mended by its final text.
"""

from __future__ import annotations

import msgspec

from podium.contract.errors import failure
from podium.contract.events import AskFailed, DiagnosticSeen, Notice
from podium.contract.inputs import HttpReply
from podium.providers.opencode.drafting import Draft
from podium.providers.opencode.items import MARK, part_seen
from podium.providers.opencode.news import message_seen
from podium.providers.opencode.reading import Json, ident, is_object, obj, objects, text
from podium.providers.opencode.requests import still_open
from podium.providers.opencode.state import Call, Session, Turn
from podium.providers.opencode.turns import end

RECORD_MAX = 60
"""Newest messages that are read of a record."""

LOOK = "look:"
LOOK_SECONDS = 5.0
"""Seconds that a prompt the agent took may be unseen before its record is read."""

LOOKS_MAX = 4
"""How often a prompt is looked for. After that nobody knows, and it is not sent again."""


def broken(draft: Draft, reason: str) -> None:
    """The stream broke: what comes until it is there again may be missing."""
    draft.set(lost=True)
    words = "The agent's event stream broke; what was said meanwhile is read from its record."
    draft.emit(Notice("warning", "stream_lost", f"{words} ({reason[:80]})"))


def again(draft: Draft) -> None:
    """The stream is there. If it broke before, everything that is open is looked up."""
    if not draft.state.lost:
        draft.emit(DiagnosticSeen("stream_open"))
        return
    draft.set(lost=False)
    for session in tuple(draft.state.sessions.values()):
        if session.turn is not None:
            settle(draft, session)
        elif session.prompt is not None:
            looked(draft, session)
    draft.call(Call("permissions"), "GET", "/permission")
    draft.call(Call("questions"), "GET", "/question")


def settle(draft: Draft, session: Session) -> None:
    """Read what became of the turn: first whether the agent rests, then what it recorded."""
    if not draft.waits_for("status", "settle", thread=session.id):
        draft.call(Call("status", thread=session.id), "GET", "/session/status")


def told(draft: Draft, call: Call, given: HttpReply) -> None:
    """Whether the agent rests, then its record."""
    session = draft.session(call.thread)
    turn = session.turn if session is not None else None
    if session is None or turn is None:
        draft.emit(DiagnosticSeen("settled_before"))
    elif call.kind == "status":
        state = text(obj(given.body, session.id), "type") if is_object(given.body) else "unknown"
        rests = given.status == 200 and state in (None, "idle")
        more = Call("settle", thread=session.id, data={"rests": rests, "turn": turn.id})
        draft.call(more, "GET", f"/session/{session.id}/message?limit={RECORD_MAX}")
    else:
        for row in rows_of_turn(given.body, turn):
            say_again(draft, session.id, row)
        held = draft.session(session.id)
        if held is None or held.turn is None or held.turn.id != call.data.get("turn"):
            return
        if call.data.get("rests") and given.status == 200:
            whole = held.turn.answer is not None and not held.turn.open
            end(draft, held, held.turn, "provider" if whole else "inferred")


def rows_of_turn(body: object, turn: Turn) -> list[Json]:
    """The messages of a record from the turn's beginning on."""
    rows = objects(body)
    ids = [ident(obj(row, "info"), "id") for row in rows]
    return rows[ids.index(turn.id) :] if turn.id in ids else []


def say_again(draft: Draft, thread: str, row: Json) -> None:
    """A message of the record, with its parts, as if it were news."""
    session = draft.session(thread)
    if session is not None:
        message_seen(draft, session, obj(row, "info"))
    for part in objects(row.get("parts")):
        session = draft.session(thread)
        if session is not None:
            part_seen(draft, session, part)


def listed(draft: Draft, call: Call, given: HttpReply) -> None:
    """The requests that are open there."""
    if given.status == 200:
        still_open(draft, "permission" if call.kind == "permissions" else "question", given.body)
    else:
        draft.emit(DiagnosticSeen("list_unread"))


def looks(draft: Draft, session: Session) -> None:
    """If the prompt is not seen in time, look for it."""
    draft.timer(LOOK + session.id, LOOK_SECONDS)


def looked(draft: Draft, session: Session) -> None:
    """Look for a prompt in the agent's record."""
    if session.prompt is not None and not draft.waits_for("look", thread=session.id):
        path = f"/session/{session.id}/message?limit={RECORD_MAX}"
        draft.call(Call("look", thread=session.id), "GET", path)


def found(draft: Draft, call: Call, given: HttpReply) -> None:
    """The prompt is there, and its turn is looked up; or it is looked for again, within the bound."""
    session = draft.session(call.thread)
    waiting = session.prompt if session is not None else None
    if session is None or waiting is None:
        draft.emit(DiagnosticSeen("prompt_seen_before"))
        return
    rows = objects(given.body) if given.status == 200 else []
    places = [number for number, row in enumerate(rows) if marked(row, waiting.client_id)]
    if places:
        for row in rows[places[0] :]:
            say_again(draft, session.id, row)
        held = draft.session(session.id)
        if held is not None and held.turn is not None:
            settle(draft, held)
    elif waiting.looks + 1 < LOOKS_MAX:
        draft.put(session, prompt=msgspec.structs.replace(waiting, looks=waiting.looks + 1))
        looks(draft, session)
    else:
        words = "The agent did not say whether it took this, and its record does not hold it."
        draft.put(session, prompt=None)
        draft.emit(AskFailed(waiting.ask_id, failure("transport", "prompt_unconfirmed", words)))


def marked(row: Json, client_id: str) -> bool:
    """Whether a message of the record is the prompt with this id."""
    return any(text(obj(part, "metadata"), MARK) == client_id for part in objects(row.get("parts")))
