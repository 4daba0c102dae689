"""What an agent asked its client to do in the workspace, done one after the other beside the loop.

It begins after the commit of what asked for it, so that a crash can lose it and never repeat it (R2). What
came of it is an input like any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread

from podium.contract.errors import failure
from podium.contract.inputs import Mode
from podium.contract.serving import NotServed, Outcome, Serve, WriteTextFile
from podium.domain.entities import Thread
from podium.runtime.pump import Pump
from podium.workspace.texts import Texts

WRITES: tuple[Mode, ...] = ("edit", "full")
"""Modes in which an agent may change files without asking a person: only there one is changed for it."""


class Serving:
    """Serves one session. `served` takes a tag and its outcome; what is left when it ends is dropped."""

    def __init__(
        self,
        pump: Pump,
        thread: Callable[[], Thread | None],
        served: Callable[[str, Outcome], None],
        fault: Callable[[str], None],
    ) -> None:
        self._pump = pump
        self._thread = thread
        self._served = served
        self._fault = fault
        self._waiting: deque[Serve] = deque()
        self._news = anyio.Event()

    def take(self, serve: Serve) -> None:
        """Do it once it is its turn. How many may be open is the adapter's bound."""
        self._waiting.append(serve)
        self._news.set()

    async def watch(self) -> None:
        """Runs until cancelled; what has begun is done before it leaves."""
        while True:
            while self._waiting:
                serve = self._waiting.popleft()
                self._fault("serve")
                outcome = await self._outcome(serve)
                self._fault("served")
                self._served(serve.tag, outcome)
            await self._news.wait()
            self._news = anyio.Event()

    async def _outcome(self, serve: Serve) -> Outcome:
        thread = self._thread()
        if thread is None or (isinstance(serve.request, WriteTextFile) and thread.mode not in WRITES):
            text = "Files are changed for an agent only in the modes edit and full."
            return NotServed(failure("permission", "mode_forbids", text))
        process = self._pump.process
        private = str(Path(process.folder).parent.parent)
        spare = f".podium-{process.id}".encode()
        texts = Texts(thread.workspace, private, spare, self._pump.secrets.mask_text)
        return await anyio.to_thread.run_sync(texts.serve, serve.request)
