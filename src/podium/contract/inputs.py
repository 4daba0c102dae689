"""Everything an adapter can be told: frames, asks, timers, ends (R1).

An adapter is `step(state, input)`; a recorded list of these inputs is a cassette, and replay, tests, recovery
and live work are one code path.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from podium.contract.handles import Handle
from podium.contract.requests import Answer
from podium.contract.serving import Outcome

Mode = Literal["read", "ask", "edit", "full"]
"""What the agent may do unasked: read only, ask first, edit the workspace, everything."""


class TextBlock(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """Text for the agent, byte for byte as typed (J)."""

    text: str


class ImageBlock(msgspec.Struct, frozen=True, tag_field="type", tag="image"):
    """An image on this machine; never inline in an item."""

    path: str
    media_type: str


Block = TextBlock | ImageBlock


class OpenSession(msgspec.Struct, frozen=True, tag_field="ask", tag="open_session"):
    """Begin the conversation with the program: handshake and capability negotiation."""

    ask_id: str
    workspace: str
    mode: Mode = "ask"
    model: str | None = None
    client_version: str = "0"
    options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class EnsureThread(msgspec.Struct, frozen=True, tag_field="ask", tag="ensure_thread"):
    """Create the agent's conversation, or resume the one the handle names.

    Resuming is mandatory (F074): the answer is `ThreadBound` or `ThreadMissing`, never a silent new thread.
    """

    ask_id: str
    workspace: str
    mode: Mode = "ask"
    handle: Handle | None = None
    model: str | None = None


class SendTurn(msgspec.Struct, frozen=True, tag_field="ask", tag="send_turn"):
    """Start a turn. `client_id` is ours and unique; an agent that echoes it correlates strongly."""

    ask_id: str
    thread: str
    client_id: str
    blocks: tuple[Block, ...]
    model: str | None = None
    mode: Mode | None = None


class SteerTurn(msgspec.Struct, frozen=True, tag_field="ask", tag="steer_turn"):
    """Change the running turn. Optional: reached only through the policy (F073)."""

    ask_id: str
    thread: str
    turn: str
    client_id: str
    blocks: tuple[Block, ...]


class InterruptTurn(msgspec.Struct, frozen=True, tag_field="ask", tag="interrupt_turn"):
    """Ask the agent to stop a turn. The answer only acknowledges; the turn's end is its own event (F249)."""

    ask_id: str
    thread: str
    turn: str | None = None


class Respond(msgspec.Struct, frozen=True, tag_field="ask", tag="respond"):
    """Answer a request the agent opened; `request` is the adapter's own key for it."""

    ask_id: str
    request: str
    answer: Answer


class ReadThread(msgspec.Struct, frozen=True, tag_field="ask", tag="read_thread"):
    """Read the agent's own record. Optional: reached only through the policy."""

    ask_id: str
    thread: str


class RollbackThread(msgspec.Struct, frozen=True, tag_field="ask", tag="rollback_thread"):
    """Take the agent's conversation back to before a turn. Optional: only through the policy."""

    ask_id: str
    thread: str
    before_turn: str


class ForkThread(msgspec.Struct, frozen=True, tag_field="ask", tag="fork_thread"):
    """Branch the agent's conversation at a turn. Optional: only through the policy."""

    ask_id: str
    thread: str
    at_turn: str | None = None


class ListModels(msgspec.Struct, frozen=True, tag_field="ask", tag="list_models"):
    """Read the model catalog. Optional: only where `models.catalog` is native."""

    ask_id: str


class CompactThread(msgspec.Struct, frozen=True, tag_field="ask", tag="compact_thread"):
    """Have the agent shorten its context. Optional: only through the policy."""

    ask_id: str
    thread: str


class CloseSession(msgspec.Struct, frozen=True, tag_field="ask", tag="close_session"):
    """Leave in good order: the adapter says goodbye; the process ends after it."""

    ask_id: str


Command = (
    OpenSession
    | EnsureThread
    | SendTurn
    | SteerTurn
    | InterruptTurn
    | Respond
    | ReadThread
    | RollbackThread
    | ForkThread
    | ListModels
    | CompactThread
    | CloseSession
)


class Frame(msgspec.Struct, frozen=True, tag_field="input", tag="frame", omit_defaults=True):
    """One decoded object the agent wrote. `history` marks those of a native load: they create nothing new."""

    data: dict[str, Any]
    history: bool = False


class Ask(msgspec.Struct, frozen=True, tag_field="input", tag="ask"):
    """A command of the core."""

    command: Command


class Timer(msgspec.Struct, frozen=True, tag_field="input", tag="timer"):
    """A timer this adapter had set is due."""

    name: str


class Exit(msgspec.Struct, frozen=True, tag_field="input", tag="exit", omit_defaults=True):
    """The agent process is gone. `reason` says who ended it: itself, its lost owner, or us."""

    code: int | None = None
    signal: int | None = None
    reason: str = "exited"


class Attached(msgspec.Struct, frozen=True, tag_field="input", tag="attached"):
    """A new owner continues this process. `method` is the leaf `lifecycle.reattach` in force (R4)."""

    method: Literal["replay", "reconcile"]


class Served(msgspec.Struct, frozen=True, tag_field="input", tag="served"):
    """What came of a `Serve` with this tag."""

    tag: str
    outcome: Outcome


class HttpReply(msgspec.Struct, frozen=True, tag_field="input", tag="http_reply"):
    """The answer to an `HttpSend` with this tag; status 0 means no answer came, and the body says why."""

    tag: str
    status: int
    body: Any = None


class SseEvent(msgspec.Struct, frozen=True, tag_field="input", tag="sse_event"):
    """One event of an agent's event stream; "open" without data says that it is there, or is again."""

    name: str
    data: Any = None


class StreamLost(msgspec.Struct, frozen=True, tag_field="input", tag="stream_lost"):
    """The event stream broke; what was sent meanwhile must be read back."""

    reason: str


Input = Frame | Ask | Timer | Exit | Attached | Served | HttpReply | SseEvent | StreamLost
