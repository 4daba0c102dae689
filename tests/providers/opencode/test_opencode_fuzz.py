"""Whatever the agent's server answers and tells, the adapter neither raises nor grows."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine
from podium.contract.inputs import HttpReply, Input, SseEvent, StreamLost
from podium.providers.opencode import adapter
from tests.providers.codex.test_codex_fuzz import mutated, values
from tests.providers.opencode.opencode_play import NAMES, cassette

INPUTS = {name: cassette(name) for name in NAMES}
TOLD = [one.data for inputs in INPUTS.values() for one in inputs if isinstance(one, SseEvent) and one.data]
TYPES = sorted({str(event["type"]) for event in TOLD})


def _feed(machine: Machine, given: Input) -> None:
    before, state = machine.dump(), machine.state
    step = machine.feed(given)
    assert adapter.dump(state) == before
    assert len(machine.dump()) < ADAPTER_STATE_MAX
    assert Machine.restore(adapter, machine.dump()) is not None
    for event in step.events:
        msgspec.json.encode(event)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.sampled_from(NAMES), st.data())
def test_mutated_conversations_never_raise(name: str, data: st.DataObject) -> None:
    machine, inputs = Machine(adapter), INPUTS[name]
    chosen = data.draw(st.sets(st.integers(0, len(inputs) - 1), min_size=1, max_size=4))
    for place, one in enumerate(inputs):
        match one:
            case SseEvent(name, {**event}) if place in chosen:
                _feed(machine, SseEvent(name, mutated(data, event)))
            case HttpReply(tag) if place in chosen:
                status = data.draw(st.sampled_from((0, 200, 204, 400, 404, 500)))
                _feed(machine, HttpReply(tag, status, data.draw(values)))
            case _ if place in chosen and data.draw(st.booleans()):
                _feed(machine, StreamLost("silence"))
            case _:
                machine.feed(one)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(TYPES), st.dictionaries(st.text(max_size=6), values))))
def test_made_up_events_never_raise(told: list[tuple[str, dict[str, Any]]]) -> None:
    machine = Machine(adapter)
    for name, properties in told:
        _feed(machine, SseEvent("message", {"type": name, "properties": properties}))


@settings(max_examples=100)
@given(st.binary(max_size=80))
def test_a_broken_state_is_refused(data: bytes) -> None:
    assert adapter.load(data) is None
