"""Requests of the agent as cards with our own options (F145): permissions, questions, plans."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.events import Notice, PlanSeen, Ref, RequestOpened
from podium.contract.requests import (
    ACCEPT,
    DECLINE,
    Option,
    Question,
    QuestionOption,
    RequestContent,
    RequestKind,
)
from podium.providers.claude import children
from podium.providers.claude.answers import (
    ACCEPT_EDITS,
    ACCEPT_RULE,
    ACCEPT_SESSION,
    CANCEL,
    declined,
    denial,
    lasting,
)
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import bounded, ident, size, table, tables, text
from podium.providers.claude.state import PATH_MAX, WAITING_BYTES_MAX, Waiting
from podium.providers.claude.tools import diff_of_input, kind_of, path_of
from podium.providers.claude.turns import begin

RULES_MAX = 8 * 1024
"""Largest proposal of rules that is offered, in encoded bytes."""

FORM_MAX = 32 * 1024
"""Largest form that can be given back with its answers, in encoded bytes; a larger one is declined."""

READ_ONLY = "Nothing may be changed in this mode."
TOO_MUCH = "Too much is open already."
ALLOWED: dict[str, Any] = {"behavior": "allow"}

_ALLOW = Option(ACCEPT, "Allow once", "allow_once")
_DECLINE = Option(DECLINE, "Decline", "decline")
_CANCEL = Option(CANCEL, "Stop the turn", "cancel")
_ANSWER = Option(ACCEPT, "Answer", "other")
_SKIP = Option(DECLINE, "Do not answer", "decline")
_APPROVE = Option(ACCEPT, "Approve the plan", "allow_once")
_EDITS = Option(ACCEPT_EDITS, "Approve the plan and its edits", "allow_session")

_KINDS: dict[str, RequestKind] = {
    "command": "command_approval",
    "file_change": "file_change_approval",
    "tool_call": "tool_approval",
}

_READING = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead"})

_TITLES: dict[RequestKind, str] = {
    "command_approval": "Run this command?",
    "file_change_approval": "Change this file?",
    "file_read_approval": "Read this?",
}

Card = tuple[Waiting, RequestKind, RequestContent, tuple[Option, ...]]


def opened(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """Take one control request of the agent: a card, or an answer at once. Never silence."""
    key, request = ident(frame, "request_id"), table(frame, "request")
    word = text(request, "subtype") or ""
    talk = draft.talks[of]
    if key is None:
        draft.unknown("control_request", frame, talk.session)
        return
    if word != "can_use_tool":
        draft.refuse(of, key, "This request is not known here.")
        note = f"The agent asks {word[:80]}, which cannot be granted here."
        draft.emit(Notice("warning", "unknown_request", note, talk.session))
        draft.unknown(f"control_request/{word}", request, talk.session)
        return
    if key in draft.waiting:
        draft.passed("request_repeated")
        return
    _permission(draft, of, key, request)


def _permission(draft: Draft, of: str, key: str, request: dict[str, Any]) -> None:
    name, given = text(request, "tool_name") or "", table(request, "input")
    child = children.thread_of(draft, of, ident(request, "agent_id"))
    if child is None:
        turn, thread = begin(draft, of, key).id, draft.talks[of].session
    else:
        turn, thread = child.turn, child.thread
    tool = ident(request, "tool_use_id")
    base = Waiting(of, "tool", tool, turn)
    if name == "AskUserQuestion":
        card = _questions(base, given)
    elif name == "ExitPlanMode":
        draft.emit(PlanSeen(Ref(thread, turn, tool), "proposed_plan", text=text(given, "plan")))
        card = _plan(base, given)
    elif draft.talks[of].mode == "full":
        draft.reply(of, key, ALLOWED)
        draft.passed("can_use_tool/full")
        return
    elif draft.talks[of].mode == "read":
        declined(draft, base)
        draft.reply(of, key, denial(READ_ONLY))
        draft.passed("can_use_tool/read")
        return
    else:
        card = _tool(base, name, given, request)
    waiting, kind, content, options = card
    if size({**draft.waiting, key: waiting}) > WAITING_BYTES_MAX:
        declined(draft, base)
        draft.reply(of, key, denial(TOO_MUCH))
        draft.emit(Notice("warning", "request_refused", f"{name[:80]} was declined: {TOO_MUCH}", thread))
        return
    draft.waiting[key] = waiting
    item = None if tool is None else Ref(thread, turn, tool)
    draft.emit(RequestOpened(key, Ref(thread, turn, key), kind, content, options, item))


def _tool(base: Waiting, name: str, given: dict[str, Any], request: dict[str, Any]) -> Card:
    kind = "file_read_approval" if name in _READING else _KINDS.get(kind_of(name), "tool_approval")
    path = path_of(given) or text(given, "path") or text(request, "blocked_path")
    content = RequestContent(
        title=_TITLES.get(kind, f"Use {name[:80]}?"),
        reason=text(request, "decision_reason") or text(request, "description"),
        command=text(given, "command") if kind == "command_approval" else None,
        paths=() if path is None else (path[:PATH_MAX],),
        diff=diff_of_input(given) or None if kind == "file_change_approval" else None,
        payload=None if kind in _TITLES else {"tool": name[:80], "input": bounded(given)},
    )
    proposed = tables(request, "permission_suggestions")
    # Where it proposes rules for this very action, its proposal to allow all edits goes too far.
    narrow = [rule for rule in proposed if text(rule, "type") != "setMode"]
    rules = tuple(narrow or proposed)
    if size(rules) > RULES_MAX:
        rules = ()
    options = [_ALLOW]
    if rules:
        words = "; ".join(_rule(rule) for rule in rules)[:PATH_MAX]
        options.append(Option(ACCEPT_SESSION, "Allow for this session", "allow_session", words))
    if lasting(rules):
        words = "; ".join(_rule(rule) for rule in lasting(rules))[:PATH_MAX]
        options.append(Option(ACCEPT_RULE, "Always allow this in this project", "allow_always", words))
    waiting = msgspec.structs.replace(base, rules=rules)
    return waiting, kind, content, (*options, _DECLINE, _CANCEL)


def _rule(rule: dict[str, Any]) -> str:
    """A proposed rule in the agent's words."""
    if text(rule, "type") == "setMode":
        return f"mode {text(rule, 'mode')}"
    named = [f"{text(r, 'toolName')}({text(r, 'ruleContent') or ''})" for r in tables(rule, "rules")]
    return ", ".join(named) or text(rule, "type") or ""


def _questions(base: Waiting, given: dict[str, Any]) -> Card:
    questions = tuple(
        Question(
            str(number),
            text(entry, "question") or "",
            text(entry, "header") or "",
            tuple(
                QuestionOption(text(option, "label") or "", text(option, "description") or "")
                for option in tables(entry, "options")
            ),
            multiple=entry.get("multiSelect") is True,
        )
        for number, entry in enumerate(tables(given, "questions"))
    )
    content = RequestContent(title="The agent asks", questions=questions)
    kept = given if size(given) <= FORM_MAX else None
    form = msgspec.structs.replace(
        base, form="question", input=kept, questions=tuple(question.text for question in questions)
    )
    return form, "question", content, (_ANSWER, _SKIP) if kept is not None else (_SKIP,)


def _plan(base: Waiting, given: dict[str, Any]) -> Card:
    plan = text(given, "plan")
    payload = {"plan": bounded(plan), "path": text(given, "planFilePath")}
    content = RequestContent(title="Approve this plan?", payload=payload)
    form = msgspec.structs.replace(base, form="plan")
    return form, "plan_decision", content, (_APPROVE, _EDITS, _DECLINE, _CANCEL)
