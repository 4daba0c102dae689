"""What the bridge says, in the contract's words."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import Step
from podium.contract.errors import Failure, failure
from podium.contract.events import (
    AskFailed,
    DiagnosticSeen,
    ItemSeen,
    Notice,
    ProviderEvent,
    Ref,
    SessionReady,
    TextDelta,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.providers.oneshot.state import Ended, Known, Ready, Refused, Started, State, Text, Turn, Unread

STOPPED = "stopped"
"""Why the bridge ended a command that it was told to end: no word on how the prompt went."""

MESSAGE = "assistant_message"


def heard(state: State, said: Known) -> Step[State]:
    """Take one thing that the bridge said. What is about no running turn is counted only."""
    if isinstance(said, Ready):
        return ready(state, said)
    turn = state.turn
    if turn is None or (not isinstance(said, Unread) and said.turn != turn.id):
        return Step(state, (DiagnosticSeen(type(said).__name__.lower()),))
    match said:
        case Started():
            return started(state, turn)
        case Refused():
            over = msgspec.structs.replace(state, turn=None)
            return Step(over, (AskFailed(turn.ask_id, not_started(said)),))
        case Text(text=text):
            return Step(state, (TextDelta(Ref(state.session, turn.id), MESSAGE, "text", text),))
        case Ended():
            return ended(state, turn, said)
        case Unread() if not turn.started:
            why = failure("process", "prompt_too_long", "The prompt is longer than the bridge can take.")
            return Step(msgspec.structs.replace(state, turn=None), (AskFailed(turn.ask_id, why),))
        case Unread():
            return Step(state, (DiagnosticSeen("unread"),))


def ready(state: State, said: Ready) -> Step[State]:
    """The bridge is there, and has a command to run or none."""
    if not said.command:
        why = failure(
            "validation",
            "no_command",
            "No command was named for this agent.",
            fix="podium agents add NAME --one-shot -- COMMAND ARGUMENTS",
        )
        return Step(state, (AskFailed(said.id, why),))
    return Step(msgspec.structs.replace(state, session=said.session, opening=""), (SessionReady(said.id),))


def started(state: State, turn: Turn) -> Step[State]:
    """The command runs: it has the prompt, whether it reads it or not."""
    if turn.started:
        return Step(state, (DiagnosticSeen("started"),))
    after = msgspec.structs.replace(state, turn=msgspec.structs.replace(turn, started=True))
    accepted = TurnAccepted(turn.ask_id, state.session, turn.id)
    return Step(after, (accepted, TurnStarted(state.session, turn.id, turn.client_id)))


def not_started(said: Refused) -> Failure:
    """Why there is no answer, where the command never saw the prompt."""
    return failure(
        "process",
        said.code,
        f"The command could not be started: {said.message}.",
        fix="Mend the command under [agents.NAME] in podium.toml; `podium agents` shows it.",
    )


def ended(state: State, turn: Turn, said: Ended) -> Step[State]:
    """The command is over. What it printed is the answer, however it ended."""
    over = msgspec.structs.replace(state, turn=None)
    if said.why == STOPPED:  # its end is the session's, and what that makes of the run is the core's (R10)
        return Step(over, (DiagnosticSeen(STOPPED),))
    events: list[ProviderEvent] = []
    if said.bytes:
        events.append(ItemSeen(Ref(state.session, turn.id), MESSAGE, "completed"))
    if said.left:
        text = "Something that the command had left behind still held its output; it was not waited for."
        events.append(Notice("warning", "left_behind", text, state.session, turn.id))
    why = failed(said)
    outcome = "completed" if why is None else "failed"
    events.append(TurnEnded(state.session, turn.id, outcome, failure=why, word=word(said)))
    return Step(over, tuple(events))


def word(said: Ended) -> str:
    """How the command ended, in a few words."""
    if said.code is not None:
        return f"exit code {said.code}"
    return f"signal {said.signal}" if said.signal is not None else "unknown status"


def failed(said: Ended) -> Failure | None:
    """Why the answer is none, or not whole: with the exit code and the last words on stderr."""
    evidence: dict[str, Any] = {"exit_code": said.code, "signal": said.signal, "stderr": said.stderr}
    if said.why is not None:
        text = f"The command printed more than an answer may be long; the first {said.bytes} bytes were kept."
        return failure("process", "answer_too_long", text, fix="Have it print less.", **evidence)
    if said.code == 0:
        return None
    last = f'; its last words: "{said.stderr.strip()}"' if said.stderr.strip() else ""
    text = f"The command ended with {word(said)}{last}."
    return failure("process", "command_failed", text, fix="Run it by hand to see more.", **evidence)
