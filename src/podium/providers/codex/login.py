"""A turn whose agent is no longer logged in and tries again for ever (B77).

The agent says so in its own error notices; a tool's or a model's text that says 401 proves nothing. If the
turn makes no progress after such a notice, it is ended here, and the agent is told to stop it.
"""

from __future__ import annotations

import msgspec

from podium.contract.adapter import SetTimer
from podium.contract.errors import Failure
from podium.contract.events import DiagnosticSeen, ItemSeen, TextDelta, TurnEnded
from podium.providers.codex.draft import Draft
from podium.providers.codex.state import OpenTurn, turn_key

LOGIN_SECONDS = 20.0
"""How long a turn may try again after the agent said that it is not logged in."""

TIMER = "login:"
"""Prefix of the timer of a turn."""

CODE = "auth_required"


def refused(draft: Draft, thread: str, turn: str | None, why: Failure) -> None:
    """The agent tries again; remember it where only a login can help."""
    found = draft.turns.get(turn_key(thread, turn or ""))
    if found is not None and why.code == CODE:
        draft.turns[turn_key(found.thread, found.id)] = msgspec.structs.replace(
            found, failure=why, refused=True
        )


def watch(draft: Draft) -> None:
    """Set the timers of turns that are refused, and take them back where work goes on."""
    for event in draft.events:
        if isinstance(event, TextDelta | ItemSeen):
            key = turn_key(event.ref.thread, event.ref.turn or "")
            found = draft.turns.get(key)
            if found is not None and found.refused:
                draft.turns[key] = msgspec.structs.replace(found, failure=None, refused=False)
    now = {key for key, turn in draft.turns.items() if turn.refused}
    before = {key for key, turn in draft.base.turns.items() if turn.refused}
    draft.timers.extend(SetTimer(TIMER + key, LOGIN_SECONDS) for key in sorted(now - before))
    draft.timers.extend(SetTimer(TIMER + key, None) for key in sorted(before - now))


def due(draft: Draft, name: str) -> None:
    """No progress came: the turn is over, and the agent is told so."""
    turn = draft.turns.get(name.removeprefix(TIMER))
    if turn is None or not turn.refused:
        draft.emit(DiagnosticSeen("timer"))
        return
    draft.interrupt(turn.thread, turn.id, None)
    _end(draft, turn)


def gone(draft: Draft) -> None:
    """The process is gone: what a missing login left behind failed for that reason."""
    for turn in [turn for turn in draft.turns.values() if turn.refused]:
        _end(draft, turn)


def _end(draft: Draft, turn: OpenTurn) -> None:
    draft.end_turn(TurnEnded(turn.thread, turn.id, "failed", "inferred", turn.failure, CODE))
