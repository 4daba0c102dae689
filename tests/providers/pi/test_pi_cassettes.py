"""Recordings of the real program give what they gave when they were looked at (R1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine, Send
from podium.contract.events import ItemSeen, OpaqueSeen, TurnEnded, TurnStarted
from podium.contract.inputs import Input
from podium.providers.pi import adapter
from podium.testkit.cassettes import counts, events, read_cassette, replay, unknown_names

FOLDER = Path(__file__).parents[2] / "cassettes" / "pi"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the expected results anew; look at the difference before committing it."""


def cassette(name: str) -> list[Input]:
    """A recording by its name."""
    return read_cassette(FOLDER / f"{name}.jsonl")


def _result(inputs: list[Input]) -> list[Any]:
    """Everything that came of a recording: the counts, then one entry for each input."""
    played = replay(adapter, inputs)
    lines: list[Any] = [{"counts": counts(played), "names": unknown_names(played)}]
    for _, step in played:
        entry: dict[str, Any] = {"events": msgspec.to_builtins(list(step.events))}
        sends = [send.line for send in step.sends if isinstance(send, Send)]
        lines.append(entry | ({"sends": sends} if sends else {}))
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
    assert NAMES and sorted(path.stem for path in (FOLDER / "expected").glob("*.jsonl")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_step_changes_no_state_in_place_and_survives_storage_at_every_point(name: str) -> None:
    straight, stored = Machine(adapter), Machine(adapter)
    for given in cassette(name):
        before, kept = straight.dump(), straight.state
        step = straight.feed(given)
        assert adapter.dump(kept) == before
        assert stored.feed(given).events == step.events
        restored = Machine.restore(adapter, stored.dump())
        assert restored is not None and restored.state == straight.state
        stored = restored
        assert len(before) < ADAPTER_STATE_MAX // 16


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.behaviour("F251")
def test_turns_and_items_start_once_and_end_at_most_once_and_no_frame_is_unknown(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    assert [e for e in found if isinstance(e, OpaqueSeen)] == []
    started = [e.turn for e in found if isinstance(e, TurnStarted)]
    ended = [e.turn for e in found if isinstance(e, TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended) and set(ended) <= set(started)
    closed = [(e.ref.turn, e.ref.id) for e in found if isinstance(e, ItemSeen) and e.state != "open"]
    assert len(set(closed)) == len(closed)


def test_the_recorded_session_ends_as_the_person_saw_it() -> None:
    ends = [e for e in events(replay(adapter, cassette("session"))) if isinstance(e, TurnEnded)]
    told = [(e.outcome, e.failure.code if e.failure else None) for e in ends]
    done, failed = ("completed", None), "failed"
    assert told == [
        *[done] * 3,
        ("interrupted", None),
        *[done] * 2,
        (failed, "internal"),
        (failed, "rate_limited"),
        *[(failed, "stream_lost")] * 2,
    ]
