"""What the core asks, in Pi's commands. What nothing could honour is refused before it is written."""

from __future__ import annotations

from podium.contract.errors import failure
from podium.contract.events import AskDone, AskFailed, ThreadMissing
from podium.contract.inputs import (
    CloseSession,
    Command,
    EnsureThread,
    InterruptTurn,
    ListModels,
    Mode,
    OpenSession,
    ReadThread,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.pi.draft import NAME, TRANSPORT, Draft
from podium.providers.pi.state import HELD_MAX, Held, Pending, Turn

ASKS = frozenset(
    {
        "open_session",
        "ensure_thread",
        "send_turn",
        "steer_turn",
        "interrupt_turn",
        "read_thread",
        "list_models",
        "close_session",
    }
)


def asked(draft: Draft, command: Command) -> None:
    """Carry out one ask."""
    match command:
        case OpenSession():
            opened(draft, command)
        case EnsureThread():
            ensured(draft, command)
        case SendTurn():
            prompted(draft, command)
        case SteerTurn():
            steered(draft, command)
        case InterruptTurn():
            interrupted(draft, command)
        case ReadThread(ask_id=ask, thread=thread) if thread == draft.state.session:
            draft.command("get_messages", Pending("read", ask))
        case ReadThread():
            draft.refuse(command, "thread_unknown", "This process has no such conversation.")
        case ListModels(ask_id=ask):
            draft.command("get_available_models", Pending("models", ask))
        case CloseSession(ask_id=ask):
            draft.emit(AskDone(ask))
        case _:
            draft.refuse(command, "unsupported_ask", "This agent cannot do that.")


def held_to(draft: Draft, command: Command, mode: Mode | None) -> bool:
    """Whether a mode was asked for that nothing would hold the agent to; it is refused."""
    if mode in (None, "full"):
        return False
    draft.refuse(
        command,
        "mode_not_offered",
        f"Nothing holds this agent to the mode {mode}: it asks nobody before it acts.",
        "Begin a thread in the mode full if that is what you want, or take another agent.",
    )
    return True


def opened(draft: Draft, command: OpenSession) -> None:
    """The program greets nobody: its state is asked for, which it can tell once it is ready."""
    if not held_to(draft, command, command.mode):
        draft.command("get_state", Pending("open", command.ask_id))


def ensured(draft: Draft, command: EnsureThread) -> None:
    """One conversation for one process: the one it began with, or the one that a handle names."""
    state, handle = draft.state, command.handle
    if held_to(draft, command, command.mode):
        return
    if not state.ready:
        draft.refuse(command, "session_not_open", "The agent is not ready.", "Open the session first.")
        return
    if handle is None and state.session:
        fix = "Start another process for another conversation."
        draft.refuse(command, "one_thread", "This process has its one conversation.", fix)
        return
    if handle is None:
        bind(draft, Pending("bind", command.ask_id, model=command.model or ""))
        return
    if (handle.transport, handle.agent_kind) != (TRANSPORT, NAME):
        why = failure(
            "validation", "foreign_handle", f"This conversation belongs to {handle.agent_kind[:80]}."
        )
        draft.emit(ThreadMissing(command.ask_id, "not_resumable", why))
        return
    path = handle.sealed().open(TRANSPORT)
    wanted = Pending("bind", command.ask_id, handle.native_id, path, command.model or "")
    if handle.native_id == state.current:
        bind(draft, wanted)
    elif state.turn is not None or state.session or not path:
        why = failure("provider", "thread_missing", "This conversation has no file that could be loaded.")
        draft.emit(ThreadMissing(command.ask_id, "not_resumable" if path else "missing", why))
    else:
        switch = Pending("switch", command.ask_id, handle.native_id, path, command.model or "")
        draft.command("switch_session", switch, sessionPath=path)


def bind(draft: Draft, pending: Pending) -> None:
    """Read back what the process holds, with the model that is wanted."""
    if pending.model and pending.model != draft.state.model:
        switch_model(draft, pending.model, Pending("bind_model", pending.ask_id, pending.native_id))
    else:
        draft.command("get_state", Pending("bind", pending.ask_id, pending.native_id))


def switch_model(draft: Draft, model: str, pending: Pending) -> None:
    """Have the session go on with another model, named as PROVIDER/MODEL."""
    provider, _, name = model.partition("/")
    draft.command("set_model", pending, provider=provider, modelId=name)


def prompted(draft: Draft, command: SendTurn) -> None:
    """Start a turn, behind the model that it wants: commands are taken side by side."""
    state = draft.state
    given = [block.text for block in command.blocks if isinstance(block, TextBlock)]
    waiting = any(pending.held is not None for pending in state.pending.values())
    if command.thread != state.session or not state.session:
        draft.refuse(command, "thread_unknown", "This process has no such conversation.", "Ensure it first.")
    elif not given or len(given) != len(command.blocks):
        draft.refuse(command, "text_only", "This agent is sent text and nothing else.", "Send text only.")
    elif held_to(draft, command, command.mode):
        return
    elif state.turn is not None or waiting:
        draft.refuse(command, "turn_running", "A turn is running.", "Wait for its end, or interrupt it.")
    elif command.model is None or command.model == state.model:
        send_prompt(draft, Held(command.ask_id, command.client_id, "".join(given)))
    else:
        held = Held(command.ask_id, command.client_id, "".join(given))
        if len(held.text.encode(errors="replace")) > HELD_MAX:
            fix = "Send a short message with the new model first."
            draft.refuse(command, "prompt_too_long", "A prompt this long cannot wait for a model.", fix)
        else:
            switch_model(draft, command.model, Pending("turn_model", command.ask_id, held=held))


def send_prompt(draft: Draft, held: Held) -> None:
    """The prompt itself. The agent names no turns, so ours has the name of the message that began it."""
    draft.change(turn=Turn(held.client_id, held.client_id))
    pending = Pending("prompt", held.ask_id, client_id=held.client_id)
    draft.command("prompt", pending, prompt=True, message=held.text)


def steered(draft: Draft, command: SteerTurn) -> None:
    """A message for the running turn: it is read between two answers of the model."""
    turn = draft.state.turn
    given = [block.text for block in command.blocks if isinstance(block, TextBlock)]
    if command.thread != draft.state.session or turn is None or turn.id != command.turn or not turn.started:
        draft.refuse(command, "no_active_turn", "There is no such running turn to steer.")
    elif not given or len(given) != len(command.blocks):
        draft.refuse(command, "text_only", "This agent is sent text and nothing else.", "Send text only.")
    else:
        pending = Pending("steer", command.ask_id, turn.id, client_id=command.client_id)
        draft.command("steer", pending, prompt=True, message="".join(given))


def interrupted(draft: Draft, command: InterruptTurn) -> None:
    """Stop the turn. What was queued behind it goes first: it would be the next thing that is worked on."""
    turn = draft.state.turn
    if command.thread != draft.state.session or turn is None or command.turn not in (None, turn.id):
        draft.refuse(command, "no_active_turn", "There is no such running turn to interrupt.")
    elif turn.stop is not None:
        draft.emit(AskDone(command.ask_id))
    elif not turn.started:
        draft.turn(turn, stop=command.ask_id)
    else:
        draft.turn(turn, stop=command.ask_id)
        stop(draft, command.ask_id)


def stop(draft: Draft, ask_id: str) -> None:
    """Forget what is queued, then abort: the answer comes when the agent is idle."""
    draft.command("clear_queue", Pending("clear"))
    draft.command("abort", Pending("abort", ask_id))


def unstarted(draft: Draft, why: str) -> None:
    """A turn that never ran has nothing to be stopped; whoever wanted that is told."""
    turn = draft.state.turn
    if turn is not None and turn.stop is not None:
        draft.emit(AskFailed(turn.stop, failure("validation", "no_active_turn", why)))
    draft.change(turn=None)
