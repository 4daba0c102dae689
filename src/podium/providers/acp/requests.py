"""What the agent asks of a person, and the answers it gets."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.events import AskDone, DiagnosticSeen, OpaqueSeen, Ref, RequestClosed, RequestOpened
from podium.contract.inputs import Respond
from podium.contract.requests import (
    ACCEPT,
    DECLINE,
    Option,
    OptionEffect,
    Question,
    QuestionOption,
    RequestContent,
    RequestKind,
)
from podium.providers.acp import tools
from podium.providers.acp.children import known
from podium.providers.acp.drafting import Draft
from podium.providers.acp.reading import (
    Json,
    bounded,
    fits,
    is_list,
    is_object,
    native_id,
    obj,
    rows,
    text,
)
from podium.providers.acp.state import REQUESTS_MAX, Field, Request, Session, Tool
from podium.providers.acp.turns import tool_ref, watch, working

CANCEL = "cancel"
ALLOW_ALWAYS = "accept_always"
DECLINE_ALWAYS = "decline_always"
OPTIONS_MAX = 8
"""Most options of a request that are offered."""

FIELDS_MAX = 16
"""Most fields of a form that are asked."""

LABEL_MAX = 200
QUESTION_MAX = 400
"""Longest question that can be answered by its text, in encoded bytes: the state keeps it."""

QUESTIONS_MAX = 4
"""Most questions of one request of that kind."""

METHOD_NOT_FOUND = -32601

OURS: dict[str, tuple[str, str, OptionEffect]] = {
    "allow_once": (ACCEPT, "Allow", "allow_once"),
    "allow_always": (ALLOW_ALWAYS, "Always allow", "allow_always"),
    "reject_once": (DECLINE, "Decline", "decline"),
    "reject_always": (DECLINE_ALWAYS, "Always decline", "decline"),
}
KINDS: dict[str, RequestKind] = {"command": "command_approval", "file_change": "file_change_approval"}
FORM_OPTIONS = (
    Option(ACCEPT, "Answer", "other"),
    Option(DECLINE, "Decline to answer", "decline"),
    Option(CANCEL, "Cancel", "cancel"),
)


def request(draft: Draft, method: str, rpc_id: int | str, params: Json) -> None:
    """A request of the agent. An unknown one is refused by the protocol's own error, never left open."""
    thread = native_id(params, "sessionId")
    session = known(draft, thread, params) if thread else None
    asked = ("session/request_permission", "elicitation/create", draft.flavour.question_method)
    if session is None or not fits(str(rpc_id)) or method not in asked:
        error = {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method[:LABEL_MAX]}"}
        draft.send({"id": rpc_id, "error": error})
        turn = session.turn.id if session is not None and session.turn is not None else None
        known_one = bool(draft.flavour.news) and method.startswith(draft.flavour.news)
        opaque = OpaqueSeen(method[:LABEL_MAX], params, thread, turn)
        draft.emit(DiagnosticSeen(method[:LABEL_MAX]) if known_one else opaque)
    elif any(same_id(held.rpc_id, rpc_id) for held in draft.state.requests.values()):
        draft.emit(DiagnosticSeen("request_repeated"))  # it is open; one answer serves both (F125)
    elif len(draft.state.requests) >= REQUESTS_MAX:
        cancelled = {"outcome": {"outcome": "cancelled"}, "action": CANCEL}
        draft.send({"id": rpc_id, "result": cancelled})
        draft.emit(OpaqueSeen("too many open requests", params, thread))
    elif asks_in_permission(draft, params):
        pick(draft, session, rpc_id, new_key(draft, rpc_id), params)
    elif method == "session/request_permission":
        permission(draft, session, rpc_id, new_key(draft, rpc_id), params)
    elif method == "elicitation/create":
        form(draft, session, rpc_id, new_key(draft, rpc_id), params)
    else:
        questions(draft, session, rpc_id, new_key(draft, rpc_id), params)


def request_key(rpc_id: int | str) -> str:
    """Our key of a request: its id as JSON, so that 7 and "7" differ."""
    return msgspec.json.encode(rpc_id).decode()[:LABEL_MAX]


def same_id(one: int | str, other: object) -> bool:
    """Whether two request ids are the same id."""
    return type(one) is type(other) and one == other


def new_key(draft: Draft, rpc_id: int | str) -> str:
    """Our key of a new request. Ids that went up before go up; any other may have been used already."""
    state = draft.state
    seen = state.requests_seen + 1
    rising = isinstance(rpc_id, int) and rpc_id > state.newest_request
    newest = rpc_id if isinstance(rpc_id, int) and rising else state.newest_request
    draft.state = msgspec.structs.replace(state, requests_seen=seen, newest_request=newest)
    return request_key(rpc_id) if rising else f"{request_key(rpc_id)}#{seen}"


def permission(draft: Draft, session: Session, rpc_id: int | str, name: str, params: Json) -> None:
    """The agent wants to act. The request may be the first that is heard of the tool call."""
    given = obj(params, "toolCall")
    key = tools.tool_update(draft, session, given, announced=False)
    session = draft.session(session.id) or session
    tool = session.tools.get(key or "")
    options, choices = offered(rows(params, "options"))
    turn = session.turn.id if session.turn is not None else None
    kind: RequestKind = KINDS.get(tool.kind, "tool_approval") if tool is not None else "tool_approval"
    if tool is not None and (tool.content.native_kind == "read"):
        kind = "file_read_approval"
    draft.put_request(name, Request(rpc_id, session.id, "permission", key, choices))
    watch(draft, session)
    item = tool_ref(session, tool) if tool is not None else None
    content = request_content(tool, given)
    draft.emit(RequestOpened(name, Ref(session.id, turn, name), kind, content, options, item))


def request_content(tool: Tool | None, given: Json) -> RequestContent:
    """The words a person needs to decide: from this request, else from what the call said before."""
    content = (
        tools.merged(tool.content, given) if tool is not None else tools.merged(tools.ItemContent(), given)
    )
    return RequestContent(
        title=content.title or "The agent asks for permission",
        command=content.command,
        cwd=content.cwd,
        paths=tuple(c.path for c in content.changes) or ((content.path,) if content.path else ()),
        diff="".join(f"--- {c.path}\n{c.diff}" for c in content.changes) or None,
    )


def offered(native: list[Json]) -> tuple[tuple[Option, ...], dict[str, str]]:
    """The agent's options under our ids. Declining is always possible; accepting only where it is offered."""
    options: list[Option] = []
    choices: dict[str, str] = {}
    for row in native[:OPTIONS_MAX]:
        option_id, label = text(row, "optionId"), (text(row, "name") or "")[:LABEL_MAX]
        if option_id is None or not fits(option_id):
            continue
        ours, words, effect = OURS.get(
            text(row, "kind") or "", (f"other:{option_id}", label or option_id, "other")
        )
        name, count = ours, 2
        while name in choices:
            name, count = f"{ours}_{count}", count + 1
        choices[name] = option_id
        options.append(Option(name, words if name == ours else label or words, effect, label or None))
    if DECLINE not in choices:
        options.append(Option(DECLINE, "Decline", "decline"))
    order = {ACCEPT: 0, DECLINE: 2}
    return tuple(sorted(options, key=lambda option: order.get(option.id, 1))), choices


def form(draft: Draft, session: Session, rpc_id: int | str, key: str, params: Json) -> None:
    """The agent asks questions; a form becomes questions in the order of its fields."""
    session, turn = working(draft, session)
    call_id = native_id(params, "toolCallId")
    tool = session.tools.get(call_id or "")
    item = tool_ref(session, tool) if tool is not None else None
    schema = obj(params, "requestedSchema")
    required = schema.get("required")
    needed = required if is_list(required) else []
    fields: list[Field] = []
    questions: list[Question] = []
    for name, row in list(obj(schema, "properties").items())[:FIELDS_MAX]:
        if is_object(row) and fits(name):
            fields.append(Field(name, bounded(text(row, "type") or "string")))
            questions.append(question(name, row, required=name in needed))
    title = (text(params, "message") or "The agent asks")[: 10 * LABEL_MAX]
    draft.put_request(key, Request(rpc_id, session.id, "form", call_id, fields=tuple(fields)))
    watch(draft, session)
    kind: RequestKind = "question" if questions else "elicitation"
    content = RequestContent(title, questions=tuple(questions), payload=None if questions else params)
    draft.emit(RequestOpened(key, Ref(session.id, turn.id, key), kind, content, FORM_OPTIONS, item))


def questions(draft: Draft, session: Session, rpc_id: int | str, key: str, params: Json) -> None:
    """The agent asks by an extension of its own: questions with labels, answered by their text."""
    session, turn = working(draft, session)
    call_id = native_id(params, "toolCallId")
    tool = session.tools.get(call_id or "")
    item = tool_ref(session, tool) if tool is not None else None
    asked = labelled(rows(params, "questions"), QUESTION_MAX)
    fields = tuple(Field(question.text, "array") for question in asked)
    draft.put_request(key, Request(rpc_id, session.id, "ask", call_id, fields=fields))
    watch(draft, session)
    content = RequestContent("The agent asks", questions=asked, payload=None if asked else params)
    draft.emit(RequestOpened(key, Ref(session.id, turn.id, key), "question", content, FORM_OPTIONS, item))


def asks_in_permission(draft: Draft, params: Json) -> bool:
    """Whether a permission is none, but questions to a person."""
    meta = obj(obj(params, "toolCall"), "_meta")
    asked = bool(draft.flavour.question_meta) and bool(labelled(rows(meta, draft.flavour.question_meta)))
    return asked and ACCEPT in offered(rows(params, "options"))[1]


def pick(draft: Draft, session: Session, rpc_id: int | str, name: str, params: Json) -> None:
    """Questions that come as a permission: the answers go beside the option that allows it, by number."""
    given = obj(params, "toolCall")
    key = tools.tool_update(draft, session, given, announced=False)
    session = draft.session(session.id) or session
    tool = session.tools.get(key or "")
    asked = labelled(rows(obj(given, "_meta"), draft.flavour.question_meta))
    fields = tuple(Field(question.id, "text") for question in asked)
    choices = offered(rows(params, "options"))[1]
    draft.put_request(name, Request(rpc_id, session.id, "pick", key, choices, fields))
    watch(draft, session)
    ref = Ref(session.id, session.turn.id if session.turn is not None else None, name)
    content = RequestContent("The agent asks", questions=asked)
    item = tool_ref(session, tool) if tool is not None else None
    draft.emit(RequestOpened(name, ref, "question", content, FORM_OPTIONS, item))


def labelled(given: list[Json], longest: int | None = None) -> tuple[Question, ...]:
    """Questions whose options are labels, each named by its number; one longer than `longest` is none."""
    asked: list[Question] = []
    for number, row in enumerate(given[:QUESTIONS_MAX]):
        said = text(row, "question")
        if said is None or (longest is not None and len(msgspec.json.encode(said)) > longest):
            continue
        options = tuple(
            QuestionOption(label, text(choice, "description") or "")
            for choice in rows(row, "options")[:OPTIONS_MAX]
            if (label := text(choice, "label")) is not None
        )
        asked.append(Question(str(number), said, "", options, row.get("multiSelect") is True))
    return tuple(asked)


def question(name: str, row: Json, *, required: bool) -> Question:
    """One field of a form."""
    items = obj(row, "items")
    multiple = text(row, "type") == "array"
    source = items if multiple else row
    stated = [*rows(source, "oneOf"), *rows(source, "anyOf")]
    options = [
        QuestionOption(str(choice["const"]), text(choice, "description") or "")
        for choice in stated[:OPTIONS_MAX]
        if "const" in choice
    ]
    plain = source.get("enum")
    options += [QuestionOption(str(value)) for value in (plain if is_list(plain) else [])[:OPTIONS_MAX]]
    title = text(row, "title") or name
    return Question(
        name, text(row, "description") or title, title, tuple(options), multiple, not options, False, required
    )


def respond(draft: Draft, ask: Respond) -> None:
    """Translate an answer into what the agent expects, and send it."""
    held = draft.state.requests.get(ask.request)
    if held is None:
        draft.refuse(ask, "request_unknown", "The agent no longer waits for this answer.")
        return
    answer = ask.answer
    if held.kind == "permission":
        chosen = held.choices.get(answer.decision)
        if chosen is None and answer.decision != DECLINE:
            fix = f"Choose one of {', '.join(held.choices)}."
            draft.refuse(ask, "option_not_offered", f"{answer.decision!r} is not offered.", fix)
            return
        selected = {"outcome": "selected", "optionId": chosen}
        result: Json = {"outcome": selected if chosen is not None else {"outcome": "cancelled"}}
        if answer.decision.startswith(DECLINE):
            declined(draft, held)
    else:
        form_result = filled(draft, ask, held)
        if form_result is None:
            return
        result = form_result
    draft.send({"id": held.rpc_id, "result": result}, ask.ask_id)
    draft.drop_request(ask.request)
    draft.emit(RequestClosed(ask.request, "answer"))
    draft.emit(AskDone(ask.ask_id))
    if (session := draft.session(held.thread)) is not None:
        watch(draft, session)


def declined(draft: Draft, held: Request) -> None:
    """Remember that a person said no, so that the call's failure reads as declined."""
    session = draft.session(held.thread)
    tool = session.tools.get(held.tool or "") if session is not None else None
    if session is not None and held.tool is not None and tool is not None:
        draft.put_tool(session, held.tool, msgspec.structs.replace(tool, declined=True))


def filled(draft: Draft, ask: Respond, held: Request) -> Json | None:
    """A form's answer; None where it does not fit and was refused."""
    answer = ask.answer
    if answer.decision in (DECLINE, CANCEL):
        return unanswered(held, answer.decision)
    answers = answer.answers or ()
    if answer.decision != ACCEPT:
        draft.refuse(ask, "option_not_offered", f"{answer.decision!r} is not offered.")
        return None
    if len(answers) != len(held.fields):
        message = f"{len(held.fields)} questions need as many answers, not {len(answers)}."
        draft.refuse(ask, "answers_count", message, "Give one list for each question.")
        return None
    if held.kind == "pick":
        picked = {
            field.name: ", ".join(given) for field, given in zip(held.fields, answers, strict=True) if given
        }
        return {"outcome": {"outcome": "selected", "optionId": held.choices.get(ACCEPT)}, "answers": picked}
    if held.kind == "ask":
        told = {field.name: list(given) for field, given in zip(held.fields, answers, strict=True) if given}
        return {"outcome": "accepted", "answers": told}
    content: dict[str, Any] = {}
    for field, given in zip(held.fields, answers, strict=True):
        if given:
            content[field.name] = list(given) if field.type == "array" else typed(field.type, given[0])
    return {"action": "accept", "content": content}


def unanswered(held: Request, decision: str) -> Json:
    """What an agent is told that gets no answer; whoever asked for leave hears that it was cancelled."""
    cancelled: Json = {"outcome": "cancelled"}
    if held.kind in ("permission", "pick"):
        chosen = held.choices.get(DECLINE) if decision == DECLINE else None
        picked: Json = {"outcome": "selected", "optionId": chosen}
        return {"outcome": picked if chosen is not None else cancelled}
    return cancelled if held.kind == "ask" else {"action": decision}


def typed(kind: str, said: str) -> Any:
    """An answer in the type its field wants; as text where it does not read as that."""
    if kind == "boolean":
        return said.strip().lower() in ("true", "yes", "1")
    if kind in ("integer", "number"):
        try:
            return int(said) if kind == "integer" else float(said)
        except ValueError:
            return said
    return said


def cancel_requests(draft: Draft, thread: str) -> None:
    """Answer what is open as cancelled: the protocol asks this of a client that cancels a turn."""
    for key, held in list(draft.state.requests.items()):
        session = draft.session(held.thread)
        if held.thread == thread or (session is not None and session.parent == thread):
            draft.send({"id": held.rpc_id, "result": unanswered(held, CANCEL)})
            draft.drop_request(key)
            draft.emit(RequestClosed(key, "agent", "interrupted"))


def lost(draft: Draft, reason: str) -> None:
    """The process is gone: nobody waits for any answer."""
    for key in list(draft.state.requests):
        draft.drop_request(key)
        draft.emit(RequestClosed(key, "agent", reason))
