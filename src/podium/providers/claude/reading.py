"""Typed reads at the JSON edge: whatever an agent sends, these return the wanted type or nothing.

Nothing here raises. A field of another type reads as absent, so that a newer agent degrades to less, never to
an exception (B73).
"""

from __future__ import annotations

import sys
from typing import Any, TypeGuard

import msgspec

from podium.transport.codec import encode_frame

ID_MAX = 128
"""Longest native id kept, in characters; a longer one reads as absent."""

INT_MAX = 2**53
"""Largest integer kept; beyond it JSON readers disagree."""

PAYLOAD_MAX = 32 * 1024
"""Largest foreign value kept whole, in encoded bytes."""

HEAD_MAX = 2048
"""Characters kept of a foreign value that is too large."""


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a decoded JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a decoded JSON value is an array."""
    return isinstance(value, list)


def table(source: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`, or an empty one."""
    value = source.get(key)
    return value if is_table(value) else {}


def tables(source: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of the array under `key`; anything else in it is left out."""
    value = source.get(key)
    return [entry for entry in value if is_table(entry)] if is_list(value) else []


def text(source: dict[str, Any], key: str) -> str | None:
    """The string under `key`, or None."""
    value = source.get(key)
    return value if isinstance(value, str) else None


def strings(source: dict[str, Any], key: str) -> list[str]:
    """The strings of the array under `key`."""
    value = source.get(key)
    return [entry for entry in value if isinstance(entry, str)] if is_list(value) else []


def integer(source: dict[str, Any], key: str) -> int | None:
    """The whole number under `key`, or None; a boolean is no number."""
    value = source.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) <= INT_MAX else None


def ident(source: dict[str, Any], key: str) -> str | None:
    """The id under `key`: a short string."""
    value = source.get(key)
    return value if isinstance(value, str) and 0 < len(value) <= ID_MAX else None


def size(value: Any) -> int:
    """The encoded size in bytes; a value that cannot be encoded counts as endless."""
    try:
        return len(msgspec.json.encode(value))
    except (OverflowError, UnicodeEncodeError, RecursionError):
        return sys.maxsize


def bounded(value: Any, limit: int = PAYLOAD_MAX) -> Any:
    """The value itself, or its beginning as text where its encoded form is over `limit` bytes or has none."""
    if size(value) <= limit:
        return value
    return {"truncated": True, "head": encode_frame(value)[:HEAD_MAX]}


def joined(content: Any) -> str | None:
    """The text of a message's content: a string, or the text blocks of a list; None where it has neither."""
    if isinstance(content, str):
        return content
    if not is_list(content):
        return None
    found = [block["text"] for block in content if is_table(block) and isinstance(block.get("text"), str)]
    return "\n".join(found) if found else None
