"""What an agent may ask of a person, and what a person may answer.

Options carry our own ids and labels (decision 0004): the adapter translates a chosen option into what its
agent expects, so that a changed native label never changes a button (F145, F148).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

ACCEPT = "accept"
"""Every approval offers this option: allow this one action."""

DECLINE = "decline"
"""Every approval offers this option: do not act; the agent goes on."""

RequestKind = Literal[
    "command_approval",
    "file_change_approval",
    "file_read_approval",
    "permission_approval",
    "tool_approval",
    "question",
    "elicitation",
    "plan_decision",
    "unknown",
]

OptionEffect = Literal["allow_once", "allow_session", "allow_always", "decline", "cancel", "other"]


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One offered decision. `effect` says how far it reaches; a one-time answer is never a standing rule."""

    id: str
    label: str
    effect: OptionEffect
    native_label: str | None = None


class QuestionOption(msgspec.Struct, frozen=True, omit_defaults=True):
    """One offered answer to a question; its label is what the agent is told."""

    label: str
    description: str = ""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question of a form. Answers are positional: answers[i] answers questions[i] (F144)."""

    id: str
    text: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multiple: bool = False
    free_text: bool = True
    secret: bool = False
    required: bool = True


class RequestContent(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is asked, in the words a person needs to decide.

    `payload` keeps what the adapter has no field for, bounded and masked, so that an unknown kind is still a
    card and never silence.
    """

    title: str = ""
    reason: str | None = None
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    diff: str | None = None
    questions: tuple[Question, ...] = ()
    payload: dict[str, Any] | None = None


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision: the id of an offered option. Questions take `answers`, one list for each question."""

    decision: str
    answers: tuple[tuple[str, ...], ...] | None = None
    text: str | None = None
    updated_input: dict[str, Any] | None = None
