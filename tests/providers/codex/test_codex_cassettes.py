"""Recorded conversations with the real program give what they gave when they were looked at (R1)."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import msgspec
import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine, Send
from podium.contract.events import (
    Body,
    ItemSeen,
    OpaqueSeen,
    ProviderEvent,
    RequestClosed,
    RequestOpened,
    TextDelta,
    ThreadBound,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Frame, Input
from podium.providers.codex import CodexAdapter, State, adapter
from podium.testkit.cassettes import counts, events, replay, unknown_names
from tests.providers.codex.playing import EXPECTED, NAMES, cassette, encoded

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the expected results anew; look at the difference before committing it."""


def _result(inputs: list[Input]) -> list[Any]:
    """Everything that came of a cassette, as plain data: the counts, then one entry for each input."""
    played = replay(adapter, inputs)
    lines: list[Any] = [{"counts": counts(played), "names": unknown_names(played)}]
    for _, step in played:
        entry: dict[str, Any] = {"events": msgspec.to_builtins(list(step.events))}
        sends = [send.line for send in step.sends if isinstance(send, Send)]
        timers = [[timer.name, timer.seconds] for timer in step.timers]
        lines.append(entry | ({"sends": sends} if sends else {}) | ({"timers": timers} if timers else {}))
    return lines


@pytest.mark.parametrize("name", NAMES)
def test_a_cassette_gives_the_expected_result(name: str) -> None:
    path = EXPECTED / f"{name}.jsonl"
    found = b"".join(msgspec.json.encode(line) + b"\n" for line in _result(cassette(name)))
    if os.environ.get(REWRITE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert found.splitlines() == path.read_bytes().splitlines()


def test_every_expected_result_has_its_cassette() -> None:
    assert NAMES
    assert tuple(sorted(path.stem for path in EXPECTED.glob("*.jsonl"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_depends_on_nothing_else(name: str) -> None:
    inputs = cassette(name)
    renamed = CodexAdapter("some-adapter", "some-agent")
    first, second = events(replay(adapter, inputs)), events(replay(adapter, inputs))
    other = events(replay(renamed, inputs))
    assert encoded(first) == encoded(second)
    assert [line.replace(b"some-agent", b"codex") for line in encoded(other)] == encoded(first)


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
        assert len(before) < ADAPTER_STATE_MAX // 16


def _started(inputs: list[Input]) -> list[int]:
    return [
        place
        for place, given in enumerate(inputs)
        if isinstance(given, Frame) and given.data.get("method") == "item/started"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_start_of_an_item_matters(name: str) -> None:
    inputs = cassette(name)
    whole = encoded(events(replay(adapter, inputs)))
    for place in _started(inputs):
        assert encoded(events(replay(adapter, inputs[:place] + inputs[place + 1 :]))) != whole


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_cassette_is_unknown(name: str) -> None:
    assert [event for event in events(replay(adapter, cassette(name))) if isinstance(event, OpaqueSeen)] == []


def _texts(found: list[ProviderEvent]) -> dict[tuple[str, str | None, str | None, Body], str]:
    texts: dict[tuple[str, str | None, str | None, Body], str] = defaultdict(str)
    for event in found:
        if isinstance(event, TextDelta):
            texts[(event.ref.thread, event.ref.turn, event.ref.id, event.body)] += event.text
    return texts


@pytest.mark.parametrize("name", NAMES)
def test_deltas_of_messages_and_reasoning_equal_the_final_text(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    texts = _texts(found)
    for event in found:
        if isinstance(event, ItemSeen) and event.kind in ("assistant_message", "reasoning", "plan"):
            for body, final in event.final.items():
                streamed = texts.get((event.ref.thread, event.ref.turn, event.ref.id, body))
                assert streamed in (None, final)


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_starts_once_and_ends_at_most_once(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    started = [(event.thread, event.turn) for event in found if isinstance(event, TurnStarted)]
    ended = [(event.thread, event.turn) for event in found if isinstance(event, TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(started)


@pytest.mark.parametrize("name", NAMES)
def test_no_request_stays_open_after_the_process(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    opened = [event.key for event in found if isinstance(event, RequestOpened)]
    assert sorted(event.key for event in found if isinstance(event, RequestClosed)) == sorted(opened)


@pytest.mark.behaviour("F074")
def test_a_resume_binds_the_named_conversation_or_says_why_not() -> None:
    found = events(replay(adapter, cassette("05_g_resume_after_kill")))
    resumed = [event for event in found if isinstance(event, ThreadBound) and event.resumed]
    assert resumed
    kinds = [msgspec.to_builtins(event)["event"] for event in found]
    assert "thread_missing" in kinds


def test_the_state_of_this_release_is_read_as_it_was_written() -> None:
    golden = (EXPECTED.parent / "state" / "1.json").read_bytes()
    state = adapter.load(golden)
    assert isinstance(state, State)
    assert adapter.dump(state) == golden.rstrip()
    assert state.pending
    assert state.turns
    assert state.items
    assert state.waiting


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"state_version":2}', b'{"next_id":"x"}', b"\xff"])
def test_a_state_that_cannot_be_read_is_reconciled(data: bytes) -> None:
    assert adapter.load(data) is None
