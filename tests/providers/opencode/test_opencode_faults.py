"""What the adapter makes of lost answers, broken streams, and an agent that says things twice."""

from __future__ import annotations

from typing import Any

import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX
from podium.contract.events import (
    AskDone,
    AskFailed,
    ItemSeen,
    Notice,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    SessionReady,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnEnded,
    TurnStarted,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    EnsureThread,
    ForkThread,
    Frame,
    HttpReply,
    InterruptTurn,
    OpenSession,
    Respond,
    RollbackThread,
    SendTurn,
    SseEvent,
    SteerTurn,
    StreamLost,
    TextBlock,
    Timer,
)
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.providers.opencode.rules import tightened
from podium.providers.opencode.settling import LOOKS_MAX
from podium.providers.opencode.state import PARTS_MAX
from podium.providers.opencode.turns import EMPTY_MAX, ENDLESS
from tests.providers.opencode.opencode_play import RULES, M, Play, S, answered


def ended(play: Play) -> list[tuple[str, str | None, str]]:
    return [(end.turn, end.outcome, end.evidence) for end in play.of(TurnEnded)]


@pytest.mark.behaviour("F280")
def test_a_prompt_without_an_answer_is_looked_for_and_never_sent_again() -> None:
    play = Play().opened().prompted()
    play.answers("prompt", 0, "timeout")
    assert play.sent("look")[-1].path == f"/session/{S}/message?limit=60"
    play.answers("look", 200, play.record(1, answered()))
    assert [start.client_id for start in play.of(TurnStarted)] == ["client-1"]
    play.answers("status", 200, {})
    play.answers("settle", 200, play.record(1, answered()))
    assert ended(play) == [("msg_u1", "completed", "provider")]
    assert [item.final for item in play.of(ItemSeen) if item.final] == [{"text": "All of it."}]
    assert [send.prompt for send in play.sends].count(True) == 1


@pytest.mark.behaviour("F280")
def test_a_prompt_that_is_nowhere_is_unconfirmed() -> None:
    play = Play().opened().prompted()
    play.answers("prompt", 0, "RemoteDisconnected")
    for _ in range(LOOKS_MAX - 1):
        play.answers("look", 200, [])
        assert not play.of(AskFailed)
        play.feed(Timer(f"look:{S}"))
    play.answers("look", 500, None)
    assert [(f.ask_id, f.failure.code) for f in play.of(AskFailed)] == [("turn-1", "prompt_unconfirmed")]
    assert len(play.sent("prompt")) == 1
    # Should it come after all, its turn is told as one that began by itself.
    play.taken()
    play.answer(done=False)
    assert [(start.turn, start.client_id) for start in play.of(TurnStarted)] == [("msg_u1", None)]


def test_a_prompt_that_was_taken_and_is_not_seen_is_looked_for() -> None:
    play = Play().opened().prompted()
    play.answers("prompt", 204)
    assert play.timers[f"look:{S}"]
    play.feed(Timer(f"look:{S}"))
    play.answers("look", 200, play.record())
    assert len(play.of(TurnStarted)) == 1
    play.answers("status", 200, {S: {"type": "busy"}})
    play.answers("settle", 200, play.record())
    assert not play.of(TurnEnded)


def test_a_refused_prompt_is_rejected() -> None:
    play = Play().opened().prompted()
    play.answers("prompt", 400, {"name": "BadRequest", "data": {"message": "no"}})
    assert [f.failure.code for f in play.of(AskFailed)] == ["agent_BadRequest"]
    play.prompted(2)
    assert len(play.sent("prompt")) == 2


@pytest.mark.behaviour("F249")
def test_resting_twice_ends_no_turn_that_began_in_between() -> None:
    """H2: after an interrupt the agent rests twice, the second time late."""
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    play.ask(InterruptTurn("stop", S, "msg_u1"))
    play.says("session.error", error={"name": "MessageAbortedError", "data": {}})
    play.says("session.idle")
    assert not play.of(TurnEnded)
    play.answer(finish=None, error={"name": "MessageAbortedError", "data": {}})
    play.says("session.idle")
    assert ended(play) == [("msg_u1", "interrupted", "provider")]
    play.prompted(2).taken(2)
    play.says("session.idle")
    play.answer(2, done=False)
    play.says("session.idle")
    assert len(play.of(TurnEnded)) == 1
    play.answer(2)
    play.says("session.idle")
    play.says("session.idle")
    assert ended(play)[1:] == [("msg_u2", "completed", "provider")]


def test_an_agent_that_rests_with_an_answer_open_is_looked_up() -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    play.says("session.idle")
    play.feed(Timer(f"settle:{S}"))
    play.answers("status", 200, {})
    play.answers("settle", 200, play.record(1, answered(time={"created": 1}, finish=None)))
    assert ended(play) == [("msg_u1", None, "inferred")]


def test_a_late_message_of_an_ended_turn_begins_nothing() -> None:
    play = Play().opened().prompted().taken()
    play.answer()
    play.says("session.idle")
    play.answer()
    play.message("msg_u1", "user", summary={"diffs": []})
    play.text(1, "late", done=True)
    assert (len(play.of(TurnStarted)), len(play.of(TurnEnded))) == (1, 1)


def test_a_broken_stream_is_told_and_what_was_missed_is_read() -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    play.text()
    play.says("message.part.delta", partID="prt_t1", messageID="msg_a1", field="text", delta="All ")
    play.says("permission.asked", id="per_1", permission="bash", patterns=["x"], metadata={"command": "x"})
    play.feed(StreamLost("closed"))
    assert [notice.code for notice in play.of(Notice)] == ["stream_lost"]
    assert not play.sent("status")
    play.feed(SseEvent("open"))
    play.answers("permissions", 200, [])
    play.answers("questions", 200, [])
    assert [(c.key, c.by) for c in play.of(RequestClosed)] == [("per_1", "agent")]
    play.answers("status", 200, {})
    play.answers("settle", 200, play.record(1, answered()))
    assert ended(play) == [("msg_u1", "completed", "provider")]
    assert "".join(delta.text for delta in play.of(TextDelta)) == "All "
    [whole] = [item for item in play.of(ItemSeen) if item.final]
    assert whole.final == {"text": "All of it."}  # the core sees that the parts were not all of it


def test_a_request_that_opened_while_the_stream_was_away_is_asked() -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    play.feed(StreamLost("silence"))
    play.feed(SseEvent("open"))
    row = {"id": "per_2", "sessionID": S, "permission": "bash", "metadata": {"command": "echo"}}
    play.answers("permissions", 200, [row])
    assert [request.content.command for request in play.of(RequestOpened)] == ["echo"]


def test_an_endless_model_is_stopped() -> None:
    """H1: a stream without an end makes the agent ask again and again."""
    play = Play().opened().prompted().taken()
    for number in range(EMPTY_MAX):
        assert not play.sent("abort")
        play.message(
            f"msg_e{number}",
            "assistant",
            parentID="msg_u1",
            providerID="scripted",
            modelID="scripted-a",
            time={"created": 1, "completed": 2},
            finish="unknown",
        )
    assert len(play.sent("abort")) == 1
    play.says("session.idle")
    [end] = play.of(TurnEnded)
    assert end.outcome == "failed" and end.failure is not None and end.failure.code == ENDLESS


@pytest.mark.parametrize(
    ("info", "outcome"),
    [
        ({"finish": "length"}, "failed"),
        ({"finish": "unknown"}, None),
        ({"finish": "tool-calls"}, "interrupted"),
        ({"finish": None, "error": {"name": "APIError", "data": {"statusCode": 429}}}, "failed"),
    ],
)
def test_what_says_nothing_is_no_success(info: dict[str, Any], outcome: str | None) -> None:
    play = Play().opened().prompted().taken()
    play.answer(**info)
    play.says("session.idle")
    assert ended(play) == [("msg_u1", outcome, "provider")]


def test_a_model_that_is_not_there_fails_the_prompt() -> None:
    play = Play().opened().prompted()
    play.says("session.error", error={"name": "UnknownError", "data": {"message": "no such model"}})
    assert [f.failure.code for f in play.of(AskFailed)] == ["agent_error"]


def test_an_interrupt_waits_for_its_prompt() -> None:
    play = Play().opened().prompted()
    play.ask(InterruptTurn("stop", S))
    assert not play.sent("abort")
    play.taken()
    assert [send.ask_id for send in play.sent("abort")] == ["stop"]


def test_a_message_for_a_running_turn_joins_it() -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    play.ask(SteerTurn("steer", S, "msg_u1", "client-2", (TextBlock("More."),)))
    play.taken(2)
    assert [done.ask_id for done in play.of(AskDone)] == ["steer"]
    play.answer()
    play.answer(2)
    play.says("session.idle")
    assert ended(play) == [("msg_u1", "completed", "provider")]


# ---- requests and modes


def asks(play: Play, permission: str, key: str = "per_1") -> None:
    play.says("permission.asked", id=key, permission=permission, patterns=["x"], metadata={"command": "x"})


@pytest.mark.parametrize(
    ("mode", "permission", "reply"),
    [
        ("full", "bash", "once"),
        ("full", "proofs_echo", "once"),
        ("edit", "edit", "once"),
        ("edit", "bash", None),
        ("ask", "edit", None),
        ("read", "edit", "reject"),
        ("read", "bash", "reject"),
        ("read", "proofs_echo", "reject"),
        ("read", "webfetch", None),
    ],
)
def test_the_mode_answers_where_no_person_has_to(mode: str, permission: str, reply: str | None) -> None:
    play = Play().opened(mode).prompted().taken()
    play.answer(done=False)
    asks(play, permission)
    sent = [send.body["reply"] for send in play.sent("answer")]
    assert sent == ([reply] if reply else [])
    assert len(play.of(RequestOpened)) == (reply is None)


def test_an_answer_is_given_once_and_may_be_given_again_if_it_was_lost() -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    asks(play, "bash")
    asks(play, "bash")
    assert len(play.of(RequestOpened)) == 1
    play.ask(Respond("one", "per_1", Answer(DECLINE)))
    play.ask(Respond("two", "per_1", Answer(ACCEPT)))
    play.answers("answer", 0, "timeout")
    assert [(f.ask_id, f.failure.code) for f in play.of(AskFailed)] == [
        ("two", "request_unknown"),
        ("one", "no_answer"),
    ]
    play.ask(Respond("three", "per_1", Answer(ACCEPT)))
    play.says("permission.replied", requestID="per_1", reply="once")
    play.answers("answer", 200, True)
    assert [(c.key, c.by) for c in play.of(RequestClosed)] == [("per_1", "answer")]
    words = [(send.body["reply"], "message" in send.body) for send in play.sent("answer")]
    assert words == [("reject", True), ("once", False)]


def test_a_request_of_an_unknown_conversation_is_declined() -> None:
    play = Play().opened()
    play.says("permission.asked", id="per_1", sessionID="ses_other", permission="bash")
    assert [send.body["reply"] for send in play.sent("answer")] == ["reject"]


def test_nothing_that_acts_stays_allowed_and_nothing_that_is_forbidden_becomes_allowed() -> None:
    rules = tuple((row["permission"], row["pattern"], row["action"]) for row in RULES)
    made = [(row["permission"], row["pattern"], row["action"]) for row in tightened(rules)]
    assert made[0] == ("*", "*", "ask")
    allowed = {permission for permission, _, action in made if action == "allow"}
    assert {"read", "grep"} <= allowed and not allowed & {"*", "bash", "edit", "webfetch"}
    assert made[-1] == ("bash", "rm *", "deny")
    assert next((row["permission"], row["action"]) for row in tightened(())) == ("*", "ask")


# ---- conversations


def test_another_generation_is_refused() -> None:
    play = Play()
    play.ask(OpenSession("open", "/work"))
    play.answers("health", 200, {"healthy": True, "version": "2.0.15"})
    play.answers("agents", 200, [])
    assert [f.failure.code for f in play.of(AskFailed)] == ["version_unsupported"]
    assert not play.of(SessionReady)


def test_a_conversation_that_is_not_there_is_missing_and_no_other_is_made() -> None:
    play = Play().opened()
    for number, native in enumerate(("ses_gone", "../../etc", "made up")):
        handle = Handle("opencode-http", "opencode", native)
        play.ask(EnsureThread(f"again-{number}", "/work", handle=handle))
    play.answers("resume", 404, {"name": "NotFoundError"})
    play.ask(EnsureThread("foreign", "/work", handle=Handle("acp", "grok", "ses_1")))
    found = [(missing.ask_id, missing.kind) for missing in play.of(ThreadMissing)]
    assert found == [
        ("again-1", "missing"),
        ("again-2", "missing"),
        ("again-0", "missing"),
        ("foreign", "not_resumable"),
    ]
    assert len(play.of(ThreadBound)) == 1


def test_a_branch_gets_its_rules_before_anybody_uses_it() -> None:
    """H5, H7: a name that is not there copies everything, and a branch has no rules of its own."""
    play = Play().opened()
    play.ask(ForkThread("bad", S, "msg_zzz"))
    play.answers("fork_where", 200, play.record())
    assert [f.failure.code for f in play.of(AskFailed)] == ["turn_missing"]
    play.ask(ForkThread("good", S, "msg_u1"))
    play.answers("fork_where", 200, [*play.record(1, answered()), *play.record(2)])
    assert play.sent("fork")[-1].body == {"messageID": "msg_u2"}
    play.answers("fork", 200, {"id": "ses_2"})
    assert len(play.of(ThreadBound)) == 1
    assert play.sent("forked")[-1].body["permission"][0]["action"] == "ask"
    play.answers("forked", 200, {"id": "ses_2"})
    assert play.of(ThreadBound)[-1].thread == "ses_2"


def test_a_rollback_takes_the_newest_message_first() -> None:
    play = Play().opened()
    play.ask(RollbackThread("back", S, "msg_u2"))
    play.answers("rollback_where", 200, [*play.record(1, answered()), *play.record(2, answered(2))])
    play.answers("rollback", 200, True)
    play.answers("rollback", 200, True)
    paths = [send.path.rpartition("/")[2] for send in play.sent("rollback")]
    assert paths == ["msg_a2", "msg_u2"]
    assert [done.ask_id for done in play.of(AskDone)] == ["back"]


def test_a_model_that_is_not_offered_is_never_sent() -> None:
    play = Play().opened()
    play.ask(SendTurn("turn", S, "client", (TextBlock("x"),), model="made/up"))
    assert [f.failure.code for f in play.of(AskFailed)] == ["model_not_offered"]
    play.ask(SendTurn("turn", S, "client", (TextBlock("x"),), model=M))
    assert play.sent("prompt")[-1].body["model"] == {"providerID": "scripted", "modelID": "scripted-a"}


# ---- frames of any shape


ODD: list[Any] = [
    None,
    7,
    "text",
    [],
    {},
    {"type": 7},
    {"type": "message.updated"},
    {"type": "message.updated", "properties": {"sessionID": S, "info": {"id": "", "role": "assistant"}}},
    {
        "type": "message.part.updated",
        "properties": {"sessionID": S, "part": {"id": "p", "messageID": "msg_a1"}},
    },
    {"type": "message.part.updated", "properties": {"sessionID": S, "part": {"type": "tool", "state": 7}}},
    {"type": "message.part.delta", "properties": {"sessionID": S, "delta": {}}},
    {"type": "session.status", "properties": {"sessionID": S, "status": "busy"}},
    {"type": "session.error", "properties": {"sessionID": S}},
    {"type": "permission.asked", "properties": {"sessionID": S, "id": "../x", "metadata": []}},
    {"type": "question.asked", "properties": {"sessionID": S, "id": "que_1", "questions": "which"}},
    {"type": "todo.updated", "properties": {"sessionID": S, "todos": {"a": 1}}},
    {"type": "session.created", "properties": {"info": {"parentID": S}}},
    {"type": "never.heard.of", "properties": {"sessionID": S}},
]


@pytest.mark.behaviour("F251")
@pytest.mark.parametrize("data", ODD)
def test_whatever_it_says_is_kept_or_counted(data: Any) -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    before = play.machine.dump()
    step = play.feed(SseEvent("message", data))
    assert step.events or play.machine.dump() != before
    play.feed(Frame({"odd": data}))
    assert isinstance(play.events[-1], OpaqueSeen)


@pytest.mark.parametrize("body", ODD)
def test_whatever_it_answers_is_taken(body: Any) -> None:
    for status in (0, 200, 404, 500):
        play = Play().opened()
        play.ask(ForkThread("fork", S, "msg_u1"))
        play.ask(RollbackThread("back", S, "msg_u1"))
        play.prompted()
        play.feed(StreamLost("x"))
        play.feed(SseEvent("open"))
        for tag in list(play.machine.state.calls):
            play.feed(HttpReply(tag, status, body))
        play.feed(HttpReply("nothing:1", status, body))


def test_the_state_stays_within_its_bound() -> None:
    play = Play().opened().prompted().taken()
    play.answer(done=False)
    for number in range(PARTS_MAX + 50):
        name = f"prt_{number:0100}"
        part = {"id": name, "messageID": "msg_a1", "type": "text", "text": "", "time": {"start": 1, "end": 2}}
        play.says("message.part.updated", part=part)
    assert len(play.machine.dump()) < ADAPTER_STATE_MAX // 2
