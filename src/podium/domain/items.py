"""The timeline: one item for each thing the agent did, ended once (F251), corrected at most once (R10)."""

from __future__ import annotations

import msgspec

from podium.contract.events import (
    ItemContent,
    ItemKind,
    ItemSeen,
    OpaqueSeen,
    Ref,
    SubagentSeen,
    TextDelta,
)
from podium.contract.handles import Handle, HandleChain, HandleLink
from podium.domain.commands import Reported
from podium.domain.entities import Item, NativeRef, Node, ProviderThread, Session, Turn
from podium.domain.naming import child_node_id
from podium.domain.outputs import Append, CloseBodies, Draft, Settle, derived
from podium.domain.turns import run_of, turn_of

ACTIONS: frozenset[ItemKind] = frozenset(
    {"command", "file_change", "tool_call", "web_search", "image", "subagent", "review", "compaction"}
)
"""Items that are actions: each has a node in the run's tree."""

PAYLOAD_MAX = 16 * 1024
"""Largest payload of an opaque item, in bytes of JSON."""


def _held(draft: Draft, item_id: str) -> Item | None:
    found = draft.state.items.get(item_id) or draft.state.known.get(item_id)
    return found if isinstance(found, Item) else None


def open_item(
    draft: Draft,
    command: Reported,
    ref: Ref,
    kind: ItemKind,
    content: ItemContent,
    turn: Turn | None,
) -> Item | None:
    """A new item at the next position, with its node if it is an action. None where no run is open for it."""
    assert command.item_id is not None
    run = run_of(draft, turn)
    if run is None or (turn is not None and turn.state == "ended"):
        return None
    provider_thread = draft.state.by_native(ref.thread)
    node_id = turn.node_id if turn else run.node_id
    if kind in ACTIONS:
        node = draft.put(
            Node(
                id=derived("nod", command.item_id),
                thread_id=draft.thread_id,
                run_id=run.id,
                node_kind="subagent" if kind == "subagent" else "tool",
                parent_id=node_id,
                item_id=command.item_id,
                title=content.command or content.tool or content.title,
            )
        )
        node_id = node.id
    return draft.put(
        Item(
            id=command.item_id,
            thread_id=draft.thread_id,
            item_kind=kind,
            position=draft.state.items_seen + 1,
            run_id=run.id,
            turn_id=turn.id if turn else None,
            node_id=node_id,
            provider_thread_id=provider_thread.id if provider_thread else None,
            content=content,
            native=NativeRef(turn=ref.turn, id=ref.id, strength=command.strength),
        )
    )


def text_delta(draft: Draft, event: TextDelta, command: Reported) -> None:
    """Text for an open item, which it opens if need be. Text for a closed one is late and dropped (F250)."""
    assert command.item_id is not None
    if _own_echo(draft, event):
        return
    held = _held(draft, command.item_id)
    if held is None:
        turn = turn_of(draft, event.ref.thread, event.ref.turn)
        held = open_item(draft, command, event.ref, event.kind, ItemContent(), turn)
    if held is not None and held.state == "open":
        draft.do(Append(held.id, event.body, event.text))


def _own_echo(draft: Draft, event: ItemSeen | TextDelta) -> bool:
    """Whether this is the agent's echo of a message that stands in the timeline already (B42)."""
    if event.kind != "user_message":
        return False
    provider_thread = draft.state.by_native(event.ref.thread)
    return provider_thread is None or provider_thread.parent_node_id is None


def item_seen(draft: Draft, event: ItemSeen, command: Reported) -> None:
    """An item began, changed or ended."""
    assert command.item_id is not None
    if _own_echo(draft, event):
        return
    held = _held(draft, command.item_id)
    if held is None:
        turn = turn_of(draft, event.ref.thread, event.ref.turn)
        held = open_item(draft, command, event.ref, event.kind, event.content, turn)
        if held is None:
            return
    if held.state != "open":
        _correct(draft, held, event)
        return
    content = merged(held.content, event.content)
    _bodies(draft, held.id, event)
    if event.state == "open":
        draft.change(held, content=content)
        return
    draft.do(CloseBodies(held.id))
    draft.change(held, content=content, state=event.state, closed_by="agent")
    node = draft.state.nodes.get(held.node_id or "")
    if node is not None and node.item_id == held.id:  # the call's own node; a child's work has its own
        draft.change(
            node,
            state=event.state if event.state in ("completed", "interrupted", "unverifiable") else "failed",
        )


NOTHING = ItemContent()
"""What is known of an item that nothing was said about."""


def merged(old: ItemContent, new: ItemContent) -> ItemContent:
    """What is known now: later words win, silence takes nothing back."""
    if new == NOTHING:
        return old
    fields = {
        name: getattr(new, name)
        for name in ItemContent.__struct_fields__
        if getattr(new, name) != getattr(NOTHING, name)
    }
    return msgspec.structs.replace(old, **fields)


def _bodies(draft: Draft, item_id: str, event: ItemSeen) -> None:
    for body, text in event.final.items():
        draft.do(Settle(item_id, body, text, close=event.state != "open"))


def _correct(draft: Draft, held: Item, event: ItemSeen) -> None:
    """The agent's own end of an item that our barrier closed: once, and never back to open (R10)."""
    if event.state == "open" or held.closed_by != "barrier" or held.corrected:
        return
    _bodies(draft, held.id, event)
    draft.do(CloseBodies(held.id))
    draft.change(held, content=merged(held.content, event.content), state=event.state, corrected=True)


def subagent_seen(draft: Draft, event: SubagentSeen, command: Reported, session: Session) -> None:
    """A child: its node under the item that made it, and its own conversation if it can be named (F109)."""
    turn = turn_of(draft, event.ref.thread, event.ref.turn)
    run = run_of(draft, turn)
    if run is None:
        return
    parent = draft.state.items.get(command.item_id or "")
    node_id = child_node_id(run.id, event)
    if node_id in draft.state.known:
        return  # a child that ended stays ended (F294)
    node = draft.state.nodes.get(node_id)
    if node is None:
        node = draft.put(
            Node(
                id=node_id,
                thread_id=draft.thread_id,
                run_id=run.id,
                node_kind="subagent",
                parent_id=(parent.node_id if parent else None) or (turn.node_id if turn else run.node_id),
                item_id=parent.id if parent else None,
                title=event.name,
            )
        )
    held = child_conversation(draft, event.handle) if event.handle is not None else None
    if held is not None and held.parent_node_id is not None:  # an earlier run's child works again
        draft.change(held, parent_node_id=node.id, session_id=session.id)
        node = draft.change(node, provider_thread_id=held.id)
    elif event.handle is not None and held is None:
        child = draft.put(
            ProviderThread(
                id=child_thread_id(draft, event.handle),
                thread_id=draft.thread_id,
                agent=session.agent,
                chain=HandleChain((HandleLink(event.handle, "adopted", session.fence),)),
                state="bound",
                session_id=session.id,
                parent_node_id=node.id,
            )
        )
        node = draft.change(node, provider_thread_id=child.id)
    if event.state in ("running", "completed", "failed", "interrupted"):
        draft.change(node, state=event.state)


def child_thread_id(draft: Draft, handle: Handle) -> str:
    """The id of the provider thread that was begun for a child's conversation."""
    return derived("pth", draft.thread_id, handle.transport, handle.native_id)


def child_conversation(draft: Draft, handle: Handle) -> ProviderThread | None:
    """The provider thread of a conversation, also where it has moved on to another handle since."""
    begun = draft.state.provider_threads.get(child_thread_id(draft, handle))
    return draft.state.by_native(handle.native_id) or begun


def opaque_seen(draft: Draft, event: OpaqueSeen, command: Reported) -> None:
    """A frame of a newer agent, kept as an item nobody has to understand (B73)."""
    if command.item_id is None or command.item_id in draft.state.known:
        return
    turn = turn_of(draft, event.thread, event.turn) if event.thread else None
    payload = event.payload
    if len(msgspec.json.encode(payload)) > PAYLOAD_MAX:
        payload = {
            "truncated": True,
            "head": msgspec.json.encode(payload)[:PAYLOAD_MAX].decode("utf-8", "replace"),
        }
    content = ItemContent(native_kind=event.name, payload=payload)
    ref = Ref(event.thread or "", event.turn)
    item = open_item(draft, command, ref, "opaque", content, turn)
    if item is not None:
        draft.change(item, state="completed", closed_by="agent")
