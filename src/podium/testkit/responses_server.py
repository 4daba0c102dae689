"""A scripted model server for agents that speak the OpenAI Responses API: loopback only, no model behind it.

It plays the scripts of `model_script`:

    with ResponsesServer() as server:
        server.script("greet", [Text("Hello")])
        ...  # let an agent with `server.base_url` run the prompt "[[greet]] please"
        assert server.prompts("[[greet]] please") == 1
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import TracebackType
from typing import Any, Self

import msgspec

from podium.testkit.model_script import (
    DEFAULT,
    HOLE,
    KEY,
    MODEL_HOLE,
    STALL_SECONDS,
    WAIT_SECONDS,
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

BODY_MAX = 64 * 1024 * 1024
"""Largest request body that is read, in bytes."""

REQUESTS_MAX = 10_000
"""Requests kept in `requests`; later ones are answered and not kept."""

KEEPALIVE_SECONDS = 0.25


class Recorded(msgspec.Struct):
    """A request as it came. `key` and `round` say which part of which script answered it."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    key: str | None = None
    round: int = 0
    client_gone: bool = False

    def newest_prompt(self) -> list[str] | None:
        """The texts of the newest user message, if no answer or tool item follows it; else None."""
        for item in reversed(_input(self.body)):
            kind, role = item.get("type", "message"), item.get("role")
            if kind == "message" and role == "user":
                return list(_texts(item))
            if kind != "message" or role == "assistant":
                return None
        return None


def _input(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    given: list[Any] = body.get("input") or []
    return [item for item in given if isinstance(item, dict)]


def _texts(item: Mapping[str, Any]) -> Iterator[str]:
    content: Any = item.get("content")
    if isinstance(content, str):
        yield content
        return
    parts: list[dict[str, Any]] = content or []
    for part in parts:
        said = part.get("text") or part.get("encrypted_content")
        if isinstance(said, str):
            yield said


def key_of(body: Mapping[str, Any]) -> str | None:
    """The script that the newest keyed message names; messages between agents count too."""
    for item in reversed(_input(body)):
        kind = item.get("type", "message")
        if kind == "agent_message" or (kind == "message" and item.get("role") == "user"):
            named = [name for text in _texts(item) for name in KEY.findall(text)]
            if named:
                return named[-1]
    return None


class Dropped(Exception):
    """The script drops the connection."""


class _Stream:
    """One streamed response being written."""

    def __init__(self, server: ResponsesServer, handler: Handler, request: Recorded) -> None:
        self.server, self.handler, self.request = server, handler, request
        self.output: list[dict[str, Any]] = []
        self.usage = Usage()
        self.response_id = server.next_id("resp")

    def event(self, kind: str, **fields: Any) -> None:
        data = msgspec.json.encode({"type": kind, **fields})
        self.handler.write(b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n")

    def response(self, status: str, **fields: Any) -> dict[str, Any]:
        about = {"id": self.response_id, "object": "response", "status": status}
        return {**about, "output": list(self.output), **fields}

    def play(self, actions: Round) -> None:
        self.event("response.created", response=self.response("in_progress"))
        for action in actions:
            match action:
                case Fail(code, message):
                    error = {"code": code, "message": message}
                    self.event("response.failed", response=self.response("failed", error=error))
                    return
                case Cut():
                    raise Dropped
                case Stall(seconds):
                    self.server.closing.wait(min(seconds, STALL_SECONDS))
                    raise Dropped
                case Sleep(seconds):
                    self.server.closing.wait(seconds)
                case Wait(event, seconds):
                    self.wait(event, seconds)
                case Usage():
                    self.usage = action
                case Text():
                    self.text(action)
                case Reasoning():
                    self.reasoning(action)
                case Call():
                    self.call(action)
                case CustomCall():
                    self.custom_call(action)
                case Item(item):
                    self.added(item)
                    self.finished(item)
                case Status(code):
                    raise ValueError(f"Status({code}) must stand first in its round")
        self.event("response.completed", response=self.response("completed", usage=_usage(self.usage)))

    def wait(self, event: str, seconds: float) -> None:
        self.server.hold(event, self.handler, seconds)

    def added(self, item: dict[str, Any]) -> None:
        self.event("response.output_item.added", output_index=len(self.output), item=item)

    def finished(self, item: dict[str, Any]) -> None:
        self.event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)

    def text(self, action: Text) -> None:
        said = self.server.filled(action.text, self.request)
        item: dict[str, Any] = {"id": self.server.next_id("msg"), "type": "message", "role": "assistant"}
        if action.phase is not None:
            item["phase"] = action.phase
        where = {"item_id": item["id"], "output_index": len(self.output), "content_index": 0}
        empty: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
        self.added({**item, "status": "in_progress", "content": []})
        self.event("response.content_part.added", **where, part=empty)
        for start in range(0, len(said), action.chunk):
            piece = said[start : start + action.chunk]
            self.event("response.output_text.delta", **where, delta=piece)
            if start == 0 and action.hold is not None:
                self.wait(action.hold, WAIT_SECONDS)
            if action.delay:
                self.server.closing.wait(action.delay)
        self.event("response.output_text.done", **where, text=said)
        self.finished({**item, "status": "completed", "content": [{**empty, "text": said}]})

    def reasoning(self, action: Reasoning) -> None:
        item: dict[str, Any] = {"id": self.server.next_id("rs"), "type": "reasoning", "summary": []}
        self.added({**item, "content": None, "encrypted_content": None})
        where = {"item_id": item["id"], "output_index": len(self.output)}
        for index, part in enumerate(action.summary):
            here = {**where, "summary_index": index}
            blank = {"type": "summary_text", "text": ""}
            self.event("response.reasoning_summary_part.added", **here, part=blank)
            for piece in pieces(part):
                self.event("response.reasoning_summary_text.delta", **here, delta=piece)
            self.event("response.reasoning_summary_text.done", **here, text=part)
        for piece in pieces(action.raw or ""):
            self.event("response.reasoning_text.delta", **where, content_index=0, delta=piece)
        raw = [{"type": "reasoning_text", "text": action.raw}] if action.raw is not None else None
        parts = [{"type": "summary_text", "text": part} for part in action.summary]
        self.finished({**item, "summary": parts, "content": raw, "encrypted_content": "scripted"})

    def call(self, action: Call) -> None:
        given = action.arguments
        arguments = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        arguments = self.server.filled(arguments, self.request)
        item: dict[str, Any] = {
            "id": self.server.next_id("fc"),
            "type": "function_call",
            "name": action.name,
            "call_id": action.call_id or self.server.next_id("call"),
        }
        if action.namespace is not None:
            item["namespace"] = action.namespace
        where = {"item_id": item["id"], "output_index": len(self.output)}
        self.added({**item, "status": "in_progress", "arguments": ""})
        self.event("response.function_call_arguments.delta", **where, delta=arguments)
        self.event("response.function_call_arguments.done", **where, arguments=arguments)
        self.finished({**item, "status": "completed", "arguments": arguments})

    def custom_call(self, action: CustomCall) -> None:
        given = self.server.filled(action.input, self.request)
        item: dict[str, Any] = {
            "id": self.server.next_id("ctc"),
            "type": "custom_tool_call",
            "name": action.name,
            "call_id": action.call_id or self.server.next_id("call"),
        }
        where = {"item_id": item["id"], "output_index": len(self.output), "call_id": item["call_id"]}
        self.added({**item, "status": "in_progress", "input": ""})
        for piece in pieces(given, 40):
            self.event("response.custom_tool_call_input.delta", **where, delta=piece)
        self.finished({**item, "status": "completed", "input": given})


def pieces(text: str, size: int = 12) -> Iterator[str]:
    """A text in pieces of `size` characters."""
    return (text[start : start + size] for start in range(0, len(text), size))


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


class ResponsesServer:
    """The server; a context manager. Scripts may be added while it runs."""

    route: str | tuple[str, ...] = "/responses"
    """The ends of the paths that answer prompts."""

    spelling = "{}"
    """How the agent spells the model whose id stands in a request."""

    def __init__(self, default: Round = DEFAULT, port: int = 0) -> None:
        self.requests: list[Recorded] = []
        self.default = default
        self.closing = threading.Event()
        self._scripts: dict[str, list[Round]] = {}
        self._played: dict[str, int] = {}
        self._events: dict[str, threading.Event] = {}
        self._captures: dict[str, re.Pattern[str]] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._port = port
        self._http: _Http | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._http = _Http(("127.0.0.1", self._port), Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._thread.join(WAIT_SECONDS)
            self._http.server_close()

    @property
    def base_url(self) -> str:
        """Where agents send their requests, with the version prefix."""
        if self._http is None:
            raise RuntimeError("The server is not running; use it as a context manager.")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def script(self, key: str, *rounds: Round) -> None:
        """What a prompt with `[[key]]` gets, request by request; a script of the same name is replaced."""
        for actions in rounds:
            if any(isinstance(action, Status) for action in actions[1:]):
                raise ValueError(f"In script {key!r} a Status does not stand first in its round.")
        with self._lock:
            self._scripts[key] = list(rounds)
            self._played[key] = 0

    def capture(self, name: str, pattern: str) -> None:
        """Fill `{{name}}` in texts and calls with the last match of the pattern's group in the input."""
        self._captures[name] = re.compile(pattern)

    def event(self, name: str) -> threading.Event:
        """The event that `Wait(name)` awaits."""
        with self._lock:
            return self._events.setdefault(name, threading.Event())

    def hold(self, name: str, handler: Handler | None, seconds: float = WAIT_SECONDS) -> None:
        """Wait for an event, bounded; comments keep an open stream alive meanwhile."""
        deadline = time.monotonic() + min(seconds, WAIT_SECONDS)
        gate = self.event(name)
        while not gate.wait(KEEPALIVE_SECONDS):
            if time.monotonic() > deadline or self.closing.is_set():
                return
            if handler is not None:
                handler.write(b": waiting\n\n")

    def release(self, name: str) -> None:
        """Let `Wait(name)` go on."""
        self.event(name).set()

    def prompts(self, text: str) -> int:
        """How many requests started a turn with exactly this text as a part of the newest user message."""
        with self._lock:
            return sum(1 for request in self.requests if text in (self.newest_prompt(request) or ()))

    def of(self, key: str) -> list[Recorded]:
        """The requests that a script answered."""
        with self._lock:
            return [request for request in self.requests if request.key == key]

    def key_of(self, body: Mapping[str, Any]) -> str | None:
        """The script that a request names."""
        return key_of(body)

    def newest_prompt(self, request: Recorded) -> list[str] | None:
        """The texts of the newest user message of a request that starts a turn; else None."""
        return request.newest_prompt()

    def seen(self, body: Mapping[str, Any]) -> Any:
        """What holes are filled from."""
        return body.get("input")

    def model_of(self, request: Recorded) -> str:
        """The model that a request names."""
        return str(request.body.get("model"))

    def models(self) -> dict[str, Any]:
        """The list of models."""
        return {"object": "list", "data": [], "models": []}

    def play(self, handler: Handler, request: Recorded, actions: Round) -> None:
        """One streamed answer."""
        handler.start_stream()
        _Stream(self, handler, request).play(actions)

    def next_id(self, prefix: str) -> str:
        """An id that no other item of this server has."""
        with self._lock:
            return f"{prefix}_{next(self._numbers):012d}"

    def filled(self, text: str, request: Recorded) -> str:
        """The text with its holes filled from the request; a hole without a match stays."""
        if HOLE.search(text) is None:
            return text
        seen = msgspec.json.encode(self.seen(request.body)).decode()

        def value(hole: re.Match[str]) -> str:
            if hole[1] == MODEL_HOLE:
                return self.spelling.format(self.model_of(request))
            pattern = self._captures.get(hole[1])
            found = pattern.findall(seen) if pattern is not None else []
            return str(found[-1]) if found else hole[0]

        return HOLE.sub(value, text)

    def take(self, request: Recorded) -> Round:
        """Keep a request, and say which round answers it."""
        with self._lock:
            if request.path.partition("?")[0].endswith(self.route):
                request.key = self.key_of(request.body)
            rounds = self._scripts.get(request.key or "")
            if rounds and request.key is not None:
                request.round = self._played[request.key]
                self._played[request.key] += 1
            if len(self.requests) < REQUESTS_MAX:
                self.requests.append(request)
        return rounds[min(request.round, len(rounds) - 1)] if rounds else self.default

    def answer(self, handler: Handler, request: Recorded) -> None:
        """Answer one request."""
        actions = self.take(request)
        path = request.path.partition("?")[0].rstrip("/")
        if request.method == "GET" and path.endswith("/models"):
            handler.json(200, self.models())
        elif request.method != "POST" or not path.endswith(self.route):
            handler.json(404, {"error": {"message": f"no route {request.method} {path}"}})
        elif actions and isinstance(actions[0], Status):
            scripted = {"error": {"message": "A scripted error", "type": "server_error", "code": None}}
            handler.json(actions[0].code, actions[0].body or scripted, actions[0].headers.items())
        else:
            self.play(handler, request, actions)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    owner: ResponsesServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are no news; what matters stands in the recorded request."""


class Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are recorded, not printed."""

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        if size > BODY_MAX:
            self.json(413, {"error": {"message": f"more than {BODY_MAX} bytes"}})
            self.close_connection = True
            return
        self._handle(self.rfile.read(size))

    def _handle(self, raw: bytes) -> None:
        try:
            body = msgspec.json.decode(raw, type=dict[str, Any]) if raw else {}
        except (msgspec.DecodeError, msgspec.ValidationError):
            self.json(400, {"error": {"message": "the body is no JSON object"}})
            return
        request = Recorded(self.command, self.path, dict(self.headers.items()), body)
        try:
            if isinstance(self.server, _Http):
                self.server.owner.answer(self, request)
        except Dropped:
            self._drop()
        except (BrokenPipeError, ConnectionResetError):
            request.client_gone = True
            self.close_connection = True

    def _drop(self) -> None:
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def write(self, data: bytes) -> None:
        """Bytes of a stream, at once."""
        self.wfile.write(data)
        self.wfile.flush()

    def start_stream(self) -> None:
        """The head of an event stream; its end is the end of the connection."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def json(self, code: int, body: Mapping[str, Any], headers: Iterable[tuple[str, str]] = ()) -> None:
        """A whole JSON answer."""
        data = msgspec.json.encode(body)
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
