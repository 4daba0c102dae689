"""Text as it comes, and the parts of a reasoning."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from podium.contract.events import Body, DiagnosticSeen, ItemKind, Ref, TextDelta
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import ident, integer, size, text
from podium.providers.codex.items import PART_BREAK, item_seen
from podium.providers.codex.placing import Params, malformed, place_of
from podium.providers.codex.state import item_key


def delta_of(kind: ItemKind, body: Body) -> Callable[[Draft, Params], None]:
    """The handler of the deltas of one body."""

    def handle(draft: Draft, params: Params) -> None:
        place, number, piece = place_of(draft, params), ident(params, "itemId"), text(params, "delta")
        if place is None or number is None or piece is None:
            malformed(draft, f"delta:{kind}", params)
        elif piece:
            draft.emit(TextDelta(Ref(*place, number), kind, body, piece))
        else:
            draft.emit(DiagnosticSeen("delta"))

    return handle


def summary_part(draft: Draft, params: Params) -> None:
    """A new part of a summary begins."""
    place, number = place_of(draft, params), ident(params, "itemId")
    if place is None or number is None:
        malformed(draft, "item/reasoning/summaryPartAdded", params)
        return
    lead = _break(draft, (*place, number), "summary", integer(params, "summaryIndex") or 0)
    if lead:
        draft.emit(TextDelta(Ref(*place, number), "reasoning", "summary", lead))
    else:
        draft.emit(DiagnosticSeen("item/reasoning/summaryPartAdded"))


def summary(draft: Draft, params: Params) -> None:
    """More of a summary."""
    _reasoning(draft, params, "summary", integer(params, "summaryIndex") or 0)


def raw(draft: Draft, params: Params) -> None:
    """More of a raw reasoning."""
    _reasoning(draft, params, "reasoning", integer(params, "contentIndex") or 0)


def _reasoning(draft: Draft, params: Params, body: Body, part: int) -> None:
    place, number, piece = place_of(draft, params), ident(params, "itemId"), text(params, "delta")
    if place is None or number is None or piece is None:
        malformed(draft, "delta:reasoning", params)
        return
    whole = _break(draft, (*place, number), body, part) + piece
    if whole:
        draft.emit(TextDelta(Ref(*place, number), "reasoning", body, whole))
    else:
        draft.emit(DiagnosticSeen("delta"))


def _break(draft: Draft, place: tuple[str, str, str], body: Body, part: int) -> str:
    """What separates a new part from the last one, so that the deltas equal the final text."""
    key = item_key(*place)
    known = draft.items.get(key)
    if known is None:
        return ""
    last = known.summary_part if body == "summary" else known.raw_part
    if part <= last:
        return ""
    field = "summary_part" if body == "summary" else "raw_part"
    draft.items[key] = msgspec.structs.replace(known, **{field: part})
    return PART_BREAK


def patch(draft: Draft, params: Params) -> None:
    """The changes of a patch while it is written."""
    place, number = place_of(draft, params), ident(params, "itemId")
    if place is None or number is None:
        malformed(draft, "item/fileChange/patchUpdated", params)
        return
    key, length = item_key(*place, number), size(params.get("changes"))
    known = draft.items.get(key)
    if known is not None and known.told <= length < known.told * GROWTH:
        draft.emit(DiagnosticSeen("item/fileChange/patchUpdated"))
        return
    if known is not None:
        draft.items[key] = msgspec.structs.replace(known, told=length)
    item = {"type": "fileChange", "changes": params.get("changes")}
    draft.emit(item_seen(Ref(*place, number), item, ended=False))


GROWTH = 2
"""A patch is passed on again when it has grown by this factor: each is whole, and each is stored (B47)."""
