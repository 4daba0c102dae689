"""One conversation, and what can be chosen for it."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

from podium.testkit.rehearsal.protocol import Json

MODELS = ("rehearsal-1", "rehearsal-2")
MODES = ("read", "ask", "edit", "full")


class Session:
    """One conversation."""

    def __init__(self, session_id: str, cwd: str) -> None:
        self.id = session_id
        self.cwd = Path(cwd)
        self.mode = "ask"
        self.model = MODELS[0]
        self.messages: list[Json] = []
        self.allowed: set[str] = set()
        self.busy = False
        self.idle = threading.Event()
        self.cancelled = threading.Event()
        self.crash_on_cancel = False
        self.steers: queue.SimpleQueue[str] = queue.SimpleQueue()

    def holds(self, name: str) -> bool:
        """Whether a file of the workspace has this name."""
        try:
            return (self.cwd / name).is_file()
        except (OSError, ValueError):  # too long, or no name at all
            return False

    def modes(self) -> Json:
        return {"currentModeId": self.mode, "availableModes": [{"id": m, "name": m.title()} for m in MODES]}

    def options(self) -> list[Json]:
        values = [{"value": m, "name": m} for m in MODELS]
        return [
            {"id": "model", "name": "Model", "category": "model", "type": "select",
             "currentValue": self.model, "options": values}
        ]  # fmt: skip
