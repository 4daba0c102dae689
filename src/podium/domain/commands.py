"""What can be asked of a thread: commands of users, and reports of the shell (sessions, deadlines)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import ProviderEvent
from podium.contract.inputs import Mode
from podium.contract.requests import Answer


class CreateThread(msgspec.Struct, frozen=True, tag_field="command", tag="thread.create", omit_defaults=True):
    """Begin a thread. The shell has checked that the workspace exists and the agent is known."""

    workspace: str
    agent: str
    agent_kind: str
    mode: Mode = "ask"
    model: str | None = None
    title: str | None = None
    profile: str | None = None


class SendMessage(msgspec.Struct, frozen=True, tag_field="command", tag="message.send", omit_defaults=True):
    """Say something to the agent. `auto` starts if idle, else queues; text is never altered (J)."""

    client_id: str
    text: str
    intent: Literal["auto", "start", "steer", "restart", "queue"] = "auto"
    attachments: tuple[dict[str, Any], ...] = ()
    model: str | None = None
    fresh: bool = False


class InterruptRun(msgspec.Struct, frozen=True, tag_field="command", tag="run.interrupt", omit_defaults=True):
    """Ask the run to stop; the active run if none is named. An acknowledgement, not the end (F249)."""

    run_id: str | None = None
    reason: str | None = None


class AnswerRequest(msgspec.Struct, frozen=True, tag_field="command", tag="request.answer"):
    """Decide a request. The first answer wins (B28)."""

    request_id: str
    answer: Answer


class ArchiveThread(
    msgspec.Struct, frozen=True, tag_field="command", tag="thread.archive", omit_defaults=True
):
    """Put an idle thread away, or back."""

    archived: bool = True


UserCommand = CreateThread | SendMessage | InterruptRun | AnswerRequest | ArchiveThread


class SessionOpened(msgspec.Struct, frozen=True, tag_field="command", tag="session.opened"):
    """The agent process of this session was started; the handshake may begin."""

    session_id: str


class SessionFailed(msgspec.Struct, frozen=True, tag_field="command", tag="session.failed"):
    """The agent process could not be started, or its session broke our contract."""

    session_id: str
    failure: Failure


class SessionEnded(msgspec.Struct, frozen=True, tag_field="command", tag="session.ended", omit_defaults=True):
    """The agent process is gone. `reason` as in the keeper's exit record, or `keeper_lost` without one.

    `unsent` are the asks whose prompt provably never reached the agent's input.
    """

    session_id: str
    reason: str
    code: int | None = None
    signal: int | None = None
    unsent: tuple[str, ...] = ()


class EndSession(msgspec.Struct, frozen=True, tag_field="command", tag="session.end"):
    """The shell wants this session to end: idle release, stop, shutdown."""

    session_id: str
    reason: str


class DeadlinePassed(msgspec.Struct, frozen=True, tag_field="command", tag="deadline.passed"):
    """A wait of ours is over: an interrupt that was not obeyed, or an agent that is stuck."""

    name: Literal["interrupt", "stuck", "start"]
    run_id: str


class Reported(msgspec.Struct, frozen=True, tag_field="command", tag="provider.reported", omit_defaults=True):
    """One event of an adapter, with the app id that the correlator gave to its item, if it has one."""

    session_id: str
    event: ProviderEvent
    item_id: str | None = None
    strength: Literal["strong", "weak", "none"] = "strong"


class NoteTrouble(msgspec.Struct, frozen=True, tag_field="command", tag="thread.note", omit_defaults=True):
    """The shell records something a person should see: a dropped frame, a lost spool."""

    level: Literal["info", "warning", "error"]
    code: str
    text: str
    detail: dict[str, Any] | None = None


class Captured(msgspec.Struct, frozen=True, tag_field="command", tag="files.captured", omit_defaults=True):
    """The files of a pending checkpoint were captured, or could not be: `trouble` says why (R11)."""

    checkpoint_id: str
    capture: dict[str, Any] | None = None
    checkout: str = ""
    root: str = ""
    quiescent: bool = True
    trouble: Failure | None = None


class Restored(msgspec.Struct, frozen=True, tag_field="command", tag="files.restored", omit_defaults=True):
    """Changes were taken back after a safety capture; `checkpoint_id` follows from the restore's own id."""

    checkpoint_id: str
    capture: dict[str, Any]
    restore: dict[str, Any]
    checkout: str
    root: str
    text: str
    at: float


InternalCommand = (
    SessionOpened
    | SessionFailed
    | SessionEnded
    | EndSession
    | DeadlinePassed
    | Reported
    | NoteTrouble
    | Captured
    | Restored
)
DomainCommand = UserCommand | InternalCommand
