"""A scripted model server for agents that speak Gemini's `generateContent`: loopback only, no model behind.

It plays the scripts of `model_script` (`[[name]]` in a user message names one) over this wire format:

    with GeminiServer() as server:
        server.script("greet", [Text("Hello")])
        ...  # let an agent with `server.base_url` run the prompt "[[greet]] please"

Holes in the arguments of a call are filled as there. Custom calls and raw items do not exist in this format
and raise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from podium.testkit.model_script import (
    KEY,
    STALL_SECONDS,
    Call,
    Cut,
    Reasoning,
    Round,
    Sleep,
    Stall,
    Text,
    Usage,
    Wait,
)
from podium.testkit.responses_server import Dropped, Handler, Recorded, ResponsesServer, pieces

MODELS = ("gemini-2.5-pro", "gemini-3-flash-preview")
"""Two models that the agent offers; they are named in the path of a request."""

WHOLE, STREAMED = ":generateContent", ":streamGenerateContent"
MODEL = re.compile(r"/models/([^/:]+):")


class GeminiServer(ResponsesServer):
    """The server; used like `ResponsesServer`."""

    route = (WHOLE, STREAMED)

    def key_of(self, body: Mapping[str, Any]) -> str | None:
        """The script that the newest keyed user message names.

        What is asked aside, without tools, gets the default answer and uses up no round.
        """
        if not body.get("tools"):
            return None
        for entry in reversed(contents(body)):
            if entry.get("role") == "user":
                named = [name for text in texts(entry) for name in KEY.findall(text)]
                if named:
                    return named[-1]
        return None

    def newest_prompt(self, request: Recorded) -> list[str] | None:
        """The texts of the newest user message, if it is the last and no result of a tool; else None."""
        said = contents(request.body)
        newest = said[-1] if said and said[-1].get("role") == "user" else {}
        return list(texts(newest)) or None

    def seen(self, body: Mapping[str, Any]) -> Any:
        """What holes are filled from."""
        return body.get("contents")

    def model_of(self, request: Recorded) -> str:
        """The model that the path names."""
        found = MODEL.search(request.path)
        return found[1] if found else ""

    def models(self) -> dict[str, Any]:
        """The list of models."""
        return {"models": [{"name": f"models/{name}"} for name in MODELS]}

    def play(self, handler: Handler, request: Recorded, actions: Round) -> None:
        """One answer, streamed if the path asks for that."""
        _Answer(self, handler, request).play(actions)


def contents(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation that a request carries."""
    given: list[Any] = body.get("contents") or []
    return [entry for entry in given if isinstance(entry, dict)]


def texts(entry: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a message."""
    parts: list[dict[str, Any]] = entry.get("parts") or []
    for part in parts:
        said = part.get("text")
        if isinstance(said, str):
            yield said


class _Answer:
    """One answer being written. What is not streamed is gathered as parts and sent at the end."""

    def __init__(self, server: GeminiServer, handler: Handler, request: Recorded) -> None:
        self.server, self.handler, self.request = server, handler, request
        self.streams = request.path.partition("?")[0].endswith(STREAMED)
        self.id = server.next_id("answer")
        self.usage = Usage()
        self.parts: list[dict[str, Any]] = []

    def play(self, actions: Round) -> None:
        if self.streams:
            self.handler.start_stream()
        for action in actions:
            self.act(action)
        last = self.body([] if self.streams else self.parts, finishReason="STOP")
        if self.streams:
            self.event(last)
        else:
            self.handler.json(200, last)

    def act(self, action: Any) -> None:
        match action:
            case Text(text, chunk, delay, _, hold):
                for number, piece in enumerate(pieces(self.server.filled(text, self.request), chunk)):
                    self.part({"text": piece})
                    if number == 0 and hold is not None:
                        self.wait(hold)
                    if delay:
                        self.server.closing.wait(delay)
            case Reasoning(summary, raw):
                self.part({"text": raw or "".join(summary), "thought": True})
            case Call(name, arguments):
                given = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
                found = msgspec.json.decode(self.server.filled(given, self.request))
                call_id = action.call_id or self.server.next_id("call")
                self.part({"functionCall": {"id": call_id, "name": name, "args": found}})
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
            case _:
                raise ValueError(f"{type(action).__name__} does not exist in this format, or stands too late")

    def wait(self, event: str) -> None:
        self.server.hold(event, self.handler if self.streams else None)

    def part(self, part: dict[str, Any]) -> None:
        if self.streams:
            self.event(self.body([part]))
        else:
            self.parts.append(part)

    def body(self, parts: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
        usage = {
            "promptTokenCount": self.usage.input,
            "cachedContentTokenCount": self.usage.cached,
            "candidatesTokenCount": self.usage.output,
            "thoughtsTokenCount": self.usage.reasoning,
            "totalTokenCount": self.usage.input + self.usage.output + self.usage.reasoning,
        }
        said = {"content": {"role": "model", "parts": parts or [{"text": ""}]}, "index": 0, **fields}
        model = self.server.model_of(self.request)
        return {"candidates": [said], "usageMetadata": usage, "modelVersion": model, "responseId": self.id}

    def event(self, data: dict[str, Any]) -> None:
        self.handler.write(b"data: " + msgspec.json.encode(data) + b"\n\n")
