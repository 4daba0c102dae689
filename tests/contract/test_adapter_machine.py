"""The machine holds an adapter to its contract: faults are typed, the state is bounded and can be stored."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.adapter import (
    ADAPTER_STATE_MAX,
    Adapter,
    AdapterFault,
    Descriptor,
    LaunchPlan,
    LaunchSettings,
    Machine,
    Send,
    Step,
)
from podium.contract.capabilities import Capabilities
from podium.contract.errors import MESSAGE_MAX
from podium.contract.events import DiagnosticSeen, ItemSeen, Notice, OpaqueSeen, ProviderEvent, Ref
from podium.contract.inputs import Exit, Frame, Input


class Count(msgspec.Struct, frozen=True):
    frames: int = 0
    state_version: int = 1


class Counting:
    """Counts frames. A frame can tell it to break the contract."""

    descriptor = Descriptor("counting", "counting", "Counting", "wire", ())

    def capabilities(self) -> Capabilities:
        return Capabilities.minimal("counting")

    def asks(self) -> frozenset[str]:
        return frozenset()

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        return LaunchPlan((settings.program,))

    def new(self) -> Any:
        return Count()

    def step(self, state: Any, given: Input) -> Any:
        if not isinstance(given, Frame):
            return Step(state)
        match given.data.get("do"):
            case "raise":
                raise KeyError("x" * int(given.data.get("size", 1)))
            case "nothing":
                return None
            case "grow":
                return Step("x" * ADAPTER_STATE_MAX)
            case "object":
                return Step(object())
            case _:
                return Step(Count(state.frames + 1), sends=(Send(str(state.frames)),))

    def dump(self, state: Any) -> bytes:
        return msgspec.json.encode(state)

    def load(self, data: bytes) -> Any:
        if data == b"raise":
            raise RuntimeError("no such state")
        try:
            state = msgspec.json.decode(data, type=Count)
        except msgspec.DecodeError:
            return None
        return state if state.state_version == 1 else None


ADAPTER: Adapter[Any] = Counting()


@pytest.mark.parametrize("data", [{"do": "raise"}, {"do": "raise", "size": 10**6}, {"do": "nothing"}])
def test_a_step_that_breaks_the_contract_is_a_typed_fault_and_changes_nothing(data: dict[str, Any]) -> None:
    machine = Machine(ADAPTER)
    machine.feed(Frame({}))
    before = machine.dump()
    with pytest.raises(AdapterFault) as caught:
        machine.feed(Frame(data))
    assert caught.value.code == "adapter_fault"
    assert "counting" in caught.value.message
    assert caught.value.fix
    assert len(caught.value.message) < MESSAGE_MAX * 2
    assert machine.dump() == before
    assert machine.feed(Frame({})).state == Count(2)


@pytest.mark.parametrize("do", ["grow", "object"])
def test_a_state_that_cannot_be_stored_within_its_bound_is_a_fault(do: str) -> None:
    machine = Machine(ADAPTER)
    machine.feed(Frame({"do": do}))
    with pytest.raises(AdapterFault):
        machine.dump()


def test_the_bound_itself_can_be_stored() -> None:
    machine = Machine(ADAPTER, "x" * (ADAPTER_STATE_MAX - 2))
    assert len(machine.dump()) == ADAPTER_STATE_MAX


def test_a_restored_machine_goes_on_where_the_first_stood() -> None:
    first = Machine(ADAPTER)
    for _ in range(3):
        first.feed(Frame({}))
    second = Machine.restore(ADAPTER, first.dump())
    assert second is not None
    assert second.feed(Frame({})) == first.feed(Frame({}))
    assert second.dump() == first.dump()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"frames":"x"}', b'{"state_version":2}'])
def test_a_state_that_the_adapter_cannot_read_is_none(data: bytes) -> None:
    assert Machine.restore(ADAPTER, data) is None


def test_a_load_that_raises_is_a_fault() -> None:
    with pytest.raises(AdapterFault, match="no such state"):
        Machine.restore(ADAPTER, b"raise")


def test_inputs_of_every_kind_pass() -> None:
    machine = Machine(ADAPTER)
    assert machine.feed(Exit(0)).state == Count()
    assert [send.line for send in machine.feed(Frame({})).sends if isinstance(send, Send)] == ["0"]


REF = Ref("t", "u", "i")


@pytest.mark.parametrize(
    ("events", "handled"),
    [
        ((), "mapped"),
        ((DiagnosticSeen("a"), DiagnosticSeen("b")), "diagnostic"),
        ((DiagnosticSeen("a"), Notice("info", "c", "t")), "mapped"),
        ((Notice("info", "c", "t"), OpaqueSeen("x", {})), "opaque"),
        ((ItemSeen(REF, "opaque", "completed"),), "opaque"),
        ((ItemSeen(REF, "command", "open"),), "mapped"),
    ],
)
def test_each_input_counts_as_one_of_three(events: tuple[ProviderEvent, ...], handled: str) -> None:
    assert Step(None, events).handled == handled
