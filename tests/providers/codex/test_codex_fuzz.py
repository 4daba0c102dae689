"""Whatever an agent sends, the adapter neither raises nor grows nor touches the state it was given."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine
from podium.contract.events import ProviderEvent
from podium.contract.inputs import Frame, Input
from podium.providers.codex import adapter
from podium.testkit.cassettes import read_cassette
from podium.transport.codec import decode_frame
from tests.providers.codex.playing import CASSETTES

SEEDS = (
    "01_basic",
    "02_patch",
    "02_plan",
    "03_untrusted_accept",
    "03_patch_accept",
    "04_interrupt_approval",
    "04_rui_plan",
    "05_f_review",
    "07_collab_v2",
    "08_mcp_elicit",
    "09_b_retry_eof",
    "15_req_perms",
    "15_sub_approval",
    "21_answers",
)
INPUTS: dict[str, list[Input]] = {name: read_cassette(CASSETTES / f"{name}.jsonl") for name in SEEDS}
NAMES = sorted(
    {
        str(x.data["method"])
        for seed in INPUTS.values()
        for x in seed
        if isinstance(x, Frame) and "method" in x.data
    }
)
KEYS = sorted(
    {"item", "status", "turn", "thread", "id", "type", "threadId", "turnId", "itemId", "params", "result"}
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**62, max_value=2**200),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["tu-1", "", "completed", "x" * 700]),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner)
    ),
    max_leaves=6,
)


def every_place(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every member, at any depth."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, member in msgspec.convert(value, dict[str, Any]).items():
            found += every_place(member, (*path, key))
    elif isinstance(value, list):
        for place, member in enumerate(msgspec.convert(value, list[Any])):
            found += every_place(member, (*path, place))
    return found


def mutated(data: st.DataObject, frame: dict[str, Any]) -> dict[str, Any]:
    """The frame with up to three of its members replaced or gone."""
    changed = copy.deepcopy(frame)
    for _ in range(data.draw(st.integers(1, 3))):
        places = every_place(changed)
        if not places:
            break
        path = data.draw(st.sampled_from(places))
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        if data.draw(st.booleans()):
            holder[path[-1]] = data.draw(values)
        elif isinstance(holder, dict):
            del holder[path[-1]]
    return changed


def _feed(machine: Machine, given: Input) -> tuple[ProviderEvent, ...]:
    """One step under every promise: pure, storable, bounded, and its events can be stored."""
    before, state = machine.dump(), machine.state
    step = machine.feed(given)
    assert adapter.dump(state) == before
    assert len(machine.dump()) < ADAPTER_STATE_MAX
    assert adapter.load(machine.dump()) == machine.state
    for event in step.events:
        msgspec.json.encode(event)
    return step.events


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.sampled_from(SEEDS), st.data())
def test_mutated_conversations_never_raise(name: str, data: st.DataObject) -> None:
    machine = Machine(adapter)
    inputs = INPUTS[name]
    chosen = data.draw(st.sets(st.integers(0, len(inputs) - 1), min_size=1, max_size=4))
    for place, given_input in enumerate(inputs):
        if place in chosen and isinstance(given_input, Frame):
            _feed(machine, Frame(mutated(data, given_input.data)))
        elif place in chosen and data.draw(st.booleans()):
            continue
        else:
            machine.feed(given_input)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(NAMES), values, st.none() | scalars), min_size=1, max_size=6))
def test_made_up_frames_never_raise(frames: list[tuple[str, Any, Any]]) -> None:
    machine = Machine(adapter)
    for method, params, native in frames:
        data: dict[str, Any] = {"method": method, "params": params}
        _feed(machine, Frame(data if native is None else data | {"id": native}))


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from([*KEYS, "method", "error"]), values))
def test_any_object_is_taken(data: dict[str, Any]) -> None:
    assert _feed(Machine(adapter), Frame(data))


@settings(max_examples=100)
@given(st.binary(max_size=80))
def test_what_the_reader_makes_of_any_bytes_is_taken(noise: bytes) -> None:
    line = (
        b'{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"id":"i","type":"' + noise
    )
    decoded = decode_frame(line + b'"}}}')
    value: Any = getattr(decoded, "value", None)
    if value is not None:
        _feed(Machine(adapter), Frame(msgspec.convert(value, dict[str, Any])))


def test_a_flood_of_open_things_stays_within_the_bound() -> None:
    machine = Machine(adapter)
    for number in range(3000):
        place = {"threadId": f"{'t' * 100}{number % 700}", "turnId": f"{'u' * 100}{number}"}
        paths = [{"path": "p" * 600, "kind": {"type": "add"}} for _ in range(60)] if number % 10 == 0 else []
        item = {"type": "fileChange", "id": "i" * 500, "changes": paths}
        machine.feed(Frame({"method": "item/started", "params": place | {"item": item}}))
        machine.feed(
            Frame({"method": "item/commandExecution/requestApproval", "id": number, "params": place})
        )
    assert len(machine.dump()) < ADAPTER_STATE_MAX
