"""What the adapter does where the agent's own words would mislead."""

from __future__ import annotations

from typing import Any

import pytest

from podium.contract.events import (
    AskDone,
    AskFailed,
    ItemSeen,
    Notice,
    OpaqueSeen,
    PlanSeen,
    RequestClosed,
    RequestOpened,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    EnsureThread,
    Exit,
    ForkThread,
    ImageBlock,
    InterruptTurn,
    Respond,
    SendTurn,
)
from podium.contract.requests import Answer
from podium.providers.claude import adapter
from podium.providers.claude.adapter import TRANSPORT
from tests.providers.claude.talking import Talk

RULES: list[dict[str, Any]] = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "touch *"}],
        "behavior": "allow",
        "destination": "localSettings",
    },
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
]
EARLIER = "11111111-2222-8333-8444-555555555555"


def ends(talk: Talk) -> list[tuple[str | None, str | None]]:
    return [
        (e.outcome, e.failure.code if e.failure else None) for e in talk.events if isinstance(e, TurnEnded)
    ]


def respond(talk: Talk, key: str, answer: Answer) -> None:
    talk.ask(Respond(f"answer-{key}", key, answer))


def test_an_id_of_a_conversation_is_made_of_what_the_bridge_drew_and_of_the_ask() -> None:
    one, other = Talk().bound(), Talk().bound()
    assert one.of == other.of and one.of != ""
    opened = next(row for row in one.written if row["op"] == "open")
    assert opened["arguments"][-4:] == ["--session-id", one.of, "--permission-mode", "default"]


@pytest.mark.behaviour("F074")
def test_a_conversation_that_is_gone_is_told_and_never_begun_anew() -> None:
    talk = Talk().bound()
    talk.ask(EnsureThread("again", "/w", "ask", Handle(TRANSPORT, "claude", EARLIER)))
    assert talk.written[-2]["arguments"][-4:-2] == ["--resume", EARLIER]
    talk.of = EARLIER
    talk.says("result", subtype="error_during_execution", is_error=True, errors=["no"], session_id=EARLIER)
    step = talk.bridge(
        "ended", of=EARLIER, code=1, signal=None, stderr="No conversation found with session ID"
    )
    [missing] = [e for e in step.events if isinstance(e, ThreadMissing)]
    assert (missing.ask_id, missing.kind, missing.failure.code) == ("again", "missing", "thread_missing")
    assert ends(talk) == []


def test_an_empty_conversation_begins_under_its_own_id_and_is_resumed_where_it_has_a_record() -> None:
    talk = Talk().bound()
    talk.ask(EnsureThread("again", "/w", "ask", Handle(TRANSPORT, "claude", EARLIER, "empty")))
    assert talk.written[-2]["arguments"][-4:-2] == ["--session-id", EARLIER]
    talk.bridge("ended", of=EARLIER, code=1, signal=None, stderr=f"Session ID {EARLIER} is already in use.")
    assert talk.written[-2]["arguments"][-4:-2] == ["--resume", EARLIER]
    talk.of = EARLIER
    step = talk.answers("initialize", {"models": []})
    [bound] = [e for e in step.events if isinstance(e, ThreadBound)]
    assert (bound.ask_id, bound.resumed, bound.handle.note) == ("again", True, "")


@pytest.mark.parametrize("name", ["--help", "-x", "a b", "a/../b"])
def test_an_id_that_reads_as_an_argument_is_refused(name: str) -> None:
    talk = Talk().bound()
    step = talk.ask(EnsureThread("again", "/w", "ask", Handle(TRANSPORT, "claude", name)))
    assert [type(e) for e in step.events] == [ThreadMissing] and step.sends == ()


def test_the_handle_says_from_the_first_turn_on_that_there_is_a_record() -> None:
    talk = Talk().running()
    notes = [e.handle.note for e in talk.events if isinstance(e, ThreadBound)]
    assert notes == ["empty", ""]


@pytest.mark.parametrize(
    ("told", "end"),
    [
        ({}, ("completed", None)),
        ({"is_error": True, "api_error_status": 529}, ("failed", "overloaded")),
        ({"is_error": True, "api_error_status": 401}, ("failed", "auth_required")),
        ({"is_error": True, "stop_reason": "refusal"}, ("failed", "refused")),
        (
            {"subtype": "error_max_turns", "is_error": True, "terminal_reason": None},
            ("failed", "too_many_steps"),
        ),
        ({"is_error": True, "terminal_reason": "prompt_too_long"}, ("failed", "context_too_long")),
        (
            {"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_tools"},
            ("interrupted", None),
        ),
        ({"is_error": None}, ("failed", "other")),
        ({"subtype": "success_of_another_kind"}, ("failed", "other")),
    ],
)
@pytest.mark.behaviour("F047", "F278")
def test_an_end_is_a_success_only_where_both_of_its_words_say_so(
    told: dict[str, Any], end: tuple[str, str | None]
) -> None:
    talk = Talk().running()
    talk.ended(**told)
    assert ends(talk) == [end]


def test_an_error_written_as_an_answer_is_no_answer() -> None:
    talk = Talk().running()
    block = {"type": "text", "text": "Invalid API key"}
    talk.says("assistant", message={"id": "m", "content": [block]}, error="authentication_failed", uuid="u")
    talk.ended(is_error=True)
    assert ends(talk) == [("failed", "auth_required")]
    assert [e for e in talk.events if isinstance(e, ItemSeen)] == []


def test_a_message_that_broke_off_is_dropped_when_another_one_comes() -> None:
    talk = Talk().running()

    def event(kind: str, **fields: Any) -> None:
        talk.says("stream_event", event={"type": kind, **fields}, parent_tool_use_id=None)

    event("message_start", message={"id": "m-1", "usage": {"input_tokens": 5}})
    event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Half a sen"})
    talk.says("assistant", message={"id": "m-2", "content": [{"type": "text", "text": "Whole."}]}, uuid="u")
    seen = [(e.ref.id, e.state, e.final) for e in talk.events if isinstance(e, ItemSeen)]
    assert seen == [
        ("m-1:0", "open", {}),
        ("m-1:0", "interrupted", {}),
        ("m-2:0", "completed", {"text": "Whole."}),
    ]
    assert [e.text for e in talk.events if isinstance(e, TextDelta)] == ["Half a sen"]


def test_a_turn_that_nobody_asked_for_is_not_that_of_a_waiting_prompt() -> None:
    talk = Talk().running()
    talk.ended()
    first = talk.prompt("m-2")
    talk.says("command_lifecycle", command_uuid=first, state="queued")
    talk.says("system", subtype="init", session_id=talk.of, uuid="own")
    talk.ended(origin={"kind": "task-notification"})
    talk.says("command_lifecycle", command_uuid=first, state="started")
    talk.ended()
    turns = [(e.turn, e.client_id) for e in talk.events if isinstance(e, TurnStarted)]
    assert turns[1:] == [("own", None), (first, "m-2")]
    assert ends(talk) == [("completed", None)] * 3


def test_where_it_cannot_be_told_the_end_of_its_own_turn_does_not_end_the_prompts_one() -> None:
    talk = Talk().running()
    talk.ended(origin={"kind": "task-notification"})
    assert ends(talk) == []
    talk.says("user", isReplay=True, uuid=talk.sent("user")[0]["uuid"], message={"content": "Go."})
    talk.ended()
    assert ends(talk) == [("completed", None)]


@pytest.mark.behaviour("F249", "F252")
def test_a_stop_before_the_prompt_is_taken_takes_it_back() -> None:
    talk = Talk().bound()
    uuid = talk.prompt()
    talk.ask(InterruptTurn("stop", talk.of))
    assert talk.wanted()[-1] == "cancel_async_message"
    step = talk.answers("cancel_async_message", {"cancelled": True})
    assert [type(e) for e in step.events] == [TurnStarted, TurnAccepted, TurnEnded, AskDone]
    assert ends(talk) == [("interrupted", None)]
    assert [e.turn for e in talk.events if isinstance(e, TurnEnded)] == [uuid]


@pytest.mark.behaviour("F249", "F252")
def test_a_stop_that_came_too_late_to_take_it_back_is_said_again_when_the_turn_begins() -> None:
    talk = Talk().bound()
    talk.prompt()
    talk.ask(InterruptTurn("stop", talk.of))
    talk.answers("cancel_async_message", {"cancelled": False})
    assert talk.wanted()[-1] == "interrupt"
    talk.answers("interrupt")
    talk.says("system", subtype="init", session_id=talk.of, uuid="i")
    assert talk.wanted()[-2:] == ["interrupt", "interrupt"]


@pytest.mark.behaviour("F145")
def test_a_one_time_answer_is_no_rule_and_a_rule_goes_no_further_than_it_says() -> None:
    talk = Talk().running()
    for number, decision in enumerate(("accept", "accept_session", "accept_rule", "decline", "cancel")):
        key = f"k{number}"
        talk.may(key, "Bash", {"command": "touch a"}, permission_suggestions=RULES)
        respond(talk, key, Answer(decision))
    session = {**RULES[0], "destination": "session"}
    assert talk.answer_of("k0") == {"behavior": "allow"}
    assert talk.answer_of("k1") == {"behavior": "allow", "updatedPermissions": [session]}
    assert talk.answer_of("k2") == {"behavior": "allow", "updatedPermissions": [RULES[0]]}
    assert talk.answer_of("k3")["behavior"] == "deny" and "interrupt" not in talk.answer_of("k3")
    assert talk.answer_of("k4")["interrupt"] is True
    [card, *_] = [e for e in talk.events if isinstance(e, RequestOpened)]
    effects = {option.id: (option.effect, option.native_label) for option in card.options}
    assert effects["accept"] == ("allow_once", None)
    assert effects["accept_rule"] == ("allow_always", "Bash(touch *)")


def test_an_answer_that_was_not_offered_or_came_twice_is_refused_and_nothing_is_sent() -> None:
    talk = Talk().running()
    talk.may("k", "Bash", {"command": "touch a"})
    respond(talk, "k", Answer("accept_rule"))
    respond(talk, "k", Answer("accept"))
    respond(talk, "k", Answer("decline"))
    codes = [e.failure.code for e in talk.events if isinstance(e, AskFailed)]
    assert codes == ["option_not_offered", "request_gone"]
    assert talk.answer_of("k") == {"behavior": "allow"}


def test_a_changed_input_goes_back_as_the_person_wrote_it() -> None:
    talk = Talk().running()
    talk.may("k", "Bash", {"command": "touch a"})
    respond(talk, "k", Answer("accept", updated_input={"command": "touch b"}))
    assert talk.answer_of("k") == {"behavior": "allow", "updatedInput": {"command": "touch b"}}


@pytest.mark.behaviour("F144")
def test_answers_go_by_the_text_of_their_question() -> None:
    talk = Talk().running()
    questions = [
        {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"question": "What else?", "options": [{"label": "X"}], "multiSelect": True},
    ]
    talk.may("k", "AskUserQuestion", {"questions": questions})
    respond(talk, "k", Answer("accept", answers=(("Blue",),)))
    assert talk.sent("control_response") == []
    respond(talk, "k", Answer("accept", answers=(("Blue",), ("X", "Z"))))
    given = talk.answer_of("k")["updatedInput"]
    assert given == {"questions": questions, "answers": {"Which?": "Blue", "What else?": "X, Z"}}


def test_a_plan_is_read_from_the_request_and_decided_there() -> None:
    talk = Talk().running()
    talk.may("k", "ExitPlanMode", {"plan": "First this."})
    [plan] = [e for e in talk.events if isinstance(e, PlanSeen)]
    assert (plan.kind, plan.text) == ("proposed_plan", "First this.")
    respond(talk, "k", Answer("accept_edits"))
    [rule] = talk.answer_of("k")["updatedPermissions"]
    assert (rule["mode"], rule["destination"]) == ("acceptEdits", "session")


def test_what_full_and_read_answer_by_themselves() -> None:
    full, read = Talk().running("full"), Talk().running("read")
    for talk in (full, read):
        talk.calls("t-k", "Bash", {"command": "touch a"})
        talk.may("k", "Bash", {"command": "touch a"})
        assert [e for e in talk.events if isinstance(e, RequestOpened)] == []
    assert full.answer_of("k") == {"behavior": "allow"}
    assert read.answer_of("k")["behavior"] == "deny"
    result = {"type": "tool_result", "tool_use_id": "t-k", "content": "no", "is_error": True}
    read.says("user", message={"content": [result]})
    assert [e.state for e in read.events if isinstance(e, ItemSeen)] == ["open", "declined"]
    read.may("q", "AskUserQuestion", {"questions": [{"question": "Which?", "options": []}]})
    assert len([e for e in read.events if isinstance(e, RequestOpened)]) == 1


@pytest.mark.behaviour("F010")
def test_the_mode_read_denies_by_rules_and_takes_them_back() -> None:
    talk = Talk().bound("read")
    held = [f["request"]["settings"] for f in talk.sent("control_request") if "settings" in f["request"]]
    assert "Bash" in held[0]["permissions"]["deny"] and "mcp__*" in held[0]["permissions"]["deny"]
    talk.prompt("m-1", "read")
    assert talk.wanted() == ["initialize", "apply_flag_settings"]
    talk.prompt("m-2", "edit")
    assert talk.wanted()[2:] == ["apply_flag_settings", "set_permission_mode"]
    assert talk.sent("control_request")[2]["request"]["settings"] == {"permissions": {"deny": []}}


def test_a_refused_mode_stops_the_prompt_behind_it() -> None:
    talk = Talk().bound()
    talk.prompt("m-1", "read")
    talk.answers("set_permission_mode", error="no such mode")
    assert talk.wanted()[-1] == "interrupt"
    assert [e.code for e in talk.events if isinstance(e, Notice)] == ["mode_refused"]


def test_a_mode_that_the_agent_changed_itself_is_set_back_with_the_next_prompt() -> None:
    talk = Talk().running()
    talk.says("system", subtype="status", status=None, permissionMode="acceptEdits")
    talk.ended()
    talk.prompt("m-2", "ask")
    assert talk.sent("control_request")[-1]["request"] == {
        "subtype": "set_permission_mode",
        "mode": "default",
    }


@pytest.mark.behaviour("F125")
def test_a_withdrawn_request_is_closed_and_can_be_answered_no_more() -> None:
    talk = Talk().running()
    talk.may("k", "Bash", {"command": "touch a"})
    talk.may("k", "Bash", {"command": "touch a"})
    talk.says("control_cancel_request", request_id="k")
    respond(talk, "k", Answer("accept"))
    assert len([e for e in talk.events if isinstance(e, RequestOpened)]) == 1
    assert [e.by for e in talk.events if isinstance(e, RequestClosed)] == ["agent"]
    assert talk.sent("control_response") == []


def test_a_request_that_is_not_known_is_answered_at_once() -> None:
    talk = Talk().running()
    talk.says("control_request", request_id="k", request={"subtype": "something_new"})
    [answer] = talk.sent("control_response")
    assert answer["response"]["subtype"] == "error"
    assert [e.name for e in talk.events if isinstance(e, OpaqueSeen)] == ["control_request/something_new"]


def test_an_image_goes_out_by_name_and_one_that_cannot_be_read_refuses_the_prompt() -> None:
    talk = Talk().bound()
    talk.ask(SendTurn("ask", talk.of, "m", (ImageBlock("/w/a.png", "image/png"),)))
    frame = talk.sent("user")[-1]
    assert frame["message"]["content"][0]["source"]["path"] == "/w/a.png"
    step = talk.bridge("unsent", of=talk.of, uuid=frame["uuid"], code="image_unreadable", message="no")
    [failed] = [e for e in step.events if isinstance(e, AskFailed)]
    assert (failed.ask_id, failed.failure.code) == ("ask", "image_unreadable")


@pytest.mark.behaviour("F047")
def test_a_process_that_ends_in_mid_turn_fails_it_and_ends_the_session() -> None:
    talk = Talk().running()
    talk.may("k", "Bash", {"command": "touch a"})
    respond(talk, "k", Answer("accept"))
    talk.bridge("ended", of=talk.of, code=None, signal=9, stderr="")
    assert ends(talk) == [("failed", "agent_exited")]
    assert [e.reason for e in talk.events if isinstance(e, RequestClosed)] == ["process_exit"]
    assert talk.written[-1] == {"op": "leave"}
    talk.machine.feed(Exit(0))


def test_a_fork_is_another_process_under_an_id_of_its_own() -> None:
    talk = Talk().bound()
    assert isinstance(talk.ask(ForkThread("fork", talk.of)).events[0], AskFailed)
    talk.prompt()
    talk.says("system", subtype="init", session_id=talk.of, uuid="i")
    talk.ended()
    talk.ask(ForkThread("fork", talk.of))
    [*_, opened] = [row for row in talk.written if row["op"] == "open"]
    which = opened["arguments"][opened["arguments"].index("--resume") :][:5]
    assert which == ["--resume", talk.of, "--fork-session", "--session-id", opened["of"]]
    assert opened["of"] != talk.of


def test_a_changed_list_is_told_whole() -> None:
    talk = Talk().running()
    for number, (tool, result) in enumerate(
        [
            ("TaskCreate", {"task": {"id": "1", "subject": "First"}}),
            ("TaskCreate", {"task": {"id": "2", "subject": "Second"}}),
            ("TaskUpdate", {"taskId": "1", "statusChange": {"from": "pending", "to": "in_progress"}}),
        ]
    ):
        talk.calls(f"t{number}", tool, {})
        block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
        talk.says("user", message={"content": [block]}, tool_use_result=result)
    plans = [[(s.text, s.state) for s in e.steps] for e in talk.events if isinstance(e, PlanSeen)]
    assert plans[-1] == [("First", "in_progress"), ("Second", "pending")]


def test_the_name_is_a_parameter() -> None:
    assert adapter.descriptor.agent_kind == "claude" and adapter.descriptor.transport == TRANSPORT
