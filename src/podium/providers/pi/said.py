"""What Pi writes, frame by frame. A frame that does not fit is opaque; fields nobody needs are not named."""

from __future__ import annotations

from typing import Any

import msgspec


class Said(msgspec.Struct, tag_field="type", frozen=True):
    """Any line of Pi's."""


class Response(Said, tag="response", frozen=True):
    """The answer to the command with this id; a line that could not be parsed is answered without one."""

    command: str
    success: bool
    id: str | None = None
    data: Any = None
    error: str = ""


class AgentStart(Said, tag="agent_start", frozen=True):
    """Work begins; it begins anew for each retry."""


class AgentEnd(Said, tag="agent_end", frozen=True):
    """One run of the loop is over; a retry, a compaction or a queued message may follow."""


class AgentSettled(Said, tag="agent_settled", frozen=True):
    """Nothing follows by itself: the one end of a turn."""

    aborted: bool = False


class Message(msgspec.Struct, frozen=True, rename="camel"):
    """A message of the conversation."""

    role: str
    model: str = ""
    provider: str = ""
    stop_reason: str = ""
    error_message: str = ""
    response_id: str = ""
    usage: Any = None
    timestamp: Any = None


class MessageStart(Said, tag="message_start", frozen=True):
    """A message begins."""

    message: Message


class MessageEnd(Said, tag="message_end", frozen=True):
    """A message is whole."""

    message: Message


class Piece(msgspec.Struct, frozen=True, rename="camel"):
    """A change of the message that is being written: `thinking_delta`, `text_end` and the like."""

    type: str
    content_index: int = 0
    delta: str = ""
    content: str = ""


class MessageUpdate(Said, tag="message_update", frozen=True, rename="camel"):
    """More of the message that is being written."""

    assistant_message_event: Piece


class ToolStart(Said, tag="tool_execution_start", frozen=True, rename="camel"):
    """A tool runs."""

    tool_call_id: str
    tool_name: str
    args: Any = None


class ToolUpdate(Said, tag="tool_execution_update", frozen=True, rename="camel"):
    """What a running tool has so far; it may hold only the end of a long output."""

    tool_call_id: str
    tool_name: str
    partial_result: Any = None


class ToolEnd(Said, tag="tool_execution_end", frozen=True, rename="camel"):
    """A tool is done."""

    tool_call_id: str
    tool_name: str
    result: Any = None
    is_error: bool = False
    duration_ms: int | None = None


class RetryStart(Said, tag="auto_retry_start", frozen=True, rename="camel"):
    """The model failed and is asked again after a while."""

    attempt: int = 0
    max_attempts: int = 0
    delay_ms: float = 0
    error_message: str = ""


class CompactionStart(Said, tag="compaction_start", frozen=True):
    """The context is being shortened."""

    reason: str = ""


class CompactionEnd(Said, tag="compaction_end", frozen=True, rename="camel"):
    """The context was shortened, or not."""

    reason: str = ""
    result: Any = None
    aborted: bool = False
    error_message: str = ""


class Dialog(Said, tag="extension_ui_request", frozen=True):
    """An extension shows something, or waits for an answer."""

    id: str
    method: str
    title: str = ""
    message: str = ""


class ExtensionError(Said, tag="extension_error", frozen=True, rename="camel"):
    """An extension failed."""

    error: str = ""
    extension_path: str = ""


Known = (
    Response
    | AgentStart
    | AgentEnd
    | AgentSettled
    | MessageStart
    | MessageEnd
    | MessageUpdate
    | ToolStart
    | ToolUpdate
    | ToolEnd
    | RetryStart
    | CompactionStart
    | CompactionEnd
    | Dialog
    | ExtensionError
)

QUIET = frozenset(
    {
        "turn_start",
        "turn_end",
        "queue_update",
        "entry_appended",
        "session_info_changed",
        "thinking_level_changed",
        "auto_retry_end",
        "summarization_retry_scheduled",
        "summarization_retry_attempt_start",
        "summarization_retry_finished",
    }
)
"""Known and without use for us: what they say stands in other frames too."""
