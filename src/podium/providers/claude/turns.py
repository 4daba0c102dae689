"""How a turn begins: none of the agent's frames names one, so our own prompts do."""

from __future__ import annotations

from podium.contract.errors import failure
from podium.contract.events import AskDone, AskFailed, ThreadBound, TurnAccepted, TurnStarted
from podium.providers.claude.draft import Draft
from podium.providers.claude.state import Prompt, Turn


def begin(draft: Draft, of: str, name: str | None) -> Turn:
    """The turn that runs; where none does, the one of the oldest prompt, else one the agent began itself.

    The agent says `init` at the start of every turn and repeats a prompt a little later, when it is taken.
    `name` is the id of the frame that shows a turn of its own.
    """
    talk = draft.talks[of]
    if talk.turn is not None:
        return talk.turn
    if talk.prompts:
        first, rest = talk.prompts[0], talk.prompts[1:]
        client = first.client_id if first.kind == "turn" else None
        wants = first.ask_id if first.kind == "compact" else None
        turn = Turn(first.uuid, client, prompted=True, ask_id=wants)
        draft.change(of, turn=turn, prompts=rest)
        draft.emit(TurnStarted(talk.session, turn.id, turn.client_id))
        taken(draft, of, first)
    else:
        turn = Turn(name or draft.made_id("turn", talk.session, str(draft.frames)))
        draft.change(of, turn=turn)
        draft.emit(TurnStarted(talk.session, turn.id))
    if talk.empty:
        # From its first turn on the conversation has a record, and its handle says so.
        draft.change(of, empty=False)
        draft.emit(ThreadBound(None, talk.session, draft.handle(of), True, talk.real_model))
    return turn


def taken(draft: Draft, of: str, prompt: Prompt) -> None:
    """The agent took a message into the running turn."""
    talk = draft.talks[of]
    if prompt.kind == "turn":
        draft.emit(TurnAccepted(prompt.ask_id, talk.session, talk.turn.id if talk.turn else None))
    elif prompt.kind == "steer":
        draft.emit(AskDone(prompt.ask_id))


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
