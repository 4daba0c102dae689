"""Recordings of the real program give what they gave when they were looked at (R1)."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX, Machine, Send
from podium.contract.events import (
    ItemSeen,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Exit, Input
from podium.providers.claude import ClaudeAdapter, adapter
from podium.testkit.cassettes import counts, events, read_cassette, replay, unknown_names

FOLDER = Path(__file__).parents[2] / "cassettes" / "claude"
VERSIONS = ("2.1.197", "2.1.332")
NAMES = [
    f"{version}/{path.stem}" for version in VERSIONS for path in sorted((FOLDER / version).glob("*.jsonl"))
]

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the expected results anew; look at the difference before committing it."""


def cassette(name: str) -> list[Input]:
    """A recording by its version and name, with the end of the process appended."""
    return [*read_cassette(FOLDER / f"{name}.jsonl"), Exit(0)]


def expected(name: str) -> Path:
    """Where its expected result stands."""
    version, _, stem = name.partition("/")
    return FOLDER / version / "expected" / f"{stem}.jsonl"


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
    path = expected(name)
    found = b"".join(msgspec.json.encode(line) + b"\n" for line in _result(cassette(name)))
    if os.environ.get(REWRITE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert found.splitlines() == path.read_bytes().splitlines()


def test_every_expected_result_has_its_recording() -> None:
    assert NAMES
    for version in VERSIONS:
        stems = sorted(path.stem for path in (FOLDER / version / "expected").glob("*.jsonl"))
        assert stems == sorted(name.partition("/")[2] for name in NAMES if name.startswith(version))


@pytest.mark.parametrize("name", NAMES)
def test_a_step_changes_no_state_in_place_and_survives_storage_at_every_point(name: str) -> None:
    straight, stored = Machine(adapter), Machine(adapter)
    for given in cassette(name):
        before, kept = straight.dump(), straight.state
        step = straight.feed(given)
        assert adapter.dump(kept) == before
        again = stored.feed(given)
        assert (again.events, again.sends) == (step.events, step.sends)
        restored = Machine.restore(adapter, stored.dump())
        assert restored is not None and restored.state == straight.state
        stored = restored
        assert len(before) < ADAPTER_STATE_MAX // 16


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.behaviour("F251")
def test_turns_start_once_and_end_once_and_no_frame_is_unknown(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    assert [e for e in found if isinstance(e, OpaqueSeen)] == []
    started = [(e.thread, e.turn) for e in found if isinstance(e, TurnStarted)]
    ended = [(e.thread, e.turn) for e in found if isinstance(e, TurnEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended)
    assert {turn for _, turn in ended} == {turn for _, turn in started}


@pytest.mark.parametrize("name", NAMES)
def test_no_request_stays_open_and_each_is_closed_once(name: str) -> None:
    found = events(replay(adapter, cassette(name)))
    opened = [e.key for e in found if isinstance(e, RequestOpened)]
    closed = [e.key for e in found if isinstance(e, RequestClosed)]
    assert sorted(opened) == sorted(closed)


@pytest.mark.parametrize("name", NAMES)
def test_deltas_of_messages_and_reasoning_equal_the_final_text(name: str) -> None:
    texts: dict[tuple[str, str | None, str], str] = defaultdict(str)
    for event in events(replay(adapter, cassette(name))):
        match event:
            case TextDelta(ref=ref, body=body, text=text):
                texts[(ref.thread, ref.id, body)] += text
            case ItemSeen(ref=ref, state="completed", final=final, kind="assistant_message" | "reasoning"):
                for body, text in final.items():
                    said = texts.get((ref.thread, ref.id, body))
                    assert said in (None, text)
            case _:
                pass


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_depends_on_nothing_else(name: str) -> None:
    inputs = cassette(name)
    renamed = ClaudeAdapter("some-adapter", "some-agent")
    first, other = events(replay(adapter, inputs)), events(replay(renamed, inputs))
    lines = [msgspec.json.encode(event) for event in first]
    kind = b'"agent_kind":"some-agent"'
    assert [msgspec.json.encode(e).replace(kind, b'"agent_kind":"claude"') for e in other] == lines


def test_what_was_recorded_ends_as_the_person_saw_it() -> None:
    ends = {
        name: [
            (e.outcome, e.failure.code if e.failure else None)
            for e in events(replay(adapter, cassette(name)))
            if isinstance(e, TurnEnded)
        ]
        for name in NAMES
    }
    done, stopped = ("completed", None), ("interrupted", None)
    for version in VERSIONS:
        assert ends[f"{version}/interrupt"] == [stopped, done]
        assert ends[f"{version}/early_stop"] == [stopped, done]
        assert ends[f"{version}/approval_then_stop"] == [stopped, done]
        assert ends[f"{version}/error_401"] == [("failed", "auth_required"), done]
        assert ends[f"{version}/late_steer"] == [done, done]
        assert ends[f"{version}/steer"] == [done]
        assert ends[f"{version}/resume_missing"] == []
    assert ends["2.1.332/error_429"][0] == ("failed", "rate_limited")
    assert ends["2.1.332/error_529"][0] == ("failed", "overloaded")
