"""What an agent may ask of a person, as data that is stored and answered much later."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.events import Ref, RequestOpened
from podium.contract.requests import (
    ACCEPT,
    DECLINE,
    Answer,
    Option,
    Question,
    QuestionOption,
    RequestContent,
)

FORM = RequestContent(
    title="Two things",
    reason="It must know.",
    command="make test",
    cwd="/w",
    paths=("a", "b"),
    diff="+x",
    questions=(
        Question("q1", "Which?", options=(QuestionOption("red"), QuestionOption("blue", "cold"))),
        Question("q2", "Password?", secret=True, free_text=True, multiple=False, required=False),
    ),
    payload={"foreign": [1, None]},
)

CARD = RequestOpened(
    "n:1",
    Ref("t", "u", "i"),
    "elicitation",
    FORM,
    (Option(ACCEPT, "Allow once", "allow_once", "Yes, proceed"), Option(DECLINE, "Decline", "decline")),
    item=Ref("t", "u", "i"),
)

ANSWERS = [
    Answer(ACCEPT),
    Answer(ACCEPT, (("red",), ())),
    Answer(DECLINE, text="not now"),
    Answer("always", updated_input={"command": "make"}),
]


@pytest.mark.parametrize("value", [CARD, *ANSWERS])
def test_a_card_and_its_answers_are_stored_and_read_back(value: RequestOpened | Answer) -> None:
    stored = msgspec.json.encode(value)
    read = msgspec.json.decode(stored, type=RequestOpened if isinstance(value, RequestOpened) else Answer)
    assert read == value
    assert msgspec.json.encode(read) == stored


def test_no_answer_and_an_empty_answer_are_two_things() -> None:
    assert Answer(ACCEPT).answers is None
    stored = msgspec.json.encode(Answer(ACCEPT, ()))
    assert msgspec.json.decode(stored, type=Answer).answers == ()


def test_the_two_options_that_every_approval_offers_never_change() -> None:
    assert (ACCEPT, DECLINE) == ("accept", "decline")


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Answer, {}),
        (Answer, {"decision": None}),
        (Answer, {"decision": "accept", "answers": ["red"]}),
        (Answer, {"decision": "accept", "answers": [[1]]}),
        (Answer, {"decision": "accept", "updated_input": []}),
        (Option, {"id": "accept", "label": "Yes", "effect": "allow_for_ever"}),
        (Question, {"id": "q"}),
        (RequestOpened, {"event": "request_opened", "key": "k", "ref": {"thread": "t"}, "kind": "demand"}),
    ],
)
def test_another_shape_is_refused(kind: Any, data: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(data, kind)


def test_a_question_takes_one_free_answer_unless_it_says_otherwise() -> None:
    question = Question("q", "Which?")
    assert (question.multiple, question.free_text, question.secret, question.required) == (
        False,
        True,
        False,
        True,
    )
