"""How a turn ends: one `result` frame. An end that calls itself a success may be a failure all the same."""

from __future__ import annotations

from typing import Any

from podium.contract.errors import Failure
from podium.contract.events import Limited, Outcome, TurnEnded, Usage, UsageSeen
from podium.providers.claude import children
from podium.providers.claude.draft import Draft
from podium.providers.claude.failures import result_failure
from podium.providers.claude.reading import ident, integer, is_table, strings, table, text
from podium.providers.claude.state import Pending, Turn
from podium.providers.claude.stream import dropped
from podium.providers.claude.turns import begin, compacted

ITSELF = "task-notification"
"""The origin of a turn that the agent began by itself, because work behind a turn was over."""


def ended(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """One `result` frame."""
    talk = draft.talks[of]
    if talk.opening is not None:
        # A conversation that cannot be resumed says so in a result, and its process ends.
        draft.change(of, error="; ".join(strings(frame, "errors"))[:500] or None)
        draft.passed("result")
        return
    itself = text(table(frame, "origin"), "kind") == ITSELF
    if talk.turn is None and not talk.prompts:
        draft.passed("result")
        return
    if itself and talk.turn is not None and talk.turn.prompted and not talk.turn.seen:
        # It ended a turn of its own, which was taken for that of our prompt: the prompt is still to come.
        draft.passed("result/itself")
        return
    turn = begin(draft, of, ident(frame, "uuid"))
    dropped(draft, of)
    for key, _ in draft.waits_of(of, turn.id):
        draft.close(key, "turn_ended")
    _usage(draft, of, turn, frame)
    outcome, why = _outcome(turn, frame)
    children.left_behind(draft, of, "interrupted" if outcome == "interrupted" else "unknown")
    compacted(draft, of, "The turn ended without it.")
    if why is not None and why.code in ("usage_limited", "rate_limited"):
        draft.emit(Limited("account"))
    word = text(frame, "terminal_reason") or text(frame, "subtype")
    talk = draft.change(of, turn=None)
    draft.emit(TurnEnded(talk.session, turn.id, outcome, failure=why, word=word))
    for prompt in talk.prompts:
        if prompt.kind == "steer":
            # There was no boundary left to take it at: take it back, before it becomes a turn of its own.
            wanted = {"subtype": "cancel_async_message", "message_uuid": prompt.uuid}
            draft.control(of, wanted, Pending("cancel_steer", of, None, prompt.uuid))


def _outcome(turn: Turn, frame: dict[str, Any]) -> tuple[Outcome, Failure | None]:
    """What came of the turn: a success must say so in both of its words."""
    reason = text(frame, "terminal_reason") or ""
    if reason.startswith("aborted"):
        return "interrupted", None
    if text(frame, "subtype") == "success" and frame.get("is_error") is False:
        return "completed", None
    if turn.stopping and not reason and turn.failure is None:
        return "interrupted", None
    return "failed", result_failure(frame, turn.failure)


def _usage(draft: Draft, of: str, turn: Turn, frame: dict[str, Any]) -> None:
    """The whole turn's tokens, and the size of the window of the model that answered."""
    usage, talk = table(frame, "usage"), draft.talks[of]
    models = table(frame, "modelUsage")
    sizes = {name: integer(entry, "contextWindow") for name, entry in models.items() if is_table(entry)}
    named = [size for name, size in sizes.items() if size and name.startswith(talk.real_model or "?")]
    window = next(iter(named), None) or next((size for size in sizes.values() if size), None)
    if window is not None:
        draft.change(of, window=window)
    fresh, output = integer(usage, "input_tokens"), integer(usage, "output_tokens")
    if not fresh and not output:
        return
    cached = integer(usage, "cache_read_input_tokens")
    given = (
        None
        if fresh is None
        else fresh + (integer(usage, "cache_creation_input_tokens") or 0) + (cached or 0)
    )
    whole = None if given is None or output is None else given + output
    used = Usage(given, cached, output, None, whole)
    draft.emit(UsageSeen(talk.session, turn.id, used, None, window))
