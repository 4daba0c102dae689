"""Careful reading of JSON: whatever the agent sends, these answer with a value or None and never raise."""

from __future__ import annotations

import hashlib
from typing import Any, TypeGuard

Json = dict[str, Any]

ID_MAX = 128
"""Longest native id kept as it is, in characters; a longer one is known by its digest."""

WHOLE_END = 2**53
"""Numbers from here on are no counts."""


def is_object(given: object) -> TypeGuard[Json]:
    """Whether this is a JSON object."""
    return isinstance(given, dict)


def is_list(given: object) -> TypeGuard[list[Any]]:
    """Whether this is a JSON array; a tuple is one too."""
    return isinstance(given, list | tuple)


def obj(data: Json, *path: str) -> Json:
    """The object under a path of keys, or an empty one."""
    for key in path:
        found = data.get(key)
        if not is_object(found):
            return {}
        data = found
    return data


def objects(given: object) -> list[Json]:
    """The objects of an array."""
    return [row for row in given if is_object(row)] if is_list(given) else []


def texts(given: object) -> tuple[str, ...]:
    """The strings of an array."""
    return tuple(one for one in given if isinstance(one, str)) if is_list(given) else ()


def text(data: Json, key: str) -> str | None:
    """The string under a key."""
    found = data.get(key)
    return found if isinstance(found, str) else None


def count(data: Json, key: str) -> int | None:
    """The whole number, not below zero, under a key; a float that is whole is one too."""
    found = data.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < WHOLE_END:
        return None
    return int(found)


def ident(data: Json, key: str) -> str | None:
    """The id under a key, bounded; an empty one is none."""
    found = text(data, key)
    if not found or len(found) <= ID_MAX:
        return found or None
    return f"sha256:{digest(found)}"


def digest(given: str) -> str:
    """A short digest of a text."""
    return hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()[:32]
