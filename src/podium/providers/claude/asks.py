"""Our commands as the agent's processes, requests and messages."""

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
    OpenSession,
    Respond,
    SendTurn,
    SteerTurn,
    TextBlock,
)
from podium.providers.claude.answers import respond
from podium.providers.claude.draft import EMPTY, Draft
from podium.providers.claude.modes import held_rules, native_mode
from podium.providers.claude.reading import ID_MAX
from podium.providers.claude.state import PROMPTS_MAX, TALKS_MAX, Pending, Prompt, PromptKind, Talk
from podium.providers.claude.turns import interrupt

ASKS = frozenset(
    {
        "open_session",
        "ensure_thread",
        "send_turn",
        "steer_turn",
        "interrupt_turn",
        "respond",
        "fork_thread",
        "list_models",
        "compact_thread",
        "close_session",
    }
)

ARGUMENTS = (
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
    "--replay-user-messages",
)
"""What every process is started with: frames both ways, deltas, permissions asked here, prompts repeated."""

COMPACT = "/compact"
LATER = "later"
NEXT = "next"
"""When a message is taken: behind the running turn, or at its next tool boundary."""


def ask(draft: Draft, command: Command) -> None:
    """Carry out one command."""
    match command:
        case OpenSession(ask_id=ask_id):
            if draft.nonce is not None:
                draft.emit(SessionReady(ask_id))
            else:
                draft.tell("hello", ask_id=ask_id, id=ask_id)
        case EnsureThread():
            _ensure(draft, command)
        case SendTurn():
            _send(draft, command)
        case SteerTurn(ask_id=ask_id, thread=thread):
            of = draft.name_of(thread)
            if of is None or draft.talks[of].turn is None:
                _fail(draft, ask_id, "no_active_turn", "No turn runs in this thread.")
            else:
                prompt(draft, of, "steer", ask_id, content(command.blocks), command.client_id)
        case InterruptTurn():
            _interrupt(draft, command)
        case Respond():
            respond(draft, command)
        case ForkThread():
            _fork(draft, command)
        case ListModels(ask_id=ask_id):
            _models(draft, ask_id)
        case CompactThread(ask_id=ask_id, thread=thread):
            of = draft.name_of(thread)
            if of is None:
                _not_open(draft, ask_id)
            else:
                prompt(draft, of, "compact", ask_id, COMPACT, ask_id)
        case CloseSession(ask_id=ask_id):
            draft.emit(AskDone(ask_id))
        case _:
            _fail(draft, command.ask_id, "not_supported", "This agent does not do that.")


def _fail(draft: Draft, ask_id: str, code: str, message: str) -> None:
    draft.emit(AskFailed(ask_id, failure("validation", code, message)))


def _not_open(draft: Draft, ask_id: str) -> None:
    _fail(draft, ask_id, "thread_missing", "This conversation is not open.")


def _models(draft: Draft, ask_id: str) -> None:
    if not draft.models:
        _fail(draft, ask_id, "models_unavailable", "The agent lists its models once a conversation is open.")
        return
    found = [{"id": model.id, "name": model.name} for model in draft.models]
    draft.emit(AskDone(ask_id, {"models": found}))


# ---- conversations


def _ensure(draft: Draft, command: EnsureThread) -> None:
    handle = command.handle
    if handle is None:
        session = draft.made_id("conversation", command.ask_id)
        talk = Talk(session, command.ask_id, "created", empty=True, mode=command.mode, model=command.model)
        start(draft, session, talk, ("--session-id", session))
        return
    if handle.transport != draft.transport or not is_session(handle.native_id):
        message = f"The handle belongs to the protocol {handle.transport}, or names no conversation of it."
        why = failure("validation", "other_transport", message)
        draft.emit(ThreadMissing(command.ask_id, "not_resumable", why))
        return
    of = draft.name_of(handle.native_id)
    if of is not None and draft.talks[of].opening is None:
        talk = draft.talks[of]
        draft.emit(ThreadBound(command.ask_id, talk.session, draft.handle(of), True, talk.real_model))
        return
    # One that had no turn has no record: begun under the same id it is the same conversation (F074).
    empty = handle.sealed().open(draft.transport) == EMPTY
    session = handle.native_id
    talk = Talk(session, command.ask_id, "resumed", empty=empty, mode=command.mode, model=command.model)
    start(draft, session, talk, ("--session-id" if empty else "--resume", session))


def is_session(name: str) -> bool:
    """Whether a native id can stand among the arguments: never one that reads as an option."""
    return len(name) <= ID_MAX and name.replace("-", "").isalnum() and not name.startswith("-")


def start(draft: Draft, of: str, talk: Talk, which: tuple[str, ...]) -> None:
    """Start the process of a conversation, and greet it."""
    if of not in draft.talks and len(draft.talks) >= TALKS_MAX:
        _fail(draft, talk.ask_id or "", "too_many", f"{TALKS_MAX} conversations are open.")
        return
    arguments = [*ARGUMENTS, *which, "--permission-mode", native_mode(talk.mode)]
    if talk.model is not None and not talk.model.startswith("-"):
        arguments += ["--model", talk.model]
    real = native_mode(talk.mode)
    draft.talks[of] = msgspec.structs.replace(talk, resumes="--resume" in which, real_mode=real)
    draft.tell("open", ask_id=talk.ask_id, of=of, arguments=arguments)
    greeting = {"subtype": "initialize", "hooks": None, "forwardSubagentText": True}
    draft.control(of, greeting, Pending("open", of, talk.ask_id))
    if talk.mode == "read":
        draft.control(of, held_rules(talk.mode), Pending("mode", of))


def _fork(draft: Draft, command: ForkThread) -> None:
    of = draft.name_of(command.thread)
    if of is None:
        _not_open(draft, command.ask_id)
        return
    source = draft.talks[of]
    if command.at_turn is not None or source.empty:
        _fail(draft, command.ask_id, "fork_failed", "Only whole conversations with a turn are forked.")
        return
    session = draft.made_id("fork", command.ask_id)
    talk = Talk(session, command.ask_id, "forked", mode=source.mode, model=source.model)
    which = ("--resume", source.session, "--fork-session", "--session-id", session)
    start(draft, session, talk, which)


# ---- turns


def content(blocks: tuple[Block, ...]) -> str | list[dict[str, Any]]:
    """A prompt as the agent's content; text goes byte for byte, images by name (the bridge reads them)."""
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        return blocks[0].text
    return [
        {"type": "text", "text": block.text}
        if isinstance(block, TextBlock)
        else {
            "type": "image",
            "source": {"type": "path", "path": block.path, "media_type": block.media_type},
        }
        for block in blocks
    ]


def prompt(
    draft: Draft,
    of: str,
    kind: PromptKind,
    ask_id: str,
    words: str | list[dict[str, Any]],
    client_id: str,
) -> None:
    """Send a message, and wait for the agent to take it."""
    talk = draft.talks[of]
    if len(talk.prompts) >= PROMPTS_MAX:
        _fail(draft, ask_id, "too_many", f"{PROMPTS_MAX} messages wait for the agent.")
        return
    uuid = draft.made_id(kind, talk.session, client_id)
    draft.change(of, prompts=(*talk.prompts, Prompt(uuid, kind, ask_id, client_id)))
    frame = {
        "type": "user",
        "message": {"role": "user", "content": words},
        "parent_tool_use_id": None,
        "session_id": "",
        "uuid": uuid,
        "priority": NEXT if kind == "steer" else LATER,
    }
    draft.send(of, frame, ask_id=ask_id, prompt=True)


def _send(draft: Draft, command: SendTurn) -> None:
    of = draft.name_of(command.thread)
    if of is None:
        _not_open(draft, command.ask_id)
        return
    talk = draft.talks[of]
    if command.mode is not None:
        _switch(draft, of, command.mode)
    if command.model is not None and command.model != talk.model:
        draft.change(of, model=command.model)
        draft.control(of, {"subtype": "set_model", "model": command.model}, Pending("model", of))
    prompt(draft, of, "turn", command.ask_id, content(command.blocks), command.client_id)


def _switch(draft: Draft, of: str, mode: str) -> None:
    """Another mode from the next message on. The model and a person's answers change the agent's mode too."""
    talk, native = draft.talks[of], native_mode(mode)
    if "read" in (mode, talk.mode) and mode != talk.mode:
        draft.control(of, held_rules(mode), Pending("mode", of))
    if native != talk.real_mode:
        wanted = {"subtype": "set_permission_mode", "mode": native}
        draft.control(of, wanted, Pending("mode", of))
    draft.change(of, mode=mode, real_mode=native)


def _interrupt(draft: Draft, command: InterruptTurn) -> None:
    of = draft.name_of(command.thread)
    talk = draft.talks.get(of or "")
    if of is None or talk is None or (talk.turn is None and not talk.prompts):
        _fail(draft, command.ask_id, "no_active_turn", "No turn runs in this thread.")
    elif talk.turn is not None:
        interrupt(draft, of, command.ask_id)
    else:
        # The prompt is out and not taken yet: an interrupt would leave it to run later.
        waiting = talk.prompts[0].uuid
        wanted = {"subtype": "cancel_async_message", "message_uuid": waiting}
        draft.control(of, wanted, Pending("cancel", of, command.ask_id, waiting))
