"""What the core asks, in the bridge's words. What a command cannot honour is refused before it is sent."""

from __future__ import annotations

from typing import Any, TypeGuard

import msgspec

from podium.contract.adapter import Send, Step
from podium.contract.errors import failure
from podium.contract.events import AskDone, AskFailed, ThreadBound, ThreadMissing
from podium.contract.handles import Handle
from podium.contract.inputs import CloseSession, Command, EnsureThread, OpenSession, SendTurn, TextBlock
from podium.providers.oneshot.declaration import NAME
from podium.providers.oneshot.state import State, Turn
from podium.transport.codec import encode_frame

ARGUMENTS = "arguments"
"""The one option: the arguments of the command."""


def is_texts(given: Any) -> TypeGuard[list[str] | tuple[str, ...]]:
    """Whether an option is a list of texts."""
    return isinstance(given, list | tuple) and all(isinstance(one, str) for one in texts(given))


def texts(given: Any) -> list[Any]:
    """The members of a list whose types are not known."""
    return list(given)


def asked(state: State, command: Command) -> Step[State]:
    """Take one ask; one that a command cannot honour is refused, never ignored."""
    match command:
        case OpenSession():
            return opened(state, command)
        case EnsureThread():
            return ensured(state, command)
        case SendTurn():
            return prompted(state, command)
        case CloseSession(ask_id=ask):
            return Step(state, (AskDone(ask),))
        case _:
            return refused(state, command, "unsupported_ask", "A one-shot command cannot do that.")


def refused(state: State, command: Command, code: str, message: str, fix: str = "") -> Step[State]:
    """Nothing is sent, and the reason is told."""
    return Step(state, (AskFailed(command.ask_id, failure("validation", code, message, fix=fix)),))


def unselected(state: State, command: OpenSession | EnsureThread | SendTurn) -> Step[State] | None:
    """The refusal of a model or a mode that nothing could honour; None where none was selected."""
    if command.model is not None:
        fix = "Leave the model out, or name it among the command's own arguments."
        return refused(state, command, "model_not_offered", "A one-shot command offers no models.", fix)
    if command.mode not in (None, "full"):
        fix = "Begin a thread in the mode full if that is what you want, or take another agent."
        said = f"Nothing holds a one-shot command to the mode {command.mode}: it has all your rights."
        return refused(state, command, "mode_not_offered", said, fix)
    return None


def opened(state: State, command: OpenSession) -> Step[State]:
    """Greet the bridge."""
    odd = sorted(set(command.options) - {ARGUMENTS})
    if odd or not is_texts(command.options.get(ARGUMENTS, ())):
        fix = f'Write options = {{ {ARGUMENTS} = ["..."] }}, a list of texts, and nothing else.'
        what = f"no option {odd[0][:80]!r}" if odd else "other options"
        return refused(state, command, "options_invalid", f"A one-shot command has {what}.", fix)
    no = unselected(state, command)
    if no is not None:
        return no
    line = encode_frame({"op": "hello", "id": command.ask_id})
    return Step(msgspec.structs.replace(state, opening=command.ask_id), sends=(Send(line, command.ask_id),))


def ensured(state: State, command: EnsureThread) -> Step[State]:
    """Prompts belong together as long as the bridge lives, by the name it has for itself.

    It is no conversation of the command's, which has none: nothing is resumed in another process (F074).
    """
    handle = command.handle
    if not state.session:
        return refused(state, command, "session_not_open", "The bridge is not ready.", "Open it first.")
    no = unselected(state, command)
    if no is not None:
        return no
    own = Handle(NAME, NAME, state.session)
    if handle is None or handle.same_conversation(own):
        return Step(state, (ThreadBound(command.ask_id, state.session, own, handle is not None),))
    if (handle.transport, handle.agent_kind) != (NAME, NAME):
        why = failure(
            "validation", "foreign_handle", f"This conversation belongs to {handle.agent_kind[:80]}."
        )
    else:
        why = failure(
            "provider",
            "resume_unsupported",
            "A one-shot command keeps nothing from one prompt to the next, so there is nothing to resume.",
            fix="Send with --fresh to begin anew; it will not know what was said before.",
        )
    return Step(state, (ThreadMissing(command.ask_id, "not_resumable", why),))


def prompted(state: State, command: SendTurn) -> Step[State]:
    """Run the command with this prompt on its stdin."""
    given = [block.text for block in command.blocks if isinstance(block, TextBlock)]
    if command.thread != state.session or not state.session:
        return refused(
            state, command, "thread_unknown", "This process has no such thread.", "Ensure it first."
        )
    if not given or len(given) != len(command.blocks):
        return refused(
            state, command, "text_only", "A one-shot command takes text and nothing else.", "Send text only."
        )
    no = unselected(state, command)
    if no is not None:
        return no
    if state.turn is not None:
        return refused(state, command, "turn_running", "The command is running.", "Wait for its end.")
    turn = Turn(f"{state.session}.{state.turns + 1}", command.ask_id, command.client_id)
    line = encode_frame({"op": "run", "turn": turn.id, "text": "".join(given)})
    after = msgspec.structs.replace(state, turns=state.turns + 1, turn=turn)
    return Step(after, sends=(Send(line, command.ask_id, prompt=True),))
