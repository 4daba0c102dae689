"""What happens when an agent cannot: one ordered list of options per feature, as data (R9, F044).

The first option whose needs are met and whose choice is allowed is the answer. The last one has no needs and
says what is lost. An option with `emulates` puts something of ours in the agent's place; `strict` refuses
those. The others (a request that expires, a plan that is not shown) replace nothing and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from podium.contract.leaves import LEAVES
from podium.contract.values import Kind, least_words
from podium.policy.config import CHOICES, PolicyError

Fidelity = Literal["full", "degraded", "emulated", "none"]
Outcome = Literal[
    "native",
    "in_session",
    "reattach",
    "degraded",
    "restart",
    "new_session",
    "stop_session",
    "inferred",
    "at_terminal",
    "sandbox_only",
    "queue",
    "expire",
    "not_resumable",
    "none",
    "refuse",
]

OUTCOME_RANK: Mapping[Outcome, int] = MappingProxyType(
    {
        "native": 5,
        "in_session": 5,
        "reattach": 5,
        "degraded": 4,
        "restart": 3,
        "new_session": 3,
        "stop_session": 3,
        "inferred": 3,
        "at_terminal": 3,
        "sandbox_only": 3,
        "queue": 2,
        "expire": 0,
        "not_resumable": 0,
        "none": 0,
        "refuse": 0,
    }
)
"""How good an outcome is for the user; raising a leaf never lowers it."""

KNOWN_STEPS: frozenset[str] = frozenset(
    {
        "turn.start",
        "turn.interrupt",
        "turn.steer",
        "attempt.restart",
        "queue.append",
        "session.open",
        "session.stop",
        "session.resume",
        "session.reattach",
        "request.answer",
        "request.expire",
        "sandbox.configure",
        "item.close",
        "item.close_at_terminal",
        "terminal.take",
        "terminal.infer",
        "plan.show",
    }
)
"""The steps that the runtime has an executor for."""

STEP_ASKS: Mapping[str, str] = MappingProxyType(
    {
        "turn.start": "send_turn",
        "turn.interrupt": "interrupt_turn",
        "turn.steer": "steer_turn",
        "session.open": "open_session",
        "session.resume": "ensure_thread",
        "request.answer": "respond",
    }
)
"""The steps that send an ask to the adapter; an option with such a step needs a leaf that guards the ask."""

Need = tuple[str, str]
"""A leaf and the least it must say: native, degraded, strong, weak, or a member of a list."""


class Allowed(msgspec.Struct, frozen=True):
    """The choice that permits an option: a policy key, and the values of it that do."""

    key: str
    values: tuple[str, ...]


class Option(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One way to answer a feature. `reason` is a stable code, `consequence` tells a person what it means."""

    outcome: Outcome
    fidelity: Fidelity
    needs: tuple[Need, ...] = ()
    allowed_by: Allowed | None = None
    steps: tuple[str, ...] = ()
    emulates: bool = False
    reason: str = ""
    consequence: str = ""


class Reserved(msgspec.Struct, frozen=True):
    """A feature or choice whose name is fixed and whose executor does not exist; it is refused."""

    reason: str
    consequence: str


def _native(
    *leaves: str, steps: tuple[str, ...], outcome: Outcome = "native", best: str = "native"
) -> Option:
    return Option(outcome=outcome, fidelity="full", needs=tuple((leaf, best) for leaf in leaves), steps=steps)


def _degraded(*leaves: str, steps: tuple[str, ...]) -> Option:
    return Option(
        outcome="degraded",
        fidelity="degraded",
        needs=tuple((leaf, "degraded") for leaf in leaves),
        steps=steps,
        reason="degraded",
        consequence="The agent does this in a lesser way; its capability record says what is lost.",
    )


def _refuse(consequence: str, *, outcome: Outcome = "refuse", steps: tuple[str, ...] = ()) -> Option:
    return Option(
        outcome=outcome, fidelity="none", steps=steps, reason="unsupported", consequence=consequence
    )


def _both(*leaves: str, steps: tuple[str, ...]) -> tuple[Option, Option]:
    return _native(*leaves, steps=steps), _degraded(*leaves, steps=steps)


ROWS: Mapping[str, tuple[Option, ...]] = MappingProxyType(
    {
        "start": (
            *_both("input.text", steps=("turn.start",)),
            _refuse("This agent takes no text, so no turn can start."),
        ),
        "queue": (
            *_both("turns.queue", steps=("queue.append",)),
            _refuse("This agent takes one turn per conversation; start a new thread for the message."),
        ),
        "interrupt": (
            *_both("turns.interrupt", steps=("turn.interrupt",)),
            Option(
                outcome="stop_session",
                fidelity="emulated",
                allowed_by=Allowed("interrupt", ("stop_session",)),
                steps=("session.stop",),
                emulates=True,
                reason="interrupt_unsupported",
                consequence="The whole session is stopped; the next message starts another.",
            ),
            _refuse("The turn cannot be stopped and goes on."),
        ),
        "steer": (
            *_both("turns.steer_active", steps=("turn.steer",)),
            Option(
                outcome="restart",
                fidelity="emulated",
                needs=(("turns.steer_restart", "degraded"), ("turns.interrupt", "degraded")),
                allowed_by=Allowed("steer", ("restart",)),
                steps=("turn.interrupt", "attempt.restart"),
                emulates=True,
                reason="steering_unsupported",
                consequence="The turn is interrupted and a new attempt of the same run carries the text.",
            ),
            Option(
                outcome="queue",
                fidelity="emulated",
                needs=(("turns.queue", "degraded"),),
                allowed_by=Allowed("steer", ("restart", "queue")),
                steps=("queue.append",),
                emulates=True,
                reason="steering_unsupported",
                consequence="The message waits and starts a turn of its own when this one has ended.",
            ),
            _refuse("The running turn cannot be changed; the message is not sent."),
        ),
        "model_switch": (
            Option(
                outcome="in_session",
                fidelity="full",
                needs=(("models.switch", "native"),),
                steps=("turn.start",),
            ),
            _degraded("models.switch", steps=("turn.start",)),
            Option(
                outcome="new_session",
                fidelity="emulated",
                needs=(("lifecycle.resume", "degraded"),),
                steps=("session.stop", "session.open", "session.resume"),
                emulates=True,
                reason="model_switch_unsupported",
                consequence="A new session with the other model goes on with the same conversation.",
            ),
            _refuse("The model of this thread cannot change; start a new thread with the other model."),
        ),
        "resume": (
            *_both("lifecycle.resume", steps=("session.resume",)),
            _refuse(
                "The agent does not remember this conversation; a next turn begins without it.",
                outcome="not_resumable",
            ),
        ),
        "request_survival": (
            _native(
                "lifecycle.requests_survive_restart",
                "lifecycle.reattach",
                steps=("session.reattach",),
                outcome="reattach",
            ),
            _degraded(
                "lifecycle.requests_survive_restart", "lifecycle.reattach", steps=("session.reattach",)
            ),
            _refuse(
                "Open requests cannot be answered after a restart and expire.",
                outcome="expire",
                steps=("request.expire",),
            ),
        ),
        "approvals": (
            *_both("approvals.native_requests", steps=("request.answer",)),
            Option(
                outcome="sandbox_only",
                fidelity="degraded",
                needs=(("policy.enforcement", "degraded"),),
                steps=("sandbox.configure",),
                reason="approvals_unsupported",
                consequence="The configured sandbox alone decides what runs; nobody is asked.",
            ),
            _refuse("This agent asks nobody and nothing holds it; run it without supervision or not at all."),
        ),
        "plan_progress": (
            *_both("planning.plan_updates", steps=("plan.show",)),
            _refuse("No live plan is shown; the messages say what is done.", outcome="none"),
        ),
        "message_close": (
            *_both("output.message_completed", steps=("item.close",)),
            Option(
                outcome="at_terminal",
                fidelity="degraded",
                needs=(("turns.terminal_quality", "weak"),),
                steps=("item.close_at_terminal",),
                reason="message_completion_unsupported",
                consequence="Messages stay open until the turn ends.",
            ),
            _refuse("Messages stay open until the run is given up as unverifiable."),
        ),
        "terminal": (
            _native("turns.terminal_quality", steps=("terminal.take",), best="strong"),
            Option(
                outcome="inferred",
                fidelity="emulated",
                needs=(("turns.terminal_quality", "weak"),),
                steps=("terminal.infer",),
                emulates=True,
                reason="terminal_is_weak",
                consequence="The end of a turn is inferred and marked as weak.",
            ),
            _refuse("Nothing tells when a turn ends; such a run is unverifiable."),
        ),
        "image_input": (
            *_both("input.images", steps=("turn.start",)),
            _refuse("This agent takes no images; send the message without them."),
        ),
        "structured_questions": (
            *_both("planning.questions", "approvals.user_input", steps=("request.answer",)),
            _refuse("This agent asks no structured questions; it asks in its messages."),
        ),
    }
)
"""The features with an executor."""

RESERVED: Mapping[str, Reserved] = MappingProxyType(
    {
        "fork": Reserved("no_executor", "This conversation cannot branch; start a new thread."),
        "rollback": Reserved("no_executor", "Conversation and files cannot be taken back together."),
        "nested_checkpoint": Reserved("no_executor", "A subagent's files are not captured apart."),
        "return": Reserved("no_executor", "A thread cannot come back to an agent it has left."),
        "summariser": Reserved("no_executor", "No summary is written for a handoff."),
    }
)
"""The features whose names and choices are fixed and that are refused with `not_available_yet`."""

FEATURES: tuple[str, ...] = (*ROWS, *RESERVED)


def _need_problem(need: Need) -> str | None:
    path, least = need
    leaf = LEAVES.get(path)
    if leaf is None:
        return f"no leaf {path}"
    if leaf.kind is not Kind.LIST and least not in least_words(leaf.kind):
        return f"{path} cannot be asked for {least}"
    return None


def _option_problems(option: Option) -> list[str]:
    found = [f"no executor for {step}" for step in option.steps if step not in KNOWN_STEPS]
    found += [problem for need in option.needs if (problem := _need_problem(need))]
    if option.fidelity != "full" and not (option.reason and option.consequence):
        found.append(f"{option.outcome} has no reason or consequence")
    if option.emulates != (option.fidelity == "emulated"):
        found.append(f"{option.outcome} must be marked as what it is")
    if (allowed := option.allowed_by) and not set(allowed.values) <= set(CHOICES.get(allowed.key, ())):
        found.append(f"no choice {allowed.key} = {'|'.join(allowed.values)}")
    return found


def row_problems(feature: str, options: tuple[Option, ...]) -> list[str]:
    """What is wrong with a row, in words; an empty list is a sound row."""
    found = [problem for option in options for problem in _option_problems(option)]
    if not options or options[-1].needs or options[-1].allowed_by or options[-1].fidelity != "none":
        found.append("the last option must be the refusal, without needs")
    if any(not option.needs and not option.allowed_by for option in options[:-1]):
        found.append("only the last option may be without needs and choice")
    ranks = [OUTCOME_RANK[option.outcome] for option in options]
    if ranks != sorted(ranks, reverse=True):
        found.append("a better outcome stands below a worse one")
    return [f"{feature}: {problem}" for problem in found]


def check_rows(rows: Mapping[str, tuple[Option, ...]]) -> None:
    """Raise `PolicyError` with code `bad_rows` where a row is unsound; run when this module is imported."""
    problems = [problem for feature, options in rows.items() for problem in row_problems(feature, options)]
    if problems:
        raise PolicyError("bad_rows", f"The policy rows are unsound: {'; '.join(problems)}.")


check_rows(ROWS)
