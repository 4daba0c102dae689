"""From the text of a prompt to the steps it names."""

from __future__ import annotations

import json

from podium.testkit.rehearsal.faults import STEPS
from podium.testkit.rehearsal.protocol import INTERNAL, Json
from podium.testkit.rehearsal.steps import step
from podium.testkit.rehearsal.turn import Turn

NOBODY = "I am a rehearsal agent. No model runs here: I play scripts so that you can try everything safely."


HELP = (
    ("hello", "a greeting"),
    ("think", "thoughts, then text"),
    ("plan", "a plan that gets done"),
    ("edit FILE", "asks, then really adds a line to the file"),
    ("client_edit FILE", "adds a line to the file through the client"),
    ("command CMD", "asks, then really runs the command in the workspace"),
    ("question", "asks you something"),
    ("subagent", "a child that asks too"),
    ("recall", "what this conversation holds already"),
    ("long N / flood N", "N pieces of text, gently or as fast as possible"),
    ("output BYTES / tools N / stderr BYTES", "much output"),
    ("slow SECONDS / silent / deaf SECONDS", "waits, never answers, ignores a cancel"),
    ("die CODE / die_after_last / crash_in_cancel / error CODE", "faults"),
    ("tools_open / noise / secret / unknown / duplicate / late / wake", "bad manners"),
)


@step("help")
def _help(turn: Turn, given: Json) -> None:
    turn.say(f"{NOBODY}\n\n" + "\n".join(f"- `{usage}`: {what}" for usage, what in HELP) + "\n", delay=0)


def number(words_given: str, default: float) -> float:
    try:
        return float(words_given.split(maxsplit=1)[0])
    except (ValueError, IndexError):
        return default


SCRIPT = '{"play":'
"""How a script begins; words may stand in front of it."""


def is_script(text: str) -> bool:
    """Whether a prompt ends with a script, whatever face it is shown to."""
    return SCRIPT in text


def script_for(text: str) -> list[Json]:
    """The steps a prompt names. Unknown text gets a plain answer that says what this agent is."""
    stripped = text[text.index(SCRIPT) :].strip() if is_script(text) else text.strip()
    if stripped.startswith("{"):
        try:
            play = json.loads(stripped)["play"]
            return [dict(row) for row in play]
        except (ValueError, KeyError, TypeError):
            return [{"do": "say", "text": f'{NOBODY} I need {{"play": [{{"do": ...}}]}}.'}]
    verb, _, rest = stripped.partition(" ")
    rest = rest.strip()
    plain: dict[str, list[Json]] = {
        "hello": [{"do": "say", "text": f"Hello. {NOBODY}"}],
        "think": [{"do": "think"}, {"do": "say", "text": "I thought about it."}],
        "plan": [{"do": "plan"}, {"do": "say", "text": "The plan is done."}],
        "edit": [{"do": "edit", "file": rest}],
        "client_edit": [{"do": "client_edit", "file": rest}],
        "command": [{"do": "command", "command": rest}],
        "long": [{"do": "chunks", "count": number(rest, 100), "delay": 0.01}],
        "flood": [{"do": "chunks", "count": number(rest, 1000)}],
        "output": [{"do": "output", "bytes": number(rest, 1000)}, {"do": "say", "text": "That was all."}],
        "tools": [{"do": "tools", "count": number(rest, 10)}, {"do": "say", "text": "Done."}],
        "tools_open": [
            {"do": "tools", "count": 1, "open": True},
            {"do": "say", "text": "I left a tool open."},
        ],
        "slow": [
            {"do": "say", "text": "One moment. "},
            {"do": "sleep", "seconds": number(rest, 1)},
            {"do": "say", "text": "Here I am."},
        ],
        "die": [{"do": "die", "code": number(rest, 1)}],
        "deaf": [{"do": "deaf", "seconds": number(rest, 3)}],
        "noise": [{"do": "noise"}, {"do": "say", "text": "That was noise."}],
        "unknown": [{"do": "unknown"}, {"do": "say", "text": "Did you know any of that?"}],
        "error": [{"do": "error", "code": number(rest, INTERNAL)}],
        "duplicate": [{"do": "duplicate"}, {"do": "say", "text": "I repeat myself."}],
        "stderr": [{"do": "stderr", "bytes": number(rest, 1000)}, {"do": "say", "text": "Look at stderr."}],
    }
    if verb in plain:
        return plain[verb]
    if verb in STEPS:
        return [{"do": verb}]
    return [{"do": "say", "text": f"{NOBODY} You said: {text[:200]} Type help to see my plays."}]
