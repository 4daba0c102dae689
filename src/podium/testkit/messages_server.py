"""A scripted model server for agents that speak Anthropic's Messages API: loopback only, no model behind it.

It plays the scripts of `model_script` (`[[name]]` in a user message names one) over this wire format:

    with MessagesServer() as server:
        server.script("greet", [Text("Hello")])
        ...  # let an agent with `server.origin` run the prompt "[[greet]] please"

Holes in texts and calls are filled as there. Custom calls and raw items do not exist in this format and
raise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import json

from podium.testkit.model_script import (
    KEY,
    STALL_SECONDS,
    Call,
    CustomCall,
    Cut,
    Fail,
    Item,
    Reasoning,
    Round,
    Sleep,
    Stall,
    Status,
    Text,
    Usage,
    Wait,
)
from podium.testkit.responses_server import Dropped, Handler, Recorded, ResponsesServer, pieces

COUNT = "/count_tokens"
"""The end of the path that counts the tokens of a prompt."""

BYTES_PER_TOKEN = 4
SIGNATURE = "c2NyaXB0ZWQ="
"""What a thought is signed with: a word that nobody checks."""

SUMMARY = "<analysis>Looked over.</analysis><summary>A scripted summary. {told}</summary>"
"""What a request for a summary gets; `told` are the marks of the conversation."""

SUMMARY_WORDS = ("create a detailed summary", "CRITICAL: Respond with TEXT ONLY")
"""How the newest message reads where an agent wants its conversation shortened."""

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""The words of this format for the statuses of errors."""


class MessagesServer(ResponsesServer):
    """The server; used like `ResponsesServer`."""

    route = "/messages"

    @property
    def origin(self) -> str:
        """Where agents send their requests, without the version prefix, which they add themselves."""
        return self.base_url.removesuffix("/v1")

    def key_of(self, body: Mapping[str, Any]) -> str | None:
        """The script that the newest keyed user message names; a request for a summary has none."""
        said = messages(body)
        if said and any(word in text for text in texts(said[-1]) for word in SUMMARY_WORDS):
            return None
        for message in reversed(said):
            if message.get("role") == "user":
                named = [name for text in texts(message) for name in KEY.findall(text)]
                if named:
                    return named[-1]
        return None

    def newest_prompt(self, request: Recorded) -> list[str] | None:
        """The texts of the newest user message, if nothing follows it; else None."""
        said = messages(request.body)
        return list(texts(said[-1])) if said and said[-1].get("role") == "user" else None

    def seen(self, body: Mapping[str, Any]) -> Any:
        """What holes are filled from."""
        return body.get("messages")

    def answer(self, handler: Handler, request: Recorded) -> None:
        """Answer one request; counting and errors have forms of their own here."""
        path = request.path.partition("?")[0].rstrip("/")
        if request.method == "POST" and path.endswith(COUNT):
            self.take(request)
            count = len(json.encode(request.body)) // BYTES_PER_TOKEN
            handler.json(200, {"input_tokens": max(1, count)})
            return
        super().answer(handler, request)

    def take(self, request: Recorded) -> Round:
        """Keep a request, and say which round answers it; an error gets the body that this format has."""
        actions = super().take(request)
        if request.key is None and any(
            w in t for m in messages(request.body)[-1:] for t in texts(m) for w in SUMMARY_WORDS
        ):
            return (Text(self.filled(SUMMARY.format(told="{{told}}"), request)),)
        if actions and isinstance(actions[0], Status) and actions[0].body is None:
            code = actions[0].code
            error = {"type": KINDS.get(code, "api_error"), "message": "A scripted error"}
            return (Status(code, {"type": "error", "error": error}, actions[0].headers), *actions[1:])
        return actions

    def play(self, handler: Handler, request: Recorded, actions: Round) -> None:
        """One answer, streamed if the agent asked for that."""
        _Answer(self, handler, request).play(actions)


def messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation that a request carries."""
    given: list[Any] = body.get("messages") or []
    return [message for message in given if isinstance(message, dict)]


def texts(message: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a message, without the results of tools."""
    content: Any = message.get("content")
    if isinstance(content, str):
        yield content
        return
    parts: list[dict[str, Any]] = content or []
    for part in parts:
        said = part.get("text")
        if part.get("type") == "text" and isinstance(said, str):
            yield said


class _Answer:
    """One answer being written."""

    def __init__(self, server: MessagesServer, handler: Handler, request: Recorded) -> None:
        self.server, self.handler, self.request = server, handler, request
        self.streams = request.body.get("stream") is True
        self.usage = Usage()
        self.blocks: list[dict[str, Any]] = []

    def play(self, actions: Round) -> None:
        self.usage = next((action for action in actions if isinstance(action, Usage)), self.usage)
        message: dict[str, Any] = {
            "id": self.server.next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": self.request.body.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self.used(1),
        }
        if self.streams:
            self.handler.start_stream()
            self.event("message_start", message=message)
            self.event("ping")
        for action in actions:
            if isinstance(action, Fail):
                self.event("error", error={"type": action.code, "message": action.message})
                return
            self.act(action)
        called = any(block["type"] == "tool_use" for block in self.blocks)
        stop = {"stop_reason": "tool_use" if called else "end_turn", "stop_sequence": None}
        if not self.streams:
            whole = {**message, **stop, "content": self.blocks, "usage": self.used(self.usage.output)}
            self.handler.json(200, whole)
            return
        self.event("message_delta", delta=stop, usage={"output_tokens": self.usage.output})
        self.event("message_stop")

    def act(self, action: Any) -> None:
        match action:
            case Text():
                self.text(action)
            case Reasoning(summary, raw):
                self.thought(raw or "".join(summary))
            case Call():
                self.call(action)
            case Wait(event, seconds):
                self.server.hold(event, self.handler if self.streams else None, seconds)
            case Sleep(seconds):
                self.server.closing.wait(seconds)
            case Stall(seconds):
                self.server.closing.wait(min(seconds, STALL_SECONDS))
                raise Dropped
            case Cut():
                raise Dropped
            case Usage():
                pass
            case CustomCall() | Item() | Status():
                raise ValueError(f"{type(action).__name__} does not exist in this format, or stands too late")
            case _:
                raise ValueError(f"unknown action {action!r}")

    def text(self, action: Text) -> None:
        said = self.server.filled(action.text, self.request)
        self.begin({"type": "text", "text": ""})
        for number, piece in enumerate(pieces(said, action.chunk)):
            self.delta(type="text_delta", text=piece)
            if number == 0 and action.hold is not None:
                self.server.hold(action.hold, self.handler if self.streams else None)
            if action.delay:
                self.server.closing.wait(action.delay)
        self.finish({"type": "text", "text": said})

    def thought(self, said: str) -> None:
        self.begin({"type": "thinking", "thinking": "", "signature": ""})
        for piece in pieces(said):
            self.delta(type="thinking_delta", thinking=piece)
        self.delta(type="signature_delta", signature=SIGNATURE)
        self.finish({"type": "thinking", "thinking": said, "signature": SIGNATURE})

    def call(self, action: Call) -> None:
        given = action.arguments
        arguments = given if isinstance(given, str) else json.encode(given).decode()
        arguments = self.server.filled(arguments, self.request)
        name = action.name if action.namespace is None else f"{action.namespace}__{action.name}"
        head = {"type": "tool_use", "id": action.call_id or self.server.next_id("toolu"), "name": name}
        self.begin({**head, "input": {}})
        for piece in pieces(arguments, 40):
            self.delta(type="input_json_delta", partial_json=piece)
        self.finish({**head, "input": json.decode(arguments)})

    def used(self, output: int) -> dict[str, Any]:
        return {
            "input_tokens": self.usage.input - self.usage.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.usage.cached,
            "output_tokens": output,
        }

    def begin(self, block: dict[str, Any]) -> None:
        self.event("content_block_start", index=len(self.blocks), content_block=block)

    def delta(self, **fields: Any) -> None:
        self.event("content_block_delta", index=len(self.blocks), delta=fields)

    def finish(self, block: dict[str, Any]) -> None:
        self.event("content_block_stop", index=len(self.blocks))
        self.blocks.append(block)

    def event(self, kind: str, **fields: Any) -> None:
        if self.streams:
            data = json.encode({"type": kind, **fields})
            self.handler.write(b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n")
