"""A scripted model server for agents that speak OpenAI's chat completions: loopback only, no model behind it.

It plays the scripts of `model_script` (`[[name]]` in a user message names one) over this wire format:

    with ChatServer() as server:
        server.script("greet", [Text("Hello")])
        ...  # let an agent with `server.base_url` run the prompt "[[greet]] please"

Holes in the arguments of a call are filled as there. Custom calls and raw items do not exist in this format
and raise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

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

ASIDE = "<system-reminder>"
"""How a prompt begins that an agent makes up by itself."""

MODELS = ("scripted-a", "scripted-b")
"""The models this server lists."""


class ChatServer(ResponsesServer):
    """The server; used like `ResponsesServer`."""

    route = "/chat/completions"

    def key_of(self, body: Mapping[str, Any]) -> str | None:
        """The script that the newest keyed user message names.

        Agents ask the model aside, for a title or a summary: without tools, or with a prompt of their own
        behind a whole answer. Those get the default answer and use up no round.
        """
        if not body.get("tools"):
            return None
        said = messages(body)
        for place in reversed(range(len(said))):
            if said[place].get("role") != "user":
                continue
            own = list(texts(said[place]))
            named = [name for text in own for name in KEY.findall(text)]
            before = said[place - 1] if place else {}
            answered = before.get("role") == "assistant" and not before.get("tool_calls")
            if answered and (not named or any(text.startswith(ASIDE) for text in own)):
                return None
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

    def models(self) -> dict[str, Any]:
        """The list of models."""
        return {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]}

    def play(self, handler: Handler, request: Recorded, actions: Round) -> None:
        """One answer, streamed if the agent asked for that."""
        _Answer(self, handler, request).play(actions)


def messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation that a request carries."""
    given: list[Any] = body.get("messages") or []
    return [message for message in given if isinstance(message, dict)]


def texts(message: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a message."""
    content: Any = message.get("content")
    if isinstance(content, str):
        yield content
        return
    parts: list[dict[str, Any]] = content or []
    for part in parts:
        said = part.get("text")
        if isinstance(said, str):
            yield said


class _Answer:
    """One answer being written."""

    def __init__(self, server: ChatServer, handler: Handler, request: Recorded) -> None:
        self.server, self.handler, self.request = server, handler, request
        self.streams = request.body.get("stream") is True
        self.id = server.next_id("chatcmpl")
        self.usage = Usage()
        self.said = ""
        self.calls: list[dict[str, Any]] = []

    def play(self, actions: Round) -> None:
        if self.streams:
            self.handler.start_stream()
            self.chunk({"role": "assistant", "content": ""})
        for action in actions:
            self.act(action)
        finish = "tool_calls" if self.calls else "stop"
        usage = {
            "prompt_tokens": self.usage.input,
            "completion_tokens": self.usage.output,
            "total_tokens": self.usage.input + self.usage.output,
            "prompt_tokens_details": {"cached_tokens": self.usage.cached},
            "completion_tokens_details": {"reasoning_tokens": self.usage.reasoning},
        }
        if not self.streams:
            message = {"role": "assistant", "content": self.said or None, "tool_calls": self.calls or None}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self.handler.json(200, {**self.head("chat.completion"), "choices": [choice], "usage": usage})
            return
        self.chunk({}, finish)
        self.event({**self.head("chat.completion.chunk"), "choices": [], "usage": usage})
        self.handler.write(b"data: [DONE]\n\n")

    def act(self, action: Any) -> None:
        match action:
            case Text(text, chunk, delay, _, hold):
                said = self.server.filled(text, self.request)
                for number, piece in enumerate(pieces(said, chunk)):
                    self.say(piece)
                    if number == 0 and hold is not None:
                        self.wait(hold)
                    if delay:
                        self.server.closing.wait(delay)
            case Reasoning(summary, raw):
                for piece in pieces(raw or "".join(summary)):
                    if self.streams:
                        self.chunk({"reasoning_content": piece})
            case Call():
                self.call(action)
            case Usage():
                self.usage = action
            case Wait(event, _):
                self.wait(event)
            case Sleep(seconds):
                self.server.closing.wait(seconds)
            case Stall(seconds):
                self.server.closing.wait(min(seconds, STALL_SECONDS))
                raise Dropped
            case Cut():
                raise Dropped
            case Fail() | CustomCall() | Item() | Status():
                raise ValueError(f"{type(action).__name__} does not exist in this format, or stands too late")
            case _:
                raise ValueError(f"unknown action {action!r}")

    def wait(self, event: str) -> None:
        self.server.hold(event, self.handler if self.streams else None)

    def say(self, piece: str) -> None:
        self.said += piece
        if self.streams:
            self.chunk({"content": piece})

    def call(self, action: Call) -> None:
        given = action.arguments
        arguments = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        function = {"name": action.name, "arguments": self.server.filled(arguments, self.request)}
        call_id = action.call_id or self.server.next_id("call")
        entry = {"id": call_id, "type": "function", "function": function}
        if self.streams:
            self.chunk({"tool_calls": [{"index": len(self.calls), **entry}]})
        self.calls.append(entry)

    def head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": 1, "model": self.request.body.get("model")}

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self.event({**self.head("chat.completion.chunk"), "choices": [choice]})

    def event(self, data: dict[str, Any]) -> None:
        self.handler.write(b"data: " + msgspec.json.encode(data) + b"\n\n")
