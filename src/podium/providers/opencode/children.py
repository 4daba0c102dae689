"""Conversations of children: the agent opens them, and each is introduced before its first event (B44)."""

from __future__ import annotations

import msgspec

from podium.contract.events import Ref, SubagentSeen
from podium.providers.opencode.drafting import Draft, part_ref
from podium.providers.opencode.state import Session


def adopted(draft: Draft, parent: Session, native: str) -> Session | None:
    """A child's conversation, known from now on; None where there is no room for it."""
    held = draft.session(native)
    if held is not None or not draft.room():
        return held
    return draft.put(Session(native, parent.mode, parent=parent.id))


def introduce(
    draft: Draft, native: str, parent: Session, name: str | None, title: str | None, asked: str | None
) -> None:
    """Tell the core of a child, once; `name` is the part that made it, if that is known."""
    held = draft.session(native)
    if held is None or held.introduced:
        return
    draft.put(held, introduced=True)
    part = parent.parts.get(name or "")
    turn = parent.turn.id if parent.turn is not None else None
    ref = part_ref(parent, name, part) if name and part else Ref(parent.id, turn, None, f"child:{native}")
    if name and part:
        draft.put_part(parent, name, msgspec.structs.replace(part, child=native))
    draft.emit(SubagentSeen(ref, "running", native, draft.handle(native), title, asked))


def announced(draft: Draft, parent: Session, native: str, title: str | None) -> None:
    """The agent opened a conversation below another: it belongs to the open call that has no child yet."""
    if adopted(draft, parent, native) is None:
        return
    makers = [
        name
        for name, part in parent.parts.items()
        if part.kind == "subagent" and part.open and part.child is None
    ]
    introduce(draft, native, parent, makers[0] if len(makers) == 1 else None, title, None)
