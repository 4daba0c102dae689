"""Nothing an agent writes reaches a terminal as anything but text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.cli.cleaning import SEQUENCE_MAX, Cleaner, clean, plain
from podium.cli.printing import short

HARMFUL = "".join(chr(n) for n in [*range(32), *range(127, 160)] if chr(n) not in "\n\t")


@pytest.mark.parametrize(
    ("dirty", "text"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a new title\x07after", "after"),
        ("\x1b]8;;https://a.invalid\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c2VjcmV0\x1b\\", ""),
        ("\x9b2Jcleared", "cleared"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x1b(Bcharset", "charset"),
        ("\x1bcreset", "reset"),
        ("\x1b[\x1b[31mtwice", "twice"),
        ("one\r\ntwo\rthree", "one\ntwothree"),
        ("\x1b]0;never ended\nnext line", "\nnext line"),
        ("a\x00b\x7fc\x85d", "abcd"),
        ("\x1b]x\x18text", "text"),
        ("naïve 日本 😀", "naïve 日本 😀"),
        ("rm \u202e# tset\u2066", "rm \\u202e# tset\\u2066"),
        ("\x1b[1ma\u200e\u200fb", "a\\u200e\\u200fb"),
        ("\x1b]0;\u202e\x07after", "after"),
    ],
)
def test_sequences_go_and_text_stays(dirty: str, text: str) -> None:
    assert clean(dirty) == text


def test_a_sequence_that_never_ends_does_not_swallow_the_text() -> None:
    assert clean("\x1b]" + "x" * (SEQUENCE_MAX + 50)).endswith("x" * 49)


@given(st.text(alphabet=st.sampled_from("a[];\\0m?\n\t" + HARMFUL), max_size=60), st.data())
def test_a_cut_anywhere_changes_nothing(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    cleaner = Cleaner()
    pieces = cleaner.feed(text[:cut]) + cleaner.feed(text[cut:])
    assert pieces == clean(text)
    assert not set(pieces) & set(HARMFUL)


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    assert not set(clean(text)) & set(HARMFUL)


def test_what_is_decided_on_hides_nothing() -> None:
    command = "ls; : \x1b]0; touch a\u202eb\u200b\x07\r\nsecond\ttab"
    assert plain(command) == "ls; : \\u001b]0; touch a\\u202eb\\u200b\\u0007\nsecond\ttab"
    assert "touch" in short("echo hi; : \x1b]0; touch x", decided=True)
