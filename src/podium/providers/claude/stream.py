"""Answers as they come: the model's own stream events, of the main conversation only."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.events import Body, ItemKind, ItemSeen, Ref, TextDelta, ThreadChanged, Usage, UsageSeen
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import ident, integer, table, text
from podium.providers.claude.state import NAME_MAX, Message
from podium.providers.claude.turns import begin

BLOCKS: dict[str, tuple[ItemKind, Body]] = {
    "text": ("assistant_message", "text"),
    "thinking": ("reasoning", "reasoning"),
    "redacted_thinking": ("reasoning", "reasoning"),
}
"""The blocks that have a text of their own."""

BLOCKS_MAX = 200
"""Most open blocks kept of one message."""


def block_id(message: str, index: int) -> str:
    """The id of a block: the agent's id of the message, and its place in it."""
    return f"{message}:{index}"


def streamed(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """One `stream_event`."""
    event = table(frame, "event")
    kind = text(event, "type")
    if text(frame, "parent_tool_use_id") is not None:
        draft.passed("stream_event")
        return
    match kind:
        case "message_start":
            begin(draft, of, ident(frame, "uuid"))
            _started(draft, of, table(event, "message"))
        case "content_block_start":
            _block(draft, of, event)
        case "content_block_delta":
            _delta(draft, of, event)
        case "message_delta":
            _usage(draft, of, event)
        case "content_block_stop" | "message_stop" | "ping":
            draft.passed(kind)
        case _:
            draft.unknown(f"stream_event/{kind}", event, *_place(draft, of))


def _place(draft: Draft, of: str) -> tuple[str, str | None]:
    talk = draft.talks[of]
    return talk.session, talk.turn.id if talk.turn is not None else None


def _started(draft: Draft, of: str, message: dict[str, Any]) -> None:
    dropped(draft, of)
    name, usage = ident(message, "id"), table(message, "usage")
    if name is None:
        draft.passed("message_start")
        return
    fresh, written = integer(usage, "input_tokens"), integer(usage, "cache_creation_input_tokens")
    cached = integer(usage, "cache_read_input_tokens")
    whole = None if fresh is None else fresh + (written or 0) + (cached or 0)
    draft.change(of, message=Message(name, input=whole, cached=cached))
    draft.passed("message_start")
    models(draft, of, text(message, "model"))


def models(draft: Draft, of: str, model: str | None) -> None:
    """The model that answers: told where it is another one than before."""
    talk = draft.talks[of]
    if model is None or model.startswith("<") or model == talk.real_model:
        return
    draft.change(of, real_model=model[:NAME_MAX])
    draft.emit(ThreadChanged(talk.session, model=model[:NAME_MAX]))


def dropped(draft: Draft, of: str) -> None:
    """A message that was streamed in part and never finished: the agent asks the model again."""
    talk = draft.talks[of]
    if talk.message is not None:
        for index, kind in talk.message.blocks.items():
            if kind in BLOCKS:
                ref = draft.ref(of, block_id(talk.message.id, index))
                draft.emit(ItemSeen(ref, BLOCKS[kind][0], "interrupted"))
        draft.change(of, message=None)


def _block(draft: Draft, of: str, event: dict[str, Any]) -> None:
    message, index = draft.talks[of].message, integer(event, "index")
    kind = text(table(event, "content_block"), "type")
    if message is None or index is None or kind is None or len(message.blocks) >= BLOCKS_MAX:
        draft.passed("content_block_start")
        return
    blocks = {**message.blocks, index: kind[:NAME_MAX]}
    draft.change(of, message=msgspec.structs.replace(message, blocks=blocks))
    if kind in BLOCKS:
        draft.emit(ItemSeen(draft.ref(of, block_id(message.id, index)), BLOCKS[kind][0], "open"))
    else:
        draft.passed("content_block_start")


def _delta(draft: Draft, of: str, event: dict[str, Any]) -> None:
    message, index, delta = draft.talks[of].message, integer(event, "index"), table(event, "delta")
    said = text(delta, "text") if text(delta, "type") == "text_delta" else text(delta, "thinking")
    kind = message.blocks.get(index) if message is not None and index is not None else None
    if message is None or index is None or kind not in BLOCKS or not said:
        draft.passed("content_block_delta")
        return
    item, body = BLOCKS[kind]
    draft.emit(TextDelta(draft.ref(of, block_id(message.id, index)), item, body, said))


def _usage(draft: Draft, of: str, event: dict[str, Any]) -> None:
    """The final counts of one answer of the model; they add up over a turn."""
    talk = draft.talks[of]
    output = integer(table(event, "usage"), "output_tokens")
    if talk.message is None or talk.turn is None or output is None:
        draft.passed("message_delta")
        return
    given = talk.message.input
    total = None if given is None else given + output
    used = Usage(given, talk.message.cached, output, None, total)
    draft.emit(UsageSeen(talk.session, talk.turn.id, used, None, talk.window, talk.message.id))


def place_of_block(draft: Draft, of: str, message: str, kind: str) -> tuple[Ref, bool]:
    """Where a whole block belongs: the oldest open one of its kind, else the next place of its message.

    A message of another id than the streamed one was asked for anew, so the streamed one is dropped: that
    is what comes of a broken stream. Returns the place, and whether its beginning was told.
    """
    known = draft.talks[of].message
    if known is None or known.id != message:
        dropped(draft, of)
        known = Message(message)
    index = next((i for i, k in known.blocks.items() if k == kind), None)
    begun = index is not None
    place = index if index is not None else known.given
    blocks = {i: k for i, k in known.blocks.items() if i != index}
    draft.change(of, message=msgspec.structs.replace(known, blocks=blocks, given=known.given + 1))
    return draft.ref(of, block_id(message, place)), begun
