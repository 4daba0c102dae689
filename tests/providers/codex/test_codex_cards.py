"""Cards of the agent's requests, and a person's answers."""

from __future__ import annotations

from typing import Any

import pytest

from podium.contract.events import AskFailed, Notice, RequestOpened
from podium.contract.requests import Answer
from podium.providers.codex.cards import REPLY_MAX
from podium.providers.codex.state import PATHS_MAX
from tests.providers.codex.playing import Play

PLACE = {"threadId": "th-1", "turnId": "tu-1", "itemId": "c1"}
COMMAND = "item/commandExecution/requestApproval"


def _asked(method: str, params: dict[str, Any], native: int | str = 0) -> tuple[Play, RequestOpened]:
    play = Play().running()
    play.frame(method, PLACE | params, id=native)
    return play, play.of(RequestOpened)[0]


def _offers(opened: RequestOpened) -> dict[str, str]:
    return {option.id: option.effect for option in opened.options}


RULE = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "x1"]}}


@pytest.mark.parametrize(
    ("listed", "offered"),
    [
        (["accept", "cancel"], ["accept", "decline", "cancel"]),
        (["accept"], ["accept", "decline"]),
        (["accept", RULE, "cancel"], ["accept", "accept_rule", "decline", "cancel"]),
        (["accept", "acceptForSession"], ["accept", "accept_session", "decline"]),
        (["accept", "acceptForSession", "acceptForSession"], ["accept", "accept_session", "decline"]),
        ([], ["accept", "decline"]),
        (None, ["accept", "decline", "cancel"]),
        ("accept", ["accept", "decline", "cancel"]),
        ([{"applyNetworkPolicyAmendment": {"host": "x"}}, 5, None, "future"], ["accept", "decline"]),
        ([{**RULE, "also": 1}], ["accept", "decline"]),
    ],
)
def test_a_command_offers_what_the_agent_offers_and_always_a_no(listed: Any, offered: list[str]) -> None:
    _, opened = _asked(COMMAND, {"command": "touch x1", "availableDecisions": listed})
    assert list(_offers(opened)) == offered


def test_a_standing_rule_is_shown_in_its_words_and_sent_as_it_came() -> None:
    play, opened = _asked(COMMAND, {"availableDecisions": ["accept", RULE]})
    (rule,) = [option for option in opened.options if option.id == "accept_rule"]
    assert (rule.effect, rule.native_label) == ("allow_always", "touch x1")
    play.respond(opened.key, Answer("accept_rule"))
    assert play.lines[-1] == {"id": 0, "result": {"decision": RULE}}


@pytest.mark.parametrize("choice", ["accept", "decline", "cancel"])
def test_a_patch_shows_its_paths(choice: str) -> None:
    play = Play().running()
    changes = [
        {"path": f"/ws/{number}", "kind": {"type": "add"}, "diff": "x"} for number in range(PATHS_MAX + 9)
    ]
    play.item("started", {"type": "fileChange", "id": "c1", "changes": changes, "status": "inProgress"})
    play.frame("item/fileChange/requestApproval", PLACE | {"reason": None, "grantRoot": "/"}, id=6)
    (opened,) = play.of(RequestOpened)
    assert opened.content.paths == tuple(f"/ws/{number}" for number in range(PATHS_MAX))
    assert opened.content.payload == {"grant_root": "/"}
    assert list(_offers(opened)) == ["accept", "decline", "cancel"]
    play.respond(opened.key, Answer(choice))
    assert play.lines[-1] == {"id": 6, "result": {"decision": choice}}


WANTED = {"network": {"enabled": True}, "fileSystem": None}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("accept", {"permissions": WANTED, "scope": "turn"}),
        ("accept_session", {"permissions": WANTED, "scope": "session"}),
        ("decline", {"permissions": {}, "scope": "turn"}),
    ],
)
def test_permissions_are_granted_as_wanted_or_not_at_all(choice: str, sent: dict[str, Any]) -> None:
    play, opened = _asked("item/permissions/requestApproval", {"permissions": WANTED, "reason": "net"})
    assert opened.content.payload == {"permissions": WANTED}
    play.respond(opened.key, Answer(choice))
    assert play.lines[-1] == {"id": 0, "result": sent}


def test_a_wish_too_large_to_keep_can_only_be_declined() -> None:
    huge = {"paths": ["x" * REPLY_MAX]}
    _, opened = _asked("item/permissions/requestApproval", {"permissions": huge})
    assert list(_offers(opened)) == ["decline"]


QUESTIONS: list[dict[str, Any]] = [
    {"id": "color", "header": "Color", "question": "Which?", "isOther": False, "options": [{"label": "Red"}]},
    {"id": "why", "header": "Why", "question": "Why?", "isSecret": True, "options": []},
]


@pytest.mark.behaviour("F144")
def test_answers_are_positional() -> None:
    play, opened = _asked("item/tool/requestUserInput", {"questions": QUESTIONS})
    first, second = opened.content.questions
    assert (first.free_text, first.secret, first.options[0].label) == (False, False, "Red")
    assert (second.free_text, second.secret) == (True, True)
    play.respond(opened.key, Answer("accept", answers=(("Red",), ("because", "so"))))
    assert play.lines[-1]["result"] == {
        "answers": {"color": {"answers": ["Red"]}, "why": {"answers": ["because", "so"]}}
    }


@pytest.mark.parametrize("answers", [None, (), (("Red",),), (("Red",), ()), (("Red",), ("x",), ("y",))])
@pytest.mark.behaviour("F144")
def test_answers_that_do_not_fit_leave_the_question_open(answers: tuple[tuple[str, ...], ...] | None) -> None:
    play, opened = _asked("item/tool/requestUserInput", {"questions": QUESTIONS})
    sent = len(play.lines)
    play.respond(opened.key, Answer("accept", answers=answers))
    assert play.of(AskFailed)[0].failure.code == "answer_invalid"
    assert len(play.lines) == sent
    play.respond(opened.key, Answer("decline"), "r2")
    assert play.lines[-1] == {"id": 0, "result": {"answers": {}}}


def test_one_question_takes_plain_text() -> None:
    play, opened = _asked("item/tool/requestUserInput", {"questions": QUESTIONS[1:]})
    play.respond(opened.key, Answer("accept", text="because"))
    assert play.lines[-1]["result"] == {"answers": {"why": {"answers": ["because"]}}}


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "age": {"type": "integer"},
        "size": {"type": "number"},
        "sure": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["a", "b"]},
    },
    "required": ["name"],
}


def test_a_flat_form_is_questions_and_its_answers_have_their_types() -> None:
    play, opened = _asked(
        "mcpServer/elicitation/request", {"serverName": "echo", "message": "Who?", "requestedSchema": SCHEMA}
    )
    assert [(q.id, q.required, q.free_text) for q in opened.content.questions] == [
        ("name", True, True),
        ("age", False, True),
        ("size", False, True),
        ("sure", False, False),
        ("kind", False, False),
    ]
    play.respond(opened.key, Answer("accept", answers=(("bob",), ("x",), (), (), ())), "bad")
    assert play.of(AskFailed)[0].failure.code == "answer_invalid"
    play.respond(opened.key, Answer("accept", answers=(("bob",), ("7",), ("1.5",), ("true",), ())), "good")
    assert play.lines[-1]["result"] == {
        "action": "accept",
        "content": {"name": "bob", "age": 7, "size": 1.5, "sure": True},
        "_meta": None,
    }


@pytest.mark.parametrize("number", ["nan", "inf", "-Infinity", "", "1,5", "maybe"])
def test_a_number_that_json_has_not_is_refused(number: str) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "number"}}}
    play, opened = _asked("mcpServer/elicitation/request", {"requestedSchema": schema})
    play.respond(opened.key, Answer("accept", answers=((number,),)))
    assert play.of(AskFailed)[0].failure.code == "answer_invalid"


@pytest.mark.parametrize("choice", ["decline", "cancel"])
def test_a_form_can_be_refused(choice: str) -> None:
    play, opened = _asked("mcpServer/elicitation/request", {"requestedSchema": SCHEMA})
    play.respond(opened.key, Answer(choice))
    assert play.lines[-1]["result"] == {"action": choice, "content": None, "_meta": None}


def test_a_nested_form_is_shown_whole_and_answered_as_given() -> None:
    nested = {"type": "object", "properties": {"a": {"type": "object"}}}
    play, opened = _asked("mcpServer/elicitation/request", {"requestedSchema": nested, "mode": "form"})
    assert opened.content.questions == ()
    assert opened.content.payload is not None
    assert opened.content.payload["schema"] == nested
    play.respond(opened.key, Answer("accept", updated_input={"a": {"b": 1}}))
    assert play.lines[-1]["result"]["content"] == {"a": {"b": 1}}


def test_a_page_to_visit_is_shown_with_its_address() -> None:
    play, opened = _asked("mcpServer/elicitation/request", {"mode": "url", "url": "http://localhost/x"})
    assert opened.content.payload is not None
    assert opened.content.payload["url"] == "http://localhost/x"
    play.respond(opened.key, Answer("accept"))
    assert play.lines[-1]["result"] == {"action": "accept", "content": None, "_meta": None}


def test_one_request_too_many_is_refused_in_words() -> None:
    play = Play().running()
    native = 0
    while not play.of(Notice):
        play.frame(COMMAND, PLACE, id=native)
        native += 1
    assert len(play.of(RequestOpened)) == len(play.state.waiting) == native - 1 > 50
    assert play.lines[-1]["id"] == native - 1
    assert "error" in play.lines[-1]
    assert [notice.code for notice in play.of(Notice)] == ["request_refused"]


def test_a_request_of_an_unannounced_turn_starts_it() -> None:
    play = Play().opened()
    play.frame(COMMAND, PLACE, id=0)
    assert "th-1|tu-1" in play.state.turns
    assert play.state.turns["th-1|tu-1"].started
