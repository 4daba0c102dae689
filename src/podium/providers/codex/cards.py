"""Requests of the agent as cards with our own options (F145). An unknown one is still a card (B30)."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.events import DiagnosticSeen, Notice, Ref, RequestOpened
from podium.contract.requests import (
    ACCEPT,
    DECLINE,
    Option,
    Question,
    QuestionOption,
    RequestContent,
    RequestKind,
)
from podium.providers.codex.answers import closed
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import bounded, ident, is_list, is_table, size, strings, table, tables, text
from podium.providers.codex.state import WAITING_BYTES_MAX, Field, Waiting, item_key, request_key, same_id

ACCEPT_SESSION = "accept_session"
ACCEPT_RULE = "accept_rule"
CANCEL = "cancel"

REPLY_MAX = 8 * 1024
"""Largest stored reply of one request, in encoded bytes; a larger grant cannot be offered."""

FIELDS_MAX = 50
"""Most questions of one form that are shown as fields; a larger form is shown whole."""

_ALLOW = Option(ACCEPT, "Allow once", "allow_once")
_SESSION = Option(ACCEPT_SESSION, "Allow for this session", "allow_session")
_DECLINE = Option(DECLINE, "Decline", "decline")
_CANCEL = Option(CANCEL, "Stop the turn", "cancel")
_ANSWER = Option(ACCEPT, "Answer", "other")
_SKIP = Option(DECLINE, "Do not answer", "decline")

_FLAT = frozenset({"string", "number", "integer", "boolean"})
_ACCOUNT_WIDE = frozenset({"account/chatgptAuthTokens/refresh", "attestation/generate"})

Card = tuple[Waiting, RequestKind, RequestContent, tuple[Option, ...]]


def opened(draft: Draft, native: int | str, method: str, params: dict[str, Any]) -> None:
    """Take one request of the agent: a card, or an answer at once. Never silence."""
    if method == "item/tool/call":
        _no_tool(draft, native, params)
        return
    thread = ident(params, "threadId") or ident(params, "conversationId")
    if thread is None or method in _ACCOUNT_WIDE:
        _refuse(draft, native, method, "it names no conversation")
        return
    turn, item = ident(params, "turnId"), ident(params, "itemId")
    base = Waiting(native, "unknown", thread, turn, item)
    key = _key(draft, base)
    if key is None:
        draft.emit(DiagnosticSeen("request_repeated"))
        return
    match method:
        case "item/commandExecution/requestApproval":
            card = _command(base, params)
        case "item/fileChange/requestApproval":
            card = _file_change(draft, base, params)
        case "item/permissions/requestApproval":
            card = _permissions(base, params)
        case "item/tool/requestUserInput":
            card = _questions(base, params)
        case "mcpServer/elicitation/request":
            card = _elicitation(base, params)
        case _:
            card = _unknown(draft, base, method, params)
    waiting, kind, content, options = card
    if size({**draft.waiting, key: waiting}) > WAITING_BYTES_MAX:
        _refuse(draft, native, method, "too much is open already")
        return
    draft.waiting[key] = waiting
    place = Ref(thread, turn, key)
    draft.emit(
        RequestOpened(key, place, kind, content, options, None if item is None else Ref(thread, turn, item))
    )


def _key(draft: Draft, base: Waiting) -> str | None:
    """Our key of a request; None for the repetition of one that is open (F125).

    Ids that went up before go up; one that did not may have been used, and gets a key of its own.
    """
    for key, waiting in list(draft.waiting.items()):
        if same_id(waiting.id, base.id):
            if waiting.answered is None and (waiting.turn, waiting.item) == (base.turn, base.item):
                return None
            closed(draft, key, "id_used_again")
    key = request_key(base.id)
    if isinstance(base.id, int) and base.id > draft.newest_request:
        draft.newest_request = base.id
        return key
    return f"{key}#{draft.frames}"


def _command(base: Waiting, params: dict[str, Any]) -> Card:
    listed = params.get("availableDecisions")
    replies: dict[str, Any] = {ACCEPT: {"decision": "accept"}}
    options = [_ALLOW]
    for entry in listed if is_list(listed) else []:
        if entry == "acceptForSession" and ACCEPT_SESSION not in replies:
            replies[ACCEPT_SESSION] = {"decision": "acceptForSession"}
            options.append(_SESSION)
        elif is_table(entry) and ACCEPT_RULE not in replies:
            rule = _rule(entry)
            if rule is not None:
                replies[ACCEPT_RULE] = {"decision": entry}
                options.append(rule)
    replies[DECLINE] = {"decision": "decline"}
    options.append(_DECLINE)
    if not is_list(listed) or "cancel" in listed:
        replies[CANCEL] = {"decision": "cancel"}
        options.append(_CANCEL)
    network = params.get("networkApprovalContext")
    content = RequestContent(
        title="Run this command?",
        reason=text(params, "reason"),
        command=text(params, "command"),
        cwd=text(params, "cwd"),
        payload=None if network is None else {"network": bounded(network)},
    )
    waiting = msgspec.structs.replace(base, form="approval", replies=replies)
    return waiting, "command_approval", content, tuple(options)


def _rule(entry: dict[str, Any]) -> Option | None:
    """The standing rule that the agent proposes, shown with its words; None for any other decision."""
    words = strings(table(entry, "acceptWithExecpolicyAmendment"), "execpolicy_amendment")
    if not words or set(entry) != {"acceptWithExecpolicyAmendment"} or size(entry) > REPLY_MAX:
        return None
    return Option(ACCEPT_RULE, "Always allow commands that begin like this", "allow_always", " ".join(words))


def _file_change(draft: Draft, base: Waiting, params: dict[str, Any]) -> Card:
    known = draft.items.get(item_key(base.thread, base.turn or "", base.item or ""))
    root = text(params, "grantRoot")
    content = RequestContent(
        title="Change these files?",
        reason=text(params, "reason"),
        paths=known.paths if known is not None else (),
        payload=None if root is None else {"grant_root": root},
    )
    replies = {
        ACCEPT: {"decision": "accept"},
        DECLINE: {"decision": "decline"},
        CANCEL: {"decision": "cancel"},
    }
    waiting = msgspec.structs.replace(base, form="approval", replies=replies)
    return waiting, "file_change_approval", content, (_ALLOW, _DECLINE, _CANCEL)


def _permissions(base: Waiting, params: dict[str, Any]) -> Card:
    wanted = table(params, "permissions")
    content = RequestContent(
        title="Grant more permissions?",
        reason=text(params, "reason"),
        cwd=text(params, "cwd"),
        payload={"permissions": bounded(wanted)},
    )
    # An empty grant says no; a wish too large to be stored whole leaves only that.
    replies: dict[str, Any] = {DECLINE: {"permissions": {}, "scope": "turn"}}
    options: tuple[Option, ...] = (_DECLINE,)
    if size(wanted) <= REPLY_MAX:
        replies[ACCEPT] = {"permissions": wanted, "scope": "turn"}
        replies[ACCEPT_SESSION] = {"permissions": wanted, "scope": "session"}
        options = (_ALLOW, _SESSION, _DECLINE)
    waiting = msgspec.structs.replace(base, form="approval", replies=replies)
    return waiting, "permission_approval", content, options


def _questions(base: Waiting, params: dict[str, Any]) -> Card:
    questions: list[Question] = []
    for entry in tables(params, "questions")[:FIELDS_MAX]:
        name = ident(entry, "id")
        if name is None:
            continue
        offered = tuple(
            QuestionOption(text(option, "label") or "", text(option, "description") or "")
            for option in tables(entry, "options")
        )
        questions.append(
            Question(
                name,
                text(entry, "question") or "",
                text(entry, "header") or "",
                offered,
                free_text=entry.get("isOther") is True or not offered,
                secret=entry.get("isSecret") is True,
            )
        )
    fields = tuple(Field(question.id, required=question.required) for question in questions)
    waiting = msgspec.structs.replace(
        base, form="questions", replies={DECLINE: {"answers": {}}}, fields=fields
    )
    content = RequestContent(title="The agent asks", questions=tuple(questions))
    return waiting, "question", content, (_ANSWER, _SKIP)


def _elicitation(base: Waiting, params: dict[str, Any]) -> Card:
    schema = table(params, "requestedSchema")
    properties = table(schema, "properties")
    needed = set(strings(schema, "required"))
    flat = 0 < len(properties) <= FIELDS_MAX and all(
        is_table(value) and value.get("type") in _FLAT for value in properties.values()
    )
    questions: list[Question] = []
    fields: list[Field] = []
    for name in properties if flat else ():
        shape = table(properties, name)
        values = strings(shape, "enum")
        if shape.get("type") == "boolean":
            values = ["true", "false"]
        questions.append(
            Question(
                name,
                text(shape, "description") or text(shape, "title") or name,
                text(shape, "title") or "",
                tuple(QuestionOption(value) for value in values),
                free_text=not values,
                required=name in needed,
            )
        )
        fields.append(Field(name, text(shape, "type") or "string", name in needed))
    content = RequestContent(
        title=text(params, "serverName") or "",
        reason=text(params, "message"),
        questions=tuple(questions),
        payload=None
        if flat
        else {"mode": params.get("mode"), "schema": bounded(schema), "url": text(params, "url")},
    )
    replies: dict[str, Any] = {
        DECLINE: {"action": "decline", "content": None, "_meta": None},
        CANCEL: {"action": "cancel", "content": None, "_meta": None},
    }
    waiting = msgspec.structs.replace(base, form="elicitation", replies=replies, fields=tuple(fields))
    return waiting, "elicitation", content, (_ANSWER, _SKIP, _CANCEL)


def _unknown(draft: Draft, base: Waiting, method: str, params: dict[str, Any]) -> Card:
    draft.opaque += 1
    name = method[:80]
    draft.emit(
        Notice(
            "warning", "unknown_request", f"The agent asks {name}, which cannot be granted here.", base.thread
        )
    )
    payload = {"method": name, "params": bounded(params)}
    content = RequestContent(title="The agent asks for something unknown", payload=payload)
    return base, "unknown", content, (_DECLINE,)


def _no_tool(draft: Draft, native: int | str, params: dict[str, Any]) -> None:
    """No dynamic tool is registered, so such a call fails at once and the agent goes on."""
    draft.reply(native, {"contentItems": [{"type": "inputText", "text": "No such tool."}], "success": False})
    name = (text(params, "tool") or "unknown")[:80]
    thread, turn = ident(params, "threadId"), ident(params, "turnId")
    draft.emit(
        Notice("warning", "tool_missing", f"The agent called {name}, a tool nobody offers.", thread, turn)
    )


def _refuse(draft: Draft, native: int | str, method: str, why: str) -> None:
    draft.refuse(native, f"Not available: {why}.")
    draft.emit(Notice("warning", "request_refused", f"The agent's request {method[:80]} was refused: {why}."))
