"""A workspace, homes and a scripted model for one real agent, all inside a temporary folder."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

import podium
from podium.contract.requests import Answer
from podium.domain.entities import Request, Run
from podium.runtime.podium import Podium, ThreadHandle
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs.codex import write_home
from tests.agents.paths import codex_binary

TURN_MAX = 40.0
"""Longest wait for one turn, in seconds."""


class CodexWorld:
    """Everything the real Codex needs to run offline."""

    def __init__(self, folder: Path, server: ResponsesServer, **home: Any) -> None:
        self.folder = folder
        self.server = server
        self.workspace = folder / "ws"
        self.data = folder / "data"
        for name in ("ws", "home", "tmp"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.agent_home = write_home(folder / "agent", server.base_url, **home)
        self.env = {
            "PATH": f"{codex_binary().parent}:{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "CODEX_HOME": str(self.agent_home),
            "PODIUM_CONFIG": str(folder / "config"),
        }

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncGenerator[Podium]:
        """Podium on this world's data folder."""
        async with podium.open(self.data, environ=self.env, **options) as p:
            yield p


async def follow(thread: ThreadHandle, run_id: str, *, states: tuple[str, ...] = ("ended",)) -> Run:
    """Wait, bounded, until the run is in one of these states."""
    with anyio.fail_after(TURN_MAX), thread.subscribe() as reader:
        while (run := thread.run(run_id)).state not in states:
            with anyio.move_on_after(1.0):
                await reader.next()
    return run


async def play(
    p: Podium, thread: ThreadHandle, prompt: str, *answers: Answer, **options: Any
) -> tuple[Run, list[Request]]:
    """Send a prompt, answer what is asked in turn (the last answer again and again), wait for the end."""
    receipt = await thread.post(prompt, **options)
    run_id = receipt.result["run"]
    asked: list[Request] = []
    given = list(answers)
    while True:
        run = await follow(thread, run_id, states=("waiting", "ended"))
        if run.state == "ended":
            return run, asked
        for request in [r for r in p.requests.pending() if r.thread_id == thread.id]:
            answer = given.pop(0) if len(given) > 1 else given[0]
            asked.append(request)
            await p.requests.answer(request.id, answer)
