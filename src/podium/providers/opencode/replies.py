"""Answers to our requests."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    RequestClosed,
    SessionReady,
    ThreadBound,
    ThreadMissing,
)
from podium.contract.inputs import HttpReply
from podium.providers.opencode.drafting import Draft
from podium.providers.opencode.failures import refused
from podium.providers.opencode.reading import Json, count, ident, is_object, obj, objects, text, texts
from podium.providers.opencode.rules import rules_of, tightened
from podium.providers.opencode.settling import found, listed, looked, looks, told
from podium.providers.opencode.state import MODELS_MAX, Call, Session

TEXT_MAX = 20_000
"""Longest text of one message in a record that is read, in characters."""

GENERATION = "1."
OPENING_KINDS = ("health", "agents", "models", "servers")

Take = Callable[[Draft, Call, HttpReply], None]


def reply(draft: Draft, given: HttpReply) -> None:
    """The answer to one request."""
    call = draft.take_call(given.tag)
    if call is None:
        draft.emit(DiagnosticSeen("reply_to_nothing"))
        return
    if call.kind in OPENING_KINDS:
        opening(draft, call, given)
    else:
        TAKES.get(call.kind, unknown)(draft, call, given)


def unknown(draft: Draft, call: Call, given: HttpReply) -> None:
    """Nothing follows from this answer."""
    draft.emit(DiagnosticSeen("reply"))


def well(given: HttpReply) -> bool:
    """Whether the agent did what was asked."""
    return 200 <= given.status < 300


# ---- the handshake


def opening(draft: Draft, call: Call, given: HttpReply) -> None:
    """One answer of the handshake. Without models and tool servers it works; without the rest it does not."""
    waiting = draft.state.opening
    if waiting is None:
        draft.emit(DiagnosticSeen("reply"))
        return
    why = None if well(given) or call.kind in ("models", "servers") else refused(given.status, given.body)
    if call.kind == "health" and why is None:
        version = text(given.body, "version") if is_object(given.body) else None
        draft.set(version=version)
        if version is None or not version.startswith(GENERATION):
            words = f"This adapter drives version 1 of the program; this is {version or 'something else'}."
            why = failure("validation", "version_unsupported", words, fix="Install version 1.")
    elif call.kind == "agents" and why is None:
        rules = rules_of(given.body, draft.state.agent)
        draft.set(rules=rules or ())
        if rules is None:
            why = failure("validation", "agent_unknown", f"There is no agent {draft.state.agent[:80]}.")
    elif call.kind == "models":
        draft.set(models=windows(given.body))
    elif call.kind == "servers" and is_object(given.body):
        draft.set(servers=tuple(name for name in given.body if len(name) <= 64)[:64])
    if why is not None:
        draft.set(opening=None)
        draft.emit(AskFailed(waiting.ask_id, why))
        return
    waits = tuple(kind for kind in waiting.waits if kind != call.kind)
    draft.set(opening=msgspec.structs.replace(waiting, waits=waits) if waits else None)
    if not waits:
        draft.emit(SessionReady(waiting.ask_id, draft.state.version))


def catalog(body: object) -> list[Json]:
    """The models, as {id, name, provider, window}."""
    providers = objects(body.get("providers")) if is_object(body) else []
    return [
        {
            "id": f"{text(provider, 'id')}/{name}",
            "name": text(model, "name") or name,
            "provider": text(provider, "name") or text(provider, "id"),
            "window": count(obj(model, "limit"), "context"),
        }
        for provider in providers
        for name, model in obj(provider, "models").items()
        if is_object(model)
    ]


def windows(body: object) -> dict[str, int]:
    """The names of the models with their windows; 0 where none is stated."""
    return {row["id"]: row["window"] or 0 for row in catalog(body)[:MODELS_MAX] if len(row["id"]) <= 200}


def list_models(draft: Draft, call: Call, given: HttpReply) -> None:
    """The catalog of now."""
    if well(given):
        draft.set(models=windows(given.body))
        draft.emit(AskDone(call.ask_id or "", {"models": catalog(given.body)}))
    else:
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))


# ---- conversations


def create(draft: Draft, call: Call, given: HttpReply) -> None:
    """A new conversation, or none."""
    native = ident(given.body, "id") if well(given) and is_object(given.body) else None
    if native is None:
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))
    else:
        bind(draft, call, native, resumed=False)


def bind(draft: Draft, call: Call, native: str, *, resumed: bool) -> None:
    """The agent has the conversation."""
    held = draft.session(native) or Session(native)
    model = call.data.get("model")
    session = draft.put(held, mode=call.data.get("mode") or held.mode, model=model or held.model)
    draft.emit(ThreadBound(call.ask_id, native, draft.handle(native), resumed, session.model))


def resume(draft: Draft, call: Call, given: HttpReply) -> None:
    """The very conversation of the handle, now with our rules, or none (F074)."""
    if well(given) and is_object(given.body) and ident(given.body, "id") == call.thread:
        bind(draft, call, call.thread, resumed=True)
        return
    gone = given.status == 404
    why = refused(given.status, given.body)
    draft.emit(ThreadMissing(call.ask_id or "", "missing" if gone else "not_resumable", why))


def fork_where(draft: Draft, call: Call, given: HttpReply) -> None:
    """A branch is cut before a message: before the one behind the turn, and without one all is copied."""
    turn, users = str(call.data.get("turn")), users_of(given.body)
    if not well(given) or turn not in users:
        why = refused(given.status, given.body)
        if well(given):
            why = failure("validation", "turn_missing", "The agent has no such turn in this conversation.")
        draft.emit(AskFailed(call.ask_id or "", why))
        return
    behind = users[users.index(turn) + 1 :]
    body = {"messageID": behind[0]} if behind else {}
    draft.call(Call("fork", call.ask_id, call.thread), "POST", f"/session/{call.thread}/fork", body)


def users_of(body: object) -> list[str]:
    """The ids of the user messages of a record, in order."""
    rows = (obj(row, "info") for row in objects(body))
    return [ident(info, "id") or "" for info in rows if text(info, "role") == "user"]


def fork(draft: Draft, call: Call, given: HttpReply) -> None:
    """A branch. It has lost the rules of its source, so they are set before anybody uses it (H7)."""
    native = ident(given.body, "id") if well(given) and is_object(given.body) else None
    source = draft.session(call.thread)
    if native is None or source is None or not draft.room():
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))
        return
    data = {"mode": draft.root(source).mode, "model": source.model}
    body = {"permission": tightened(draft.state.rules)}
    draft.call(Call("forked", call.ask_id, native, data), "PATCH", f"/session/{native}", body)


def forked(draft: Draft, call: Call, given: HttpReply) -> None:
    """The branch has its rules."""
    if well(given):
        bind(draft, call, call.thread, resumed=False)
    else:
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))


def read(draft: Draft, call: Call, given: HttpReply) -> None:
    """The agent's own record, as {role, text} of each message."""
    if not well(given):
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))
        return
    made = [
        {
            "id": ident(obj(row, "info"), "id"),
            "role": text(obj(row, "info"), "role"),
            "text": "".join(
                text(p, "text") or "" for p in objects(row.get("parts")) if text(p, "type") == "text"
            )[:TEXT_MAX],
        }
        for row in objects(given.body)
    ]
    draft.emit(AskDone(call.ask_id or "", {"messages": made}))


def rollback_where(draft: Draft, call: Call, given: HttpReply) -> None:
    """What is to go: the turn's user message and everything behind it, the newest first."""
    ids = [ident(obj(row, "info"), "id") or "" for row in objects(given.body)]
    turn = str(call.data.get("turn"))
    if not well(given) or turn not in users_of(given.body):
        why = refused(given.status, given.body)
        if well(given):
            why = failure("validation", "turn_missing", "The agent has no such turn in this conversation.")
        draft.emit(AskFailed(call.ask_id or "", why))
        return
    drop(draft, msgspec.structs.replace(call, data={"ids": ids[ids.index(turn) :]}))


def drop(draft: Draft, call: Call) -> None:
    """Remove the newest message that is to go, or say that all are gone."""
    ids = list(texts(call.data.get("ids")))
    if not ids:
        draft.emit(AskDone(call.ask_id or ""))
        return
    left = Call("rollback", call.ask_id, call.thread, {"ids": ids[:-1]})
    draft.call(left, "DELETE", f"/session/{call.thread}/message/{ids[-1]}")


def rollback(draft: Draft, call: Call, given: HttpReply) -> None:
    """A message is gone; the next one follows."""
    if well(given):
        drop(draft, call)
    else:
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))


def compact(draft: Draft, call: Call, given: HttpReply) -> None:
    """The agent shortened the conversation; the item was told by its events."""
    if well(given):
        draft.emit(AskDone(call.ask_id or ""))
    else:
        draft.emit(AskFailed(call.ask_id or "", refused(given.status, given.body)))


# ---- turns


def prompt(draft: Draft, call: Call, given: HttpReply) -> None:
    """The agent took the prompt or refused it; if its answer was lost, its record says what became of it."""
    session = draft.session(call.thread)
    waiting = session.prompt if session is not None else None
    if session is None or waiting is None or waiting.ask_id != call.ask_id:
        draft.emit(DiagnosticSeen("reply"))  # the message was seen before
    elif well(given):
        looks(draft, session)
    elif given.status:
        draft.put(session, prompt=None)
        draft.emit(AskFailed(waiting.ask_id, refused(given.status, given.body)))
    else:
        looked(draft, session)


def abort(draft: Draft, call: Call, given: HttpReply) -> None:
    """The agent stops; the end of the turn is told by itself."""
    if call.ask_id is None:
        draft.emit(DiagnosticSeen("reply"))
    elif well(given):
        draft.emit(AskDone(call.ask_id))
    else:
        draft.emit(AskFailed(call.ask_id, refused(given.status, given.body)))


def answer(draft: Draft, call: Call, given: HttpReply) -> None:
    """The agent took an answer, or does not wait for it any more."""
    key = str(call.data.get("key"))
    held = draft.state.requests.get(key)
    if given.status == 0 and held is not None and call.ask_id is not None:
        # Nobody knows whether it was taken. It may be given again: the agent takes one and refuses the other.
        draft.put_request(key, msgspec.structs.replace(held, chosen=False))
        draft.emit(AskFailed(call.ask_id, refused(given.status, given.body)))
        return
    draft.drop_request(key)
    if call.ask_id is None:
        draft.emit(DiagnosticSeen("reply"))
    elif well(given):
        draft.emit(RequestClosed(key, "answer"))
        draft.emit(AskDone(call.ask_id))
    else:
        if held is not None:
            draft.emit(RequestClosed(key, "agent", "not_waiting"))
        draft.emit(AskFailed(call.ask_id, refused(given.status, given.body)))


TAKES: dict[str, Take] = {
    "abort": abort,
    "answer": answer,
    "compact": compact,
    "create": create,
    "fork": fork,
    "fork_where": fork_where,
    "forked": forked,
    "list_models": list_models,
    "look": found,
    "permissions": listed,
    "prompt": prompt,
    "questions": listed,
    "read": read,
    "resume": resume,
    "rollback": rollback,
    "rollback_where": rollback_where,
    "settle": told,
    "status": told,
}
"""What each request's answer means."""
