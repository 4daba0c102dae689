"""The pure side: what is refused before anything is sent, and that the same inputs give the same result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.adapter import LaunchSettings, Machine
from podium.contract.events import AskDone, AskFailed, DiagnosticSeen, OpaqueSeen, ThreadBound, ThreadMissing
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    Attached,
    CloseSession,
    Command,
    CompactThread,
    EnsureThread,
    Exit,
    ForkThread,
    Frame,
    ImageBlock,
    Input,
    InterruptTurn,
    ListModels,
    OpenSession,
    ReadThread,
    Respond,
    RollbackThread,
    SendTurn,
    SteerTurn,
    TextBlock,
    Timer,
)
from podium.contract.leaves import DERIVED, LEAVES, MANDATORY_ASKS, MUST_BE_PROVEN
from podium.contract.requests import ACCEPT, Answer
from podium.contract.validation import check_declaration
from podium.contract.values import LEVEL_NONE, Kind, Strength, level, reason_of
from podium.policy.config import Policy
from podium.policy.resolve import resolve
from podium.providers.oneshot import adapter, bridge
from podium.providers.oneshot.declaration import BRIDGE_VERSION, CLAIMS
from podium.testkit.cassettes import decode_cassette, encode_cassette
from tests.providers.oneshot.conftest import Run

READY = Frame({"say": "ready", "id": "o", "session": "s1", "version": BRIDGE_VERSION, "command": True})
OPENED = (Ask(OpenSession("o", "/w", "full")), READY)
RECORD = adapter.capabilities()


def fed(*inputs: Input) -> Machine:
    machine = Machine(adapter)
    for given_ in inputs:
        machine.feed(given_)
    return machine


def turn(**more: Any) -> SendTurn:
    return SendTurn("t", "s1", "c", (TextBlock("hi"),), **more)


# ---- every negative selection and every unsupported ask (F035)

NEGATIVE: dict[str, tuple[Command, str]] = {
    "model of a session": (OpenSession("x", "/w", "full", model="m"), "model_not_offered"),
    "model of a thread": (EnsureThread("x", "/w", "full", model="m"), "model_not_offered"),
    "model of a turn": (turn(model="m"), "model_not_offered"),
    "read": (OpenSession("x", "/w", "read"), "mode_not_offered"),
    "ask": (EnsureThread("x", "/w", "ask"), "mode_not_offered"),
    "edit": (turn(mode="edit"), "mode_not_offered"),
    "an effort": (OpenSession("x", "/w", "full", options={"effort": "most"}), "options_invalid"),
    "servers": (OpenSession("x", "/w", "full", options={"servers": {}}), "options_invalid"),
    "files": (OpenSession("x", "/w", "full", options={"files": True}), "options_invalid"),
    "no list": (OpenSession("x", "/w", "full", options={"arguments": "-x"}), "options_invalid"),
    "no texts": (OpenSession("x", "/w", "full", options={"arguments": [1]}), "options_invalid"),
    "an image": (
        SendTurn("x", "s1", "c", (TextBlock("hi"), ImageBlock("/i.png", "image/png"))),
        "text_only",
    ),
    "nothing": (SendTurn("x", "s1", "c", ()), "text_only"),
    "another thread": (SendTurn("x", "s2", "c", (TextBlock("hi"),)), "thread_unknown"),
    "steering": (SteerTurn("x", "s1", "s1.1", "c", (TextBlock("hi"),)), "unsupported_ask"),
    "interrupt": (InterruptTurn("x", "s1"), "unsupported_ask"),
    "an answer": (Respond("x", "0", Answer(ACCEPT)), "unsupported_ask"),
    "history": (ReadThread("x", "s1"), "unsupported_ask"),
    "rollback": (RollbackThread("x", "s1", "s1.1"), "unsupported_ask"),
    "fork": (ForkThread("x", "s1"), "unsupported_ask"),
    "models": (ListModels("x"), "unsupported_ask"),
    "compaction": (CompactThread("x", "s1"), "unsupported_ask"),
}


@pytest.mark.behaviour("F035")
@pytest.mark.parametrize("name", NEGATIVE)
def test_what_a_command_cannot_honour_is_refused_before_anything_is_sent(name: str) -> None:
    command, code = NEGATIVE[name]
    machine = fed(*OPENED)
    before = machine.state
    step = machine.feed(Ask(command))
    (refused,) = step.events
    assert isinstance(refused, AskFailed) and refused.ask_id == command.ask_id
    assert (refused.failure.kind, refused.failure.code) == ("validation", code)
    assert refused.failure.message and not step.sends and machine.state == before


def test_one_prompt_at_a_time_and_none_before_the_handshake() -> None:
    machine = fed(*OPENED, Ask(turn()))
    step = machine.feed(Ask(msgspec.structs.replace(turn(), ask_id="u")))
    assert [e.failure.code for e in step.events if isinstance(e, AskFailed)] == ["turn_running"]
    assert not step.sends
    early = fed().feed(Ask(EnsureThread("e", "/w", "full")))
    assert [e.failure.code for e in early.events if isinstance(e, AskFailed)] == ["session_not_open"]
    nowhere = fed().feed(Ask(msgspec.structs.replace(turn(), thread="")))
    assert [e.failure.code for e in nowhere.events if isinstance(e, AskFailed)] == ["thread_unknown"]


@pytest.mark.behaviour("F035", "F074")
def test_no_native_id_is_made_up_and_nothing_is_resumed_in_another_process() -> None:
    machine = fed(*OPENED)
    (bound,) = machine.feed(Ask(EnsureThread("e", "/w", "full"))).events
    assert isinstance(bound, ThreadBound) and not bound.resumed
    assert bound.handle == Handle("oneshot", "oneshot", "s1")  # what the bridge calls itself
    (again,) = machine.feed(Ask(EnsureThread("e", "/w", "full", bound.handle))).events
    assert isinstance(again, ThreadBound) and again.resumed  # it lives, so it is the very one
    other = fed(Ask(OpenSession("o", "/w", "full")), Frame({**READY.data, "session": "s2"}))
    for handle, code in (
        (bound.handle, "resume_unsupported"),
        (Handle("acp", "scripted", "s1"), "foreign_handle"),
    ):
        step = other.feed(Ask(EnsureThread("e", "/w", "full", handle)))
        (missing,) = step.events
        assert isinstance(missing, ThreadMissing) and not step.sends
        assert (missing.kind, missing.failure.code) == ("not_resumable", code)


def test_two_bridges_never_have_one_name(run: Run) -> None:
    assert run("/bin/cat").thread != run("/bin/cat").thread


def test_closing_needs_no_word() -> None:
    step = fed(*OPENED).feed(Ask(CloseSession("x")))
    assert step.events == (AskDone("x"),) and not step.sends


def test_the_prompt_stands_on_stdin_and_not_in_the_launch() -> None:
    plan = adapter.launch(LaunchSettings("/bin/tr", "/w", "full", options={"arguments": ["a", "b"]}))
    assert plan.argv[1] == "-I" and Path(plan.argv[2]).name == "bridge.py"
    assert plan.argv[3:] == ("/bin/tr", "a", "b") and not plan.environment
    (send,) = fed(*OPENED).feed(Ask(turn())).sends
    assert send.prompt and '"hi"' in getattr(send, "line", "")


@pytest.mark.parametrize("options", [{"arguments": "x"}, {"arguments": [1]}, {"arguments": None}, {"a": 1}])
def test_a_launch_with_odd_options_does_not_raise(options: dict[str, Any]) -> None:
    assert adapter.launch(LaunchSettings("/bin/tr", "/w", options=options)).argv[3:] == ("/bin/tr",)
    assert len(adapter.launch(LaunchSettings("", "/w", options=options)).argv) == 3


# ---- the declaration


@pytest.mark.behaviour("F031", "F035")
def test_the_declaration_has_no_findings_and_claims_text_in_and_an_answer_out() -> None:
    assert check_declaration(RECORD, adapter.asks()) == []
    assert adapter.asks() == MANDATORY_ASKS
    claimed = {path for path in LEAVES if path not in DERIVED and level(RECORD.value(path)) > LEVEL_NONE}
    assert claimed == set(CLAIMS)
    assert not claimed & MUST_BE_PROVEN
    assert BRIDGE_VERSION == bridge.VERSION
    assert RECORD.strength("turns.terminal_quality") is Strength.STRONG


@pytest.mark.behaviour("F035")
def test_everything_else_is_unsupported_with_a_reason_of_its_own() -> None:
    for path, leaf in LEAVES.items():
        if leaf.kind is Kind.SUPPORT and path not in CLAIMS and not leaf.derived:
            reason = reason_of(RECORD.value(path))
            assert "command" in reason or " " in reason, path
            assert not reason.startswith("not_"), path


@pytest.mark.behaviour("F035")
@pytest.mark.parametrize("version", [None, "9.9", BRIDGE_VERSION])
def test_an_unknown_version_of_the_command_takes_nothing_away(version: str | None) -> None:
    here = RECORD.effective(version)
    assert all(here.has(path) for path in CLAIMS)


@pytest.mark.behaviour("F036", "F051")
def test_a_stop_is_a_stop_of_the_session_and_never_sold_as_an_interrupt() -> None:
    here = RECORD.effective(None)
    assert not here.has("turns.interrupt")
    found = resolve("interrupt", here, Policy())
    assert (found.outcome, found.fidelity) == ("stop_session", "emulated") and "no interrupt" in found.reason
    assert resolve("interrupt", here, Policy(interrupt="refuse")).refused
    assert resolve("steer", here, Policy(steer="restart")).outcome == "queue"
    assert resolve("approvals", here, Policy()).refused
    assert resolve("image_input", here, Policy()).refused


@pytest.mark.behaviour("F287")
def test_each_record_is_a_fresh_copy() -> None:
    first = adapter.capabilities()
    first.leaves().clear()
    assert adapter.capabilities() == first and adapter.capabilities() is not first


# ---- purity


def test_a_replay_of_what_a_live_bridge_said_is_the_same_twice(run: Run) -> None:
    talk = run("/bin/sh", "-c", "cat; echo; test -e once || { touch once; exit 7; }")
    talk.turn("one")
    talk.turn("two")
    talk.drive.close()
    talk.drive.drain()
    inputs = decode_cassette(encode_cassette(given_ for given_, _ in talk.drive.steps))
    for _ in range(2):
        machine = Machine(adapter)
        for given_, (_, wanted) in zip(inputs, talk.drive.steps, strict=True):
            before = machine.dump()
            assert machine.feed(given_) == wanted
            restored = Machine.restore(adapter, before)
            assert restored is not None and restored.feed(given_) == wanted
            assert not [e for e in wanted.events if isinstance(e, OpaqueSeen)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
FIELDS: list[str] = [
    "say",
    "id",
    "session",
    "turn",
    "text",
    "code",
    "signal",
    "why",
    "stderr",
    "bytes",
    "left",
]
WORDS = st.sampled_from(["ready", "started", "refused", "text", "ended", "unread", "s1.1", "o", "s1"])
NAMES = st.sampled_from(FIELDS)
FRAMES = st.dictionaries(NAMES, JSON | WORDS, max_size=len(FIELDS)).map(Frame)
ENDED = {"say": "ended", "code": 0, "signal": None, "why": None, "stderr": "", "bytes": 0, "left": False}
GOOD = st.sampled_from(
    [
        Frame({"say": "started", "turn": "s1.1"}),
        Frame({"say": "text", "turn": "s1.1", "text": "x"}),
        Frame({**ENDED, "turn": "s1.1"}),
        Frame({"say": "refused", "turn": "s1.1", "code": "binary_missing", "message": "no"}),
        Frame({"say": "unread", "bytes": 3}),
        Ask(turn()),
        Exit(1),
        Timer("x"),
        Attached("replay"),
    ]
)


@given(st.lists(GOOD | FRAMES, max_size=12))
def test_no_order_and_no_damage_makes_it_raise_or_change_a_state_in_place(inputs: list[Input]) -> None:
    machine = fed(*OPENED)
    for given_ in inputs:
        before = machine.dump()
        held = machine.state
        machine.feed(given_)
        assert adapter.dump(held) == before
        assert adapter.load(machine.dump()) == machine.state


def test_what_is_about_no_running_turn_is_counted_and_nothing_more() -> None:
    machine = fed(*OPENED, Ask(turn()))
    late = machine.feed(Frame({**ENDED, "turn": "s1.0"}))
    assert late.events == (DiagnosticSeen("ended"),)
    twice = [machine.feed(Frame({"say": "started", "turn": "s1.1"})) for _ in range(2)]
    assert len(twice[0].events) == 2 and twice[1].events == (DiagnosticSeen("started"),)


def test_a_prompt_that_the_bridge_could_not_read_is_refused() -> None:
    machine = fed(*OPENED, Ask(turn()))
    (refused,) = machine.feed(Frame({"say": "unread", "bytes": 99})).events
    assert isinstance(refused, AskFailed) and refused.failure.code == "prompt_too_long"
    assert len(machine.feed(Ask(turn())).sends) == 1


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b'{"state_version":2}', b'{"turn":1}'])
def test_a_state_of_another_version_or_a_broken_one_is_none(data: bytes) -> None:
    assert adapter.load(data) is None
