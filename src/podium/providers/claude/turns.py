"""How a turn begins: none of the agent's frames names one, so our own prompts do."""

from __future__ import annotations

from typing import Any

from podium.contract.errors import failure
from podium.contract.events import AskDone, AskFailed, ThreadBound, TurnAccepted, TurnEnded, TurnStarted
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import ident, text
from podium.providers.claude.state import Pending, Prompt, Turn


def begin(draft: Draft, of: str, name: str | None) -> Turn:
    """The turn that runs; where none does, the one of the oldest prompt, else one the agent began itself.

    The agent says `init` at the start of every turn and repeats a prompt a little later, when it is taken. A
    newer one says before both which prompt it begins with (`lifecycle`); then a turn without one is its own.
    `name` is the id of the frame that shows the turn.
    """
    talk = draft.talks[of]
    if talk.turn is not None:
        return talk.turn
    if talk.prompts and not talk.exact:
        return _prompted(draft, of, talk.prompts[0])
    turn = Turn(name or draft.made_id("turn", talk.session, str(draft.frames)))
    draft.change(of, turn=turn)
    draft.emit(TurnStarted(talk.session, turn.id))
    _recorded(draft, of)
    return turn


def lifecycle(draft: Draft, of: str, frame: dict[str, Any]) -> None:
    """`command_lifecycle`: what becomes of a prompt of ours, by the id we gave it."""
    talk = draft.change(of, exact=True)
    uuid = ident(frame, "command_uuid")
    mine = next((prompt for prompt in talk.prompts if prompt.uuid == uuid), None)
    state = text(frame, "state")
    if mine is not None and state == "cancelled":
        withdrawn(draft, of, mine)
    elif mine is None or state != "started":
        draft.passed("command_lifecycle")
    elif talk.turn is None:
        _prompted(draft, of, mine)
        draft.change_turn(of, seen=True)
    else:
        draft.change(of, prompts=tuple(prompt for prompt in talk.prompts if prompt is not mine))
        taken(draft, of, mine)


def _prompted(draft: Draft, of: str, first: Prompt) -> Turn:
    """The turn of a prompt begins."""
    talk = draft.talks[of]
    rest = tuple(prompt for prompt in talk.prompts if prompt is not first)
    client = first.client_id if first.kind == "turn" else None
    wants = first.ask_id if first.kind == "compact" else None
    turn = Turn(first.uuid, client, prompted=True, ask_id=wants)
    draft.change(of, turn=turn, prompts=rest)
    draft.emit(TurnStarted(talk.session, turn.id, turn.client_id))
    taken(draft, of, first)
    _recorded(draft, of)
    if first.stop:
        interrupt(draft, of, None)
    return turn


def interrupt(draft: Draft, of: str, ask_id: str | None) -> None:
    """Ask the agent to stop what it does."""
    draft.change_turn(of, stopping=True)
    draft.control(of, {"subtype": "interrupt"}, Pending("interrupt", of, ask_id))


def _recorded(draft: Draft, of: str) -> None:
    """From its first turn on the conversation has a record, and its handle says so."""
    talk = draft.talks[of]
    if talk.empty:
        draft.change(of, empty=False)
        draft.emit(ThreadBound(None, talk.session, draft.handle(of), True, talk.real_model))


def taken(draft: Draft, of: str, prompt: Prompt) -> None:
    """The agent took a message into the running turn."""
    talk = draft.talks[of]
    if prompt.kind == "turn":
        draft.emit(TurnAccepted(prompt.ask_id, talk.session, talk.turn.id if talk.turn else None))
    elif prompt.kind == "steer":
        draft.emit(AskDone(prompt.ask_id))


def withdrawn(draft: Draft, of: str, prompt: Prompt) -> None:
    """A message was taken back before the agent took it: that is the end of its turn, or of its ask."""
    talk = draft.talks[of]
    draft.change(of, prompts=tuple(other for other in talk.prompts if other is not prompt))
    if prompt.kind == "turn":
        draft.emit(
            TurnStarted(talk.session, prompt.uuid, prompt.client_id),
            TurnAccepted(prompt.ask_id, talk.session, prompt.uuid),
            TurnEnded(talk.session, prompt.uuid, "interrupted", word="cancelled"),
        )
    else:
        message = "The turn ended before the agent could take the message."
        draft.emit(AskFailed(prompt.ask_id, failure("validation", "no_active_turn", message)))


def compacted(draft: Draft, of: str, why: str | None) -> None:
    """What came of the ask to shorten the conversation; nothing where the agent did it by itself."""
    turn = draft.talks[of].turn
    if turn is None or turn.ask_id is None:
        return
    draft.change_turn(of, ask_id=None)
    if why is None:
        draft.emit(AskDone(turn.ask_id))
    else:
        draft.emit(AskFailed(turn.ask_id, failure("provider", "compact_failed", why[:WHY_MAX])))


WHY_MAX = 500
"""Longest reason kept of a refused compaction, in characters."""
