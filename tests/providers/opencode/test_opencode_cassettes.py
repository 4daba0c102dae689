"""Recordings of the real program give what they gave when they were looked at (R1)."""

from __future__ import annotations

import os
from typing import Any

import msgspec
import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX, HttpSend, Machine
from podium.contract.events import (
    ItemSeen,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Input
from podium.providers.opencode import OpenCodeAdapter, adapter
from podium.testkit.cassettes import counts, events, replay, unknown_names
from tests.providers.opencode.opencode_play import FOLDER, NAMES, cassette, encoded

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the expected results anew; look at the difference before committing it."""


def _result(inputs: list[Input]) -> list[Any]:
    """Everything that came of a recording, as plain data: the counts, then one entry for each input."""
    played = replay(adapter, inputs)
    lines: list[Any] = [{"counts": counts(played), "names": unknown_names(played)}]
    for _, step in played:
        entry: dict[str, Any] = {"events": msgspec.to_builtins(list(step.events))}
        sends = [msgspec.to_builtins(send) for send in step.sends if isinstance(send, HttpSend)]
        timers = [[timer.name, timer.seconds] for timer in step.timers]
        lines.append(entry | ({"sends": sends} if sends else {}) | ({"timers": timers} if timers else {}))
    return lines


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_the_expected_result(name: str) -> None:
    path = FOLDER / "expected" / f"{name}.jsonl"
    found = b"".join(msgspec.json.encode(line) + b"\n" for line in _result(cassette(name)))
    if os.environ.get(REWRITE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert found.splitlines() == path.read_bytes().splitlines()


def test_every_expected_result_has_its_recording() -> None:
    assert NAMES
    assert sorted(path.stem for path in (FOLDER / "expected").glob("*.jsonl")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_changes_no_state_in_place_and_survives_storage_at_every_point(name: str) -> None:
    straight, stored = Machine(adapter), Machine(adapter)
    for given in cassette(name):
        before = straight.dump()
        kept = straight.state
        step = straight.feed(given)
        assert adapter.dump(kept) == before
        assert encoded(list(stored.feed(given).events)) == encoded(list(step.events))
        restored = Machine.restore(adapter, stored.dump())
        assert restored is not None
        assert restored.state == straight.state
        stored = restored
        assert len(before) < ADAPTER_STATE_MAX // 8


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_unknown(name: str) -> None:
    found = [e for e in events(replay(adapter, cassette(name))) if isinstance(e, OpaqueSeen)]
    assert found == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.behaviour("F251")
def test_turns_and_items_start_once_and_end_at_most_once_and_no_request_stays_open(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    started = [(e.thread, e.turn) for e in found if isinstance(e, TurnStarted)]
    ended = [(e.thread, e.turn) for e in found if isinstance(e, TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended) and set(ended) <= set(started)
    closed = [
        (e.ref.thread, e.ref.turn, e.ref.id) for e in found if isinstance(e, ItemSeen) and e.state != "open"
    ]
    assert len(set(closed)) == len(closed)
    opened = {e.key for e in found if isinstance(e, RequestOpened)}
    assert opened == {e.key for e in found if isinstance(e, RequestClosed)}


@pytest.mark.parametrize("name", NAMES)
def test_name_and_brand_change_nothing_else(name: str) -> None:
    renamed = OpenCodeAdapter("some-adapter", "some-agent")
    inputs = cassette(name)
    data = msgspec.json.encode(inputs).replace(b'"agent_kind":"opencode"', b'"agent_kind":"some-agent"')
    other = encoded(events(replay(renamed, msgspec.json.decode(data, type=list[Input]))))
    first = encoded(events(replay(adapter, inputs)))
    assert [line.replace(b'"agent_kind":"some-agent"', b'"agent_kind":"opencode"') for line in other] == first
