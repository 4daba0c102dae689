"""Cassettes: written, read, refused and replayed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from podium.contract.inputs import (
    Ask,
    Attached,
    Exit,
    Frame,
    HttpReply,
    Input,
    OpenSession,
    SendTurn,
    SseEvent,
    StreamLost,
    TextBlock,
    Timer,
)
from podium.providers.scripted import adapter
from podium.testkit import cassettes
from podium.testkit.cassettes import CassetteError

EVERY_INPUT: list[Input] = [
    Ask(OpenSession("o", "/w", options={"deep": [1, {"a": None}]})),
    Ask(SendTurn("p", "s", "c", (TextBlock("line one\nline two \u2028 end"),))),
    Frame({"id": 1, "result": {"protocolVersion": 1}}),
    Frame({"method": "odd"}, history=True),
    Timer("quiet:s"),
    Attached("replay"),
    HttpReply("tag", 200, {"ok": True}),
    SseEvent("name", {"x": 1}),
    StreamLost("gone"),
    Exit(code=3),
    Exit(signal=9, reason="lost_owner"),
]


def test_every_kind_of_input_comes_back_equal(tmp_path: Path) -> None:
    place = tmp_path / "a.jsonl"
    cassettes.write_cassette(place, EVERY_INPUT)
    assert cassettes.read_cassette(place) == EVERY_INPUT
    assert place.read_bytes() == cassettes.encode_cassette(EVERY_INPUT)
    assert place.read_bytes().count(b"\n") == len(EVERY_INPUT)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"nonsense\n", 1),
        (b'{"input": "timer", "name": "a"}\n{"input": "unheard_of"}\n', 2),
        (b'\n\n{"input": "timer", "name": 3}\n', 3),
        (b'{"input": "timer", "name": "\xff"}\n', 1),
        (b'{"input": "timer", "name": "cut', 1),
    ],
)
def test_what_is_no_cassette_is_refused_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(CassetteError) as caught:
        cassettes.decode_cassette(data)
    assert caught.value.code == "cassette_invalid"
    assert caught.value.detail == {"line": line}
    assert str(caught.value).startswith(f"Line {line}: ")


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cassettes.read_cassette(tmp_path / "none")


def test_a_replay_counts_what_was_mapped_opaque_and_passed_over() -> None:
    played = cassettes.replay(adapter, EVERY_INPUT)
    assert [given for given, _ in played] == EVERY_INPUT
    assert cassettes.counts(played) == {"mapped": 7, "opaque": 1, "diagnostic": 3}
    assert cassettes.unknown_names(played) == {"input_unused": 3, "odd": 1}
    assert cassettes.counts([]) == {"mapped": 0, "opaque": 0, "diagnostic": 0}
    assert cassettes.replay(adapter, EVERY_INPUT) == played
