"""What outlives the process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.testkit.rehearsal.protocol import NOT_FOUND, Json, Rejected

if TYPE_CHECKING:
    from podium.testkit.rehearsal.session import Session


class Records:
    """What outlives the process: one file for each conversation, one log of everything received."""

    def __init__(self, home: str | None) -> None:
        self.home = Path(home) if home else None
        if self.home is not None:
            (self.home / "sessions").mkdir(mode=0o700, parents=True, exist_ok=True)

    def log(self, kind: str, **fields: Any) -> None:
        if self.home is None:
            return
        line = json.dumps({"kind": kind, **fields}, ensure_ascii=False) + "\n"
        descriptor = os.open(self.home / "prompts.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def save(self, session: Session) -> None:
        if self.home is None:
            return
        data = {"id": session.id, "cwd": str(session.cwd), "messages": session.messages}
        place = self.home / "sessions" / f"{session.id}.json"
        fresh = place.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(data))
        fresh.replace(place)

    def load(self, session_id: str) -> list[Json]:
        if self.home is None or not session_id.replace("-", "").isalnum():
            raise Rejected(NOT_FOUND, "Resource not found")
        try:
            return json.loads((self.home / "sessions" / f"{session_id}.json").read_text())["messages"]
        except FileNotFoundError:
            raise Rejected(NOT_FOUND, "Resource not found") from None
