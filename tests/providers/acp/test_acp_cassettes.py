"""Recordings of real agents give what they gave when they were looked at (R1)."""

from __future__ import annotations

import os
from typing import Any

import msgspec
import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine, Send
from podium.contract.events import (
    ItemSeen,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Input
from podium.providers.acp import AcpAdapter
from podium.testkit.cassettes import counts, events, replay, unknown_names
from tests.providers.acp.acp_play import FOLDERS, NAMES, adapter_of, cassette, encoded, place_of

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the expected results anew; look at the difference before committing it."""

OPAQUE = {"others/kilo_file_method_not_offered": 1, "others/cxacp_other_version": 1}
"""Recordings with frames that are kept as they are: a file method that was not offered, and what came of an
agent before anybody knew which one it was."""


def _result(of: AcpAdapter, inputs: list[Input]) -> list[Any]:
    """Everything that came of a recording, as plain data: the counts, then one entry for each input."""
    played = replay(of, inputs)
    lines: list[Any] = [{"counts": counts(played), "names": unknown_names(played)}]
    for _, step in played:
        entry: dict[str, Any] = {"events": msgspec.to_builtins(list(step.events))}
        sends = [send.line for send in step.sends if isinstance(send, Send)]
        timers = [[timer.name, timer.seconds] for timer in step.timers]
        lines.append(entry | ({"sends": sends} if sends else {}) | ({"timers": timers} if timers else {}))
    return lines


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_the_expected_result(name: str) -> None:
    path = place_of(name, "expected")
    found = b"".join(msgspec.json.encode(line) + b"\n" for line in _result(adapter_of(name), cassette(name)))
    if os.environ.get(REWRITE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert found.splitlines() == path.read_bytes().splitlines()


def test_every_expected_result_has_its_recording() -> None:
    assert NAMES
    for agent, (folder, _, _) in FOLDERS.items():
        expected = sorted(f"{agent}/{path.stem}" for path in (folder / "expected").glob("*.jsonl"))
        assert expected == [name for name in NAMES if name.startswith(f"{agent}/")]


@pytest.mark.parametrize("name", NAMES)
def test_a_step_changes_no_state_in_place_and_survives_storage_at_every_point(name: str) -> None:
    of = adapter_of(name)
    straight, stored = Machine(of), Machine(of)
    for given in cassette(name):
        before = straight.dump()
        kept = straight.state
        step = straight.feed(given)
        assert of.dump(kept) == before
        assert encoded(list(stored.feed(given).events)) == encoded(list(step.events))
        restored = Machine.restore(of, stored.dump())
        assert restored is not None
        assert restored.state == straight.state
        stored = restored
        assert len(before) < ADAPTER_STATE_MAX // 16


@pytest.mark.parametrize("name", NAMES)
def test_only_what_is_named_here_is_unknown(name: str) -> None:
    found = [e for e in events(replay(adapter_of(name), cassette(name))) if isinstance(e, OpaqueSeen)]
    assert len(found) == OPAQUE.get(name, 0), found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.behaviour("F251")
def test_turns_and_items_start_once_and_end_at_most_once_and_no_request_stays_open(name: str) -> None:
    found = events(replay(adapter_of(name), cassette(name)))
    started = [(e.thread, e.turn) for e in found if isinstance(e, TurnStarted)]
    ended = [(e.thread, e.turn) for e in found if isinstance(e, TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended) and set(ended) <= set(started)
    closed = [
        (e.ref.thread, e.ref.turn, e.ref.id or e.ref.fingerprint)
        for e in found
        if isinstance(e, ItemSeen) and e.state != "open"
    ]
    assert len(set(closed)) == len(closed)
    opened = {e.key for e in found if isinstance(e, RequestOpened)}
    assert opened == {e.key for e in found if isinstance(e, RequestClosed)}


@pytest.mark.parametrize("name", NAMES)
def test_name_and_brand_change_nothing_else(name: str) -> None:
    of = adapter_of(name)
    renamed = of.named("some-adapter", "some-agent")
    inputs = cassette(name)
    brand = b'"agent_kind":"' + of.descriptor.agent_kind.encode() + b'"'
    first = encoded(events(replay(of, inputs)))
    other = encoded(events(replay(renamed, _rebranded(inputs, of.descriptor.agent_kind))))
    assert [line.replace(b'"agent_kind":"some-agent"', brand) for line in other] == first


def _rebranded(inputs: list[Input], brand: str) -> list[Input]:
    """The same inputs with handles of the other brand."""
    data = msgspec.json.encode(inputs).replace(
        b'"agent_kind":"' + brand.encode() + b'"', b'"agent_kind":"some-agent"'
    )
    return msgspec.json.decode(data, type=list[Input])
