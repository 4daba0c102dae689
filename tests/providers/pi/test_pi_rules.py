"""What the adapter does where Pi's own words would mislead."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.adapter import Machine, Send, Step
from podium.contract.events import (
    AskDone,
    AskFailed,
    Notice,
    OpaqueSeen,
    Retrying,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    Attached,
    Command,
    EnsureThread,
    Exit,
    Frame,
    ImageBlock,
    InterruptTurn,
    OpenSession,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.pi import adapter

MODEL = {"provider": "loop", "id": "one", "contextWindow": 1000}
STATE = {"sessionId": "s-1", "sessionFile": "/h/s-1.jsonl", "model": MODEL}


class Pi:
    """A machine, and what was written to it last."""

    def __init__(self) -> None:
        self.machine = Machine(adapter)
        self.written: list[dict[str, Any]] = []

    def ask(self, command: Command) -> Step[Any]:
        return self._fed(self.machine.feed(Ask(command)))

    def says(self, kind: str, **fields: Any) -> Step[Any]:
        return self._fed(self.machine.feed(Frame({"type": kind, **fields})))

    def answers(self, command: str, data: Any = None, error: str | None = None) -> Step[Any]:
        number = next(row["id"] for row in self.written if row["type"] == command)
        self.written = [row for row in self.written if row.get("id") != number]
        more: dict[str, Any] = {"data": data} if error is None else {"error": error}
        return self.says("response", id=number, command=command, success=error is None, **more)

    def _fed(self, step: Step[Any]) -> Step[Any]:
        for send in step.sends:
            assert isinstance(send, Send)
            self.written.append(msgspec.json.decode(send.line, type=dict[str, Any]))
        return step

    def bound(self) -> Pi:
        self.ask(OpenSession("open", "/w", "full"))
        self.answers("get_state", STATE)
        self.ask(EnsureThread("thread", "/w", "full"))
        assert any(isinstance(e, ThreadBound) for e in self.answers("get_state", STATE).events)
        self.answers("get_available_models", {"models": [MODEL]})
        self.answers("get_commands", {"commands": []})
        return self

    def running(self) -> Pi:
        self.bound().ask(prompt("Go."))
        self.answers("prompt", {"disposition": "started"})
        self.says("agent_start")
        return self


def prompt(text: str, model: str | None = None, name: str = "m-1") -> SendTurn:
    return SendTurn(f"ask-{name}", "s-1", name, (TextBlock(text),), model)


def ends(step: Step[Any]) -> list[TurnEnded]:
    return [event for event in step.events if isinstance(event, TurnEnded)]


def test_a_turn_ends_when_nothing_follows_by_itself_and_not_before_a_retry() -> None:
    pi = Pi().running()
    broken = {"role": "assistant", "stopReason": "error", "errorMessage": "529 overloaded"}
    pi.says("message_end", message=broken)
    assert ends(pi.says("agent_end", willRetry=True, messages=[])) == []
    [again] = pi.says(
        "auto_retry_start", attempt=1, maxAttempts=3, delayMs=2000, errorMessage="529 overloaded"
    ).events
    assert isinstance(again, Retrying) and (again.attempt, again.maximum, again.delay) == (1, 3, 2.0)
    assert again.failure.code == "overloaded"
    pi.says("agent_start")
    pi.says("message_end", message={"role": "assistant", "stopReason": "stop"})
    [end] = ends(pi.says("agent_settled", aborted=False))
    assert (end.turn, end.outcome, end.failure, end.word) == ("m-1", "completed", None, "stop")


@pytest.mark.parametrize(
    ("message", "aborted", "outcome", "code"),
    [
        ({"stopReason": "error", "errorMessage": "401: bad key"}, False, "failed", "auth_required"),
        ({"stopReason": "error", "errorMessage": "No API key for x/y"}, False, "failed", "auth_required"),
        ({"stopReason": "error", "errorMessage": "terminated: closed"}, False, "failed", "stream_lost"),
        ({"stopReason": "error", "errorMessage": ""}, False, "failed", "other"),
        ({"stopReason": "length"}, False, "failed", "output_limit"),
        ({"stopReason": "aborted"}, False, "interrupted", None),
        ({"stopReason": "stop"}, True, "interrupted", None),
        ({"stopReason": "a_new_one"}, False, None, None),
    ],
)
def test_an_end_is_what_the_newest_message_says_and_unknown_is_never_success(
    message: dict[str, Any], aborted: bool, outcome: str | None, code: str | None
) -> None:
    pi = Pi().running()
    pi.says("message_end", message={"role": "assistant"} | message)
    [end] = ends(pi.says("agent_settled", aborted=aborted))
    assert (end.outcome, end.failure.code if end.failure else None) == (outcome, code)


def test_a_stop_forgets_what_is_queued_first_since_an_abort_would_go_on_with_it() -> None:
    pi = Pi().running()
    pi.ask(InterruptTurn("stop", "s-1", "m-1"))
    assert [row["type"] for row in pi.written] == ["clear_queue", "abort"]
    pi.answers("clear_queue", {"steering": [], "followUp": []})
    assert [end.outcome for end in ends(pi.says("agent_settled", aborted=True))] == ["interrupted"]
    assert AskDone("stop") in pi.answers("abort").events


def test_a_stop_before_the_turn_runs_is_kept_until_there_is_something_to_stop() -> None:
    pi = Pi().bound()
    pi.ask(prompt("Go."))
    pi.ask(InterruptTurn("stop", "s-1"))
    assert [row["type"] for row in pi.written] == ["prompt"]
    pi.answers("prompt", {"disposition": "started"})
    pi.says("agent_start")
    assert [row["type"] for row in pi.written] == ["clear_queue", "abort"]


def test_a_message_for_a_turn_that_ended_meanwhile_begins_no_other() -> None:
    pi = Pi().running()
    pi.ask(SteerTurn("steer", "s-1", "m-1", "m-2", (TextBlock("Wait."),)))
    pi.says("message_end", message={"role": "assistant", "stopReason": "stop"})
    pi.says("agent_settled", aborted=False)
    step = pi.answers("steer", {"disposition": "queued"})
    assert [event.failure.code for event in step.events if isinstance(event, AskFailed)] == ["no_active_turn"]
    assert [row["type"] for row in pi.written] == ["clear_queue"]


def test_another_conversation_than_the_named_one_is_missing_and_never_taken() -> None:
    pi = Pi()
    pi.ask(OpenSession("open", "/w", "full"))
    pi.answers("get_state", STATE)
    pi.ask(EnsureThread("thread", "/w", "full", Handle("pi-rpc", "pi", "s-9", "/h/s-9.jsonl")))
    assert pi.written[-1]["sessionPath"] == "/h/s-9.jsonl"
    pi.answers("switch_session", {"cancelled": False})
    step = pi.answers("get_state", STATE | {"sessionId": "s-new", "sessionFile": "/h/s-9.jsonl"})
    assert [event.kind for event in step.events if isinstance(event, ThreadMissing)] == ["missing"]
    assert not any(isinstance(event, ThreadBound) for event in step.events)


def test_a_handle_without_a_file_or_of_another_protocol_is_missing() -> None:
    pi = Pi()
    pi.ask(OpenSession("open", "/w", "full"))
    pi.answers("get_state", STATE)
    for handle in (Handle("pi-rpc", "pi", "s-9"), Handle("other", "pi", "s-9", "/h/s-9.jsonl")):
        step = pi.ask(EnsureThread("thread", "/w", "full", handle))
        assert [type(event) for event in step.events] == [ThreadMissing] and not step.sends


def test_a_prompt_waits_for_its_model_and_is_not_sent_with_another() -> None:
    pi = Pi().bound()
    pi.ask(prompt("Go.", model="loop/two"))
    assert [(row["type"], row.get("provider"), row.get("modelId")) for row in pi.written] == [
        ("set_model", "loop", "two")
    ]
    step = pi.answers("set_model", error="Model not found: loop/two")
    assert [e.failure.code for e in step.events if isinstance(e, AskFailed)] == ["model_not_found"]
    assert pi.machine.state.turn is None and pi.written == []
    pi.ask(prompt("Go.", model="loop/two"))
    step = pi.answers("set_model", MODEL | {"id": "two"})
    assert [(send.prompt, send.ask_id) for send in step.sends if isinstance(send, Send)] == [
        (True, "ask-m-1")
    ]


@pytest.mark.parametrize("mode", ["read", "ask", "edit"])
def test_a_mode_that_nothing_holds_it_to_is_refused(mode: Any) -> None:
    step = Pi().ask(OpenSession("open", "/w", mode))
    assert [e.failure.code for e in step.events if isinstance(e, AskFailed)] == ["mode_not_offered"]
    assert not step.sends


def test_what_cannot_be_sent_is_refused_before_it_is() -> None:
    pi = Pi().running()
    picture = SendTurn("a", "s-1", "m", (ImageBlock("/p.png", "image/png"),))
    codes = [
        [e.failure.code for e in pi.ask(command).events if isinstance(e, AskFailed)]
        for command in (
            picture,
            prompt("Another."),
            SendTurn("a", "s-2", "m", (TextBlock("Go."),)),
            EnsureThread("t", "/w", "full"),
            InterruptTurn("i", "s-1", "other"),
            SteerTurn("s", "s-1", "other", "m", (TextBlock("Go."),)),
        )
    ]
    assert codes == [
        ["text_only"],
        ["turn_running"],
        ["thread_unknown"],
        ["one_thread"],
        ["no_active_turn"],
        ["no_active_turn"],
    ]


def test_a_refused_prompt_is_rejected_and_a_stop_of_it_has_nothing_to_stop() -> None:
    pi = Pi().bound()
    pi.ask(prompt("Go."))
    pi.ask(InterruptTurn("stop", "s-1"))
    step = pi.answers("prompt", error="Agent is already processing. Specify streamingBehavior")
    failed = {e.ask_id: e.failure.code for e in step.events if isinstance(e, AskFailed)}
    assert failed == {"stop": "no_active_turn", "ask-m-1": "turn_running"}
    assert pi.machine.state.turn is None


def test_a_command_of_an_extension_is_a_turn_that_is_over_at_once() -> None:
    pi = Pi().bound()
    pi.ask(prompt("/mcp"))
    step = pi.answers("prompt", {"disposition": "handled"})
    assert [type(event) for event in step.events] == [TurnAccepted, TurnStarted, TurnEnded]
    assert ends(step)[0].word == "handled" and pi.machine.state.turn is None


def test_a_turn_that_nobody_asked_for_is_named_by_its_first_message() -> None:
    pi = Pi().bound()
    pi.says("agent_start")
    step = pi.says("message_start", message={"role": "user", "timestamp": 7})
    assert [(e.turn, e.client_id) for e in step.events if isinstance(e, TurnStarted)] == [("own-7", None)]


def test_a_question_of_an_extension_is_told_no_and_a_person_hears_of_it() -> None:
    pi = Pi().running()
    step = pi.says("extension_ui_request", id="q-1", method="confirm", title="Delete it?")
    assert pi.written == [{"type": "extension_ui_response", "id": "q-1", "cancelled": True}]
    [told] = [event for event in step.events if isinstance(event, Notice)]
    assert told.code == "dialog_declined" and "Delete it?" in told.text
    assert not pi.says("extension_ui_request", id="q-2", method="setStatus").sends


def test_output_goes_on_from_what_was_told_and_never_repeats_it() -> None:
    pi = Pi().running()
    pi.says("tool_execution_start", toolCallId="c", toolName="bash", args={"command": "seq 3"})
    told: list[str] = []
    for seen in ("1\n", "1\n2\n", "...\n9\n10\n", "1\n2\n3\n"):
        partial = {"content": [{"type": "text", "text": seen}]}
        step = pi.says("tool_execution_update", toolCallId="c", toolName="bash", partialResult=partial)
        told += [event.text for event in step.events if isinstance(event, TextDelta)]
    assert told == ["1\n", "2\n", "3\n"]


def test_an_unknown_frame_is_kept_and_a_new_owner_reads_on() -> None:
    pi = Pi().running()
    [kept] = pi.says("quantum_leap", to="1999").events
    assert isinstance(kept, OpaqueSeen) and kept.payload == {"type": "quantum_leap", "to": "1999"}
    assert not pi.machine.feed(Attached("replay")).sends
    assert pi.machine.state.turn is not None


def test_with_the_process_goes_all_it_held_and_a_waiting_prompt_was_never_sent() -> None:
    pi = Pi().bound()
    pi.ask(prompt("Go.", model="loop/two"))
    step = pi.machine.feed(Exit(1))
    assert [e.failure.code for e in step.events if isinstance(e, AskFailed)] == ["not_sent"]
    assert pi.machine.state == adapter.new()
