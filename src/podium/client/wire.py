"""Requests to a server, and its problem documents as the errors they stand for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, TypeVar

import httpx
import msgspec

from podium.client.sse import FrameTooLong, SseFrame, SseReader
from podium.contract.errors import (
    BadInput,
    Conflict,
    Gone,
    NotFound,
    PodiumError,
    Refused,
    StorageFailed,
    Unavailable,
)

TIMEOUT = 60.0
"""Longest wait for an answer, in seconds: a command waits for its commit, a version for the agent."""

SILENCE_MAX = 40.0
"""Seconds without a byte after which a stream counts as lost: several heartbeats."""

BY_STATUS: dict[int, type[PodiumError]] = {
    400: BadInput,
    401: Unavailable,
    403: Refused,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: BadInput,
    415: BadInput,
    421: BadInput,
    422: BadInput,
}

STORAGE = ("storage", "data_folder", "database", "closed")
"""How the codes of a server begin that cannot write or read."""

T = TypeVar("T")


class _Problem(msgspec.Struct):
    code: str = "unexpected"
    detail: str = ""
    fix: str = ""
    capability: str = ""
    policy: str = ""
    reason: str = ""
    more: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def error_of(status: int, body: bytes) -> PodiumError:
    """The error that a problem document stands for: the same class and code as in this process."""
    try:
        found = msgspec.json.decode(body, type=_Problem)
    except (msgspec.DecodeError, msgspec.ValidationError):
        found = _Problem(detail=f"The server answered {status}.")
    kind = BY_STATUS.get(status, StorageFailed if found.code.startswith(STORAGE) else Unavailable)
    names = (("capability", found.capability), ("policy", found.policy), ("reason", found.reason))
    detail = {**found.more, **{k: v for k, v in names if v}}
    return kind(found.code, found.detail, fix=found.fix, **detail)


def unreachable(url: str, error: Exception) -> Unavailable:
    """That the server does not answer."""
    return Unavailable(
        "server_unreachable",
        f"The server at {url} does not answer: {error or type(error).__name__}.",
        fix="See whether it runs: podium serve --url",
    )


class Wire:
    """One server over HTTP. No proxy is used: the token goes to the server only."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._http = httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=TIMEOUT, trust_env=False, follow_redirects=False
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def call(self, method: str, path: str, kind: type[T], body: Any = None, **query: Any) -> T:
        """One request; its answer as its type. Raises the error that the server answered, or Unavailable."""
        content = msgspec.json.encode(body) if body is not None else None
        params = {k: v for k, v in query.items() if v is not None}
        try:
            answer = await self._http.request(method, path, content=content, params=params)
        except httpx.HTTPError as error:
            raise unreachable(self.url, error) from error
        if answer.status_code >= 400:
            raise error_of(answer.status_code, answer.content)
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise Unavailable(
                "server_differs",
                f"The server at {self.url} answers in a form that this version does not know: {error}.",
                fix="Use the same version of Podium on both sides.",
            ) from error

    async def frames(self, **query: str | None) -> AsyncGenerator[SseFrame]:
        """The event stream until it breaks. Raises Unavailable `server_unreachable`, or what was answered."""
        params = {k: v for k, v in query.items() if v is not None}
        limits = httpx.Timeout(TIMEOUT, read=SILENCE_MAX)
        reader = SseReader()
        try:
            async with self._http.stream("GET", "/v1/events", params=params, timeout=limits) as answer:
                if answer.status_code >= 400:
                    raise error_of(answer.status_code, await answer.aread())
                async for data in answer.aiter_raw():
                    for frame in reader.feed(data):
                        yield frame
        except (httpx.HTTPError, FrameTooLong) as error:
            raise unreachable(self.url, error) from error
