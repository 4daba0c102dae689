"""Notifications outside of the protocol: an agent's own channel for children, ends of turns and retries."""

from __future__ import annotations

import msgspec

from podium.contract.errors import failure
from podium.contract.events import DiagnosticSeen, OpaqueSeen, RequestClosed, Retrying
from podium.providers.acp import children
from podium.providers.acp.drafting import Draft
from podium.providers.acp.failures import RATE_LIMITED
from podium.providers.acp.reading import Json, native_id, obj, text, whole
from podium.providers.acp.replies import STOPS
from podium.providers.acp.requests import same_id
from podium.providers.acp.serving import forget, refuse
from podium.providers.acp.turns import end, working

REQUEST_CANCELLED = -32800

NAME_MAX = 200
"""Longest name of a notification that is kept, in characters."""


def notified(draft: Draft, method: str, data: Json) -> None:
    """One notification that is not `session/update`. An unknown one is kept as it is."""
    params = obj(data, "params")
    flavour = draft.flavour
    if method == flavour.side_channel:
        aside(draft, params)
    elif method == flavour.end_method:
        turn_ended(draft, native_id(params, "sessionId"), text(params, "reason"))
        draft.emit(DiagnosticSeen(method[:NAME_MAX]))
    elif method == flavour.retry_method:
        detail = text(params, "detail") or ""
        retrying(draft, native_id(params, "sessionId"), text(params, "category") or "", detail, params)
    elif flavour.news and method.startswith(flavour.news):
        draft.emit(DiagnosticSeen(method[:NAME_MAX]))
    elif method == "$/cancel_request":
        withdrawn(draft, params)
    else:
        draft.emit(OpaqueSeen(method[:NAME_MAX], data))


def withdrawn(draft: Draft, params: Json) -> None:
    """The agent takes a request of its own back: nobody need answer it any more."""
    given = params.get("requestId")
    errand = next((k for k, held in draft.state.errands.items() if same_id(held.rpc_id, given)), None)
    if errand is not None:
        refuse(draft, draft.state.errands[errand].rpc_id, REQUEST_CANCELLED, "withdrawn", "Cancelled")
        forget(draft, errand)
        draft.emit(DiagnosticSeen("request_withdrawn"))
        return
    key = next(
        (k for k, held in draft.state.requests.items() if same_id(held.rpc_id, given)),
        None,
    )
    if key is None:
        draft.emit(DiagnosticSeen("request_withdrawn"))
        return
    error = {"code": REQUEST_CANCELLED, "message": "Cancelled"}
    draft.send({"id": draft.state.requests[key].rpc_id, "error": error})
    draft.drop_request(key)
    draft.emit(RequestClosed(key, "agent", "withdrawn"))


def aside(draft: Draft, params: Json) -> None:
    """One update on the agent's own channel."""
    given = obj(params, "update")
    word = text(given, "sessionUpdate") or "unknown"
    before = len(draft.events)
    match draft.flavour.side.get(word):
        case "child_started":
            children.announced(draft, given)
        case "child_ended":
            children.finished(draft, given)
        case "turn_ended":
            turn_ended(draft, native_id(params, "sessionId"), text(given, "stop_reason"))
        case "retry" if text(given, "type") in (None, "retrying"):
            kind, reason = text(given, "error_type") or "", text(given, "reason") or ""
            retrying(draft, native_id(params, "sessionId"), kind, reason, given)
        case _:
            pass
    if len(draft.events) == before:
        draft.emit(DiagnosticSeen(f"{draft.flavour.side_channel} {word}"[:NAME_MAX]))


def turn_ended(draft: Draft, thread: str | None, word: str | None) -> None:
    """The end of a turn that nobody prompted; a prompted one ends with the answer to its prompt."""
    session = draft.session(thread or "")
    if session is None or session.turn is None or session.turn.call is not None or session.parent is not None:
        return
    end(draft, session, STOPS.get(word or ""), word=word[:100] if word else None)


def retrying(draft: Draft, thread: str | None, kind: str, said: str, given: Json) -> None:
    """The agent tries again by itself; some do so for minutes (F278)."""
    session = draft.session(thread or "")
    if session is None:
        draft.emit(DiagnosticSeen("retrying"))
        return
    why = failure("provider", "model_unreachable", said or kind, retryable=True)
    if RATE_LIMITED in kind or "429" in said:
        why = msgspec.structs.replace(why, code=RATE_LIMITED)
    turn = None
    if session.turn is not None and session.turn.call is not None:
        session, running = working(draft, session)  # it works on the prompt, if in vain
        turn = running.id
    draft.emit(Retrying(session.id, turn, why, whole(given, "attempt"), whole(given, "max_retries")))
