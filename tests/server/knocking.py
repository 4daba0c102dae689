"""Requests made by hand, and every route that the published contract names."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread
import httpx
import msgspec

from tests.runtime.house import WAIT_MAX
from tests.server.desk import Web

NAMES = {
    "thread_id": "thr_x",
    "item_id": "itm_x",
    "field": "text",
    "request_id": "req_x",
    "agent_id": "scripted",
    "run_id": "run_x",
}
READING = ("GET", "HEAD", "OPTIONS")
ANSWER_MAX = 4 * 1024 * 1024
"""Most bytes of one answer that is read by hand."""

Call = tuple[str, str]

WRONG: list[Call] = [("PUT", "/v1/info")]
"""A method that its path does not take."""


async def routes(web: Web) -> list[Call]:
    """Every method and path of the contract, filled with names, and the ones that stand outside of it."""
    document = await web.get("/v1/openapi.json")
    found = [
        (method.upper(), path.format(**NAMES))
        for path, item in document["paths"].items()
        for method in item
        if method in ("get", "post", "put", "patch", "delete")
    ]
    assert len(found) > 20
    return [
        *found,
        ("GET", "/v1/openapi.json"),
        ("GET", "/v1/none"),
        ("POST", "/v1/none"),
        *WRONG,
    ]


async def knock(web: Web, call: Call, headers: dict[str, str], body: bytes | None = None) -> httpx.Response:
    """One request with exactly these headers beside what every client sends."""
    method, path = call
    sent = body if body is not None else (None if method in READING else b"{}")
    return await web.http.request(method, path, headers=headers, content=sent)


def told(answer: httpx.Response) -> Any:
    """The problem document of a refusal."""
    assert answer.headers["content-type"].startswith("application/problem+json"), answer.text
    found = msgspec.json.decode(answer.content)
    assert found["status"] == answer.status_code and found["title"] and found["detail"], found
    assert found["type"] == f"urn:podium:error:{found['code']}"
    return found


async def raw(url: str, request: bytes) -> bytes:
    """What a server says to bytes that no client library would send."""

    def exchange() -> bytes:
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port), timeout=WAIT_MAX) as link:
            link.sendall(request)
            found = b""
            while len(found) < ANSWER_MAX and (data := link.recv(65536)):
                found += data
            return found

    return await anyio.to_thread.run_sync(exchange)


def status(answer: bytes) -> int:
    """The status of an answer in bytes."""
    return int(answer.split(b" ", 2)[1])
