"""The steps of scripts that proofs are made with: what a scenario asks of any agent."""

from __future__ import annotations

import re
import uuid

from podium.testkit.rehearsal.faults import STEPS
from podium.testkit.rehearsal.protocol import INTERNAL, Json, Rejected
from podium.testkit.rehearsal.steps import step
from podium.testkit.rehearsal.turn import Turn

__all__ = ["STEPS"]

MARK = re.compile(r"MARK-\w+")
HOLD_SECONDS = 60.0
"""Longest wait for what a script waits for."""

POLL_SECONDS = 0.02


@step("replace")
def _replace(turn: Turn, given: Json) -> None:
    """Change a line of a file, after asking."""
    name = str(given["file"])
    path = turn.inside(name)
    old = path.read_text()
    row = {"file": name, "text": old.replace(str(given["before"]), str(given["after"]))}
    STEPS["edit"](turn, row)


@step("hold")
def _hold(turn: Turn, given: Json) -> None:
    """Wait until a file of this name is in the home."""
    home = turn.agent.records.home
    if home is None:
        raise Rejected(INTERNAL, "I have no home to wait in.")
    place = home / "released" / str(given["name"])
    for _ in range(int(HOLD_SECONDS / POLL_SECONDS)):
        if place.exists():
            return
        turn.pause(POLL_SECONDS)


@step("recite")
def _recite(turn: Turn, given: Json) -> None:
    """Say the newest mark of this conversation."""
    said = [
        f"{row.get('context', '')} {row['text']}" for row in turn.session.messages if row["role"] == "user"
    ]
    told = [mark for text in said for mark in MARK.findall(text)]
    turn.say(f"I was told {told[-1]}." if told else "I was told nothing.")


@step("name_model")
def _name_model(turn: Turn, given: Json) -> None:
    turn.say(f"I am {turn.session.model}.")


@step("delegate")
def _delegate(turn: Turn, given: Json) -> None:
    """A child that says its piece and asks before it runs a command."""
    if turn.agent.lacks("subagents.supported"):
        turn.say("I do it alone.")
        return
    child = f"child-{uuid.uuid4().hex[:12]}"
    link = {"parentSessionId": turn.session.id, "childSessionId": child}
    call = turn.tool("Delegate", "other", rawInput={"prompt": "a part of it"}, _meta=link)
    rows: list[Json] = given.get("steps") or []
    for row in rows:
        if row["do"] == "say":
            turn.chunk(str(row["text"]), uuid.uuid4().hex, session=child)
        elif row["do"] == "command":
            _child_command(turn, child, str(row["command"]))
    turn.end_tool(call, _meta=link)


def _child_command(turn: Turn, child: str, command: str) -> None:
    inner = turn.new_tool_id()
    call: Json = {"toolCallId": inner, "title": command, "kind": "execute", "status": "pending"}
    turn.update("tool_call", call, child)
    allowed = turn.permitted("execute", {"toolCallId": inner}, child)
    if allowed:
        turn.shell(command)
    ended: Json = {"toolCallId": inner, "status": "completed" if allowed else "failed"}
    turn.update("tool_call_update", ended, child)
