"""Whatever an agent sends, the adapter neither raises nor grows nor touches the state it was given."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine
from podium.contract.events import ProviderEvent
from podium.contract.inputs import Frame, Input
from podium.providers.acp import AcpAdapter, adapter, grok
from tests.providers.acp.acp_play import NAMES, Play, adapter_of, cassette
from tests.providers.codex.test_codex_fuzz import mutated, scalars, values

INPUTS: dict[str, list[Input]] = {name: cassette(name)[:-1] for name in NAMES}
FRAMES = [given.data for seed in INPUTS.values() for given in seed if isinstance(given, Frame)]
METHODS = sorted({str(data["method"]) for data in FRAMES if "method" in data})


def feed(machine: Machine, given_input: Input) -> tuple[ProviderEvent, ...]:
    """One step under every promise: pure, storable, bounded, and its events can be stored."""
    before, state = machine.dump(), machine.state
    step = machine.feed(given_input)
    assert adapter.dump(state) == before
    assert len(machine.dump()) < ADAPTER_STATE_MAX
    assert adapter.load(machine.dump()) == machine.state
    for event in step.events:
        msgspec.json.encode(event)
    return step.events


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.sampled_from(NAMES), st.data())
def test_mutated_conversations_never_raise(name: str, data: st.DataObject) -> None:
    machine = Machine(adapter_of(name))
    inputs = INPUTS[name]
    chosen = data.draw(st.sets(st.integers(0, len(inputs) - 1), min_size=1, max_size=4))
    for place, given_input in enumerate(inputs):
        if place in chosen and isinstance(given_input, Frame):
            feed(machine, Frame(mutated(data, given_input.data)))
        elif place in chosen and data.draw(st.booleans()):
            continue
        else:
            machine.feed(given_input)


@settings(max_examples=200)
@given(
    st.sampled_from([adapter, grok]),
    st.lists(st.tuples(st.sampled_from(METHODS), values, st.none() | scalars), min_size=1, max_size=6),
)
def test_made_up_frames_never_raise(of: AcpAdapter, frames: list[tuple[str, Any, Any]]) -> None:
    machine = Play(of).ready().bound().prompted().machine
    for method, params, native in frames:
        data: dict[str, Any] = {"method": method, "params": params}
        feed(machine, Frame(data if native is None else data | {"id": native}))


def test_a_flood_of_open_things_stays_within_the_bound() -> None:
    play = Play(grok).ready()
    catalog = [{"modelId": f"model-{n}" + "m" * 80} for n in range(5000)]
    play.bound(models={"currentModelId": "x", "availableModels": catalog})
    play.prompted()
    questions: Any = [{"question": "q" * 390, "options": []} for _ in range(9)]
    for number in range(400):
        call: dict[str, Any] = {
            "toolCallId": f"{'c' * 200}{number}",
            "title": "t" * 500,
            "rawInput": {"command": "x" * 900},
        }
        play.update("tool_call", kind="execute", **call)
        asked: dict[str, Any] = {"sessionId": "s", "toolCall": call, "questions": questions}
        play.frame("session/request_permission", asked, id=f"{'r' * 90}{number}")
        play.frame("_x.ai/ask_user_question", asked, id=number)
        said = {"type": "text", "text": "."}
        play.update("agent_message_chunk", thread=f"{'k' * 100}{number}", content=said)
    assert len(play.machine.dump()) < ADAPTER_STATE_MAX
