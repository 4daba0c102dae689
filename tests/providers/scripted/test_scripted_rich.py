"""The rich rehearsal agent over real pipes: every play, every end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.contract.events import (
    AskDone,
    AskFailed,
    ItemSeen,
    Notice,
    OpaqueSeen,
    PlanSeen,
    ProviderEvent,
    RequestClosed,
    RequestOpened,
    SubagentSeen,
    TextDelta,
    ThreadChanged,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
    UsageSeen,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    CloseSession,
    EnsureThread,
    ImageBlock,
    InterruptTurn,
    Respond,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.testkit.cassettes import counts
from podium.testkit.driving import Conversation, Drive, said

Start = Callable[..., Drive]


def received(tmp_path: Path, kind: str) -> list[dict[str, Any]]:
    """What the agent itself wrote down."""
    lines = (tmp_path / "agent-home" / "prompts.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def items(events: list[ProviderEvent], kind: str) -> list[ItemSeen]:
    return [event for event in events if isinstance(event, ItemSeen) and event.kind == kind]


def last(events: list[ProviderEvent]) -> TurnEnded:
    assert isinstance(events[-1], TurnEnded), events[-1]
    return events[-1]


@pytest.mark.behaviour("F072")
def test_hello_is_one_turn_from_acceptance_to_its_stated_end(start: Start, tmp_path: Path) -> None:
    talk = Conversation(start())
    events = talk.turn("hello")
    assert isinstance(events[0], TurnAccepted)
    assert events[0].turn == "t1"
    assert isinstance(events[1], TurnStarted)
    assert events[1].client_id is not None
    assert "rehearsal agent" in said(events)
    assert said(events, "user_message") == "hello"
    assert last(events) == TurnEnded(talk.thread, "t1", "completed", word="end_turn")
    messages = items(events, "assistant_message")
    assert [m.state for m in messages] == ["open", "completed"]
    assert len(received(tmp_path, "prompt")) == 1
    usage = next(e for e in events if isinstance(e, UsageSeen))
    assert (usage.last.input, usage.last.total) == (5, None)


def test_thoughts_and_plans_are_events_of_their_own(start: Start) -> None:
    talk = Conversation(start())
    thought = talk.turn("think")
    assert said(thought, "reasoning", "reasoning") == "Let me rehearse a thought. "
    assert said(thought) == "I thought about it."
    plans = [e for e in talk.turn("plan") if isinstance(e, PlanSeen)]
    assert len({plan.ref for plan in plans}) == 1
    assert [s.state for s in plans[0].steps] == ["in_progress", "pending", "pending"]
    assert [s.state for s in plans[-1].steps] == ["completed"] * 3


@pytest.mark.parametrize("order", ["call_first", "permission_first", "permission_only"])
def test_call_update_and_permission_are_one_item_whichever_comes_first(
    start: Start, workspace: Path, order: str
) -> None:
    talk = Conversation(start())
    script = {"play": [{"do": "edit", "file": "a.txt", "text": "one\ntwo\n", "order": order}]}
    events = talk.turn(json.dumps(script))
    changes = items(events, "file_change")
    assert len({change.ref for change in changes}) == 1
    assert (changes[0].state, changes[-1].state) == ("open", "completed")
    asked = next(e for e in events if isinstance(e, RequestOpened))
    assert asked.item == changes[0].ref
    assert events.index(changes[0]) < events.index(asked)
    assert asked.kind == "file_change_approval"
    assert [option.id for option in asked.options] == [ACCEPT, "accept_always", DECLINE]
    assert changes[-1].content.changes[0].kind == "add"
    assert changes[-1].content.changes[0].diff == "@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert asked.content.paths == (str(workspace / "a.txt"),)
    assert (workspace / "a.txt").read_text() == "one\ntwo\n"


def test_a_command_streams_its_output_and_ends_with_its_code(start: Start, workspace: Path) -> None:
    talk = Conversation(start())
    events = talk.turn("command echo one; echo two; pwd; exit 3")
    assert said(events, "command", "output") == f"one\ntwo\n{workspace}\n"
    end = items(events, "command")[-1]
    assert (end.state, end.content.exit_code) == ("failed", 3)
    begun = items(events, "command")[0]
    assert begun.content.command == "echo one; echo two; pwd; exit 3"
    assert begun.content.cwd == str(workspace)
    assert end.final == {"output": f"one\ntwo\n{workspace}\n"}


def test_no_means_no_and_reads_as_declined(start: Start, workspace: Path, tmp_path: Path) -> None:
    talk = Conversation(start())
    events = talk.turn("edit a.txt", Answer(DECLINE))
    assert items(events, "file_change")[-1].state == "declined"
    assert last(events).outcome == "completed"
    assert not (workspace / "a.txt").exists()
    assert [row["outcome"]["optionId"] for row in received(tmp_path, "permission")] == ["no"]


def test_a_standing_answer_is_given_only_where_it_was_chosen(start: Start) -> None:
    talk = Conversation(start())
    assert any(isinstance(e, RequestOpened) for e in talk.turn("edit a.txt"))
    assert any(isinstance(e, RequestOpened) for e in talk.turn("edit a.txt", Answer("accept_always")))
    assert not any(isinstance(e, RequestOpened) for e in talk.turn("edit a.txt"))


@pytest.mark.behaviour("F145")
def test_an_answer_that_was_not_offered_leaves_the_request_open(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("edit a.txt")
    asked = drive.until(RequestOpened)
    wrong = drive.ask(Respond("r1", asked.key, Answer("whatever")))
    assert [type(e) for e in wrong.events] == [AskFailed]
    right = drive.ask(Respond("r2", asked.key, Answer(ACCEPT)))
    assert [type(e) for e in right.events] == [RequestClosed, AskDone]
    again = drive.ask(Respond("r3", asked.key, Answer(ACCEPT)))
    assert isinstance(again.events[0], AskFailed)
    assert not again.sends
    assert drive.until(TurnEnded).outcome == "completed"


@pytest.mark.behaviour("F144")
def test_questions_are_answered_by_position(start: Start, tmp_path: Path) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("question")
    asked = drive.until(RequestOpened)
    assert asked.kind == "question"
    colour, why = asked.content.questions
    assert [option.label for option in colour.options] == ["Red", "Blue"]
    assert (colour.required, why.required, why.free_text) == (True, False, True)
    short = drive.ask(Respond("r1", asked.key, Answer(ACCEPT, (("Blue",),))))
    assert isinstance(short.events[0], AskFailed)
    assert short.events[0].failure.code == "answers_count"
    drive.ask(Respond("r2", asked.key, Answer(ACCEPT, (("Blue",), ()))))
    drive.until(TurnEnded)
    assert said(drive.events) == "You chose Blue."
    assert [row["answer"]["content"] for row in received(tmp_path, "question")] == [{"colour": "Blue"}]


def test_a_declined_question_goes_on_without_an_answer(start: Start) -> None:
    assert said(Conversation(start()).turn("question", Answer(DECLINE))) == "You chose not to say."


@pytest.mark.behaviour("F249")
def test_an_interrupt_is_acknowledged_and_ended_by_the_agent(start: Start, tmp_path: Path) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("long 10000")
    started = drive.until(TurnStarted)
    drive.until(TextDelta, lambda d: d.kind == "assistant_message")
    step = drive.ask(InterruptTurn("i", talk.thread, started.turn))
    assert [type(e) for e in step.events] == [AskDone]
    ended = drive.until(TurnEnded)
    assert (ended.outcome, ended.evidence, ended.word) == ("interrupted", "provider", "cancelled")
    assert len(received(tmp_path, "cancel")) == 1
    assert isinstance(drive.ask(InterruptTurn("j", talk.thread)).events[0], AskFailed)
    assert last(talk.turn("hello")).outcome == "completed"


def test_an_interrupt_closes_the_open_request_and_the_agent_hears_of_it(
    start: Start, workspace: Path
) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("edit a.txt")
    asked = drive.until(RequestOpened)
    step = drive.ask(InterruptTurn("i", talk.thread))
    assert RequestClosed(asked.key, "agent", "interrupted") in step.events
    assert drive.until(TurnEnded).outcome == "interrupted"
    assert not (workspace / "a.txt").exists()


def test_an_interrupt_kills_the_running_command(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("command echo started; sleep 600", mode="full")
    drive.until(TextDelta, lambda d: d.body == "output")
    drive.ask(InterruptTurn("i", talk.thread))
    assert drive.until(TurnEnded).outcome == "interrupted"


def test_a_silent_agent_can_be_interrupted_and_a_deaf_one_ends_in_its_own_time(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("silent")
    drive.until(TurnStarted)
    drive.ask(InterruptTurn("i", talk.thread))
    assert drive.until(TurnEnded).outcome == "interrupted"
    after = talk.send("deaf 0.5")
    drive.until(TextDelta, lambda d: d.kind == "assistant_message", after=after)
    drive.ask(InterruptTurn("j", talk.thread))
    assert drive.until(TurnEnded, after=after).outcome == "completed"


def test_steering_changes_the_running_turn(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("slow 1")
    turn = drive.until(TurnStarted).turn
    drive.until(TextDelta, lambda d: d.kind == "assistant_message")
    drive.ask(SteerTurn("s", talk.thread, turn, "steer-1", (TextBlock("go left"),)))
    drive.until(TurnEnded)
    assert AskDone("s") in drive.events
    assert "Steered: go left" in said(drive.events)
    steered = [i for i in items(drive.events, "user_message") if i.client_id == "steer-1"]
    assert [i.ref.turn for i in steered] == [turn]
    idle = drive.ask(SteerTurn("s2", talk.thread, turn, "steer-2", (TextBlock("x"),)))
    assert isinstance(idle.events[0], AskFailed)


@pytest.mark.behaviour("F074")
def test_a_conversation_survives_the_agents_death(start: Start, tmp_path: Path) -> None:
    first = start()
    talk = Conversation(first)
    talk.turn("hello")
    talk.send("long 10000")
    first.until(TextDelta, lambda d: "word 3" in d.text)
    first.kill()
    second = start()
    again = Conversation(second, handle=talk.bound.handle)
    assert again.bound.resumed
    assert again.thread == talk.thread
    assert not [e for e in second.events if isinstance(e, TextDelta | ItemSeen | TurnStarted)]
    assert said(again.turn("recall")) == "You wrote 2 prompts before this one. The first: hello"
    assert [row["session"] for row in received(tmp_path, "load")] == [talk.thread]


@pytest.mark.behaviour("F074")
@pytest.mark.parametrize(
    ("switches", "native", "kind", "code"),
    [
        ((), "sess-none", "missing", "not_found"),
        (("--refuse-load",), "sess-none", "not_resumable", "agent_error_-32603"),
        (("--no-load",), "sess-none", "not_resumable", "resume_unsupported"),
    ],
)
def test_a_failed_resume_is_told_and_nothing_new_is_begun(
    start: Start, tmp_path: Path, switches: tuple[str, ...], native: str, kind: str, code: str
) -> None:
    drive = start(*switches)
    Conversation(drive)
    handle = Handle("acp", "scripted", native)
    drive.ask(EnsureThread("resume", str(drive.workspace), handle=handle))
    missing = drive.until(ThreadMissing)
    assert (missing.ask_id, missing.kind, missing.failure.code) == ("resume", kind, code)
    assert len(received(tmp_path, "new")) == 1


def test_a_foreign_handle_never_reaches_the_agent(start: Start) -> None:
    drive = start()
    Conversation(drive)
    step = drive.ask(EnsureThread("e", "/", handle=Handle("acp", "another", "sess-1")))
    assert isinstance(step.events[0], ThreadMissing)
    assert not step.sends


def test_a_child_has_its_own_conversation_turn_and_request(start: Start, workspace: Path) -> None:
    talk = Conversation(start())
    events = talk.turn("subagent")
    seen = [e for e in events if isinstance(e, SubagentSeen)]
    assert [s.state for s in seen] == ["running", "completed"]
    child = seen[0].child
    assert child is not None
    assert seen[0].prompt == "Touch a file"
    assert seen[0].ref == items(events, "subagent")[0].ref
    asked = next(e for e in events if isinstance(e, RequestOpened))
    assert asked.ref.thread == child
    begun = next(e for e in events if isinstance(e, TurnStarted) and e.thread == child)
    assert begun.root_turn == "t1"
    ended = [e.thread for e in events if isinstance(e, TurnEnded)]
    assert ended == [child, talk.thread]
    assert (workspace / "child.txt").exists()


def test_a_turn_may_leave_a_tool_open_and_end_it_late(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    left = items(talk.turn("tools_open"), "tool_call")
    assert [i.state for i in left] == ["open"]
    at = len(drive.events)
    talk.send("late")
    turn = drive.until(TurnStarted, after=at).turn
    end = drive.until(ItemSeen, lambda i: i.kind == "tool_call" and i.state == "completed", after=at)
    assert end.ref.turn == turn
    order = drive.events.index(next(e for e in drive.events[at:] if isinstance(e, TurnEnded)))
    assert order < drive.events.index(end)
    assert drive.until(TextDelta, lambda d: d.text == " And one word more.").ref.turn == turn
    assert len([e for e in drive.events[at:] if isinstance(e, TurnStarted)]) == 1


def test_an_agent_may_begin_a_turn_by_itself(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.turn("wake")
    own = drive.until(TurnStarted, lambda t: t.turn == "t2")
    assert own.client_id is None
    drive.until(TextDelta, lambda d: d.text == "am.")
    (timer,) = drive.timers
    step = drive.fire(timer)
    assert TurnEnded(talk.thread, "t2", "completed", "inferred") in step.events
    assert last(talk.turn("hello")).turn == "t3"


def test_a_second_prompt_is_refused_while_a_turn_runs(start: Start, tmp_path: Path) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("silent")
    drive.until(TurnStarted)
    talk.send("hello")
    refused = drive.until(AskFailed)
    assert refused.failure.code == "turn_running"
    drive.ask(InterruptTurn("i", talk.thread))
    drive.until(TurnEnded)
    assert len(received(tmp_path, "prompt")) == 1


def test_a_refused_prompt_and_a_failed_turn_differ(start: Start) -> None:
    talk = Conversation(start())
    refused = talk.turn("error -32000")
    assert [type(e) for e in refused] == [AskFailed]
    assert isinstance(refused[0], AskFailed)
    assert (refused[0].failure.kind, refused[0].failure.code) == ("permission", "auth_required")
    script = {"play": [{"do": "say", "text": "Half"}, {"do": "error", "code": -32603, "message": "broken"}]}
    failed = last(talk.turn(json.dumps(script)))
    assert (failed.outcome, failed.failure and failed.failure.message) == ("failed", "broken")


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("refusal", "failed"), ("max_tokens", "failed"), ("end_turn", "completed"), ("on_a_whim", None)],
)
def test_stop_reasons_keep_the_agents_word(start: Start, reason: str, outcome: str | None) -> None:
    talk = Conversation(start())
    end = last(talk.turn(json.dumps({"play": [{"do": "say"}, {"do": "stop", "reason": reason}]})))
    assert (end.outcome, end.word) == (outcome, reason)


def test_what_nobody_knows_is_kept_and_unknown_requests_are_answered(start: Start) -> None:
    drive = start()
    events = Conversation(drive).turn("unknown")
    names = [e.name for e in events if isinstance(e, OpaqueSeen)]
    assert names == ["session/update dream_update", "_rehearsal/news", "_rehearsal/unheard_of"]
    assert last(events).outcome == "completed"
    assert counts(drive.steps)["opaque"] == 3


def test_noise_between_frames_is_no_harm(start: Start) -> None:
    drive = start("--handshake-noise", "--start-delay", "0.1")
    talk = Conversation(drive)
    assert last(talk.turn("noise")).outcome == "completed"
    assert any("Welcome" in line for line in drive.noise)
    assert "[1, 2]\n" in drive.noise


def test_repeated_updates_make_no_second_item(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.turn("duplicate")
    assert last(talk.turn("hello")).turn == "t2"
    calls = items(drive.events, "tool_call")
    assert len({call.ref for call in calls}) == 1
    assert [c.state for c in calls] == ["open", "open", "completed", "completed"]
    assert len([e for e in drive.events if isinstance(e, TurnEnded)]) == 2


@pytest.mark.parametrize(("play", "code"), [("die 7", 7), ("die_after_last", 0)])
def test_a_death_is_an_exit_and_never_a_second_prompt(
    start: Start, tmp_path: Path, play: str, code: int
) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send(play)
    drive.drain()
    assert drive.exit is not None
    assert drive.exit.code == code
    ends = drive.of(TurnEnded)
    assert [e.outcome for e in ends] == (["completed"] if play == "die_after_last" else [])
    assert len(received(tmp_path, "prompt")) == 1


def test_a_crash_while_cancelling_is_an_exit(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("crash_in_cancel")
    drive.until(TextDelta, lambda d: d.text == "Cancel me. ")
    drive.ask(InterruptTurn("i", talk.thread))
    drive.drain()
    assert drive.exit is not None
    assert drive.exit.code == 70


def test_an_exit_closes_requests_and_fails_open_asks(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    talk.send("edit a.txt")
    asked = drive.until(RequestOpened)
    drive.kill()
    assert RequestClosed(asked.key, "agent", "process_exit") in drive.events
    assert not drive.of(AskFailed)
    early = start("--exit-at-start", "3")
    early.drain()
    assert early.exit is not None
    assert early.exit.code == 3
    assert any("told to exit" in line for line in early.errors)


@pytest.mark.parametrize(
    ("play", "kind", "body", "length"),
    [
        ("output 300000", "tool_call", "output", 300_000),
        ("flood 3000", "assistant_message", "text", sum(len(f"word {n} ") for n in range(3000))),
        ("tools 500", "tool_call", "output", sum(len(f"update {n}\n") for n in range(500))),
        ("long 20", "assistant_message", "text", sum(len(f"word {n} ") for n in range(20))),
    ],
)
def test_much_output_arrives_whole(start: Start, play: str, kind: str, body: str, length: int) -> None:
    drive = start()
    events = Conversation(drive).turn(play)
    texts = [e for e in events if isinstance(e, TextDelta) and e.body == body and e.kind != "user_message"]
    if play.startswith("output"):
        texts = [e for e in texts if e.kind == "command"]
    assert sum(len(e.text) for e in texts) == length
    assert len(drive.machine.dump()) < 16_000
    assert last(events).outcome == "completed"


def test_stderr_is_no_frame(start: Start) -> None:
    drive = start()
    assert last(Conversation(drive).turn("stderr 20000")).outcome == "completed"
    drive.close()
    assert sum(map(len, drive.errors)) >= 20_000


def test_secrets_are_printed_so_that_others_can_mask_them(start: Start) -> None:
    events = Conversation(start(SCRIPTED_TOKEN="sesame-42")).turn("secret")
    assert "SCRIPTED_TOKEN=sesame-42" in said(events, "command", "output")
    assert said(events) == "My token is sesame-42."


def test_modes_and_models_change_between_turns(start: Start, workspace: Path) -> None:
    drive = start()
    talk = Conversation(drive, mode="full", model="rehearsal-2")
    assert talk.bound.model == "rehearsal-2"
    assert not any(isinstance(e, RequestOpened) for e in talk.turn("edit a.txt"))
    refused = talk.turn("edit b.txt", mode="read")
    assert items(refused, "file_change")[-1].state == "failed"
    assert not (workspace / "b.txt").exists()
    changed = drive.of(ThreadChanged)
    assert [(c.mode, c.model) for c in changed] == [("full", None), (None, "rehearsal-2"), ("read", None)]
    at = talk.send("hello", model="rehearsal-9")
    assert drive.until(AskFailed, after=at).failure.code == "model_not_offered"
    assert not drive.of(Notice)


def test_a_model_that_is_not_offered_refuses_the_thread(start: Start) -> None:
    drive = start()
    Conversation(drive)
    drive.ask(EnsureThread("e", str(drive.workspace), model="nonesuch"))
    assert drive.until(AskFailed).failure.code == "model_not_offered"


def test_what_this_agent_cannot_take_is_refused_before_it_is_sent(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    image = SendTurn("a", talk.thread, "c", (ImageBlock("/x.png", "image/png"),))
    for command, code in (
        (image, "text_only"),
        (SendTurn("b", "nowhere", "c", (TextBlock("x"),)), "thread_unknown"),
    ):
        step = drive.ask(command)
        assert isinstance(step.events[0], AskFailed)
        assert step.events[0].failure.code == code
        assert not step.sends
    assert drive.ask(CloseSession("bye")).events == (AskDone("bye"),)


def test_two_conversations_of_one_process_do_not_mix(start: Start) -> None:
    drive = start()
    one, two = Conversation(drive), Conversation(drive)
    one.send("slow 0.5")
    two.send("slow 0.5")
    drive.until(TurnEnded, lambda e: e.thread == one.thread)
    drive.until(TurnEnded, lambda e: e.thread == two.thread)
    for talk in (one, two):
        mine = [e for e in drive.of(TextDelta) if e.ref.thread == talk.thread]
        assert said(mine) == "One moment. Here I am."


def test_files_outside_the_workspace_are_not_touched(start: Start, tmp_path: Path) -> None:
    end = last(Conversation(start()).turn("edit ../outside.txt"))
    assert end.outcome == "failed"
    assert not (tmp_path / "outside.txt").exists()


def test_help_names_the_plays_and_anything_else_gets_a_plain_answer(start: Start) -> None:
    talk = Conversation(start())
    assert "`edit FILE`" in said(talk.turn("help"))
    answer = said(talk.turn("please build me a ship"))
    assert "rehearsal agent" in answer
    assert "You said: please build me a ship" in answer
