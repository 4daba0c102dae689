"""One prompt being played, and the verbs that plays are made of."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.testkit.rehearsal.protocol import INTERNAL, Json, Rejected, Stopped
from podium.testkit.rehearsal.session import Session

if TYPE_CHECKING:
    from podium.testkit.rehearsal.agent import Agent

WORD_SECONDS = 0.002
COMMAND_SECONDS = 60.0
"""Longest time of a short command."""

OUTPUT_CHUNK = 8192


class Turn:
    """One prompt being played; the verbs that plays are made of."""

    def __init__(
        self, agent: Agent, session: Session, prompt_id: Any, client_id: str | None, text: str
    ) -> None:
        self.agent, self.session, self.prompt_id, self.text = agent, session, prompt_id, text
        self.client_id = client_id
        self.switches = agent.switches
        self.stop_reason = "end_turn"
        self.said: list[str] = []
        self.open_tools: dict[str, Json] = {}
        self.ignores_cancel = False
        self.answer_end = "\n"
        self.after: list[Callable[[], None]] = []
        self.tools_made = 0
        self.last_message: str | None = None

    def check(self) -> None:
        if self.session.cancelled.is_set() and not self.ignores_cancel and not self.switches.no_cancel:
            raise Stopped

    def pause(self, seconds: float) -> None:
        if self.ignores_cancel or self.switches.no_cancel:
            time.sleep(seconds)
        else:
            self.session.cancelled.wait(seconds)
        self.check()

    def update(self, kind: str, fields: Json, session_id: str | None = None) -> None:
        """One session/update. A text-only agent shows nothing before its final text."""
        if self.switches.text_only:
            return
        if self.switches.weak_ids or self.switches.no_ids:
            fields = {k: v for k, v in fields.items() if k not in ("toolCallId", "messageId")}
        if self.switches.no_ids and "title" in fields:
            fields = {**fields, "title": "tool"}
        self.agent.notify(session_id or self.session.id, kind, fields)

    def echo(self) -> None:
        if not (self.switches.weak_ids or self.switches.no_ids):
            fields: Json = {"content": {"type": "text", "text": self.text}}
            self.update("user_message_chunk", {**fields, "messageId": self.client_id or uuid.uuid4().hex})

    def chunk(
        self, text: str, message: str, kind: str = "agent_message_chunk", session: str | None = None
    ) -> None:
        self.update(kind, {"content": {"type": "text", "text": text}, "messageId": message}, session)

    def say(self, text: str, delay: float = WORD_SECONDS) -> None:
        """Text in word-sized chunks of one message."""
        self.last_message = uuid.uuid4().hex
        self.said.append(text)
        pieces = text.splitlines(keepends=True) if delay == 0 else words(text)
        for word in [text] if self.agent.lacks("output.text_delta") else pieces:
            self.check()
            self.chunk(word, self.last_message)
            if delay:
                self.pause(delay)

    def think(self, text: str) -> None:
        if self.agent.lacks("output.reasoning"):
            return
        message = uuid.uuid4().hex
        for word in words(text):
            self.check()
            self.chunk(word, message, "agent_thought_chunk")

    def tool(self, title: str, kind: str, status: str = "in_progress", **fields: Any) -> str:
        tool_id = self.new_tool_id()
        call = {"toolCallId": tool_id, "title": title, "kind": kind, "status": status, **fields}
        self.open_tools[tool_id] = call
        self.update("tool_call", self.shown(call))
        return tool_id

    def shown(self, fields: Json) -> Json:
        """The fields of a tool call that this agent shows."""
        content: list[Json] = fields.get("content") or []
        if self.agent.lacks("output.diffs"):
            content = [part for part in content if part.get("type") != "diff"]
        if self.agent.lacks("tools.output"):
            content = [part for part in content if part.get("type") == "diff"]
        meta: Json = fields.get("_meta") or {}
        if self.agent.lacks("output.tool_output"):
            meta = {name: value for name, value in meta.items() if name != "terminal_output_delta"}
        if self.agent.lacks("tools.output"):
            meta = {name: value for name, value in meta.items() if name != "terminal_exit"}
        plain = {name: value for name, value in fields.items() if name not in ("content", "_meta")}
        return plain | ({"content": content} if content else {}) | ({"_meta": meta} if meta else {})

    def new_tool_id(self) -> str:
        self.tools_made += 1
        return f"call-{self.tools_made}-{uuid.uuid4().hex[:8]}"

    def tool_update(self, tool_id: str, **fields: Any) -> None:
        title = self.open_tools.get(tool_id, {}).get("title", "tool")
        weak = {"title": title} if self.switches.weak_ids or self.switches.no_ids else {}
        self.update("tool_call_update", {"toolCallId": tool_id, **weak, **self.shown(fields)})

    def end_tool(self, tool_id: str, status: str = "completed", **fields: Any) -> None:
        self.tool_update(tool_id, status=status, **fields)
        self.open_tools.pop(tool_id, None)

    def output(self, tool_id: str, text: str) -> None:
        for start in range(0, len(text), OUTPUT_CHUNK):
            self.check()
            delta = {"terminal_id": tool_id, "data": text[start : start + OUTPUT_CHUNK]}
            self.tool_update(tool_id, _meta={"terminal_output_delta": delta})

    def permitted(self, kind: str, call: Json, session_id: str | None = None) -> bool:
        """Ask, unless the mode or an earlier standing answer already decides."""
        mode = self.session.mode
        if mode == "read":
            return self.agent.lacks("policy.enforcement")
        if self.agent.lacks(self.asks_by(kind, session_id)):
            return True
        quiet = self.switches.no_permission or self.switches.text_only or mode == "full"
        if quiet or (mode == "edit" and kind == "edit") or kind in self.session.allowed:
            return True
        options = [
            {"optionId": "yes-always", "name": "Yes, and stop asking", "kind": "allow_always"},
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        params = {"sessionId": session_id or self.session.id, "toolCall": call, "options": options}
        answer = self.agent.ask("session/request_permission", params, self)
        outcome = answer.get("outcome", {})
        self.agent.records.log("permission", session=params["sessionId"], outcome=outcome)
        if outcome.get("outcome") != "selected":
            self.session.cancelled.wait(1.0)
            raise Stopped
        if outcome.get("optionId") == "yes-always":
            self.session.allowed.add(kind)
        return outcome.get("optionId") in ("yes", "yes-always")

    def asks_by(self, kind: str, session_id: str | None) -> str:
        """The leaf that a permission request of this kind stands for."""
        if session_id is not None:
            return "approvals.from_subagents"
        return "approvals.file_change" if kind == "edit" else "approvals.command"

    def shell(self, command: str) -> int:
        """Run a short command in the workspace to its end."""
        return subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.session.cwd, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=COMMAND_SECONDS, check=False,
        ).returncode  # fmt: skip

    def asked_tool(self, step: Json, title: str, kind: str, **fields: Any) -> tuple[str, bool]:
        """Announce and ask, in the order the step wants: real agents do it in all three ways."""
        order = step.get("order", "call_first")
        fields = self.shown(fields)
        if order == "call_first":
            tool_id = self.tool(title, kind, "pending", **fields)
            return tool_id, self.permitted(kind, {"toolCallId": tool_id})
        tool_id = self.new_tool_id()
        call = {"toolCallId": tool_id, "title": title, "kind": kind, "status": "pending", **fields}
        self.open_tools[tool_id] = call
        allowed = self.permitted(kind, call)
        if order == "permission_first":
            self.update("tool_call", call)
        return tool_id, allowed

    def inside(self, name: str) -> Path:
        path = (self.session.cwd / name).resolve()
        if not path.is_relative_to(self.session.cwd.resolve()):
            raise Rejected(INTERNAL, f"{name} is outside the workspace; name a file inside it.")
        return path


def words(text: str) -> Iterator[str]:
    """The text in pieces that end with a space or line break, nothing lost."""
    start = 0
    for at, letter in enumerate(text):
        if letter in " \n":
            yield text[start : at + 1]
            start = at + 1
    if start < len(text):
        yield text[start:]
