"""Every cut of a byte stream gives the same lines (B01, B02, B03, B07)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.transport.lines import HEAD_MAX, Line, LineReader, LostLine

STREAM = '{"a":"中文🚀é"}\r\n\n{"b":1}\n\r\n{"c":"\r"}\nrest'.encode()
EXPECTED = [
    Line('{"a":"中文🚀é"}'.encode(), 22),
    Line(b"", 23),
    Line(b'{"b":1}', 31),
    Line(b"", 33),
    Line(b'{"c":"\r"}', 43),
]


def run(reader: LineReader, pieces: list[bytes]) -> list[Line | LostLine]:
    lines = [line for piece in pieces for line in reader.feed(piece)]
    last = reader.finish()
    return [*lines, last] if last else lines


def test_one_piece() -> None:
    reader = LineReader()
    assert reader.feed(STREAM) == EXPECTED
    assert reader.offset == len(STREAM)
    assert reader.pending == 4
    assert reader.finish() == Line(b"rest", len(STREAM), terminated=False)
    assert reader.finish() is None


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_of_every_size(size: int) -> None:
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert run(LineReader(), pieces) == [*EXPECTED, Line(b"rest", len(STREAM), terminated=False)]


def test_two_pieces_at_every_cut() -> None:
    for cut in range(len(STREAM) + 1):
        assert run(LineReader(), [STREAM[:cut], STREAM[cut:]])[:5] == EXPECTED


def test_reading_goes_on_at_any_line_end() -> None:
    for at, line in enumerate(EXPECTED):
        reader = LineReader(line.end_offset)
        assert reader.feed(STREAM[line.end_offset :]) == EXPECTED[at + 1 :]


@given(
    st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"\r", b"\r\n", b"xxxxxxxxx"])),
    st.integers(1, 12),
)
def test_pieces_do_not_matter_and_no_byte_is_lost(pieces: list[bytes], line_max: int) -> None:
    whole = b"".join(pieces)
    found = run(LineReader(5, line_max), pieces)
    assert found == run(LineReader(5, line_max), [whole])
    raw = whole.split(b"\n")
    ends = 5
    for number, line in enumerate(found):
        ends += len(raw[number]) + (1 if line.terminated else 0)
        assert line.end_offset == ends
        terminated = number < len(raw) - 1
        plain = raw[number].removesuffix(b"\r") if terminated else raw[number]
        if isinstance(line, Line):
            assert line.data == plain
            assert len(line.data) <= line_max
        else:
            assert len(plain) > line_max
            assert line.bytes_dropped == len(raw[number])
            assert line.head == raw[number][:HEAD_MAX]


def test_a_line_over_the_cap_is_dropped_and_the_next_one_is_read() -> None:
    reader = LineReader(line_max=1000)
    lines = run(reader, [b"x" * 600, b"y" * 600, b"z" * 5000, b"\r\n", b"next\n"])
    assert lines == [LostLine(6201, 6202, b"x" * 256), Line(b"next", 6207)]


def test_a_dropped_line_is_not_kept_in_memory() -> None:
    reader = LineReader(line_max=1000)
    for _ in range(100):
        reader.feed(b"x" * 1000)
    assert reader.pending == 100_000
    last = reader.finish()
    assert last == LostLine(100_000, 100_000, b"x" * 256, terminated=False)


def test_a_line_of_exactly_the_cap_is_kept() -> None:
    for tail in (b"\n", b"\r\n"):
        [line] = LineReader(line_max=1000).feed(b"x" * 1000 + tail)
        assert isinstance(line, Line)


def test_17_megabytes_in_small_pieces() -> None:
    reader = LineReader()
    piece = b"x" * 65536
    for _ in range(260):
        assert reader.feed(piece) == []
    [line] = reader.feed(b"\n")
    assert isinstance(line, Line)
    assert len(line.data) == 260 * 65536
