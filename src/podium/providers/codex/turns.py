"""Turns and their items: how they begin and end."""

from __future__ import annotations

import msgspec

from podium.contract.events import (
    BackgroundSeen,
    DiagnosticSeen,
    Limited,
    PlanSeen,
    Ref,
    TurnEnded,
)
from podium.providers.codex import children
from podium.providers.codex.answers import closed
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import ident, is_table, table, text
from podium.providers.codex.failures import turn_failure
from podium.providers.codex.items import changes_of, item_seen, kind_of
from podium.providers.codex.placing import Params, malformed, place_of
from podium.providers.codex.settle import OUTCOMES
from podium.providers.codex.state import PATH_MAX, PATHS_MAX, OpenItem, item_key, turn_key


def turn_started(draft: Draft, params: Params) -> None:
    """`turn/started`, once for each turn."""
    thread, turn = ident(params, "threadId"), ident(table(params, "turn"), "id")
    root = ident(table(params, "turn"), "rootTurnId")
    if thread is None or turn is None:
        malformed(draft, "turn/started", params)
        return
    children.introduce(draft, thread, root)
    if root is not None and root != turn and turn_key(thread, root) in draft.turns:
        # A review names another turn here than in its response, its items and its end: that one counts.
        draft.remember_ended(turn_key(thread, turn))
        turn = root
    elif turn_key(thread, turn) not in draft.turns and not draft.has_ended(thread, turn):
        _name_prompt(draft, thread, turn)
    if draft.start_turn(thread, turn, root):
        children.turned(draft, thread, "running")
    else:
        draft.emit(DiagnosticSeen("turn/started"))


def _name_prompt(draft: Draft, thread: str, turn: str) -> None:
    """Our unanswered prompt, should its turn start before the answer; and its stop, if that is wanted."""
    key = draft.prompt_of(thread)
    pending = draft.pending[key] if key is not None else None
    draft.open_turn(thread, turn, pending.client_id if pending is not None else None)
    if key is not None and pending is not None and pending.stop is not None:
        draft.pending[key] = msgspec.structs.replace(pending, stop=None)
        draft.interrupt(thread, turn, pending.stop)


def turn_completed(draft: Draft, params: Params) -> None:
    """`turn/completed`: the one end of a turn."""
    thread, native = ident(params, "threadId"), table(params, "turn")
    turn = ident(native, "id")
    if thread is None or turn is None:
        malformed(draft, "turn/completed", params)
        return
    if draft.has_ended(thread, turn):
        draft.emit(DiagnosticSeen("turn/completed"))
        return
    children.introduce(draft, thread, ident(native, "rootTurnId"))
    word = text(native, "status")
    outcome = OUTCOMES.get(word or "")
    error = native.get("error")
    known = draft.turns.get(turn_key(thread, turn))
    failed = turn_failure(error) if is_table(error) else known.failure if known is not None else None
    if known is None:
        _end_unknown(draft, TurnEnded(thread, turn, outcome, failure=failed, word=word))
        return
    draft.start_turn(thread, turn)
    for key, _ in draft.waits_of(thread, turn):
        closed(draft, key, "turn_ended")
    if failed is not None and failed.code == "usage_limited":
        draft.emit(Limited("account"))
    working = tuple(
        Ref(thread, turn, item.id)
        for item in draft.items.values()
        if item.process and (item.thread, item.turn) == (thread, turn)
    )
    if working:
        # A command with a process outlives its turn here, also an interrupted one.
        draft.emit(BackgroundSeen(thread, working))
    if outcome == "completed":
        failed = None
    draft.end_turn(TurnEnded(thread, turn, outcome, failure=failed, word=word))
    children.turned(draft, thread, outcome or "unknown")


def _end_unknown(draft: Draft, ended: TurnEnded) -> None:
    """The end of a turn nothing was heard of: an old one, or that of a prompt whose answer is to come."""
    draft.remember_ended(turn_key(ended.thread, ended.turn))
    prompt = draft.prompt_of(ended.thread)
    if prompt is not None:
        draft.pending[prompt] = msgspec.structs.replace(draft.pending[prompt], over=ended)
    draft.emit(DiagnosticSeen("turn/completed"))


def item_started(draft: Draft, params: Params) -> None:
    """`item/started`."""
    place, item = place_of(draft, params), table(params, "item")
    number = ident(item, "id")
    if place is None or number is None:
        malformed(draft, "item/started", params)
        return
    thread, turn = place
    if not draft.has_ended(thread, turn):
        draft.start_turn(thread, turn)
        kind = kind_of(item)
        paths = tuple(change.path[:PATH_MAX] for change in changes_of(item)[:PATHS_MAX])
        process = kind == "command" and text(item, "processId") is not None
        spawns = children.spawns(item)
        draft.keep_item(OpenItem(thread, turn, number, kind, paths=paths, process=process, spawns=spawns))
    children.activity(draft, thread, turn, item, ended=False)
    _report(draft, Ref(thread, turn, number), item, ended=False)


def item_completed(draft: Draft, params: Params) -> None:
    """`item/completed`: the item as it ended, also after its turn."""
    place, item = place_of(draft, params), table(params, "item")
    number = ident(item, "id")
    if place is None or number is None:
        malformed(draft, "item/completed", params)
        return
    thread, turn = place
    draft.items.pop(item_key(thread, turn, number), None)
    children.activity(draft, thread, turn, item, ended=True)
    ref = Ref(thread, turn, number)
    _report(draft, ref, item, ended=True)
    if kind_of(item) == "plan":
        draft.emit(PlanSeen(ref, "proposed_plan", text=text(item, "text")))


def _report(draft: Draft, ref: Ref, item: Params, *, ended: bool) -> None:
    if children.is_echo(item):
        return
    late = ended and ref.turn is not None and draft.has_ended(ref.thread, ref.turn)
    seen = item_seen(ref, item, ended=ended, background=late)
    draft.emit(seen)
    if seen.kind == "opaque":
        draft.opaque += 1
