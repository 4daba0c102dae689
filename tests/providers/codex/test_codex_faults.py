"""Faults seen in the field, with inputs of their own."""

from __future__ import annotations

from typing import Any

import pytest

from podium.contract.adapter import SetTimer
from podium.contract.events import (
    AskDone,
    AskFailed,
    BackgroundSeen,
    ItemSeen,
    Limited,
    Notice,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    Retrying,
    SubagentSeen,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Ask, EnsureThread, Exit, InterruptTurn, SendTurn, TextBlock, Timer
from podium.contract.requests import Answer
from podium.providers.codex.settle import READS_MAX, SETTLE_SECONDS
from tests.providers.codex.playing import Play

COMMAND: dict[str, Any] = {"type": "commandExecution", "id": "c1", "command": "make check", "cwd": "."}
TIMER = "settle:th-1"


def _record(status: str) -> dict[str, Any]:
    return {"thread": {"id": "th-1", "status": {"type": "idle"}, "turns": [{"id": "tu-1", "status": status}]}}


def _silent() -> Play:
    """All items done, the thread idle, and no terminal event (B17)."""
    play = Play().running()
    play.item("started", COMMAND | {"status": "inProgress"})
    play.item("completed", COMMAND | {"status": "completed", "exitCode": 0, "aggregatedOutput": "ok"})
    play.item("completed", {"type": "agentMessage", "id": "m1", "text": "all good"})
    assert play.status("idle").timers == (SetTimer(TIMER, SETTLE_SECONDS),)
    return play


@pytest.mark.behaviour("F047")
def test_b17_a_turn_without_its_end_is_settled_by_reading() -> None:
    play = _silent()
    play.feed(Timer(TIMER))
    assert play.lines[-1] == {
        "id": 4,
        "method": "thread/read",
        "params": {"threadId": "th-1", "includeTurns": True},
    }
    play.result(4, _record("completed"))
    assert play.of(TurnEnded) == [TurnEnded("th-1", "tu-1", "completed", "inferred", None, "completed")]
    assert [line["method"] for line in play.lines].count("turn/start") == 1
    play.ended()
    assert len(play.of(TurnEnded)) == 1


def test_b17_an_announced_end_cancels_the_reading() -> None:
    play = _silent()
    assert play.ended().timers == (SetTimer(TIMER, None),)
    play.feed(Timer(TIMER))
    assert play.lines[-1]["method"] == "turn/start"
    assert play.of(TurnEnded)[0].evidence == "provider"


@pytest.mark.parametrize("end", ["failed", "interrupted"])
def test_b17_the_agents_own_outcome_is_taken(end: str) -> None:
    play = _silent()
    play.feed(Timer(TIMER))
    play.result(4, _record(end))
    assert [event.outcome for event in play.of(TurnEnded)] == [end]


def test_b17_silence_is_no_death_while_an_item_is_open() -> None:
    play = Play().running()
    play.item("started", COMMAND | {"status": "inProgress"})
    assert play.status("idle").timers == ()
    assert play.item("completed", COMMAND | {"status": "completed"}).timers == (
        SetTimer(TIMER, SETTLE_SECONDS),
    )


def test_b17_silence_is_no_death_while_a_request_is_open() -> None:
    play = Play().running()
    play.frame("item/commandExecution/requestApproval", {"threadId": "th-1", "turnId": "tu-1"}, id=0)
    assert play.status("idle").timers == ()
    assert play.frame("serverRequest/resolved", {"threadId": "th-1", "requestId": 0}).timers


def test_b17_work_that_goes_on_after_the_timer_was_set_is_left_alone() -> None:
    play = _silent()
    assert play.status("active").timers == (SetTimer(TIMER, None),)
    play.feed(Timer(TIMER))
    assert "thread/read" not in [line["method"] for line in play.lines]


def test_b17_the_record_is_read_a_bounded_number_of_times_then_a_person_is_told() -> None:
    play = _silent()
    for number in range(4, 4 + READS_MAX):
        play.feed(Timer(TIMER))
        assert play.lines[-1]["id"] == number
        play.result(number, _record("inProgress"))
    assert play.steps[-1].timers == ()
    assert [notice.code for notice in play.of(Notice)] == ["turn_stalled"]
    assert play.of(TurnEnded) == []
    play.ended()
    assert len(play.of(TurnEnded)) == 1


def test_b18_a_failed_turn_is_failed_once_and_makes_no_message() -> None:
    play = Play().running()
    play.ended("failed", {"message": "upstream said no", "codexErrorInfo": None})
    play.status("idle")
    (ended,) = play.of(TurnEnded)
    assert ended.outcome == "failed"
    assert ended.failure is not None
    assert ended.failure.message == "upstream said no"
    assert play.of(ItemSeen) == []
    assert play.steps[-1].timers == ()


def test_b25_an_interrupted_turn_forgets_its_items_and_a_late_end_reopens_nothing() -> None:
    play = Play().running()
    play.item("started", COMMAND | {"status": "inProgress"})
    play.item("started", {"type": "agentMessage", "id": "m1", "text": ""})
    play.frame(
        "item/agentMessage/delta", {"threadId": "th-1", "turnId": "tu-1", "itemId": "m1", "delta": "half"}
    )
    play.feed(Ask(InterruptTurn("a4", "th-1")))
    assert play.lines[-1]["params"] == {"threadId": "th-1", "turnId": "tu-1"}
    play.result(4, {})
    play.ended("interrupted")
    assert play.state.items == {}
    assert play.state.turns == {}
    play.item("completed", COMMAND | {"status": "failed", "exitCode": 130})
    late = play.of(ItemSeen)[-1]
    assert (late.ref.turn, late.ref.id, late.state) == ("tu-1", "c1", "failed")
    assert late.content.background
    assert [event.text for event in play.of(TextDelta)] == ["half"]
    assert len(play.of(TurnStarted)) == len(play.of(TurnEnded)) == 1
    assert play.state.turns == {}


def test_a_command_with_a_process_outlives_its_interrupted_turn() -> None:
    play = Play().running()
    play.item("started", COMMAND | {"status": "inProgress", "processId": "7"})
    play.ended("interrupted")
    (background,) = play.of(BackgroundSeen)
    assert [ref.id for ref in background.refs] == ["c1"]


@pytest.mark.parametrize("native", [0, "0", 7, "abc"])
def test_b28_one_answer_goes_out_with_the_id_as_it_came(native: int | str) -> None:
    play = Play().running()
    play.frame("item/commandExecution/requestApproval", {"threadId": "th-1", "turnId": "tu-1"}, id=native)
    (opened,) = play.of(RequestOpened)
    play.respond(opened.key, Answer("accept"), "r1")
    play.respond(opened.key, Answer("decline"), "r2")
    answers = [line for line in play.lines if "result" in line]
    assert answers == [{"id": native, "result": {"decision": "accept"}}]
    assert type(answers[0]["id"]) is type(native)
    (failed,) = play.of(AskFailed)
    assert (failed.ask_id, failed.failure.code) == ("r2", "request_gone")
    play.frame("serverRequest/resolved", {"threadId": "th-1", "requestId": native})
    assert play.of(RequestClosed) == [RequestClosed(opened.key, "answer")]
    assert AskDone("r1") in play.events
    play.respond(opened.key, Answer("accept"), "r3")
    assert len([line for line in play.lines if "result" in line]) == 1


def test_b28_a_number_and_a_text_of_the_same_digits_are_two_requests() -> None:
    play = Play().running()
    for native in (0, "0"):
        play.frame("item/commandExecution/requestApproval", {"threadId": "th-1", "turnId": "tu-1"}, id=native)
    first, second = (event.key for event in play.of(RequestOpened))
    assert first != second
    play.respond(second, Answer("decline"))
    assert play.lines[-1] == {"id": "0", "result": {"decision": "decline"}}


def test_b30_a_known_an_unknown_and_a_narrow_request() -> None:
    play = Play().running()
    place = {"threadId": "th-1", "turnId": "tu-1"}
    play.frame(
        "item/permissions/requestApproval",
        place | {"itemId": "c1", "permissions": {"network": {"enabled": True}}, "reason": "needs net"},
        id=3,
    )
    play.frame("item/quantum/requestApproval", place | {"itemId": "q1", "flavour": "strange"}, id=4)
    play.frame(
        "item/commandExecution/requestApproval",
        place | {"itemId": "c2", "command": "rm -r build", "availableDecisions": ["accept", "cancel"]},
        id=6,
    )
    known, unknown, narrow = play.of(RequestOpened)
    assert known.kind == "permission_approval"
    assert unknown.kind == "unknown"
    assert [option.id for option in unknown.options] == ["decline"]
    assert unknown.content.payload is not None
    assert unknown.content.payload["params"]["flavour"] == "strange"
    assert [notice.code for notice in play.of(Notice)] == ["unknown_request"]
    assert [option.id for option in narrow.options] == ["accept", "decline", "cancel"]
    sent = len(play.lines)
    play.respond(narrow.key, Answer("accept_session"))
    assert play.of(AskFailed)[-1].failure.code == "option_not_offered"
    assert len(play.lines) == sent
    play.respond(narrow.key, Answer("accept"))
    assert play.lines[-1] == {"id": 6, "result": {"decision": "accept"}}
    play.respond(unknown.key, Answer("decline"))
    assert play.lines[-1]["id"] == 4
    assert play.lines[-1]["error"]["code"] == -32601
    play.ended()
    assert {event.key for event in play.of(RequestClosed)} == {known.key, unknown.key, narrow.key}


def test_b30_a_request_outside_any_conversation_is_refused_at_once_and_said() -> None:
    play = Play().opened()
    play.frame("attestation/generate", {}, id=9)
    assert play.lines[-1]["id"] == 9
    assert play.lines[-1]["error"]["code"] == -32601
    assert [notice.code for notice in play.of(Notice)] == ["request_refused"]
    assert play.of(RequestOpened) == []


def test_b30_a_call_of_a_tool_nobody_offers_fails_at_once() -> None:
    play = Play().running()
    play.frame(
        "item/tool/call", {"threadId": "th-1", "turnId": "tu-1", "callId": "x", "tool": "ask_boss"}, id=1
    )
    assert play.lines[-1]["result"]["success"] is False
    assert [notice.code for notice in play.of(Notice)] == ["tool_missing"]


def _spawned(play: Play) -> None:
    call = {"type": "collabAgentToolCall", "id": "call-1", "tool": "spawnAgent", "prompt": "work"}
    play.item("started", call | {"status": "inProgress", "receiverThreadIds": [], "agentsStates": {}})
    states = {"kid": {"status": "pendingInit"}}
    play.item(
        "completed", call | {"status": "completed", "receiverThreadIds": ["kid"], "agentsStates": states}
    )


def test_b44_a_childs_work_stands_under_its_own_thread() -> None:
    play = Play().running()
    play.item("completed", {"type": "agentMessage", "id": "m1", "text": "before"})
    _spawned(play)
    child = {"id": "tu-k", "rootTurnId": "tu-1", "status": "inProgress"}
    play.frame("turn/started", {"threadId": "kid", "turn": child})
    play.item("completed", {"type": "agentMessage", "id": "k1", "text": "child says"}, "kid", "tu-k")
    _grandchild(play)
    play.frame("turn/completed", {"threadId": "kid", "turn": child | {"status": "completed"}})
    play.item("completed", {"type": "agentMessage", "id": "m2", "text": "final"})
    play.ended()
    texts = {
        thread: [
            event.final["text"] for event in play.of(ItemSeen) if event.ref.thread == thread and event.final
        ]
        for thread in ("th-1", "kid", "grandkid")
    }
    assert texts == {"th-1": ["before", "final"], "kid": ["child says"], "grandkid": ["grand says"]}
    seen = play.of(SubagentSeen)
    assert {(event.child, event.ref.thread, event.ref.id) for event in seen} == {
        ("kid", "th-1", "call-1"),
        ("grandkid", "kid", "call-2"),
    }
    assert [event.state for event in seen if event.child == "kid"] == ["running", "running", "completed"]
    assert [event.turn for event in play.of(TurnEnded)] == ["tu-g", "tu-k", "tu-1"]


def _grandchild(play: Play) -> None:
    call = {"type": "collabAgentToolCall", "id": "call-2", "tool": "spawnAgent", "status": "inProgress"}
    play.item("started", call, "kid", "tu-k")
    turn = {"id": "tu-g", "rootTurnId": "tu-k", "status": "inProgress"}
    play.frame("turn/started", {"threadId": "grandkid", "turn": turn})
    play.item("completed", {"type": "agentMessage", "id": "g1", "text": "grand says"}, "grandkid", "tu-g")
    play.frame("turn/completed", {"threadId": "grandkid", "turn": turn | {"status": "completed"}})


@pytest.mark.parametrize("first", ["turn/started", "item/completed", "delta", "request"])
def test_b44_a_child_is_introduced_before_its_first_event(first: str) -> None:
    play = Play().running()
    play.item("started", {"type": "collabAgentToolCall", "id": "call-1", "tool": "spawnAgent"})
    place = {"threadId": "kid", "turnId": "tu-k"}
    before = len(play.events)
    match first:
        case "turn/started":
            turn = {"id": "tu-k", "rootTurnId": "tu-1", "status": "inProgress"}
            play.frame(first, {"threadId": "kid", "turn": turn})
        case "item/completed":
            play.item("completed", {"type": "agentMessage", "id": "k1", "text": "x"}, "kid", "tu-k")
        case "delta":
            play.frame("item/agentMessage/delta", place | {"itemId": "k1", "delta": "x"})
        case _:
            play.frame("item/commandExecution/requestApproval", place, id=0)
    introduced = play.events[before]
    assert isinstance(introduced, SubagentSeen)
    assert (introduced.child, introduced.ref.id, introduced.state) == ("kid", "call-1", "running")


def test_b44_one_activity_of_one_id_is_one_item() -> None:
    play = Play().running()
    item = {
        "type": "subAgentActivity",
        "id": "s1",
        "kind": "started",
        "agentThreadId": "kid",
        "agentPath": "/w",
    }
    play.item("started", item)
    play.item("completed", item)
    echo = item | {"id": "subagent-completed-tu-k", "kind": "completed"}
    play.item("started", echo)
    play.item("completed", echo)
    assert {event.ref.id for event in play.of(ItemSeen)} == {"s1"}
    assert {event.ref.id for event in play.of(SubagentSeen)} == {"s1"}
    assert play.of(SubagentSeen)[-1].state == "completed"


def test_a_turn_that_is_its_own_root_is_no_childs() -> None:
    play = Play().running()
    play.feed(Ask(SendTurn("a9", "th-2", "c-2", (TextBlock("x"),))))
    play.frame("turn/started", {"threadId": "th-2", "turn": {"id": "tu-2", "rootTurnId": "tu-2"}})
    assert play.of(SubagentSeen) == []
    assert play.of(TurnStarted)[-1].client_id == "c-2"


def test_a_thread_that_is_being_bound_is_no_child_of_a_running_turn() -> None:
    play = Play().running()
    play.feed(Ask(EnsureThread("a9", ".")))
    play.frame("warning", {"threadId": "th-2", "message": "careful"})
    play.result(4, {"thread": {"id": "th-2"}})
    assert play.of(SubagentSeen) == []
    assert play.state.threads["th-2"].parent is None


def test_b73_new_things_are_kept_and_the_turn_completes() -> None:
    play = Play().running()
    place = {"threadId": "th-1", "turnId": "tu-1"}
    play.frame("turn/future_thing", place | {"deep": [1, {"x": None}]})
    play.item("started", {"type": "hologram", "id": "h1", "data": "zzz"})
    play.item("completed", {"type": "hologram", "id": 12, "data": "zzz", "status": "shimmering"})
    play.frame("item/agentMessage/delta", place | {"itemId": "m1", "delta": 5})
    play.frame("thread/tokenUsage/updated", place | {"tokenUsage": "none"})
    play.item("completed", {"type": "agentMessage", "id": "m1", "text": "fine", "new_field": {"a": 1}})
    play.ended()
    names = [event.name for event in play.of(OpaqueSeen)]
    assert names == ["turn/future_thing", "delta:assistant_message", "thread/tokenUsage/updated"]
    holograms = [event for event in play.of(ItemSeen) if event.kind == "opaque"]
    assert [(event.ref.id, event.state) for event in holograms] == [("h1", "open"), ("12", "unverifiable")]
    assert holograms[0].content.native_kind == "hologram"
    assert holograms[0].content.payload["data"] == "zzz"
    assert [event.outcome for event in play.of(TurnEnded)] == ["completed"]
    assert play.of(ItemSeen)[-1].final == {"text": "fine"}
    assert play.state.opaque == 5


@pytest.mark.behaviour("F278")
def test_a_retry_tells_its_attempt_and_ends_nothing() -> None:
    play = Play().running()
    error: dict[str, Any] = {
        "message": "Reconnecting... 1/2",
        "codexErrorInfo": {"responseStreamDisconnected": {}},
    }
    play.frame("error", {"error": error, "willRetry": True, "threadId": "th-1", "turnId": "tu-1"})
    (retrying,) = play.of(Retrying)
    assert (retrying.failure.code, retrying.attempt, retrying.maximum) == ("stream_lost", 1, 2)
    waiting = error | {"message": "Reconnecting... waiting for network"}
    play.frame("error", {"error": waiting, "willRetry": True, "threadId": "th-1", "turnId": "tu-1"})
    assert play.of(Retrying)[-1].attempt is None
    assert play.of(TurnEnded) == []


@pytest.mark.parametrize(
    ("info", "code", "retryable"),
    [
        ("contextWindowExceeded", "context_too_long", False),
        ("usageLimitExceeded", "usage_limited", False),
        ("rateLimitExceeded", "rate_limited", True),
        ("serverOverloaded", "overloaded", True),
        ("internalServerError", "internal", True),
        ("modelNotFound", "model_not_found", False),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, "auth_required", False),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "rate_limited", True),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, "stream_lost", True),
        ("other", "other", None),
        ("neverSeenBefore", "other", None),
        (7, "other", None),
        ({}, "other", None),
    ],
)
@pytest.mark.behaviour("F278")
def test_a_failure_has_a_class_and_its_retryability(info: Any, code: str, retryable: bool | None) -> None:
    play = Play().running()
    play.ended("failed", {"message": "no", "codexErrorInfo": info})
    (ended,) = play.of(TurnEnded)
    assert ended.failure is not None
    assert (ended.failure.code, ended.failure.retryable) == (code, retryable)
    assert len(play.of(Limited)) == (1 if code == "usage_limited" else 0)


def test_an_error_is_remembered_until_its_turn_ends() -> None:
    play = Play().running()
    error = {"message": "boom", "codexErrorInfo": "serverOverloaded"}
    play.frame("error", {"error": error, "willRetry": False, "threadId": "th-1", "turnId": "tu-1"})
    play.ended("failed")
    (ended,) = play.of(TurnEnded)
    assert ended.failure is not None
    assert (ended.failure.code, ended.failure.message) == ("overloaded", "boom")


def test_an_unknown_status_is_no_outcome() -> None:
    play = Play().running()
    play.ended("evaporated")
    assert [(event.outcome, event.word) for event in play.of(TurnEnded)] == [(None, "evaporated")]


def test_the_end_of_the_process_closes_requests_and_leaves_turns_to_the_core() -> None:
    play = Play().running()
    place = {"threadId": "th-1", "turnId": "tu-1"}
    for native in (0, 1):
        play.frame("item/commandExecution/requestApproval", place, id=native)
    play.respond("n:1", Answer("accept"))
    play.feed(Exit(9))
    assert play.of(RequestClosed) == [
        RequestClosed("n:0", "agent", "process_exit"),
        RequestClosed("n:1", "agent", "process_exit"),
    ]
    assert play.of(TurnEnded) == []
    assert play.of(AskDone) == []


def test_a_start_that_overtakes_its_answer_still_names_our_prompt() -> None:
    play = Play().opened()
    play.feed(Ask(SendTurn("a3", "th-1", "c-1", (TextBlock("go"),))))
    play.frame("turn/started", {"threadId": "th-1", "turn": {"id": "tu-1", "rootTurnId": "tu-1"}})
    play.result(3, {"turn": {"id": "tu-1", "status": "inProgress"}})
    assert [(event.turn, event.client_id) for event in play.of(TurnStarted)] == [("tu-1", "c-1")]
