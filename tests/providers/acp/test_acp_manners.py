"""Manners of single agents, each in a small made-up conversation: what a flavour's fields do."""

from __future__ import annotations

from typing import Any

import pytest

from podium.contract.events import (
    AskDone,
    DiagnosticSeen,
    ItemSeen,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    Retrying,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnEnded,
    TurnStarted,
    UsageSeen,
)
from podium.contract.handles import Handle
from podium.contract.inputs import Ask, EnsureThread, InterruptTurn, Respond
from podium.contract.requests import Answer
from podium.providers.acp import AcpAdapter, copilot, gemini, grok, qwen
from tests.providers.acp.acp_play import Play

OPTIONS: Any = [
    {"optionId": "once", "kind": "allow_once"},
    {"optionId": "no", "kind": "reject_once"},
    {"optionId": "project", "kind": "allow_always"},
]
QUESTIONS: Any = [
    {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]},
    {"question": "And?", "multiSelect": True, "options": [{"label": "A"}, {"label": "B"}]},
]


def working(of: AcpAdapter, **result: Any) -> Play:
    """Past a prompt."""
    return Play(of).ready().bound(**result).prompted()


def piece(play: Play, said: str, **members: Any) -> None:
    """One piece of the agent's text."""
    play.update("agent_message_chunk", content={"type": "text", "text": said}, **members)


def asks(play: Play, **tool: Any) -> None:
    """The agent asks for permission."""
    play.frame(
        "session/request_permission",
        {"sessionId": "s", "options": OPTIONS, "toolCall": {"toolCallId": "c", **tool}},
        id=7,
    )


def respond(play: Play, answer: Answer) -> dict[str, Any]:
    """Answer the newest request; what went out."""
    play.feed(Ask(Respond("answer", play.of(RequestOpened)[-1].key, answer)))
    return play.lines[-1]


def test_questions_in_a_permission_are_questions_answered_by_their_number() -> None:
    play = working(qwen)
    asks(play, _meta={"qwenQuestions": QUESTIONS})
    [opened] = play.of(RequestOpened)
    assert opened.kind == "question" and [q.multiple for q in opened.content.questions] == [False, True]
    line = respond(play, Answer("accept", (("Red",), ("A", "B"))))
    chosen = {"outcome": "selected", "optionId": "once"}
    assert line == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"outcome": chosen, "answers": {"0": "Red", "1": "A, B"}},
    }
    assert play.of(AskDone) and [e.by for e in play.of(RequestClosed)] == ["answer"]


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [
        ("decline", {"outcome": "selected", "optionId": "no"}),
        ("cancel", {"outcome": "cancelled"}),
    ],
)
def test_questions_in_a_permission_can_be_declined(decision: str, outcome: dict[str, str]) -> None:
    play = working(qwen)
    asks(play, _meta={"qwenQuestions": QUESTIONS})
    assert respond(play, Answer(decision))["result"] == {"outcome": outcome}


def test_questions_in_a_permission_are_cancelled_with_the_turn() -> None:
    play = working(qwen)
    asks(play, _meta={"qwenQuestions": QUESTIONS})
    play.feed(Ask(InterruptTurn("stop", "s")))
    assert play.lines[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_without_that_manner_a_permission_stays_one_and_a_plain_one_too() -> None:
    for of, meta in ((grok, {"qwenQuestions": QUESTIONS}), (qwen, {}), (qwen, {"qwenQuestions": "odd"})):
        play = working(of)
        asks(play, kind="execute", _meta=meta)
        assert [opened.kind for opened in play.of(RequestOpened)] == ["command_approval"]
        line = respond(play, Answer("accept"))
        assert line["result"]["outcome"]["optionId"] == "once"  # never one of the lasting rules


def test_each_answer_of_the_model_counts_once_and_opens_no_message() -> None:
    play = working(qwen)
    for number in (100, 20):
        piece(play, "", _meta={"usage": {"inputTokens": number, "outputTokens": 1}})
    seen = play.of(UsageSeen)
    assert [usage.last.input for usage in seen] == [100, 20]
    assert len({usage.key for usage in seen}) == 2 and not play.of(ItemSeen)
    play.reply({"stopReason": "end_turn", "_meta": {"usage": {"inputTokens": 120}}})
    assert len(play.of(UsageSeen)) == 2


def test_an_empty_piece_behind_a_turn_begins_none() -> None:
    play = working(qwen)
    play.reply({"stopReason": "end_turn"})
    piece(play, "", _meta={"usage": {"inputTokens": 1}})
    assert len(play.of(TurnStarted)) == 1 and not play.of(UsageSeen)


def test_a_message_that_stands_alone_is_one_of_its_own() -> None:
    play = working(qwen)
    for said, alone in (("one", False), ("news", True), ("two", False)):
        piece(play, said, **({"_meta": {"qwenDiscreteMessage": True}} if alone else {}))
    texts = {event.ref.fingerprint: event.text for event in play.of(TextDelta)}
    assert list(texts.values()) == ["one", "news", "two"]


def test_a_turn_of_the_agents_own_ends_when_it_says_so_and_a_prompted_one_does_not() -> None:
    play = working(qwen)
    piece(play, "w")
    play.frame("_qwencode/end_turn", {"sessionId": "s", "reason": "end_turn"})
    assert not play.of(TurnEnded)
    play.reply({"stopReason": "end_turn"})
    piece(play, "by itself")
    play.frame("_qwencode/end_turn", {"sessionId": "s", "reason": "cancelled"})
    assert [ended.outcome for ended in play.of(TurnEnded)] == ["completed", "interrupted"]


def test_a_known_request_that_is_not_served_is_refused_and_counted() -> None:
    for method, kind in (("craft/drainMidTurnQueue", DiagnosticSeen), ("other/thing", OpaqueSeen)):
        play = working(qwen)
        play.frame(method, {"sessionId": "s"}, id=3)
        assert play.lines[-1]["error"]["code"] == -32601
        assert [event.name for event in play.of(kind)] == [method]


def test_a_mode_said_as_text_is_no_message_while_it_is_set() -> None:
    modes: Any = {"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "yolo"}]}
    play = Play(gemini).ready().bound("full", modes=modes)
    piece(play, "[MODE_UPDATE] yolo")
    assert not play.of(TurnStarted) and not play.of(ThreadBound)
    play.reply({})
    play.prompted()
    piece(play, "[MODE_UPDATE] is how it begins")
    assert play.of(ThreadBound) and [event.text for event in play.of(TextDelta)] == [
        "[MODE_UPDATE] is how it begins"
    ]


def test_the_description_of_a_call_is_none_of_its_output() -> None:
    told: Any = {
        "status": "in_progress",
        "content": [{"type": "content", "content": {"type": "text", "text": "in /w"}}],
    }
    for of, seen in ((gemini, []), (grok, ["in /w"])):
        play = working(of)
        play.update("tool_call", toolCallId="c", kind="execute", title="ls", **told)
        assert [event.text for event in play.of(TextDelta)] == seen


def test_a_load_that_destroys_is_never_sent() -> None:
    play = Play(gemini).ready(offers={"loadSession": True})
    play.feed(Ask(EnsureThread("bind", "/w", "ask", Handle("acp", "gemini", "s"))))
    [missing] = play.of(ThreadMissing)
    assert missing.kind == "not_resumable" and [line["method"] for line in play.lines] == ["initialize"]


def test_an_error_as_last_words_is_a_failed_turn_unless_more_is_said() -> None:
    for words, outcome, code in (
        (["Error: (HTTP 401)"], "failed", "auth_required"),
        (["Error: 429 too many"], "failed", "rate_limited"),
        (["Error: 500", "Well."], "completed", None),
    ):
        play = working(copilot)
        for said in words:
            piece(play, said)
        play.reply({"stopReason": "end_turn"})
        [ended] = play.of(TurnEnded)
        assert (ended.outcome, ended.evidence) == (outcome, "inferred")
        assert (ended.failure.code if ended.failure else None) == code


def test_a_retry_told_as_text_is_a_retry() -> None:
    play = working(copilot)
    for said in ("half ", "Info: Interrupted. Retrying...", "half a day"):
        piece(play, said)
    assert len(play.of(Retrying)) == 1
    assert "".join(event.text for event in play.of(TextDelta)) == "half half a day"


def test_what_may_be_done_unasked_can_be_an_option_of_its_own() -> None:
    option: Any = {"id": "allow_all", "currentValue": "off", "options": [{"value": "on"}, {"value": "off"}]}
    modes: Any = {"currentModeId": "agent", "availableModes": [{"id": "agent"}, {"id": "on"}]}
    play = Play(copilot).ready().bound("full", modes=modes, configOptions=[option])
    line = play.lines[-1]
    assert line["method"] == "session/set_config_option"
    assert line["params"] == {"sessionId": "s", "configId": "allow_all", "value": "on"}
    play.update("current_mode_update", currentModeId="agent")
    play.reply({"configOptions": [{**option, "currentValue": "on"}]})
    assert play.of(ThreadBound) and play.state.sessions["s"].mode == "on"


def test_an_answer_keeps_the_number_of_its_question() -> None:
    play = working(qwen)
    asks(
        play, _meta={"qwenQuestions": [{"odd": True}, {"question": "Which?", "options": [{"label": "Red"}]}]}
    )
    assert respond(play, Answer("accept", (("Red",),)))["result"]["answers"] == {"1": "Red"}
