"""Agent text on a terminal is text: no sequence an agent writes may move, colour or ask it (B72)."""

from __future__ import annotations

import re

SEQUENCE_MAX = 4096
"""Longest control sequence that is taken for one, in characters; after it, text is text again."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ORDER = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that change the order in which other text is shown; they are shown themselves instead."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Characters that do not show, or change how others show."""

TEXT, ESCAPE, CSI, STRING, STRING_ESCAPE = range(5)
_C1 = {"\x9b": CSI, "\x90": STRING, "\x98": STRING, "\x9d": STRING, "\x9e": STRING, "\x9f": STRING}
_AFTER_ESCAPE = {"[": CSI, "]": STRING, "P": STRING, "X": STRING, "^": STRING, "_": STRING}


class Cleaner:
    """Takes control sequences out of text that comes in pieces; a sequence may be cut anywhere."""

    def __init__(self) -> None:
        self._state = TEXT
        self._length = 0

    def feed(self, text: str) -> str:
        """The text without control characters and sequences; newline and tab stay.

        Marks that reorder text are written out (`\\u202e`), so that what is read is what is there.
        """
        if self._state != TEXT or _CONTROL.search(text) is not None:
            text = "".join(letter for letter in text if self._keeps(letter))
        return _ORDER.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)

    def _keeps(self, letter: str) -> bool:
        if self._state == TEXT:
            return self._in_text(letter)
        self._length += 1
        if (
            letter == "\n" or self._length > SEQUENCE_MAX
        ):  # an unfinished sequence may not swallow what follows
            self._state = TEXT
            return self._in_text(letter)
        if letter == "\x1b" and self._state != STRING:
            self._state = ESCAPE
        elif letter in "\x18\x1a":
            self._state = TEXT
        elif self._state in (STRING, STRING_ESCAPE):
            self._in_string(letter)
        elif self._state == CSI:
            if letter >= "\x40":
                self._state = TEXT
        elif not "\x20" <= letter <= "\x2f":
            self._state = _AFTER_ESCAPE.get(letter, TEXT)
        return False

    def _in_string(self, letter: str) -> None:
        if letter in "\x07\x9c" or (self._state == STRING_ESCAPE and letter == "\\"):
            self._state = TEXT
        else:
            self._state = STRING_ESCAPE if letter == "\x1b" else STRING

    def _in_text(self, letter: str) -> bool:
        if _CONTROL.match(letter) is None:
            return True
        self._length = 0
        self._state = ESCAPE if letter == "\x1b" else _C1.get(letter, TEXT)
        return False


def plain(text: str) -> str:
    """A text that a person decides on: nothing is taken out, every mark that does not show is written out."""
    text = text.replace("\r\n", "\n")
    return _UNSEEN.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)


def clean(text: str) -> str:
    """A whole text without control characters and sequences."""
    return Cleaner().feed(text)
