"""The steps of scripts that do what an agent should not do."""

from __future__ import annotations

import os
import sys
import time
import uuid

from podium.testkit.rehearsal.protocol import INTERNAL, Json, Rejected, leave
from podium.testkit.rehearsal.steps import STEPS, step
from podium.testkit.rehearsal.turn import Turn

__all__ = ["STEPS"]

SECRET_KEYS_SHOWN = 200


@step("output")
def _output(turn: Turn, given: Json) -> None:
    size = int(given.get("bytes", 1000))
    line = "0123456789abcdef" * 4 + "\n"
    text = (line * (size // len(line) + 1))[:size]
    tool_id = turn.tool("Much output", "execute", rawInput={"command": f"output {size}"})
    turn.output(tool_id, text)
    turn.end_tool(tool_id, content=[{"type": "content", "content": {"type": "text", "text": text}}])


@step("tools")
def _tools(turn: Turn, given: Json) -> None:
    tool_id = turn.tool("Many updates", "other")
    for number in range(int(given.get("count", 10))):
        turn.check()
        turn.output(tool_id, f"update {number}\n")
    if not given.get("open"):
        turn.end_tool(tool_id)


@step("silent")
def _silent(turn: Turn, given: Json) -> None:
    while True:
        turn.pause(3600)


@step("die")
def _die(turn: Turn, given: Json) -> None:
    turn.chunk("This sentence has no ", uuid.uuid4().hex)
    if given.get("half_line"):
        turn.agent.wire.raw('{"jsonrpc": "2.0", "method": "session/upd')
    leave(int(given.get("code", 1)))


@step("die_after_last")
def _die_after_last(turn: Turn, given: Json) -> None:
    turn.say("These are my last words.")
    turn.answer_end = ""
    turn.after.append(lambda: leave(0))


@step("deaf")
def _deaf(turn: Turn, given: Json) -> None:
    turn.ignores_cancel = True
    message = uuid.uuid4().hex
    for number in range(int(float(given.get("seconds", 3)) * 10)):
        turn.chunk(f"still here {number} ", message)
        time.sleep(0.1)


@step("crash_in_cancel")
def _crash_in_cancel(turn: Turn, given: Json) -> None:
    turn.session.crash_on_cancel = True
    turn.chunk("Cancel me. ", uuid.uuid4().hex)
    while True:
        turn.pause(3600)


@step("noise")
def _noise(turn: Turn, given: Json) -> None:
    turn.agent.wire.raw(
        "*** Rehearsal agent, have a nice day ***\n[info] 12:00:00 not a frame\n\n{broken json\n[1, 2]\n"
    )


@step("secret")
def _secret(turn: Turn, given: Json) -> None:
    rows = sorted(f"{name}={value}" for name, value in os.environ.items())[:SECRET_KEYS_SHOWN]
    tool_id = turn.tool("Print the environment", "execute", rawInput={"command": "env"})
    turn.output(tool_id, "\n".join(rows) + "\n")
    turn.end_tool(tool_id)
    turn.say(f"My token is {os.environ.get('SCRIPTED_TOKEN', 'not set')}.")


@step("unknown")
def _unknown(turn: Turn, given: Json) -> None:
    turn.update("dream_update", {"dream": {"of": "sheep"}})
    turn.agent.wire.send(
        {"method": "_rehearsal/news", "params": {"sessionId": turn.session.id, "is": "none"}}
    )
    turn.agent.ask("_rehearsal/unheard_of", {"sessionId": turn.session.id}, turn)


@step("error")
def _error(turn: Turn, given: Json) -> None:
    raise Rejected(int(given.get("code", INTERNAL)), str(given.get("message", "A rehearsed error")))


@step("duplicate")
def _duplicate(turn: Turn, given: Json) -> None:
    tool_id = turn.new_tool_id()
    call: Json = {"toolCallId": tool_id, "title": "Twice", "kind": "other", "status": "in_progress"}
    for _ in range(2):
        turn.update("tool_call", call)
        turn.update("plan", {"entries": [{"content": "Once", "priority": "low", "status": "completed"}]})
    for _ in range(2):
        turn.tool_update(tool_id, status="completed", title="Twice")
    turn.after.append(lambda: turn.agent.answer(turn.prompt_id, {"stopReason": "end_turn"}))


@step("late")
def _late(turn: Turn, given: Json) -> None:
    tool_id = turn.tool("Ends late", "other")
    turn.say("The turn ends before its tool.")
    message = turn.last_message or ""

    def afterwards() -> None:
        turn.chunk(" And one word more.", message)
        turn.end_tool(tool_id)

    turn.after.append(afterwards)


@step("wake")
def _wake(turn: Turn, given: Json) -> None:
    turn.say("I shall start again by myself.")
    turn.after.append(lambda: turn.say("Nobody asked, yet here I am."))


@step("stderr")
def _stderr(turn: Turn, given: Json) -> None:
    sys.stderr.write("x" * 79 + "\n")
    size = int(given.get("bytes", 1000))
    for _ in range(max(0, size // 80)):
        sys.stderr.write("rehearsed stderr line".ljust(79, ".") + "\n")
    sys.stderr.flush()
