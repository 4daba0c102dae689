"""Where a frame belongs, and what becomes of one that does not say."""

from __future__ import annotations

from typing import Any

from podium.contract.events import OpaqueSeen
from podium.providers.codex import children
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import bounded, ident

Params = dict[str, Any]


def malformed(draft: Draft, method: str, params: Params) -> None:
    """Keep a frame of a known name that lacks what its handler needs."""
    draft.opaque += 1
    draft.emit(OpaqueSeen(method, bounded(params), ident(params, "threadId"), ident(params, "turnId")))


def place_of(draft: Draft, params: Params) -> tuple[str, str] | None:
    """Thread and turn of a frame that works in a turn; an unknown thread is introduced."""
    thread, turn = ident(params, "threadId"), ident(params, "turnId")
    if thread is None or turn is None:
        return None
    children.introduce(draft, thread)
    return thread, turn
