"""An adapter needs contract and policy and nothing else of Podium: a whole small agent is driven by them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    ItemSeen,
    OpaqueSeen,
    ProviderEvent,
    RequestClosed,
    RequestOpened,
    TextDelta,
    ThreadBound,
    ThreadMissing,
    TurnEnded,
    TurnStarted,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    CloseSession,
    Exit,
    Frame,
    Input,
    InterruptTurn,
    ListModels,
    ReadThread,
    Respond,
    RollbackThread,
    SteerTurn,
)
from podium.contract.leaves import MANDATORY_ASKS
from podium.contract.requests import ACCEPT, Answer
from podium.contract.validation import check_declaration
from podium.policy import guard
from tests.contract.small_agent import ASKS, SmallAdapter, State
from tests.contract.small_world import Core, CoreRefused, Program, refused, whole_day
from tools.behaviours import ROOT

RUN_SECONDS = 60
"""Longest wait for the process that runs a whole day."""


def started(program: Program | None = None) -> tuple[Core, str]:
    """A core with one bound conversation."""
    core = Core(SmallAdapter(), program or Program()).opened()
    return core, next(e.thread for e in core.bind() if isinstance(e, ThreadBound))


def test_a_whole_day_loads_nothing_but_contract_and_policy() -> None:
    code = "import runpy; runpy.run_module('tests.contract.small_world', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.stderr == b""
    told = json.loads(done.stdout)
    assert told.pop("intruders") == []
    assert told == json.loads(json.dumps(whole_day()))


@pytest.mark.behaviour("F072")
def test_a_session_a_conversation_a_prompt_an_answer_and_a_stop() -> None:
    told = whole_day()
    assert told["outcomes"] == ["completed", "completed", "completed", "interrupted", "completed"]
    names = [event["event"] for event in told["events"]]
    assert names[:4] == ["session_ready", "thread_bound", "turn_accepted", "turn_started"]
    assert names.count("request_opened") == names.count("request_closed") == 2
    states = [e["state"] for e in told["events"] if e["event"] == "item_seen" and e["kind"] == "command"]
    assert states == ["open", "completed", "open", "declined"]


@pytest.mark.behaviour("F072")
def test_reading_back_rollback_fork_and_steering_may_be_absent() -> None:
    adapter = SmallAdapter()
    optional = {"steer_turn", "read_thread", "rollback_thread", "fork_thread", "compact_thread"}
    assert not adapter.asks() & optional
    assert check_declaration(adapter.capabilities(), adapter.asks()) == []
    assert adapter.asks() >= MANDATORY_ASKS


@pytest.mark.behaviour("F031")
@pytest.mark.parametrize("ask", sorted(ASKS))
def test_a_claim_without_its_ask_is_found_at_registration(ask: str) -> None:
    findings = check_declaration(SmallAdapter().capabilities(), ASKS - {ask})
    assert {f.code for f in findings} <= {"ask_missing", "mandatory_ask_missing"}
    assert any(ask in f.message for f in findings)


@pytest.mark.behaviour("F073", "F059")
def test_an_optional_ask_that_is_not_advertised_never_reaches_the_adapter() -> None:
    core, thread = started()
    before = list(core.inputs)
    for command in (
        ListModels("x"),
        SteerTurn("x", thread, "u", "c", ()),
        ReadThread("x", thread),
        RollbackThread("x", thread, "u"),
    ):
        with pytest.raises(CoreRefused) as caught:
            core.ask(command)
        refusal = caught.value.refusal
        assert refusal.code == "unsupported"
        assert refusal.capability
        assert refusal.reason
    assert core.inputs == before
    assert core.program.heard == ["hello", "open"]
    assert refused(core, ListModels("x"))["reason"] == "not_advertised"


@pytest.mark.behaviour("F073")
def test_an_optional_ask_that_is_advertised_passes() -> None:
    core, _ = started(Program(can=("models",)))
    assert core.ask(ListModels("x")) == [AskDone("x", ["one", "two"])]


@pytest.mark.behaviour("F073")
def test_before_the_handshake_only_what_is_mandatory_passes() -> None:
    core = Core(SmallAdapter(), Program(can=("models",)))
    assert guard("open_session", core.capabilities) is None
    for command in (InterruptTurn("x", "t"), Respond("x", "k", Answer(ACCEPT)), ListModels("x")):
        assert refused(core, command)["code"]
    assert refused(core, ListModels("x"))["capability"] == "models.catalog"
    unheard = guard("dance", core.capabilities)
    assert unheard is not None
    assert unheard.code == "unknown_ask"


@pytest.mark.behaviour("F074")
def test_a_resume_continues_the_named_conversation() -> None:
    core, thread = started()
    core.say(thread, "one")
    later = Core(SmallAdapter(), Program(core.program.saved)).opened()
    (bound,) = later.bind(Handle("small-lines", "small", thread))
    assert bound == ThreadBound("a2", thread, Handle("small-lines", "small", thread), resumed=True)
    texts = [e.text for e in later.say(thread, "two") if isinstance(e, TextDelta)]
    assert "".join(texts) == "heard 2"
    assert list(core.program.saved) == [thread]


@pytest.mark.behaviour("F074")
def test_a_resume_of_an_unknown_conversation_is_a_typed_failure_and_creates_nothing() -> None:
    core = Core(SmallAdapter(), Program()).opened()
    (missing,) = core.bind(Handle("small-lines", "small", "t9"))
    assert isinstance(missing, ThreadMissing)
    assert (missing.kind, missing.failure.code) == ("missing", "thread_missing")
    assert core.program.saved == {}


@pytest.mark.behaviour("F075")
def test_what_comes_out_is_the_contracts_vocabulary_and_no_frame() -> None:
    core, thread = started()
    events = core.say(thread, "hello")
    kinds = [type(e) for e in events]
    assert kinds.count(TextDelta) == 2
    assert [e.name for e in events if isinstance(e, DiagnosticSeen)] == ["tick"]
    assert [e.payload for e in events if isinstance(e, OpaqueSeen)] == [{"op": "from_the_future", "x": 1}]
    known = [e for e in events if not isinstance(e, OpaqueSeen)]
    assert b'"op"' not in msgspec.json.encode(known)
    assert msgspec.json.decode(msgspec.json.encode(events), type=list[ProviderEvent]) == events


def test_streamed_text_equals_the_final_text_and_every_start_has_its_end() -> None:
    core, thread = started()
    events = core.say(thread, "hello")
    streamed = "".join(e.text for e in events if isinstance(e, TextDelta))
    assert [e.final["text"] for e in events if isinstance(e, ItemSeen)] == [streamed] == ["heard 1"]
    assert [e.turn for e in events if isinstance(e, TurnStarted)] == [
        e.turn for e in events if isinstance(e, TurnEnded)
    ]


def test_an_answer_counts_once_and_an_end_closes_what_waits() -> None:
    core, thread = started()
    (request,) = [e for e in core.say(thread, "act") if isinstance(e, RequestOpened)]
    core.ask(Respond("r1", request.key, Answer(ACCEPT)))
    (second,) = core.ask(Respond("r2", request.key, Answer(ACCEPT)))
    assert isinstance(second, AskFailed)
    assert core.program.heard.count("answer") == 1
    (request,) = [e for e in core.say(thread, "act") if isinstance(e, RequestOpened)]
    assert core.feed(Exit(1)) == [RequestClosed(request.key, "agent", "process_exit")]


def recorded() -> list[Input]:
    """Everything one adapter saw on a busy day: a cassette."""
    core, thread = started()
    for text in ("hello", "act"):
        request = [e for e in core.say(thread, text) if isinstance(e, RequestOpened)]
    core.ask(Respond("r", request[0].key, Answer(ACCEPT)))
    core.ask(CloseSession("bye"))
    return [*core.inputs, Exit(0)]


def test_it_is_a_function_of_its_inputs_and_survives_storage_at_every_point() -> None:
    straight, stored = Machine(SmallAdapter()), Machine(SmallAdapter())
    for given_input in recorded():
        kept, before = straight.state, straight.dump()
        step = straight.feed(given_input)
        assert straight.adapter.dump(kept) == before
        assert stored.feed(given_input) == step
        restored = Machine.restore(SmallAdapter(), stored.dump())
        assert restored is not None
        stored = restored
        assert len(before) < ADAPTER_STATE_MAX


FRAMES = [i.data for i in recorded() if isinstance(i, Frame)]
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(FRAMES), st.data())
def test_no_frame_makes_it_raise(frame: dict[str, Any], data: st.DataObject) -> None:
    damaged = dict(frame)
    for key in data.draw(st.lists(st.sampled_from([*frame, "op", "more"]), max_size=3)):
        damaged[key] = data.draw(plain)
    for key in data.draw(st.lists(st.sampled_from(list(frame)), max_size=2)):
        damaged.pop(key, None)
    step = SmallAdapter().step(State(), Frame(damaged))
    assert step.events
    msgspec.json.encode(step.events)
