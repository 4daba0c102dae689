"""Small made-up conversations with the adapter, played without a process."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.adapter import Machine, Send, Step
from podium.contract.events import ProviderEvent, ThreadBound
from podium.contract.inputs import (
    Ask,
    Command,
    EnsureThread,
    Frame,
    Mode,
    OpenSession,
    SendTurn,
    TextBlock,
)
from podium.providers.claude import adapter

NONCE = "0" * 32


class Talk:
    """A machine, everything that it reported, and what was written to the bridge."""

    def __init__(self) -> None:
        self.machine = Machine(adapter)
        self.events: list[ProviderEvent] = []
        self.written: list[dict[str, Any]] = []
        self.of = ""

    def ask(self, command: Command) -> Step[Any]:
        """One ask of the core."""
        return self._fed(self.machine.feed(Ask(command)))

    def bridge(self, say: str, **fields: Any) -> Step[Any]:
        """One line of the bridge."""
        return self._fed(self.machine.feed(Frame({"say": say, **fields})))

    def says(self, kind: str, **fields: Any) -> Step[Any]:
        """One frame of the agent."""
        return self.bridge("frame", of=self.of, frame={"type": kind, **fields})

    def answers(self, subtype: str, response: Any = None, error: str | None = None) -> Step[Any]:
        """The answer to our newest control request of a kind."""
        [*_, number] = [
            f["request_id"] for f in self.sent("control_request") if f["request"]["subtype"] == subtype
        ]
        inner: dict[str, Any] = {"request_id": number}
        inner |= (
            {"subtype": "success", "response": response or {}}
            if error is None
            else {"subtype": "error", "error": error}
        )
        return self.says("control_response", response=inner)

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """The frames of a kind that went to the agent."""
        return [row["frame"] for row in self.written if row["op"] == "send" and row["frame"]["type"] == kind]

    def wanted(self) -> list[str]:
        """The kinds of our control requests."""
        return [frame["request"]["subtype"] for frame in self.sent("control_request")]

    def _fed(self, step: Step[Any]) -> Step[Any]:
        self.events += step.events
        for send in step.sends:
            assert isinstance(send, Send)
            self.written.append(msgspec.json.decode(send.line, type=dict[str, Any]))
        return step

    def bound(self, mode: Mode = "ask") -> Talk:
        """Past the start of a conversation."""
        self.ask(OpenSession("open", "/w", mode))
        self.bridge("ready", id="open", nonce=NONCE, version="1")
        self.ask(EnsureThread("thread", "/w", mode))
        self.of = str(self.written[-1].get("of", ""))
        step = self.answers(
            "initialize", {"models": [{"value": "one", "displayName": "One"}], "commands": []}
        )
        assert any(isinstance(e, ThreadBound) for e in step.events)
        return self

    def prompt(self, name: str = "m-1", mode: Mode | None = None, model: str | None = None) -> str:
        """Send a prompt; the id it went out with."""
        self.ask(SendTurn(f"ask-{name}", self.of, name, (TextBlock("Go."),), model, mode))
        return self.sent("user")[-1]["uuid"]

    def running(self, mode: Mode = "ask") -> Talk:
        """Past the start of a turn."""
        self.bound(mode)
        self.prompt()
        self.says("system", subtype="init", session_id=self.of, uuid="i-1")
        return self

    def may(self, key: str, tool: str, given: dict[str, Any], **more: Any) -> Step[Any]:
        """The agent asks for a permission."""
        request = {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "input": given,
            "tool_use_id": f"t-{key}",
            **more,
        }
        return self.says("control_request", request_id=key, request=request)

    def calls(self, number: str, tool: str, given: dict[str, Any]) -> Step[Any]:
        """The agent calls a tool."""
        block = {"type": "tool_use", "id": number, "name": tool, "input": given}
        return self.says("assistant", message={"id": f"msg-{number}", "content": [block]}, uuid=f"u-{number}")

    def ended(self, **fields: Any) -> Step[Any]:
        """The end of the turn."""
        told = {"subtype": "success", "is_error": False, "terminal_reason": "completed", "uuid": "r-1"}
        return self.says("result", **{**told, **fields})

    def answer_of(self, key: str) -> dict[str, Any]:
        """What went back for a permission."""
        [found] = [f["response"] for f in self.sent("control_response") if f["response"]["request_id"] == key]
        return found["response"]
