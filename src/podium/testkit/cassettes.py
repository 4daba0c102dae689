"""Cassettes: recorded inputs of an adapter, one JSON object a line, and their replay (R1).

Replay, tests, recovery and live work are one code path, so a cassette shows exactly what a live session did.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.adapter import Adapter, Machine, Step
from podium.contract.errors import BadInput
from podium.contract.events import DiagnosticSeen, OpaqueSeen, ProviderEvent
from podium.contract.inputs import Input

LINE_MAX = 32 * 1024 * 1024
"""Longest line of a cassette that is read, in bytes."""

_decoder: msgspec.json.Decoder[Input] = msgspec.json.Decoder(Input)


class CassetteError(BadInput):
    """A file that is no cassette; `line` says where, counted from 1. Nothing of it was played."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__("cassette_invalid", f"Line {line}: {message}", fix="Record it again.", line=line)


def encode_cassette(inputs: Iterable[Input]) -> bytes:
    """The inputs as JSON lines."""
    return b"".join(msgspec.json.encode(given) + b"\n" for given in inputs)


def decode_cassette(data: bytes) -> list[Input]:
    """The inputs of JSON lines; blank lines are passed over. Raises `CassetteError` for anything else."""
    found: list[Input] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        if len(line) > LINE_MAX:
            raise CassetteError(f"longer than {LINE_MAX} bytes", number)
        try:
            found.append(_decoder.decode(line))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
            raise CassetteError(str(error), number) from error
    return found


def write_cassette(path: Path, inputs: Iterable[Input]) -> None:
    """Write a cassette, 0600. Mask secrets before: an input holds what the agent said."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        for given in inputs:
            file.write(msgspec.json.encode(given) + b"\n")


def read_cassette(path: Path) -> list[Input]:
    """Read a cassette. A missing file raises `FileNotFoundError`, a broken one `CassetteError`."""
    return decode_cassette(path.read_bytes())


def replay(adapter: Adapter[Any], inputs: Iterable[Input]) -> list[tuple[Input, Step[Any]]]:
    """Each input with what the adapter makes of it, from a fresh state; `AdapterFault` if it raises."""
    return list(steps(Machine(adapter), inputs))


def steps(machine: Machine, inputs: Iterable[Input]) -> Iterator[tuple[Input, Step[Any]]]:
    """The same one by one, from wherever the machine stands."""
    for given in inputs:
        yield given, machine.feed(given)


def events(played: Iterable[tuple[Input, Step[Any]]]) -> list[ProviderEvent]:
    """All events in order."""
    return [event for _, step in played for event in step.events]


def counts(played: Iterable[tuple[Input, Step[Any]]]) -> dict[str, int]:
    """How many inputs were mapped, opaque, or known and without effect; all three are always named."""
    found = Counter(step.handled for _, step in played)
    return {name: found[name] for name in ("mapped", "opaque", "diagnostic")}


def unknown_names(played: Iterable[tuple[Input, Step[Any]]]) -> dict[str, int]:
    """What the adapter did not know or passed over, by name: the list to look at after an agent's update."""
    found = Counter(event.name for event in events(played) if isinstance(event, OpaqueSeen | DiagnosticSeen))
    return dict(sorted(found.items()))
