"""Careful reading of frames: whatever an agent sends, these answer with a value or None and never raise."""

from __future__ import annotations

import hashlib
from typing import Any, TypeGuard

import msgspec

from podium.providers.acp.state import ID_MAX

Json = dict[str, Any]

WHOLE_END = 2**63
"""Numbers from here on, or below its negative, are no ids, counts or codes."""


def is_object(given: object) -> TypeGuard[Json]:
    """Whether this is a JSON object."""
    return isinstance(given, dict)


def is_list(given: object) -> TypeGuard[list[Any]]:
    """Whether this is a JSON array; a tuple is one too."""
    return isinstance(given, list | tuple)


def obj(data: Json, key: str) -> Json:
    """The object under a key, or an empty one."""
    found = data.get(key)
    return found if is_object(found) else {}


def rows(data: Json, key: str) -> list[Json]:
    """The objects of the array under a key."""
    found = data.get(key)
    return [row for row in found if is_object(row)] if is_list(found) else []


def text(data: Json, key: str) -> str | None:
    """The string under a key."""
    found = data.get(key)
    return found if isinstance(found, str) else None


def whole(data: Json, key: str) -> int | None:
    """The whole number of at most 64 bits under a key; a boolean is none."""
    found = data.get(key)
    small = isinstance(found, int) and not isinstance(found, bool) and abs(found) < WHOLE_END
    return found if small else None


def native_id(data: Json, key: str) -> str | None:
    """The id under a key, bounded; an empty one is none."""
    found = text(data, key)
    return bounded(found) if found else None


def fits(name: str) -> bool:
    """Whether a name is short enough to be kept as it is."""
    return len(name) <= ID_MAX and len(msgspec.json.encode(name)) <= ID_MAX


def bounded(name: str) -> str:
    """The name itself if it fits, else a digest that stands for it."""
    return (
        name if fits(name) else "sha256:" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
    )
