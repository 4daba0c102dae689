"""A machine with a server, and a client that speaks plain HTTP to it."""

from __future__ import annotations

import sys
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import msgspec

from podium.runtime.settings import load_settings
from podium.server.serving import Running, serving
from tests.runtime.house import POLL, WAIT_MAX, House


class Desk(House):
    """A house with a server."""

    @asynccontextmanager
    async def serve(self, *, linger: float = 0.0) -> AsyncGenerator[Served]:
        """A server in this process, and a client with its token."""
        settings = load_settings(self.environ, data=self.data)
        async with (
            serving(settings, port=0, linger=linger) as running,
            httpx.AsyncClient(base_url=running.place.url, timeout=WAIT_MAX, trust_env=False) as http,
        ):
            yield Served(http, running, str(self.workspace))

    async def stop_agents(self) -> None:
        """End the agents that a server left at work."""
        await anyio.run_process(
            [sys.executable, "-m", "podium", "stop", "--agents"],
            env={**self.environ, "PODIUM_DATA": str(self.data)},
            check=False,
        )


class Web:
    """A client with the token; answers are checked and decoded."""

    def __init__(self, http: httpx.AsyncClient, token: str, workspace: str) -> None:
        self.http = http
        self.token = token
        self.workspace = workspace

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    async def call(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        """One request; its answer decoded, its status as wanted."""
        extra = {"content-type": "application/json"} if method not in ("GET", "HEAD") else {}
        content = msgspec.json.encode({} if body is None else body) if extra else None
        answer = await self.http.request(method, path, content=content, headers={**self.headers, **extra})
        wanted = status or (200 if method == "GET" else 202)
        assert answer.status_code == wanted, (answer.status_code, answer.text)
        return msgspec.json.decode(answer.content)

    async def get(self, path: str, *, status: int = 200) -> Any:
        return await self.call("GET", path, status=status)

    async def thread(self, agent: str = "scripted", **more: Any) -> str:
        """A new thread in the workspace."""
        body = {"workspace": self.workspace, "agent": agent, **more}
        return (await self.call("POST", "/v1/threads", body))["result"]["thread"]

    async def say(self, thread: str, text: str, client_id: str | None = None, **more: Any) -> str:
        """Send a message; the run it leads to."""
        body = {"client_id": client_id or uuid.uuid4().hex, "text": text, **more}
        return (await self.call("POST", f"/v1/threads/{thread}/messages", body))["result"]["run"]

    async def snapshot(self, thread: str) -> Any:
        return await self.get(f"/v1/threads/{thread}")

    async def run(self, thread: str, run: str) -> Any:
        found = await self.snapshot(thread)
        return next(r for r in found["runs"] if r["id"] == run)

    async def ended(self, thread: str, run: str) -> Any:
        """The run once it has ended."""
        found: Any = None
        for _ in range(round(WAIT_MAX / POLL / 5)):
            found = await self.run(thread, run)
            if found["state"] == "ended":
                return found
            await anyio.sleep(POLL * 5)
        raise AssertionError(f"the run did not end: {found}")

    async def asked(self, thread: str) -> Any:
        """The request that waits, once there is one."""
        for _ in range(round(WAIT_MAX / POLL / 5)):
            found = (await self.get("/v1/requests"))["requests"]
            mine = [r for r in found if r["thread_id"] == thread]
            if mine:
                return mine[0]
            await anyio.sleep(POLL * 5)
        raise AssertionError("nothing was asked")


class Served(Web):
    """A client of a server in this process."""

    def __init__(self, http: httpx.AsyncClient, running: Running, workspace: str) -> None:
        super().__init__(http, running.place.token, workspace)
        self.running = running
