"""What a newcomer can try, one play for each thing an agent does."""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable

from podium.testkit.rehearsal import phrases, running, writing
from podium.testkit.rehearsal.protocol import INTERNAL, Json, Rejected, Stopped, leave
from podium.testkit.rehearsal.session import Session
from podium.testkit.rehearsal.showpiece import MARKDOWN
from podium.testkit.rehearsal.turn import Turn

NOTICE = (
    "This is a rehearsal: no model runs here and nothing is sent anywhere. I play what your words name. "
    "Edits and commands are real, in your workspace."
)
"""Begins the first answer of each conversation, and the help."""

WORD_SECONDS = 0.01
PLAN_SECONDS = 0.3
CHUNK_SECONDS = 0.005
COUNT_SECONDS = 0.5
POLL_SECONDS = 0.05

STEER_SECONDS = 30.0
"""How long a turn waits to be steered."""

CRASH_CODE = 3

RECALLED_MAX = 20
"""Most earlier prompts that are listed, the latest ones."""

RECALLED_CHARACTERS = 160

PLAN = ("Read what you asked for", "Rehearse it step by step", "Check the result")
CHILD_FILE = "subagent.md"

Play = Callable[[Turn, Json], None]
PLAYS: dict[str, Play] = {}


def play(name: str) -> Callable[[Play], Play]:
    """Register a play under the name that the rules of `phrases` give it."""

    def register(function: Play) -> Play:
        PLAYS[name] = function
        return function

    return register


def script_for(text: str, session: Session) -> list[Json]:
    """What a prompt plays: its plays, or words about what would be understood; at first a notice."""
    script = phrases.read(text, session.holds) or [{"do": "unknown"}]
    answered = any(message["role"] == "assistant" for message in session.messages)
    says_so = answered or script[0]["do"] == "help"
    return script if says_so else [{"do": "notice"}, *script]


@play("notice")
def _notice(turn: Turn, given: Json) -> None:
    turn.say(f"{NOTICE}\n\n", WORD_SECONDS)


@play("text")
def _text(turn: Turn, given: Json) -> None:
    turn.say("Hello. This is plain text, written word by word, as a model would write it.\n", WORD_SECONDS)


@play("unknown")
def _unknown(turn: Turn, given: Json) -> None:
    turn.say(
        "I am no model, so I did not understand that. These I know, for example:\n\n"
        + "".join(f"- {like}\n" for name, _, like in phrases.HELP if name in ("edit", "command", "question"))
        + "\nWrite `help` for all of them.\n",
        WORD_SECONDS,
    )


@play("help")
def _help(turn: Turn, given: Json) -> None:
    rows = "".join(f"- **{name}**: {shows}. *{like}*\n" for name, shows, like in phrases.HELP)
    turn.say(
        f"{NOTICE}\n\nName one or several, in your own words:\n\n{rows}\n"
        "In the mode `read` I refuse edits and commands, in `ask` I ask for both, in `edit` for commands "
        "only, in `full` for nothing.\n",
        delay=0,
    )


@play("reasoning")
def _reasoning(turn: Turn, given: Json) -> None:
    turn.think("Somebody wants to see me think. A model would weigh its options here. I only pretend to. ")
    turn.say("I thought about it; the thoughts stand above, apart from this answer.\n", WORD_SECONDS)


@play("plan")
def _plan(turn: Turn, given: Json) -> None:
    for done in range(len(PLAN) + 1):
        states = ["completed" if n < done else "in_progress" if n == done else "pending" for n in range(3)]
        rows = [{"content": c, "priority": "medium", "status": s} for c, s in zip(PLAN, states, strict=True)]
        turn.update("plan", {"entries": rows})
        turn.pause(PLAN_SECONDS)
    turn.say("The plan is done, step by step.\n", WORD_SECONDS)


@play("edit")
def _edit(turn: Turn, given: Json) -> None:
    edit(turn, str(given["file"]), given.get("says"), None)


def edit(turn: Turn, name: str, says: str | None, child: str | None) -> None:
    """A real edit, in the main conversation or in a child's."""

    def tell(text: str) -> None:
        if child is None:
            turn.say(f"{text}\n", WORD_SECONDS)
        else:
            turn.chunk(f"{text}\n", uuid.uuid4().hex, session=child)

    try:
        change = writing.planned(turn.session.cwd, name, says)
    except writing.NotEdited as why:
        tell(str(why))
        return
    diff = {"type": "diff", "path": str(change.path), "oldText": change.old, "newText": change.new}
    tool_id = turn.new_tool_id()
    verb = "Create" if change.old is None else "Edit"
    call: Json = {
        "toolCallId": tool_id, "title": f"{verb} {name}", "kind": "edit", "status": "pending",
        "locations": [{"path": str(change.path)}], "rawInput": {"path": str(change.path)}, "content": [diff],
    }  # fmt: skip
    if child is None:
        turn.open_tools[tool_id] = call
    turn.update("tool_call", call, child)
    try:
        allowed = turn.permitted("edit", {"toolCallId": tool_id}, child)
    except Stopped:
        close(turn, tool_id, "failed", child)
        raise
    if not allowed:
        close(turn, tool_id, "failed", child)
        tell(refused(turn, f"leave {name} as it is"))
        return
    turn.check()
    try:
        writing.carry_out(turn.session.cwd, change)
    except writing.NotEdited as why:
        close(turn, tool_id, "failed", child)
        tell(str(why))
        return
    close(turn, tool_id, "completed", child, content=[diff])
    tell(f"I created {name}." if change.old is None else f"I added a line to {name}; all else is as it was.")


def close(turn: Turn, tool_id: str, status: str, child: str | None, **fields: object) -> None:
    """End a tool call."""
    turn.open_tools.pop(tool_id, None)
    turn.update("tool_call_update", {"toolCallId": tool_id, "status": status, **fields}, child)


def refused(turn: Turn, so: str) -> str:
    """Why something was not done."""
    if turn.session.mode == "read":
        return f"This conversation is in the mode `read`, so I {so}."
    return f"You declined, so I {so}."


@play("command")
def _command(turn: Turn, given: Json) -> None:
    command = str(given.get("command") or "")
    if given.get("of"):
        command = running.command_for(str(given["of"]))
    elif given.get("tests"):
        command = running.tests_of(turn.session.cwd) or ""
        if not command:
            turn.say("I see no tests in this folder, so I list it instead.\n", WORD_SECONDS)
    elif not command:
        turn.say("You named no command, so I list this folder.\n", WORD_SECONDS)
    command = command or "ls -la"
    tool_id = turn.tool(
        command, "execute", "pending", rawInput={"command": command, "cwd": str(turn.session.cwd)}
    )
    if not turn.permitted("execute", {"toolCallId": tool_id}):
        turn.end_tool(tool_id, "failed")
        turn.say(f"{refused(turn, 'do not run it')}\n", WORD_SECONDS)
        return
    turn.check()
    turn.tool_update(tool_id, status="in_progress")
    ended = running.run(turn, tool_id, command)
    body = [{"type": "content", "content": {"type": "text", "text": ended.text}}]
    exited = {"terminal_exit": {"terminal_id": tool_id, "exit_code": ended.code, "signal": None}}
    turn.end_tool(tool_id, "completed" if ended.code == 0 else "failed", content=body, _meta=exited)
    note = f" ({ended.cut})" if ended.cut else ""
    turn.say(f"The command ended with {ended.code}{note}.\n", WORD_SECONDS)


FIELDS: dict[str, tuple[str, Json]] = {
    "single": ("colour", {
        "type": "string", "title": "Colour", "description": "Which colour do you like best?",
        "oneOf": [{"const": c, "title": c} for c in ("Red", "Green", "Blue")],
    }),
    "multiple": ("meals", {
        "type": "array", "title": "Meals", "description": "Which of these do you eat? Choose any number.",
        "items": {"anyOf": [{"const": c, "title": c} for c in ("Bread", "Fruit", "Soup", "Cake")]},
    }),
    "text": ("words", {
        "type": "string", "title": "Words", "description": "What would you like to say, in your own words?",
    }),
}  # fmt: skip
"""The questions, by their kind."""


@play("question")
def _question(turn: Turn, given: Json) -> None:
    if not turn.agent.client.get("elicitation") or turn.switches.no_permission:
        turn.say("I would ask you something, but this client takes no questions.\n", WORD_SECONDS)
        return
    fields = dict(FIELDS[kind] for kind in given.get("kinds") or ["single"])
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    params = {
        "sessionId": turn.session.id, "mode": "form", "message": "A question for you",
        "requestedSchema": schema,
    }  # fmt: skip
    answer = turn.agent.ask("elicitation/create", params, turn)
    turn.agent.records.log("question", session=turn.session.id, answer=answer)
    turn.check()
    told: dict[str, list[str] | str] = answer.get("content") or {}
    said = [f"{name}: {', '.join(v) if isinstance(v, list) else v}" for name, v in told.items()]
    turn.say(f"You answered: {'; '.join(said)}.\n" if said else "You chose not to say.\n", WORD_SECONDS)


@play("subagent")
def _subagent(turn: Turn, given: Json) -> None:
    child = f"child-{uuid.uuid4().hex[:12]}"
    link = {"parentSessionId": turn.session.id, "childSessionId": child}
    turn.say("I give a part of the work to a subagent.\n", WORD_SECONDS)
    task = f"Write a line into {CHILD_FILE}"
    call = turn.tool("Subagent: a line of notes", "other", rawInput={"prompt": task}, _meta=link)
    turn.chunk(f"I am the subagent. My task: {task}.\n", uuid.uuid4().hex, session=child)
    edit(turn, CHILD_FILE, "A line written by a subagent.", child)
    turn.end_tool(call, _meta=link)
    turn.say("The subagent came back.\n", WORD_SECONDS)


@play("long")
def _long(turn: Turn, given: Json) -> None:
    turn.say(MARKDOWN, CHUNK_SECONDS)


@play("steer")
def _steer(turn: Turn, given: Json) -> None:
    """Count until a message comes, then do what it says."""
    message = uuid.uuid4().hex
    turn.chunk("You can steer me now: send a message while I count. ", message)
    until = time.monotonic() + STEER_SECONDS
    next_count, number = 0.0, 0
    while time.monotonic() < until:
        try:
            text = turn.session.steers.get_nowait()
        except queue.Empty:
            if time.monotonic() >= next_count:
                number += 1
                turn.chunk(f"{number} ", message)
                next_count = time.monotonic() + COUNT_SECONDS
            turn.pause(POLL_SECONDS)
            continue
        turn.say(f'You steered me: "{text[:RECALLED_CHARACTERS]}". I stop counting.\n', WORD_SECONDS)
        for row in phrases.read(text, turn.session.holds):
            if row["do"] != "steer":
                PLAYS[row["do"]](turn, row)
        return
    turn.say("Nobody steered me, so I am done.\n", WORD_SECONDS)


@play("failure")
def _failure(turn: Turn, given: Json) -> None:
    turn.say("This turn fails now, on purpose.\n", WORD_SECONDS)
    raise Rejected(INTERNAL, "A rehearsed failure: nothing is broken, and the next prompt works again.")


@play("crash")
def _crash(turn: Turn, given: Json) -> None:
    turn.chunk("I crash now, in the middle of this sen", uuid.uuid4().hex)
    leave(CRASH_CODE)


@play("slow")
def _slow(turn: Turn, given: Json) -> None:
    seconds = float(given.get("seconds", phrases.SLOW_SECONDS))
    turn.say(
        f"I am silent for {seconds:g} seconds now, as a slow model is. Stop me if you like.\n", WORD_SECONDS
    )
    turn.pause(seconds)
    turn.say("Here I am again.\n", WORD_SECONDS)


@play("recall")
def _recall(turn: Turn, given: Json) -> None:
    before = [str(m["text"]) for m in turn.session.messages if m["role"] == "user"][:-1]
    if not before:
        turn.say("This is your first prompt in this conversation.\n", WORD_SECONDS)
        return
    shown = before[-RECALLED_MAX:]
    rows = [" ".join(text.split())[:RECALLED_CHARACTERS] for text in shown]
    first = len(before) - len(shown) + 1
    told = "".join(f"{number}. {row}\n" for number, row in enumerate(rows, first))
    turn.say(f"Before this you asked:\n\n{told}", WORD_SECONDS)
