"""Whatever the agent or the bridge sends, the adapter neither raises nor grows nor touches its state."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine
from podium.contract.inputs import Frame, Input
from podium.providers.claude import adapter
from tests.providers.claude.test_claude_cassettes import NAMES, cassette
from tests.providers.codex.test_codex_fuzz import mutated, values

INPUTS: dict[str, list[Input]] = {name: cassette(name) for name in NAMES}
TYPES = (
    "stream_event",
    "assistant",
    "user",
    "system",
    "result",
    "control_request",
    "control_response",
    "control_cancel_request",
    "command_lifecycle",
    "rate_limit_event",
    "something_new",
)
KEYS = (
    "message",
    "event",
    "request",
    "response",
    "request_id",
    "uuid",
    "subtype",
    "content",
    "type",
    "usage",
)


def _feed(machine: Machine, given: Input) -> None:
    before, state = machine.dump(), machine.state
    step = machine.feed(given)
    assert adapter.dump(state) == before
    assert len(machine.dump()) < ADAPTER_STATE_MAX
    assert adapter.load(machine.dump()) == machine.state
    assert step.events or step.sends
    for event in step.events:
        msgspec.json.encode(event)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(st.sampled_from(NAMES), st.data())
def test_mutated_conversations_never_raise(name: str, data: st.DataObject) -> None:
    machine, inputs = Machine(adapter), INPUTS[name]
    chosen = data.draw(st.sets(st.integers(0, len(inputs) - 1), min_size=1, max_size=4))
    for place, one in enumerate(inputs):
        if place in chosen and isinstance(one, Frame):
            _feed(machine, Frame(mutated(data, one.data)))
        elif place not in chosen or data.draw(st.booleans()):
            machine.feed(one)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.integers(3, 20),
    st.lists(st.tuples(st.sampled_from(TYPES), st.dictionaries(st.sampled_from(KEYS), values)), max_size=8),
)
def test_made_up_frames_never_raise(name: str, start: int, frames: list[tuple[str, dict[str, Any]]]) -> None:
    machine = Machine(adapter)
    for one in INPUTS[name][:start]:
        machine.feed(one)
    of = next(iter(machine.state.talks), "nobody")
    for kind, fields in frames:
        _feed(machine, Frame({"say": "frame", "of": of, "frame": fields | {"type": kind}}))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=80))
def test_a_broken_state_is_refused(data: bytes) -> None:
    assert adapter.load(data) is None
