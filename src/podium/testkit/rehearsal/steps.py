"""The steps of scripts that do what an agent does."""

from __future__ import annotations

import contextlib
import difflib
import os
import subprocess
import threading
import time
import uuid
from collections.abc import Callable

from podium.testkit.rehearsal.protocol import NOT_FOUND, Json
from podium.testkit.rehearsal.turn import WORD_SECONDS, Turn

COMMAND_SECONDS = 600.0


Step = Callable[[Turn, Json], None]
STEPS: dict[str, Step] = {}


def step(name: str) -> Callable[[Step], Step]:
    """Register a step under the name scripts use."""

    def register(function: Step) -> Step:
        STEPS[name] = function
        return function

    return register


@step("say")
def _say(turn: Turn, given: Json) -> None:
    turn.say(str(given.get("text", "Hello.")), float(given.get("delay", WORD_SECONDS)))


@step("think")
def _think(turn: Turn, given: Json) -> None:
    turn.think(str(given.get("text", "Let me rehearse a thought. ")))


@step("chunks")
def _chunks(turn: Turn, given: Json) -> None:
    turn.last_message = uuid.uuid4().hex
    count, delay = int(given.get("count", 100)), float(given.get("delay", 0))
    for number in range(count):
        turn.check()
        turn.chunk(f"word {number} ", turn.last_message)
        if delay:
            turn.pause(delay)
    turn.said.append(f"{count} words")


@step("stamp")
def _stamp(turn: Turn, given: Json) -> None:
    """Text and tool calls that say their number and when they were written, for measuring their way.

    `NUMBER@NANOSECONDS`, by the monotonic clock, which all processes of a machine share. `tools` is how many
    tool updates follow each text: those of a call of its own, or with `one_call` the output of one that goes
    on. Without `text` there are calls alone.
    """
    count, delay = int(given.get("count", 100)), float(given.get("delay", 0))
    updates: int = given.get("tools", 0)
    message = turn.last_message = uuid.uuid4().hex
    one = turn.tool("Much work", "execute") if given.get("one_call") else None
    for number in range(count):
        turn.check()
        if given.get("text", True):
            turn.chunk(f"{number}@{time.monotonic_ns()} ", message)
        if one is not None:
            for change in range(updates):
                turn.output(one, f"update {number}.{change}\n")
        elif updates:
            _stamped_call(turn, number, updates)
        if delay:
            turn.pause(delay)
    if one is not None:
        turn.end_tool(one)
    turn.said.append(f"{count} stamps")


def _stamped_call(turn: Turn, number: int, updates: int) -> None:
    """A call that ends with the last of its updates, the announcement being the first."""
    states = ["in_progress"] * (updates - 1) + ["completed"]
    tool_id = turn.tool(f"{number}@{time.monotonic_ns()}", "read", states[0])
    for state in states[1:]:
        turn.tool_update(tool_id, status=state)
    turn.open_tools.pop(tool_id, None)


@step("plan")
def _plan(turn: Turn, given: Json) -> None:
    names: list[str] = given.get("steps") or ["Read the prompt", "Play the script", "Say goodbye"]
    for done in range(len(names) + 1):
        turn.check()
        states = [
            "completed" if n < done else "in_progress" if n == done else "pending" for n in range(len(names))
        ]
        rows = [{"content": c, "priority": "medium", "status": s} for c, s in zip(names, states, strict=True)]
        turn.update("plan", {"entries": rows})


@step("edit")
def _edit(turn: Turn, given: Json) -> None:
    name = str(given.get("file") or "rehearsal.txt")
    path = turn.inside(name)
    old = path.read_text() if path.exists() else None
    new = str(given["text"]) if "text" in given else (old or "") + "A line written by the rehearsal agent.\n"
    diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
    fields: Json = {"locations": [{"path": str(path)}], "rawInput": {"path": str(path)}, "content": [diff]}
    tool_id, allowed = turn.asked_tool(given, f"Edit {name}", "edit", **fields)
    if not allowed:
        turn.end_tool(tool_id, "failed")
        turn.say(f"I left {name} as it was.")
        return
    turn.check()
    turn.tool_update(tool_id, status="in_progress")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(new)
    turn.end_tool(tool_id, content=[diff])
    lines = sum(
        1 for row in difflib.ndiff((old or "").splitlines(), new.splitlines()) if row[:2] in ("+ ", "- ")
    )
    turn.say(f"I changed {lines} lines of {name}.")


@step("client_edit")
def _client_edit(turn: Turn, given: Json) -> None:
    """Read a file through the client, add a line, write it back; `call` says it with a tool call."""
    name = str(given.get("file") or "rehearsal.txt")
    path = str(given.get("path") or turn.session.cwd / name)
    read = _served(turn, "fs/read_text_file", {"path": path})
    if "error" in read and read["error"]["code"] != NOT_FOUND:
        turn.say(f"I could not read {name}: {read['error']['message']}")
        return
    old = str(read["result"]["content"]) if "result" in read else None
    new = (old or "") + "A line written through the client.\n"
    diff = {"type": "diff", "path": path, "oldText": old, "newText": new}
    tool_id = turn.tool(f"Edit {name}", "edit", content=[diff]) if given.get("call", True) else None
    written = _served(turn, "fs/write_text_file", {"path": path, "content": new})
    if tool_id is not None:
        turn.end_tool(tool_id, "completed" if "result" in written else "failed")
    turn.agent.records.log("client_edit", session=turn.session.id, old=old)
    done = "I changed" if "result" in written else f"I could not write: {written['error']['message']}"
    turn.say(f"{done} {name}.")


def _served(turn: Turn, method: str, params: Json) -> Json:
    """The client's whole answer; what was interrupted is asked for again."""
    while True:
        answer = turn.agent.call(method, {"sessionId": turn.session.id, **params}, turn)
        error: Json = answer.get("error") or {}
        data: Json = error.get("data") or {}
        if data.get("reason") != "interrupted":
            return answer
        turn.agent.records.log("interrupted", session=turn.session.id, method=method)


@step("command")
def _command(turn: Turn, given: Json) -> None:
    command = str(given.get("command") or "echo rehearsal")
    raw: Json = {"command": command, "cwd": str(turn.session.cwd)}
    tool_id, allowed = turn.asked_tool(given, command, "execute", rawInput=raw)
    if not allowed:
        turn.end_tool(tool_id, "failed")
        turn.say("I did not run it.")
        return
    turn.check()
    turn.tool_update(tool_id, status="in_progress")
    with subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=turn.session.cwd, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as process:  # fmt: skip
        turn.agent.children.add(process.pid)
        watch = threading.Thread(target=_stop_with_turn, args=(turn, process), daemon=True)
        watch.start()
        text = ""
        if process.stdout is not None:
            for line in process.stdout:
                decoded = line.decode(errors="replace")
                text += decoded
                delta = {"terminal_id": tool_id, "data": decoded}
                turn.tool_update(tool_id, _meta={"terminal_output_delta": delta})
        code = process.wait()
    turn.agent.children.discard(process.pid)
    body = [{"type": "content", "content": {"type": "text", "text": text}}]
    exited = {"terminal_exit": {"terminal_id": tool_id, "exit_code": code, "signal": None}}
    turn.end_tool(tool_id, "completed" if code == 0 else "failed", content=body, _meta=exited)
    turn.check()
    turn.say(f"The command ended with {code}.")


def _stop_with_turn(turn: Turn, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + COMMAND_SECONDS
    while process.poll() is None:
        cancelled = (
            turn.session.cancelled.wait(0.05) and not turn.ignores_cancel and not turn.switches.no_cancel
        )
        if cancelled or time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            return
        if turn.session.cancelled.is_set():
            time.sleep(0.05)


@step("question")
def _question(turn: Turn, given: Json) -> None:
    mute = turn.switches.no_permission or turn.agent.lacks("approvals.user_input")
    if mute or not turn.agent.client.get("elicitation"):
        turn.say("I would ask which colour you like, but this client takes no questions.")
        return
    colours = [{"const": c, "title": c} for c in given.get("options") or ["Red", "Blue"]]
    schema: Json = {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "title": "Colour", "description": "Which colour?", "oneOf": colours},
            "why": {"type": "string", "title": "Why", "description": "Why that one?"},
        },
        "required": ["colour"],
    }
    params = {
        "sessionId": turn.session.id,
        "mode": "form",
        "message": str(given.get("text", "A question")),
        "requestedSchema": schema,
    }
    answer = turn.agent.ask("elicitation/create", params, turn)
    turn.agent.records.log("question", session=turn.session.id, answer=answer)
    turn.check()
    told: Json = answer.get("content", {}) if answer.get("action") == "accept" else {}
    turn.say(f"You chose {told.get('colour')}." if told else "You chose not to say.")


@step("sleep")
def _sleep(turn: Turn, given: Json) -> None:
    turn.pause(float(given.get("seconds", 1)))


@step("stop")
def _stop(turn: Turn, given: Json) -> None:
    turn.stop_reason = str(given.get("reason", "end_turn"))


@step("subagent")
def _subagent(turn: Turn, given: Json) -> None:
    child = f"child-{uuid.uuid4().hex[:12]}"
    link = {"parentSessionId": turn.session.id, "childSessionId": child}
    call = turn.tool("Delegate", "other", rawInput={"prompt": "Touch a file"}, _meta=link)
    message = uuid.uuid4().hex
    turn.chunk("I am the child. ", message, session=child)
    inner: Json = {
        "toolCallId": turn.new_tool_id(),
        "title": "Child edit",
        "kind": "edit",
        "status": "pending",
    }
    turn.update("tool_call", inner, child)
    allowed = turn.permitted("edit", {"toolCallId": inner["toolCallId"]}, child)
    if allowed:
        turn.inside("child.txt").write_text("written by a child\n")
    end: Json = {"toolCallId": inner["toolCallId"], "status": "completed" if allowed else "failed"}
    turn.update("tool_call_update", end, child)
    turn.chunk("Done." if allowed else "I may not.", uuid.uuid4().hex, session=child)
    turn.end_tool(call, _meta=link)
    turn.say("My child came back.")


@step("recall")
def _recall(turn: Turn, given: Json) -> None:
    before = [m["text"] for m in turn.session.messages if m["role"] == "user"][:-1]
    turn.say(f"You wrote {len(before)} prompts before this one. The first: {before[0] if before else 'none'}")
