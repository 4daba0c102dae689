"""The end of a turn that the agent never announced (B17).

The agent says its thread is idle, nothing is open, and no terminal event follows: its own record is read and
believed. While an item or a request is open, silence is not death and nothing is asked.
"""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import SetTimer
from podium.contract.events import DiagnosticSeen, Notice, Outcome, TurnEnded
from podium.providers.codex.draft import Draft
from podium.providers.codex.edges import ident, is_table, table, tables, text
from podium.providers.codex.failures import turn_failure
from podium.providers.codex.state import OpenTurn, Pending, turn_key

SETTLE_SECONDS = 5.0
"""How long the agent may be idle with an open turn before its record is read."""

READS_MAX = 5
"""How often the record is read for one turn; then a notice says that it is stalled."""

TIMER = "settle:"
"""Prefix of the timer of a thread."""

OUTCOMES: dict[str, Outcome] = {"completed": "completed", "interrupted": "interrupted", "failed": "failed"}


def arm(draft: Draft) -> None:
    """Set or cancel the timers so that exactly the silent threads have one."""
    silent = {turn.thread: None for turn in draft.turns.values() if _silent(draft, turn)}
    for thread in silent:
        if thread not in draft.armed:
            draft.timers.append(SetTimer(TIMER + thread, SETTLE_SECONDS))
    for thread in draft.armed:
        if thread not in silent:
            draft.timers.append(SetTimer(TIMER + thread, None))
    draft.armed = tuple(silent)


def due(draft: Draft, name: str) -> None:
    """A timer is due: read the agent's record of its thread."""
    thread = name.removeprefix(TIMER)
    if thread not in draft.armed:
        draft.emit(DiagnosticSeen("timer"))
        return
    draft.armed = tuple(other for other in draft.armed if other != thread)
    for turn in draft.turns_of(thread):
        draft.turns[turn_key(thread, turn.id)] = msgspec.structs.replace(turn, reads=turn.reads + 1)
    draft.request("thread/read", {"threadId": thread, "includeTurns": True}, Pending("settle", None, thread))


def read(draft: Draft, pending: Pending, result: dict[str, Any]) -> None:
    """Take the record: a turn it calls over is over, by inference (F047)."""
    thread = pending.thread or ""
    record = {ident(turn, "id"): turn for turn in tables(table(result, "thread"), "turns")}
    settled = False
    for turn in draft.turns_of(thread):
        native = record.get(turn.id)
        outcome = None if native is None else OUTCOMES.get(text(native, "status") or "")
        if native is None or outcome is None or not _quiet(draft, turn):
            continue
        error = native.get("error")
        failed = turn_failure(error) if is_table(error) else turn.failure
        if outcome != "failed":
            failed = None
        word = text(native, "status")
        draft.end_turn(TurnEnded(thread, turn.id, outcome, "inferred", failed, word))
        settled = True
    if not settled:
        unreadable(draft, pending)


def unreadable(draft: Draft, pending: Pending) -> None:
    """The record says nothing; after the last try a person is told."""
    thread = pending.thread or ""
    for turn in draft.turns_of(thread):
        if turn.reads >= READS_MAX:
            message = "The agent is idle and did not say how the turn ended."
            draft.emit(Notice("warning", "turn_stalled", message, thread, turn.id))
    if not draft.events:
        draft.emit(DiagnosticSeen("settle"))


def _quiet(draft: Draft, turn: OpenTurn) -> bool:
    """Whether the agent itself says that it does nothing in this thread, and nothing of the turn is open."""
    if not draft.thread(turn.thread).quiet:
        return False
    if any(item.thread == turn.thread and item.turn == turn.id for item in draft.items.values()):
        return False
    return not draft.waits_of(turn.thread)


def _silent(draft: Draft, turn: OpenTurn) -> bool:
    if turn.reads >= READS_MAX or not _quiet(draft, turn):
        return False
    return not any(p.tag == "settle" and p.thread == turn.thread for p in draft.pending.values())
