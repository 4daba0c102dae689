"""The adapter is a function: same inputs, same outputs; no state changes in place; nothing makes it raise."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine
from podium.contract.events import AskFailed, DiagnosticSeen, RequestOpened, TurnEnded
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    Attached,
    EnsureThread,
    Exit,
    Frame,
    Input,
    InterruptTurn,
    OpenSession,
    Respond,
    SendTurn,
    StreamLost,
    TextBlock,
    Timer,
)
from podium.contract.requests import ACCEPT, DECLINE, Answer
from podium.providers.acp.tools import CUT_MARK
from podium.providers.scripted import adapter, one_shot, weak
from podium.testkit.cassettes import decode_cassette, encode_cassette, replay
from podium.testkit.driving import Conversation, Drive

Start = Callable[..., Drive]
EVERYTHING = (
    "hello", "think", "plan", "edit a.txt", "command echo hi", "question", "subagent", "output 20000",
    "tools 5", "tools_open", "unknown", "noise", "duplicate", "late", "wake", "error -32603", "recall",
)  # fmt: skip


@pytest.fixture
def recorded(start: Start) -> list[Input]:
    """Everything the agent can do, as it really came over the pipes."""
    drive = start()
    talk = Conversation(drive)
    for play in EVERYTHING:
        talk.turn(play)
    drive.close()
    drive.drain()
    return [given for given, _ in drive.steps]


def test_replay_gives_the_same_twice_and_the_same_as_live(start: Start) -> None:
    drive = start()
    talk = Conversation(drive)
    for play in EVERYTHING:
        talk.turn(play)
    inputs = decode_cassette(encode_cassette(given for given, _ in drive.steps))
    live = [step for _, step in drive.steps]
    assert [step for _, step in replay(adapter, inputs)] == live
    assert [step for _, step in replay(adapter, inputs)] == live


def test_no_step_changes_the_state_it_was_given(recorded: list[Input]) -> None:
    for shape in (adapter, weak(), one_shot()):
        state = shape.new()
        for given_input in recorded:
            before = shape.dump(state)
            step = shape.step(state, given_input)
            assert shape.dump(state) == before
            assert shape.step(state, given_input) == step
            state = step.state


def test_a_state_can_be_stored_between_any_two_inputs(recorded: list[Input]) -> None:
    whole, broken = Machine(adapter), Machine(adapter)
    for given_input in recorded:
        restored = Machine.restore(adapter, broken.dump())
        assert restored is not None
        broken = restored
        assert broken.feed(given_input) == whole.feed(given_input)


def test_a_state_of_another_version_or_shape_is_not_guessed() -> None:
    data = adapter.dump(adapter.new())
    assert adapter.load(data) == adapter.new()
    for wrong in (b"", b"nonsense", b"[]", b'{"state_version": 2}', b'{"next_id": "x"}', b"\xff"):
        assert adapter.load(wrong) is None


def test_the_golden_state_of_this_version_is_still_read() -> None:
    golden = {
        "next_id": 4,
        "loads": True,
        "calls": {"3": {"kind": "prompt", "ask_id": "a", "thread": "s"}},
        "sessions": {
            "s": {
                "id": "s",
                "mode": "ask",
                "turns": 1,
                "turn": {"id": "t1", "ask_id": "a", "call": 3, "started": True},
                "tools": {"c": {"turn": "t1", "kind": "command", "native_id": "c"}},
            }
        },
        "requests": {"0": {"rpc_id": 0, "thread": "s", "kind": "permission", "choices": {"accept": "yes"}}},
    }
    state = adapter.load(msgspec.json.encode(golden))
    assert state is not None
    answered = adapter.step(state, Ask(Respond("r", "0", Answer(ACCEPT))))
    assert json.loads(getattr(answered.sends[0], "line", "{}"))["result"]["outcome"]["optionId"] == "yes"
    end = adapter.step(answered.state, Frame({"id": 3, "result": {"stopReason": "end_turn"}}))
    assert TurnEnded("s", "t1", "completed", word="end_turn") in end.events


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
WORDS = {
    "sessionUpdate": [
        "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update",
        "plan", "current_mode_update", "usage_update", "session_info_update", "config_option_update", "odd",
    ],
    "sessionId": ["s", "child", "stranger", ""],
    "status": ["pending", "in_progress", "completed", "failed", "odd"],
    "toolCallId": ["one", "two", "x" * 5000],
    "messageId": ["m1", "m2", "c1"],
    "kind": ["execute", "edit", "read", "other", "allow_once", "reject_once", "allow_always"],
    "title": ["tool", "Edit a"],
    "type": ["content", "diff", "text", "string", "array"],
    "stopReason": ["end_turn", "cancelled", "odd"],
    "optionId": ["yes", "no"],
    "path": ["/w/a"],
    "oldText": ["a\nb\n", ""],
    "newText": ["a\nc\n"],
}  # fmt: skip
KEYS = [
    "content", "text", "entries", "locations", "rawInput", "_meta", "toolCall", "options", "command", "data",
    "requestedSchema", "properties", "required", "terminal_output_delta", "childSessionId", "parentSessionId",
    "terminal_exit", "exit_code", "usage", "modes", "configOptions", "availableModes", "code",
]  # fmt: skip


def shaped(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that look like the protocol's, with the wrong thing in any place."""
    inner: st.SearchStrategy[Any] = JSON
    if depth > 0:
        nested = shaped(depth - 1)
        inner = st.one_of(JSON, nested, st.lists(nested, max_size=3))
    typical = {key: st.one_of(st.sampled_from(words), inner) for key, words in WORDS.items()}
    rest = dict.fromkeys(KEYS, inner)
    return st.fixed_dictionaries({}, optional={**typical, **rest})


METHODS = ["session/update", "session/request_permission", "elicitation/create", "fs/read_text_file", "odd"]


def update_of(session: str, kind: str, rest: dict[str, Any]) -> dict[str, Any]:
    update = {**rest, "sessionUpdate": kind}
    return {"method": "session/update", "params": {"sessionId": session, "update": update}}


def request_of(method: str, rpc: Any, params: dict[str, Any]) -> dict[str, Any]:
    return {"method": method, "id": rpc, "params": {"sessionId": "s", **params}}


def reply_of(rpc: Any, key: str, value: Any) -> dict[str, Any]:
    return {"id": rpc, key: value}


SESSIONS = st.sampled_from(["s", "child", "stranger"])
UPDATES = st.builds(update_of, SESSIONS, st.sampled_from(WORDS["sessionUpdate"]), shaped(2))
REQUESTS = st.builds(
    request_of, st.sampled_from(METHODS), st.integers(0, 9) | st.text(max_size=3) | JSON, shaped(2)
)
REPLIES = st.builds(
    reply_of, st.integers(0, 12) | JSON, st.sampled_from(["result", "error"]), st.one_of(shaped(2), JSON)
)
FRAMES = st.one_of(UPDATES, REQUESTS, REPLIES, shaped(1))
ASKS = st.sampled_from(
    [
        SendTurn("p", "s", "c1", (TextBlock("x"),)),
        InterruptTurn("i", "s"),
        Respond("r", "0", Answer(ACCEPT)),
        Respond("r", "1", Answer(DECLINE)),
        Respond("r", "2", Answer(ACCEPT, (("a",), ("b",)))),
        EnsureThread("e", "/w"),
        EnsureThread("e", "/w", handle=Handle("acp", "scripted", "s")),
    ]
)
INPUTS = st.one_of(
    FRAMES.map(Frame),
    ASKS.map(Ask),
    st.sampled_from([Timer("quiet:s"), Timer("other"), Attached("replay"), Exit(1), StreamLost("gone")]),
)


def opened() -> list[Input]:
    """A handshake and a conversation named s."""
    return [
        Ask(OpenSession("o", "/w")),
        Frame({"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}}),
        Ask(EnsureThread("e", "/w")),
        Frame({"id": 2, "result": {"sessionId": "s"}}),
    ]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(inputs=st.lists(INPUTS, max_size=15))
def test_nothing_an_agent_sends_makes_it_raise_or_grow(inputs: list[Input]) -> None:
    for shape in (adapter, weak(), one_shot()):
        machine = Machine(shape)
        open_turns: set[tuple[str, str]] = set()
        for given_input in [*opened(), *inputs]:
            step = machine.feed(given_input)
            for event in step.events:
                if isinstance(event, TurnEnded):
                    assert (event.thread, event.turn) not in open_turns, "a turn ended twice"
                    open_turns.add((event.thread, event.turn))
            assert len(machine.dump()) <= ADAPTER_STATE_MAX
            restored = Machine.restore(shape, machine.dump())
            assert restored is not None
            assert restored.state == machine.state


def feed(machine: Machine, frames: list[dict[str, Any]]) -> None:
    for data in frames:
        machine.feed(Frame(data))
    machine.dump()


def test_floods_of_calls_requests_and_children_stay_bounded() -> None:
    machine = Machine(adapter)
    for given_input in [*opened(), Ask(SendTurn("p", "s", "c", (TextBlock("x"),)))]:
        machine.feed(given_input)
    big = {"command": "x" * 3000, "path": "p" * 3000}
    for number in range(1000):
        call = {"toolCallId": f"{number}" + "y" * 9000, "title": "t" * 3000, "kind": "edit", "rawInput": big}
        update = {"sessionUpdate": "tool_call", **call}
        child = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "z" * 1000}}
        option = {"optionId": "o" * 200, "name": "n" * 3000, "kind": "allow_once"}
        feed(
            machine,
            [
                {"method": "session/update", "params": {"sessionId": "s", "update": update}},
                {
                    "method": "session/update",
                    "params": {"sessionId": f"kid-{number}" + "k" * 100, "update": child},
                },
                {
                    "id": number,
                    "method": "session/request_permission",
                    "params": {"sessionId": "s", "toolCall": call, "options": [option] * 50},
                },
            ],
        )
    assert len(machine.dump()) <= ADAPTER_STATE_MAX


def test_an_answer_to_nothing_is_counted_and_a_history_creates_nothing() -> None:
    machine = Machine(adapter)
    for given_input in opened():
        machine.feed(given_input)
    late = machine.feed(Frame({"id": 99, "result": {}}))
    assert late.events == (DiagnosticSeen("reply_to_nothing"),)
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}
    frame = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    assert machine.feed(Frame(frame, history=True)).events == (DiagnosticSeen("history"),)


def test_another_protocol_version_fails_the_handshake() -> None:
    machine = Machine(adapter)
    machine.feed(Ask(OpenSession("o", "/w")))
    (failed,) = machine.feed(Frame({"id": 1, "result": {"protocolVersion": 2}})).events
    assert isinstance(failed, AskFailed)
    assert failed.failure.code == "protocol_version"


def test_a_permission_without_an_option_to_accept_offers_none() -> None:
    machine = Machine(adapter)
    for given_input in [*opened(), Ask(SendTurn("p", "s", "c", (TextBlock("x"),)))]:
        machine.feed(given_input)
    always = {"optionId": "a", "name": "Always", "kind": "allow_always"}
    second = {"optionId": "b", "name": "Always here", "kind": "allow_always"}
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "kind": "execute"},
        "options": [always, second],
    }
    step = machine.feed(Frame({"id": "q", "method": "session/request_permission", "params": params}))
    asked = next(e for e in step.events if isinstance(e, RequestOpened))
    assert [(o.id, o.effect) for o in asked.options] == [
        ("accept_always", "allow_always"),
        ("accept_always_2", "allow_always"),
        (DECLINE, "decline"),
    ]
    refused = machine.feed(Ask(Respond("r", asked.key, Answer(ACCEPT))))
    assert isinstance(refused.events[0], AskFailed)
    declined = machine.feed(Ask(Respond("r", asked.key, Answer(DECLINE))))
    line = json.loads(getattr(declined.sends[0], "line", "{}"))
    assert line == {"jsonrpc": "2.0", "id": "q", "result": {"outcome": {"outcome": "cancelled"}}}


@pytest.mark.parametrize(
    "command", ["short", "rm -rf / ; " + "x" * 5000, "\n" * 5000, "é" * 280 + "\x00" * 90]
)
def test_a_long_command_is_asked_with_its_head_and_a_mark(command: str) -> None:
    machine = Machine(adapter)
    for given_input in [*opened(), Ask(SendTurn("p", "s", "c", (TextBlock("x"),)))]:
        machine.feed(given_input)
    call = {"toolCallId": "t", "title": "t", "kind": "execute", "rawInput": {"command": command}}
    update = {"sessionUpdate": "tool_call", **call}
    feed(machine, [{"method": "session/update", "params": {"sessionId": "s", "update": update}}])
    asked: list[str | None] = []
    for number, named in enumerate(({"toolCallId": "t"}, call, {"toolCallId": "t"}), 50):
        params: dict[str, Any] = {"sessionId": "s", "toolCall": named, "options": []}
        frame: dict[str, Any] = {"id": number, "method": "session/request_permission", "params": params}
        asked += [
            e.content.command for e in machine.feed(Frame(frame)).events if isinstance(e, RequestOpened)
        ]
    assert len(asked) == 3
    assert asked[1] == command
    for said in (asked[0], asked[2]):
        assert said is not None
        assert said == command or (
            said.endswith(CUT_MARK) and command.startswith(said.removesuffix(CUT_MARK))
        )
        assert said == command or len(said) > len(CUT_MARK)
