"""What our commands become, and what the agent's answers become."""

from __future__ import annotations

import string
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.adapter import LaunchSettings, Send
from podium.contract.events import AskDone, AskFailed, SessionReady, ThreadBound, ThreadMissing, TurnAccepted
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    Attached,
    CloseSession,
    Command,
    CompactThread,
    EnsureThread,
    ForkThread,
    ImageBlock,
    InterruptTurn,
    ListModels,
    Mode,
    OpenSession,
    ReadThread,
    RollbackThread,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.codex import CodexAdapter, adapter
from podium.providers.codex.adapter import TRANSPORT
from tests.providers.codex.playing import Play

HANDLE = Handle(TRANSPORT, "codex", "th-9")


def test_the_handshake_asks_for_the_whole_protocol_and_reads_the_version() -> None:
    play = Play()
    play.feed(Ask(OpenSession("a1", ".", client_version="1.2")))
    assert play.lines[0]["params"]["capabilities"] == {"experimentalApi": True, "requestAttestation": False}
    assert play.lines[0]["params"]["clientInfo"]["version"] == "1.2"
    play.result(1, {"userAgent": "podium/0.171.0 (Debian 12.0.0; x86_64) unknown (podium; 1.2)"})
    assert play.lines[1] == {"method": "initialized"}
    assert play.of(SessionReady) == [SessionReady("a1", "0.171.0")]


def test_a_refused_handshake_fails_the_ask() -> None:
    play = Play()
    play.feed(Ask(OpenSession("a1", ".")))
    play.feed_error(1, "Already initialized")
    assert play.of(AskFailed)[0].failure.code == "handshake_failed"


@pytest.mark.parametrize(
    ("mode", "policy", "sandbox", "turn_sandbox"),
    [
        ("read", "never", "read-only", "readOnly"),
        ("ask", "untrusted", "workspace-write", "workspaceWrite"),
        ("edit", "on-request", "workspace-write", "workspaceWrite"),
        ("full", "never", "danger-full-access", "dangerFullAccess"),
    ],
)
def test_a_mode_is_a_policy_and_a_sandbox(mode: Mode, policy: str, sandbox: str, turn_sandbox: str) -> None:
    play = Play()
    play.feed(Ask(EnsureThread("a1", "/ws", mode, model="m-1")))
    assert play.lines[-1]["params"] == {
        "cwd": "/ws",
        "approvalPolicy": policy,
        "sandbox": sandbox,
        "model": "m-1",
    }
    play.feed(Ask(SendTurn("a2", "th-1", "c-1", (), mode=mode)))
    assert play.lines[-1]["params"]["approvalPolicy"] == policy
    assert play.lines[-1]["params"]["sandboxPolicy"] == {"type": turn_sandbox}


@given(st.text())
def test_text_goes_byte_for_byte(text: str) -> None:
    play = Play()
    step = play.feed(Ask(SendTurn("a1", "th-1", "c-1", (TextBlock(text), ImageBlock("/i.png", "image/png")))))
    assert play.lines[-1]["params"]["input"] == [
        {"type": "text", "text": text, "text_elements": []},
        {"type": "localImage", "path": "/i.png"},
    ]
    (send,) = step.sends
    assert isinstance(send, Send)
    assert "\n" not in send.line


def test_only_a_prompt_is_marked_as_one_and_names_its_ask() -> None:
    play = Play().running()
    play.feed(Ask(SteerTurn("s1", "th-1", "tu-1", "c-2", (TextBlock("more"),))))
    play.feed(Ask(InterruptTurn("i1", "th-1", "tu-1")))
    sends = [send for step in play.steps for send in step.sends if isinstance(send, Send)]
    assert [(send.ask_id, send.prompt) for send in sends] == [
        ("a1", False),
        (None, False),
        ("a2", False),
        ("a3", True),
        ("s1", True),
        ("i1", False),
    ]
    assert play.lines[-2]["params"]["expectedTurnId"] == "tu-1"
    play.result(4, {"turnId": "tu-1"})
    assert play.of(TurnAccepted)[-1] == TurnAccepted("s1", "th-1", "tu-1")


@pytest.mark.behaviour("F074")
def test_a_resume_names_the_conversation_and_takes_no_other() -> None:
    play = Play()
    play.feed(Ask(EnsureThread("a1", "/ws", "edit", HANDLE)))
    assert play.lines[-1]["method"] == "thread/resume"
    assert play.lines[-1]["params"]["threadId"] == "th-9"
    play.result(1, {"thread": {"id": "th-other"}, "model": "m-1"})
    assert play.of(ThreadBound) == []
    (missing,) = play.of(ThreadMissing)
    assert (missing.kind, missing.failure.code) == ("not_resumable", "other_conversation")


@pytest.mark.parametrize(
    ("message", "kind", "code"),
    [
        ("no rollout found for thread id x", "missing", "thread_missing"),
        ("invalid thread id: invalid character", "missing", "thread_missing"),
        ("thread x already has an active writer", "not_resumable", "thread_in_use"),
        ("cannot resume an unloaded multi-agent v2 sub-agent", "not_resumable", "parent_not_loaded"),
        ("something new", "not_resumable", "thread_not_resumable"),
    ],
)
@pytest.mark.behaviour("F074")
def test_a_refused_resume_is_typed_and_starts_nothing_new(message: str, kind: str, code: str) -> None:
    play = Play()
    play.feed(Ask(EnsureThread("a1", "/ws", handle=HANDLE)))
    play.feed_error(1, message)
    (missing,) = play.of(ThreadMissing)
    assert (missing.kind, missing.failure.code) == (kind, code)
    assert len(play.lines) == 1


def test_a_handle_of_another_protocol_is_not_tried() -> None:
    play = Play()
    play.feed(Ask(EnsureThread("a1", "/ws", handle=Handle("other", "codex", "th-9"))))
    assert play.lines == []
    (missing,) = play.of(ThreadMissing)
    assert (missing.kind, missing.failure.code) == ("not_resumable", "other_transport")


def test_a_thread_that_never_had_a_turn_may_be_lost_and_is_made_anew() -> None:
    play = Play()
    empty = Play().opened().of(ThreadBound)[0].handle
    assert empty.note
    play.feed(Ask(EnsureThread("a1", "/ws", "edit", empty, "m-1")))
    play.feed_error(1, "no rollout found for thread id th-1")
    assert play.of(ThreadMissing) == []
    assert play.lines[-1] == {
        "id": 2,
        "method": "thread/start",
        "params": {
            "cwd": "/ws",
            "approvalPolicy": "on-request",
            "sandbox": "workspace-write",
            "model": "m-1",
        },
    }
    play.result(2, {"thread": {"id": "th-new"}, "model": "m-1"})
    (bound,) = play.of(ThreadBound)
    assert (bound.ask_id, bound.thread, bound.resumed) == ("a1", "th-new", False)


def test_a_thread_in_use_elsewhere_is_not_made_anew_even_if_empty() -> None:
    play = Play()
    play.feed(Ask(EnsureThread("a1", "/ws", handle=Play().opened().of(ThreadBound)[0].handle)))
    play.feed_error(1, "thread th-1 already has an active writer")
    assert [event.failure.code for event in play.of(ThreadMissing)] == ["thread_in_use"]


@pytest.mark.behaviour("F074")
def test_from_the_first_turn_on_a_lost_thread_is_missing() -> None:
    before = Play().running()
    first, again = before.of(ThreadBound)
    assert (again.ask_id, again.resumed, again.handle.note) == (None, True, "")
    assert again.handle.same_conversation(first.handle)
    play = Play()
    play.feed(Ask(EnsureThread("a1", "/ws", handle=again.handle)))
    play.feed_error(1, "no rollout found for thread id th-1")
    assert [event.kind for event in play.of(ThreadMissing)] == ["missing"]
    before.ended()
    before.frame("turn/started", {"threadId": "th-1", "turn": {"id": "tu-2", "rootTurnId": "tu-2"}})
    assert len(before.of(ThreadBound)) == 2


def test_an_empty_thread_that_this_process_holds_needs_no_resume() -> None:
    play = Play().opened()
    bound = play.of(ThreadBound)[0]
    step = play.feed(Ask(EnsureThread("a3", ".", handle=bound.handle)))
    assert step.sends == ()
    assert step.events == (ThreadBound("a3", "th-1", bound.handle, resumed=True, model="m-1"),)
    play.status("notLoaded")
    assert play.feed(Ask(EnsureThread("a4", ".", handle=bound.handle))).sends != ()


def test_a_thread_seen_only_in_frames_is_still_resumed() -> None:
    play = Play()
    play.frame("warning", {"threadId": "th-9", "message": "x"})
    assert play.feed(Ask(EnsureThread("a1", ".", handle=HANDLE))).sends != ()


@pytest.mark.parametrize("thread", [None, 7.5, "", "x" * 600, {"id": 1}])
def test_a_start_without_a_usable_id_fails_the_ask(thread: Any) -> None:
    play = Play()
    play.feed(Ask(EnsureThread("a1", ".")))
    play.result(1, {"thread": {"id": thread}})
    assert play.of(AskFailed)[0].failure.code == "protocol"


def test_an_interrupt_without_a_turn_finds_the_running_one_or_says_there_is_none() -> None:
    play = Play().running()
    play.feed(Ask(InterruptTurn("i1", "th-1")))
    assert play.lines[-1]["params"] == {"threadId": "th-1", "turnId": "tu-1"}
    play.result(4, {})
    assert play.of(AskDone) == [AskDone("i1")]
    play.ended("interrupted")
    sent = len(play.lines)
    play.feed(Ask(InterruptTurn("i2", "th-1")))
    assert play.of(AskFailed)[0].failure.code == "no_active_turn"
    assert len(play.lines) == sent


def test_a_rejected_prompt_is_a_failed_ask() -> None:
    play = Play().opened()
    play.feed(Ask(SendTurn("a3", "th-1", "c-1", (TextBlock("go"),))))
    play.feed_error(3, "direct app-server input is not allowed for multi-agent v2 sub-agents")
    (failed,) = play.of(AskFailed)
    assert (failed.ask_id, failed.failure.code) == ("a3", "input_not_allowed")


@pytest.mark.parametrize(
    ("command", "method", "params"),
    [
        (ReadThread("x", "th-1"), "thread/read", {"threadId": "th-1", "includeTurns": True}),
        (RollbackThread("x", "th-1", "tu-1"), "thread/revert", {"threadId": "th-1", "beforeTurnId": "tu-1"}),
        (ForkThread("x", "th-1"), "thread/fork", {"threadId": "th-1"}),
        (ForkThread("x", "th-1", "tu-1"), "thread/fork", {"threadId": "th-1", "lastTurnId": "tu-1"}),
        (CompactThread("x", "th-1"), "thread/compact/start", {"threadId": "th-1"}),
        (ListModels("x"), "model/list", {}),
    ],
)
def test_an_optional_ask_is_one_request(command: Command, method: str, params: dict[str, Any]) -> None:
    play = Play().opened()
    play.feed(Ask(command))
    assert play.lines[-1] == {"id": 3, "method": method, "params": params}
    play.feed_error(3, "no")
    assert [failed.ask_id for failed in play.of(AskFailed)] == ["x"]


def test_a_read_thread_answers_in_our_words() -> None:
    play = Play().opened()
    play.feed(Ask(ReadThread("x", "th-1")))
    turn = {"id": "tu-1", "status": "failed", "error": {"message": "no"}, "items": [{"type": "agentMessage"}]}
    play.result(3, {"thread": {"id": "th-1", "status": {"type": "idle"}, "turns": [turn]}})
    (done,) = play.of(AskDone)
    assert done.result["status"] == "idle"
    assert done.result["turns"][0]["failure"]["code"] == "other"
    assert done.result["turns"][0]["items"][0]["kind"] == "assistant_message"


def test_closing_sends_nothing_and_attaching_changes_nothing() -> None:
    play = Play().running()
    before = play.state
    step = play.feed(Ask(CloseSession("c1")))
    assert (step.sends, step.events) == ((), (AskDone("c1"),))
    play.feed(Attached("replay"))
    assert play.state == before


def test_every_command_of_the_contract_is_handled() -> None:
    tags = {command.__struct_config__.tag for command in get_args(Command)}
    assert adapter.asks() == tags


def test_the_launch_names_the_program_and_nothing_secret() -> None:
    plan = adapter.launch(LaunchSettings("/bin/agent", "/ws", options={"key": "secret"}))
    assert plan.argv == ("/bin/agent", "app-server")
    assert plan.environment == {}


def test_name_and_brand_are_arguments() -> None:
    other = CodexAdapter("box", "brand")
    assert (other.descriptor.adapter, other.descriptor.agent_kind) == ("box", "brand")
    assert other.descriptor.transport == adapter.descriptor.transport
    play = Play(other).opened()
    assert play.of(ThreadBound)[0].handle.agent_kind == "brand"


def test_request_numbers_are_never_used_twice() -> None:
    play = Play().running()
    for number in range(4, 30):
        play.feed(Ask(ListModels(string.ascii_lowercase[number % 26])))
    numbers = [line["id"] for line in play.lines if "id" in line]
    assert numbers == list(range(1, len(numbers) + 1))
