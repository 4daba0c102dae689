"""The bridge's own decoders: however bytes are cut, the same comes out, and nothing grows without bound."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.providers.oneshot import bridge

LIMIT = 12


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    at = [0, *sorted(c % (len(data) + 1) for c in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(at)]


CUTS = st.lists(st.integers(0, 10_000), max_size=8)
LINED = st.lists(st.sampled_from([b"\n", b"a", b"\r", b"\xff", b"{}", b"x" * LIMIT]), max_size=30).map(
    b"".join
)


@given(LINED, CUTS)
def test_every_cut_gives_the_same_lines(data: bytes, cuts: list[int]) -> None:
    lines = bridge.Lines(LIMIT)
    found = [line for piece in pieces(data, cuts) for line in lines.feed(piece)]
    wanted = [line if len(line) <= LIMIT else None for line in data.split(b"\n")[:-1]]
    assert found == wanted


@given(st.binary(max_size=60) | st.text(max_size=20).map(str.encode), CUTS)
def test_every_cut_gives_the_same_answer(data: bytes, cuts: list[int]) -> None:
    answer = bridge.Answer(limit=1000)
    text = "".join(map(answer.feed, pieces(data, cuts))) + answer.finish()
    assert text == data.decode("utf-8", "replace")
    assert answer.taken == len(data) and not answer.full


@given(st.binary(max_size=60), CUTS, st.integers(0, 40))
def test_an_answer_is_never_longer_than_it_may_be(data: bytes, cuts: list[int], limit: int) -> None:
    answer = bridge.Answer(limit)
    text = "".join(map(answer.feed, pieces(data, cuts))) + answer.finish()
    assert answer.taken == min(limit, len(data))
    assert answer.full == (len(data) > limit)
    assert text == data[:limit].decode("utf-8", "replace")


@given(st.lists(st.binary(max_size=3 * bridge.STDERR_MAX // 2), max_size=4))
def test_the_end_of_stderr_is_kept_within_its_bounds(given_: list[bytes]) -> None:
    tail = bridge.Tail()
    for data in given_:
        tail.add(data)
    whole = b"".join(given_)[-bridge.STDERR_MAX :].decode("utf-8", "replace")
    assert tail.text() == "\n".join(whole.splitlines()[-bridge.STDERR_LINES :])


@pytest.mark.parametrize("size", [bridge.LINE_MAX, bridge.LINE_MAX + 1])
def test_the_longest_line(size: int) -> None:
    lines = bridge.Lines()
    piece = b"x" * (1 << 20)
    for _ in range(size // len(piece)):
        assert list(lines.feed(piece)) == []
    (line,) = lines.feed(b"x" * (size % len(piece)) + b"\n")
    assert (line is None) == (size > bridge.LINE_MAX)
    assert list(lines.feed(b"next\n")) == [b"next"]
