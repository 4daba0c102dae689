"""Our commands as the agent's requests."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.errors import failure
from podium.contract.events import AskDone, AskFailed, SessionReady, ThreadBound, ThreadMissing
from podium.contract.inputs import (
    Block,
    CloseSession,
    Command,
    CompactThread,
    EnsureThread,
    ForkThread,
    InterruptTurn,
    ListModels,
    Mode,
    OpenSession,
    ReadThread,
    Respond,
    RollbackThread,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.codex.answers import respond
from podium.providers.codex.draft import Draft
from podium.providers.codex.state import Pending

ASKS = frozenset(
    {
        "open_session",
        "ensure_thread",
        "send_turn",
        "steer_turn",
        "interrupt_turn",
        "respond",
        "read_thread",
        "rollback_thread",
        "fork_thread",
        "list_models",
        "compact_thread",
        "close_session",
    }
)

EMPTY = "empty"
"""Note of a handle whose conversation had no turn yet: the agent may have lost it, and with it nothing."""

APPROVALS: dict[Mode, str] = {"read": "never", "ask": "untrusted", "edit": "on-request", "full": "never"}
"""Our modes as approval policies. Untrusted asks for every command and every patch, whatever the sandbox."""

SANDBOXES: dict[Mode, str] = {
    "read": "read-only",
    "ask": "workspace-write",
    "edit": "workspace-write",
    "full": "danger-full-access",
}
"""Our modes as sandboxes of a new thread.

`ask` may write in the workspace, because what a person allowed often stays sandboxed: a script with a
redirection would be asked for, allowed, and then fail on a read-only file system.
"""

SANDBOX_POLICIES: dict[Mode, dict[str, Any]] = {
    "read": {"type": "readOnly"},
    "ask": {"type": "workspaceWrite"},
    "edit": {"type": "workspaceWrite"},
    "full": {"type": "dangerFullAccess"},
}
"""The same sandboxes in the shape that one turn takes."""


def ask(draft: Draft, command: Command) -> None:
    """Carry out one command."""
    match command:
        case OpenSession():
            _open(draft, command)
        case EnsureThread():
            _ensure(draft, command)
        case SendTurn():
            _send(draft, command)
        case SteerTurn():
            _steer(draft, command)
        case InterruptTurn():
            _interrupt(draft, command)
        case Respond():
            respond(draft, command)
        case ReadThread(ask_id=ask_id, thread=thread):
            params: dict[str, Any] = {"threadId": thread, "includeTurns": True}
            draft.request("thread/read", params, Pending("read_thread", ask_id, thread))
        case RollbackThread(ask_id=ask_id, thread=thread, before_turn=before):
            params = {"threadId": thread, "beforeTurnId": before}
            draft.request("thread/revert", params, Pending("rollback_thread", ask_id, thread))
        case ForkThread(ask_id=ask_id, thread=thread, at_turn=at_turn):
            params = {"threadId": thread} | ({} if at_turn is None else {"lastTurnId": at_turn})
            draft.request("thread/fork", params, Pending("fork_thread", ask_id, thread))
        case ListModels(ask_id=ask_id):
            draft.request("model/list", {}, Pending("list_models", ask_id))
        case CompactThread(ask_id=ask_id, thread=thread):
            draft.request(
                "thread/compact/start", {"threadId": thread}, Pending("compact_thread", ask_id, thread)
            )
        case CloseSession(ask_id=ask_id):
            draft.emit(AskDone(ask_id))


def blocks_of(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    """A prompt as the agent's input; text goes byte for byte."""
    return [
        {"type": "text", "text": block.text, "text_elements": []}
        if isinstance(block, TextBlock)
        else {"type": "localImage", "path": block.path}
        for block in blocks
    ]


def _open(draft: Draft, command: OpenSession) -> None:
    if draft.agent_version is not None:
        draft.emit(SessionReady(command.ask_id, draft.agent_version))
        return
    params: dict[str, Any] = {
        "clientInfo": {"name": "podium", "title": "Podium", "version": command.client_version},
        "capabilities": {"experimentalApi": True, "requestAttestation": False},
    }
    draft.request("initialize", params, Pending("open_session", command.ask_id))


def _ensure(draft: Draft, command: EnsureThread) -> None:
    settings: dict[str, Any] = {
        "cwd": command.workspace,
        "approvalPolicy": APPROVALS[command.mode],
        "sandbox": SANDBOXES[command.mode],
    }
    if command.model is not None:
        settings["model"] = command.model
    handle = command.handle
    if handle is None:
        draft.request("thread/start", settings, _wanted(Pending("ensure_thread", command.ask_id), command))
        return
    if handle.transport != draft.transport:
        message = f"The handle belongs to the protocol {handle.transport}."
        why = failure("validation", "other_transport", message)
        draft.emit(ThreadMissing(command.ask_id, "not_resumable", why))
        return
    known = draft.threads.get(handle.native_id)
    if known is not None and known.loaded and known.parent is None:
        # A thread without a turn is nowhere on disk: while this process holds it, a resume would lose it.
        found = draft.handle(handle.native_id, EMPTY if known.empty else "")
        draft.emit(ThreadBound(command.ask_id, handle.native_id, found, resumed=True, model=known.model))
        return
    params: dict[str, Any] = {"threadId": handle.native_id, "excludeTurns": True, **settings}
    anew = settings if handle.sealed().open(draft.transport) == EMPTY else None
    pending = Pending("resume_thread", command.ask_id, handle.native_id, anew=anew)
    draft.request("thread/resume", params, _wanted(pending, command))


def _wanted(pending: Pending, command: EnsureThread) -> Pending:
    return msgspec.structs.replace(
        pending, mode=command.mode, model=command.model, place=command.workspace[:PLACE_MAX]
    )


PLACE_MAX = 4096
"""Longest path of a workspace, in characters: no system has a longer one."""


def _send(draft: Draft, command: SendTurn) -> None:
    params: dict[str, Any] = {
        "threadId": command.thread,
        "clientUserMessageId": command.client_id,
        "input": blocks_of(command.blocks),
    }
    if command.model is not None:
        params["model"] = command.model
    if command.mode is not None:
        params["approvalPolicy"] = APPROVALS[command.mode]
        params["sandboxPolicy"] = SANDBOX_POLICIES[command.mode]
    pending = Pending("send_turn", command.ask_id, command.thread, client_id=command.client_id)
    draft.request("turn/start", params, pending, prompt=True)


def _steer(draft: Draft, command: SteerTurn) -> None:
    params: dict[str, Any] = {
        "threadId": command.thread,
        "expectedTurnId": command.turn,
        "clientUserMessageId": command.client_id,
        "input": blocks_of(command.blocks),
    }
    pending = Pending("steer_turn", command.ask_id, command.thread, command.turn, command.client_id)
    draft.request("turn/steer", params, pending, prompt=True)


def _interrupt(draft: Draft, command: InterruptTurn) -> None:
    turn = command.turn
    if turn is None:
        running = draft.turns_of(command.thread)
        turn = running[-1].id if running else None
    if turn is not None:
        draft.interrupt(command.thread, turn, command.ask_id)
    elif (prompt := draft.prompt_of(command.thread)) is not None:
        # The prompt is out and its turn has no name yet: to say that nothing runs would leave it running.
        draft.pending[prompt] = msgspec.structs.replace(draft.pending[prompt], stop=command.ask_id)
    else:
        why = failure("validation", "no_active_turn", "No turn runs in this thread.")
        draft.emit(AskFailed(command.ask_id, why))


def mode_of(policy: str | None, sandbox: str | None) -> str | None:
    """Our mode for what the agent really runs with; a mix we never set keeps its own words."""
    if policy is None or sandbox is None:
        return None
    for mode, name in APPROVALS.items():
        if name == policy and SANDBOX_POLICIES[mode]["type"] == sandbox:
            return mode
    return f"{policy}+{sandbox}"[:80]


def loaded(draft: Draft, thread: str, model: str | None, *, empty: bool) -> None:
    """Remember a conversation that this process holds."""
    known = msgspec.structs.replace(draft.thread(thread), loaded=True, empty=empty)
    draft.keep_thread(thread, msgspec.structs.replace(known, model=model or known.model))
