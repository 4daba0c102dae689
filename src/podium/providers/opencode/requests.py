"""What the agent asks of a person, and the answers it gets."""

from __future__ import annotations

import re

import msgspec

from podium.contract.events import (
    DiagnosticSeen,
    FileChange,
    ItemContent,
    ItemSeen,
    OpaqueSeen,
    Ref,
    RequestClosed,
    RequestOpened,
)
from podium.contract.inputs import Respond
from podium.contract.requests import (
    ACCEPT,
    DECLINE,
    Option,
    Question,
    QuestionOption,
    RequestContent,
    RequestKind,
)
from podium.providers.opencode.drafting import Draft, part_ref
from podium.providers.opencode.reading import Json, ident, obj, objects, text, texts
from podium.providers.opencode.rules import decide
from podium.providers.opencode.state import REQUESTS_MAX, Call, Request, Session

CANCEL = "cancel"
SAFE = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""What an id looks like that may stand in a path."""

OPTIONS = (
    Option(ACCEPT, "Allow", "allow_once"),
    Option(DECLINE, "Decline", "decline"),
    Option(CANCEL, "Decline and stop", "cancel"),
)
ANSWERS = (Option(ACCEPT, "Answer", "other"), Option(DECLINE, "Decline to answer", "decline"))

KINDS: dict[str, RequestKind] = {
    "bash": "command_approval",
    "edit": "file_change_approval",
    "read": "file_read_approval",
    "external_directory": "permission_approval",
}
NO = "The user does not want this. Go on without it."
NOT_HERE = "This session may read and change nothing. Go on without it."
PATHS_MAX = 50


def asked(draft: Draft, session: Session | None, given: Json) -> None:
    """The agent wants to act. Where the mode has an answer, it is given; else a person is asked.

    Only this one act is ever allowed: a standing permission would hold for every conversation of the process.
    """
    key, permission = ident(given, "id"), text(given, "permission") or ""
    if key is None or not SAFE.fullmatch(key):
        draft.emit(OpaqueSeen("permission.asked", given))
    elif key in draft.state.requests:
        draft.emit(DiagnosticSeen("request_repeated"))
    elif session is None or len(draft.state.requests) >= REQUESTS_MAX:
        reply(draft, key, "reject", None, NO)
        draft.emit(OpaqueSeen("permission.asked", given))
    else:
        item = item_of(session, given)
        content = content_of(permission, given)
        if (
            item is not None
            and content.diff is not None
            and session.parts[item.id or ""].kind == "file_change"
        ):
            changes = tuple(FileChange(path, "update", content.diff or "") for path in content.paths[:1])
            draft.emit(ItemSeen(item, "file_change", "open", ItemContent(changes=changes)))
        decision = decide(draft.root(session).mode, permission)
        if decision != "person":
            draft.put_request(key, Request("permission", session.id, chosen=True))
            reply(draft, key, decision, None, NOT_HERE if decision == "reject" else None)
            return
        draft.put_request(key, Request("permission", session.id))
        ref = Ref(session.id, session.turn.id if session.turn is not None else None, key)
        kind = KINDS.get(permission, "tool_approval")
        draft.emit(RequestOpened(key, ref, kind, content, OPTIONS, item))


def item_of(session: Session, given: Json) -> Ref | None:
    """The call that the request is about."""
    called = ident(obj(given, "tool"), "callID")
    for name, part in session.parts.items():
        if called is not None and part.call == called:
            return part_ref(session, name, part)
    return None


def content_of(permission: str, given: Json) -> RequestContent:
    """The words a person needs to decide."""
    meta, patterns = obj(given, "metadata"), texts(given.get("patterns"))
    command = text(meta, "command") or ("\n".join(patterns) if permission == "bash" else None)
    path = text(meta, "filepath")
    paths = (path,) if path else patterns[:PATHS_MAX] if permission in ("edit", "read") else ()
    known = {"bash": "Run a command", "edit": "Change a file", "read": "Read a file"}
    return RequestContent(
        title=known.get(permission) or f"Use {permission}",
        command=command,
        paths=paths,
        diff=text(meta, "diff"),
        payload=given if permission not in known else None,
    )


def reply(draft: Draft, key: str, word: str, ask_id: str | None, message: str | None) -> None:
    """Answer a permission. A rejection with words lets the agent go on, one without stops it."""
    body: Json = {"reply": word, "message": message} if message else {"reply": word}
    draft.call(Call("answer", ask_id, data={"key": key}), "POST", f"/permission/{key}/reply", body)


def questioned(draft: Draft, session: Session | None, given: Json) -> None:
    """The agent has questions."""
    key, rows = ident(given, "id"), objects(given.get("questions"))
    if key is None or not SAFE.fullmatch(key) or session is None or not rows:
        draft.emit(OpaqueSeen("question.asked", given))
    elif key in draft.state.requests:
        draft.emit(DiagnosticSeen("request_repeated"))
    elif len(draft.state.requests) >= REQUESTS_MAX:
        draft.call(Call("answer", data={"key": key}), "POST", f"/question/{key}/reject")
        draft.emit(OpaqueSeen("question.asked", given))
    else:
        questions = tuple(
            Question(
                str(number),
                text(row, "question") or "",
                text(row, "header") or "",
                tuple(
                    QuestionOption(text(one, "label") or "", text(one, "description") or "")
                    for one in objects(row.get("options"))
                ),
                multiple=row.get("multiple") is True,
                free_text=row.get("custom") is not False,
            )
            for number, row in enumerate(rows)
        )
        draft.put_request(key, Request("question", session.id, len(questions)))
        ref = Ref(session.id, session.turn.id if session.turn is not None else None, key)
        content = RequestContent(title=questions[0].header or "Question", questions=questions)
        draft.emit(RequestOpened(key, ref, "question", content, ANSWERS, item_of(session, given)))


def respond(draft: Draft, command: Respond) -> None:
    """A person's answer."""
    key, answer = command.request, command.answer
    held = draft.state.requests.get(key)
    if held is None or held.chosen:
        draft.refuse(command, "request_unknown", "The agent does not wait for this.")
        return
    draft.put_request(key, msgspec.structs.replace(held, chosen=True))
    if held.kind == "permission":
        words = {ACCEPT: ("once", None), CANCEL: ("reject", None)}
        word, message = words.get(answer.decision, ("reject", answer.text or NO))
        reply(draft, key, word, command.ask_id, message)
        return
    call = Call("answer", command.ask_id, data={"key": key})
    if answer.decision == ACCEPT and answer.answers is not None:
        rows = [list(row) for row in answer.answers][: held.questions]
        draft.call(call, "POST", f"/question/{key}/reply", {"answers": rows})
    else:
        draft.call(call, "POST", f"/question/{key}/reject")


def closed(draft: Draft, given: Json) -> None:
    """The agent took an answer. Ours is told by its own reply."""
    key = ident(given, "requestID") or ""
    held = draft.state.requests.get(key)
    if held is None or held.chosen:
        draft.emit(DiagnosticSeen("request_closed"))
    else:
        draft.drop_request(key)
        draft.emit(RequestClosed(key, "agent", "answered_elsewhere"))


def still_open(draft: Draft, kind: str, listed: object) -> None:
    """Requests that the agent lists after its stream broke: new ones are opened, missing ones are over."""
    rows = objects(listed)
    named = {ident(row, "id") for row in rows}
    for key, held in tuple(draft.state.requests.items()):
        if held.kind == kind and key not in named and not held.chosen:
            draft.drop_request(key)
            draft.emit(RequestClosed(key, "agent", "no_longer_listed"))
    for row in rows:
        session = draft.session(ident(row, "sessionID"))
        if session is not None and session.turn is not None:  # an ask outlives its turn there (H3)
            (asked if kind == "permission" else questioned)(draft, session, row)
