"""One person's machine in a folder: data, workspace, configuration, the agent's home, and a census."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio

import podium
from podium.domain.entities import Item, Request, Run, Session
from podium.runtime.podium import Podium, ThreadHandle

LEFT_MAX = 120.0
"""Longest wait for processes to leave, in seconds: twice the longest linger of these tests."""

WAIT_MAX = 30.0
"""Seconds after which something that should come counts as missing."""

POLL = 0.01


class House:
    """Everything an open Podium needs, and nothing of the person who runs the tests."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.workspace = root / "ws"
        self.config = root / "config"
        self.scripted = root / "scripted"
        for folder in (self.workspace, self.config, root / "home", root / "tmp"):
            folder.mkdir(mode=0o700, parents=True)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "LANG": "C.UTF-8",
            "PODIUM_CONFIG": str(self.config),
            "SCRIPTED_HOME": str(self.scripted),
        }

    def configure(self, text: str) -> None:
        """Write the person's podium.toml."""
        (self.config / "podium.toml").write_text(text)

    def open(self, **options: Any) -> AbstractAsyncContextManager[Podium]:
        """Open Podium on this machine's data."""
        return podium.open(self.data, environ=self.environ, **options)

    async def thread(self, p: Podium, agent: str = "scripted", **options: Any) -> ThreadHandle:
        """A new thread in the workspace."""
        return await p.threads.create(workspace=self.workspace, agent=agent, **options)

    def log(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What the agent received, by its own account."""
        path = self.scripted / "prompts.jsonl"
        rows = [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []
        return [row for row in rows if kind is None or row["kind"] == kind]

    def prompts(self) -> list[str]:
        """The prompts the agent received."""
        return [row["text"] for row in self.log("prompt")]

    def census(self) -> dict[int, str]:
        """Living processes with this folder in their command line or environment, but this one."""
        found: dict[int, str] = {}
        mark = str(self.root).encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal() or int(entry.name) == os.getpid():
                continue
            try:
                line, environ = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
            except OSError:
                continue
            if line and (mark in line or mark in environ):
                found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        return found

    def clear(self) -> None:
        """End what a failed test left running; every process here was started for it."""
        for pid in self.census():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def empty(self) -> None:
        """Wait until no process of this machine is left; a keeper leaves after its linger at the latest."""
        await until(lambda: not self.census(), f"still there: {self.census()}", LEFT_MAX)


async def until(ready: Callable[[], object], what: str = "", seconds: float = WAIT_MAX) -> None:
    """Wait, bounded, until something is so."""
    for _ in range(round(seconds / POLL)):
        if ready():
            return
        await anyio.sleep(POLL)
    raise AssertionError(f"never came: {what or ready}")


async def ended(thread: ThreadHandle, run_id: str, seconds: float = WAIT_MAX) -> Run:
    """The run once it is over."""
    await until(lambda: thread.run(run_id).state == "ended", f"the end of {thread.run(run_id)}", seconds)
    return thread.run(run_id)


async def started(thread: ThreadHandle, prompt: str, **options: Any) -> str:
    """Post a prompt and wait until the agent works on it; the id of its run."""
    receipt = await thread.post(prompt, **options)
    run_id = receipt.result["run"]
    await until(
        lambda: thread.run(run_id).state not in ("queued", "preparing", "starting"), f"the start of {prompt}"
    )
    return run_id


async def ran(thread: ThreadHandle, prompt: str, **options: Any) -> Run:
    """Post a prompt and wait for the end of its run."""
    receipt = await thread.post(prompt, **options)
    return await ended(thread, receipt.result["run"])


async def asked(p: Podium, count: int = 1) -> list[Request]:
    """The pending requests once there are so many."""
    await until(lambda: len(p.requests.pending()) >= count, "a request")
    return p.requests.pending()


def said(thread: ThreadHandle, run_id: str) -> str:
    """All assistant text of a run, in order."""
    items = [i for i in thread.items() if i.run_id == run_id and i.item_kind == "assistant_message"]
    return "".join(thread.text(i.id) for i in items)


def items_of(thread: ThreadHandle, run_id: str, kind: str) -> list[Item]:
    """The items of a kind in a run."""
    return [i for i in thread.items() if i.run_id == run_id and i.item_kind == kind]


def sessions(thread: ThreadHandle) -> list[Session]:
    """Every session the thread had, in order."""
    return [s for s in thread.entities("session") if isinstance(s, Session)]


def native_ids(thread: ThreadHandle) -> list[str]:
    """The agent's own names of the thread's conversation, as the chain of handles holds them."""
    main = thread.state.main
    return [link.handle.native_id for link in main.chain.links] if main is not None else []


async def both(*work: Callable[[], Awaitable[object]]) -> list[object]:
    """Do all at the same moment; what each gave, or the error it met."""
    results: list[object] = [None] * len(work)

    async def one(number: int, do: Callable[[], Awaitable[object]]) -> None:
        try:
            results[number] = await do()
        except Exception as error:
            results[number] = error

    async with anyio.create_task_group() as group:
        for number, do in enumerate(work):
            group.start_soon(one, number, do)
    return results
