"""What goes over the wire: whole lines, error codes, and the two ways a turn is cut short."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from typing import Any, NoReturn, TypeGuard

PARSE, INVALID, NO_METHOD, INTERNAL, NOT_FOUND = -32700, -32600, -32601, -32603, -32002

Json = dict[str, Any]


class Stopped(Exception):
    """The client cancelled the turn."""


class Rejected(Exception):
    """A request this agent answers with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Wire:
    """Whole lines to stdout, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def raw(self, text: str) -> None:
        with self._lock:
            sys.stdout.write(text)
            sys.stdout.flush()

    def send(self, frame: Json, end: str = "\n") -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False) + end)


def is_object(given: object) -> TypeGuard[Json]:
    """Whether this is a JSON object."""
    return isinstance(given, dict)


def prompt_text(params: Json) -> str:
    """The text of the last text block: what the person typed comes after any context."""
    texts = _texts(params)
    return texts[-1] if texts else ""


def context_text(params: Json) -> str:
    """The text blocks in front of what the person typed."""
    return "\n".join(_texts(params)[:-1])


def _texts(params: Json) -> list[str]:
    blocks: list[Json] = params.get("prompt") or []
    return [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]


def leave(code: int) -> NoReturn:
    """End at once, whatever other threads do."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
