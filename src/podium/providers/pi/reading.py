"""Typed reads of loose values: what has another type reads as absent, and nothing raises (B73)."""

from __future__ import annotations

from typing import Any, TypeGuard

INT_MAX = 2**53
"""Largest whole number kept; beyond it JSON readers disagree."""

Json = dict[str, Any]


def is_object(value: object) -> TypeGuard[Json]:
    """Whether a decoded value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a decoded value is an array."""
    return isinstance(value, list)


def part(source: Any, key: str) -> Json:
    """The object under `key`, or an empty one."""
    value = source.get(key) if is_object(source) else None
    return value if is_object(value) else {}


def parts(source: Any, key: str) -> list[Json]:
    """The objects of the array under `key`."""
    value = source.get(key) if is_object(source) else None
    return [one for one in value if is_object(one)] if is_array(value) else []


def text(source: Any, key: str) -> str:
    """The text under `key`, or an empty one."""
    value = source.get(key) if is_object(source) else None
    return value if isinstance(value, str) else ""


def texts(source: Any, key: str) -> list[str]:
    """The texts of the array under `key`."""
    value = source.get(key) if is_object(source) else None
    return [one for one in value if isinstance(one, str)] if is_array(value) else []


def whole(source: Any, key: str) -> int | None:
    """The whole number under `key`, or None; a boolean is none."""
    value = source.get(key) if is_object(source) else None
    fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT_MAX
    return value if fits else None
