"""What Pi tells of its session, in the contract's words."""

from __future__ import annotations

from podium.contract.adapter import Send
from podium.contract.errors import Failure, failure
from podium.contract.events import (
    DiagnosticSeen,
    ItemKind,
    ItemSeen,
    Notice,
    Outcome,
    Ref,
    Retrying,
    TextDelta,
    ThreadChanged,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageSeen,
)
from podium.providers.pi import tools
from podium.providers.pi.asks import stop
from podium.providers.pi.draft import Draft
from podium.providers.pi.failures import model_failure
from podium.providers.pi.reading import whole
from podium.providers.pi.replies import answered
from podium.providers.pi.said import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    CompactionEnd,
    CompactionStart,
    Dialog,
    ExtensionError,
    Known,
    Message,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    Piece,
    Response,
    RetryStart,
    ToolEnd,
    ToolStart,
    ToolUpdate,
)
from podium.providers.pi.state import Turn
from podium.transport.codec import encode_frame

DIALOGS = frozenset({"select", "confirm", "input", "editor"})
"""What an extension waits for; its other requests only show something."""

OUTCOMES: dict[str, Outcome] = {
    "stop": "completed",
    "length": "failed",
    "error": "failed",
    "aborted": "interrupted",
}
"""The newest message's stop reason, as the end of its turn."""

TEXT_MAX = 500
"""Most characters of an extension's words in a notice."""


def heard(draft: Draft, said: Known) -> None:
    """Take one frame."""
    match said:
        case Response():
            answered(draft, said)
        case AgentStart():
            began(draft)
        case AgentSettled():
            settled(draft, said)
        case MessageStart(message=message):
            message_started(draft, message)
        case MessageEnd(message=message):
            message_ended(draft, message)
        case Dialog():
            dialog(draft, said)
        case ExtensionError(error=error, extension_path=path):
            draft.emit(Notice("warning", "extension_failed", f"{path}: {error}"[:TEXT_MAX]))
        case AgentEnd():
            draft.emit(DiagnosticSeen("agent_end"))
        case _ if draft.state.turn is not None:
            worked(draft, draft.state.turn, said)
        case CompactionEnd(error_message=words) if words:
            draft.emit(Notice("warning", "compaction_failed", words[:TEXT_MAX], draft.state.session or None))
        case _:
            draft.emit(DiagnosticSeen(type(said).__name__.lower()))


def worked(draft: Draft, turn: Turn, said: Known) -> None:
    """What belongs to the running turn."""
    events = len(draft.events)
    match said:
        case MessageUpdate(assistant_message_event=piece):
            streamed(draft, turn, piece)
        case ToolStart():
            tools.started(draft, turn, said)
        case ToolUpdate():
            tools.updated(draft, turn, said)
        case ToolEnd():
            tools.ended(draft, turn, said)
        case RetryStart(attempt=attempt, max_attempts=most, delay_ms=delay, error_message=words):
            why = model_failure(words)
            draft.emit(Retrying(draft.state.session, turn.id, why, attempt, most, delay / 1000))
        case CompactionStart():
            draft.emit(ItemSeen(compaction(draft, turn), "compaction", "open"))
        case CompactionEnd(aborted=aborted, result=result):
            state = "completed" if result is not None else "interrupted" if aborted else "failed"
            draft.emit(ItemSeen(compaction(draft, turn), "compaction", state))
        case _:
            pass
    if len(draft.events) == events:
        draft.emit(DiagnosticSeen(type(said).__name__.lower()))


def compaction(draft: Draft, turn: Turn) -> Ref:
    """A shortening of the context happens behind a message."""
    return draft.ref(turn, f"compaction-{turn.messages}")


def began(draft: Draft) -> None:
    """The agent works. What it begins by itself has no name before its first message."""
    turn = draft.state.turn
    if turn is None or turn.started:
        draft.emit(DiagnosticSeen("agent_start"))
        return
    start(draft, turn)


def start(draft: Draft, turn: Turn) -> Turn:
    """A turn runs, and is stopped where somebody wanted that meanwhile."""
    draft.emit(TurnStarted(draft.state.session, turn.id, turn.client_id))
    turn = draft.turn(turn, started=True)
    if turn.stop is not None:
        stop(draft, turn.stop)
    return turn


def message_started(draft: Draft, message: Message) -> None:
    """A message begins; the first one of a turn that nobody asked for names it."""
    turn = draft.state.turn
    if turn is None and draft.state.session:
        turn = start(draft, Turn(f"own-{message.timestamp}"[:64]))
    if turn is not None and message.role == "assistant":
        draft.turn(turn, messages=turn.messages + 1)
    draft.emit(DiagnosticSeen("message_start"))


def streamed(draft: Draft, turn: Turn, piece: Piece) -> None:
    """A piece of the message that is being written; calls of tools are told when they run."""
    name, _, what = piece.type.partition("_")
    kind: ItemKind = "reasoning" if name == "thinking" else "assistant_message"
    if name not in ("text", "thinking"):
        return
    body = "reasoning" if name == "thinking" else "text"
    ref = draft.ref(turn, f"{turn.messages}.{piece.content_index}")
    if what == "delta" and piece.delta:
        draft.emit(TextDelta(ref, kind, body, piece.delta))
    elif what == "end":
        draft.emit(ItemSeen(ref, kind, "completed", final={body: piece.content}))


def message_ended(draft: Draft, message: Message) -> None:
    """A message is whole: how it ended and what it took."""
    turn = draft.state.turn
    if turn is None or message.role != "assistant":
        draft.emit(DiagnosticSeen("message_end"))
        return
    why: Failure | None = None
    if message.stop_reason == "error":
        why = model_failure(message.error_message)
    turn = draft.turn(turn, reason=message.stop_reason, failure=why)
    used = usage(message)
    if used is not None:
        key = message.response_id[:128] or f"{turn.id}:{turn.messages}"
        draft.emit(UsageSeen(draft.state.session, turn.id, used, context_window=draft.state.window, key=key))
    name = f"{message.provider}/{message.model}"
    if message.model and message.provider and name != draft.state.model:
        draft.change(model=name)
        draft.emit(ThreadChanged(draft.state.session, model=name))
    if used is None:
        draft.emit(DiagnosticSeen("message_end"))


def usage(message: Message) -> Usage | None:
    """The tokens of one message. A message that failed counts zeros, which is nothing known."""
    given = message.usage
    fresh, read, written = (whole(given, name) for name in ("input", "cacheRead", "cacheWrite"))
    total = whole(given, "totalTokens")
    if not total:
        return None
    return Usage(
        input=(fresh or 0) + (read or 0) + (written or 0),
        cached_input=read,
        output=whole(given, "output"),
        reasoning=whole(given, "reasoning"),
        total=total,
    )


def settled(draft: Draft, said: AgentSettled) -> None:
    """Nothing follows by itself any more: the turn is over."""
    turn = draft.state.turn
    if turn is None or not turn.started:
        draft.emit(DiagnosticSeen("agent_settled"))
        return
    outcome = "interrupted" if said.aborted else OUTCOMES.get(turn.reason)
    why = turn.failure if outcome == "failed" else None
    if outcome == "failed" and why is None:
        why = failure("provider", "output_limit", "The answer is longer than the model may write.")
    word = "aborted" if said.aborted else turn.reason or None
    draft.emit(TurnEnded(draft.state.session, turn.id, outcome, failure=why, word=word))
    draft.change(turn=None, tools={})


def dialog(draft: Draft, said: Dialog) -> None:
    """An extension waits for an answer. No leaf claims its questions, so it is told no, and a person why."""
    turn = draft.state.turn
    if said.method not in DIALOGS:
        draft.emit(DiagnosticSeen(f"ui_{said.method[:40]}"))
        return
    line = encode_frame({"type": "extension_ui_response", "id": said.id, "cancelled": True})
    draft.sends.append(Send(line))
    words = f"An extension asked and was told no: {said.title or said.message}"[:TEXT_MAX]
    session = draft.state.session or None
    draft.emit(Notice("warning", "dialog_declined", words, session, turn.id if turn is not None else None))
