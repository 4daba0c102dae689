"""What a face may offer is what decide then does: in any state, for any agent and policy (F114, F220)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.capabilities import Capabilities
from podium.contract.events import SessionReady, ThreadBound, TurnAccepted, TurnStarted
from podium.contract.inputs import InterruptTurn
from podium.contract.requests import Answer
from podium.domain.affordances import Affordance, Affordances, Seen, affordances
from podium.domain.commands import (
    AnswerRequest,
    ArchiveThread,
    Captured,
    InterruptRun,
    SendMessage,
    SessionEnded,
    SessionOpened,
)
from podium.domain.decide import Decision, decide
from podium.domain.entities import Checkpoint, Message, Plan, Request, Run
from podium.domain.events import Event
from podium.domain.outputs import AskAgent, StopSession
from podium.policy.config import CHOICES, Policy
from podium.policy.resolve import resolve
from podium.providers.scripted import adapter, one_shot, weak
from tests.domain.test_decide_properties import BEGIN, MOVES, WHY, last_ask, story
from tests.domain.worlds import PLAIN, World, handle

VERSION = "1.0.0"
AGENTS: dict[str, Capabilities] = {
    "rich": adapter.capabilities().effective(VERSION),
    "rich, unproven": adapter.capabilities().effective("9.9.9"),
    "weak": weak().capabilities().effective(VERSION),
    "one_shot": one_shot().capabilities().effective(VERSION),
    "minimal": PLAIN,
}
SHAPES = ("rich", "weak", "one_shot")

policies = st.builds(
    Policy,
    interrupt=st.sampled_from(CHOICES["interrupt"]),
    steer=st.sampled_from(CHOICES["steer"]),
    strict=st.booleans(),
)


def seen_of(world: World) -> Seen:
    return Seen(
        tuple(world.of(Run)), tuple(world.of(Request)), tuple(world.of(Checkpoint)), bool(world.of(Plan))
    )


def shown(world: World) -> Affordances:
    return affordances(world.state, world.capabilities, world.policy, seen_of(world))


def tried(world: World, command: Any) -> Decision:
    """What decide would do; nothing is done."""
    return decide(world.state, command, world.facts())


def sent(world: World, intent: Any) -> Decision:
    return tried(world, SendMessage("probe", "words", intent))


def every(found: Any) -> list[Affordance]:
    """Every affordance in a whole."""
    if isinstance(found, Affordance):
        return [found]
    if isinstance(found, msgspec.Struct):
        return [a for name in found.__struct_fields__ for a in every(getattr(found, name))]
    held: tuple[Any, ...] = () if isinstance(found, str) else found
    return [a for each in held for a in every(each)]


def check_reasons(world: World, found: Affordances) -> None:
    assert affordances(world.state, world.capabilities, world.policy, seen_of(world)) == found
    assert len(every(found)) >= 9
    for each in every(found):
        assert each.code and each.reason.strip() and each.reason[0].isupper(), each
        if each.state == "fallback":
            assert each.consequence and each.outcome, each
        if each.capability:
            assert each.standing, each
    for request in found.requests:
        assert request.code and request.reason
    assert {r.request for r in found.requests} == {r.id for r in world.of(Request)}
    assert {f.source for f in found.fork} >= {"thread"} and all(f.how.state == "disabled" for f in found.fork)


def check_messages(world: World, found: Affordances) -> None:
    """Each intent against what decide does with it."""
    message, decision = found.message, sent(world, "auto")
    said = {
        "start": message.start,
        "steer": message.steer,
        "restart": message.restart,
        "queue": message.queue,
    }
    if decision.refusal is not None:
        assert message.means == "none" and message.auto.state == "disabled"
        assert message.auto.code == decision.refusal.code
    elif message.means != "none":
        made = [o.entity for o in decision.outputs if isinstance(o, Event) and isinstance(o.entity, Message)]
        assert made[0].intent == message.means
        assert message.auto.state != "disabled"
    else:  # decide takes it, and the agent cannot do anything with it
        leaf = "turns.queue" if world.state.active or world.state.queue else "input.text"
        assert not world.capabilities.has(leaf) and message.auto.capability == leaf
    idle = world.state.active is None and not world.state.queue
    for intent, how in said.items():
        refusal = sent(world, intent).refusal
        if refusal is not None:
            assert how.state == "disabled", (intent, how, refusal)
        elif how.state == "disabled":
            nothing_to_wait_for = intent == "queue" and idle
            assert nothing_to_wait_for or how.capability in ("turns.queue", "input.text"), (intent, how)
    refused = sent(world, "steer").refusal
    if refused is not None and refused.capability:
        assert message.steer.capability == refused.capability and message.steer.policy == (
            refused.policy or ""
        )


def check_interrupt(world: World, found: Affordances) -> None:
    """The three forms against what an interrupt does."""
    decision = tried(world, InterruptRun())
    match found.interrupt.state:
        case "unavailable":
            assert found.interrupt.how.state == "disabled"
            assert decision.refusal is not None or not decision.outputs
        case "available":
            assert found.interrupt.how.state == "available"
            assert decision.refusal is None and decision.outputs
            stops = [o for o in decision.outputs if isinstance(o, StopSession)]
            asks = [
                o for o in decision.outputs if isinstance(o, AskAgent) and isinstance(o.ask, InterruptTurn)
            ]
            assert asks or found.interrupt.how.code == "not_sent" or not world.state.session
            assert not stops or found.interrupt.how.code == "not_sent"
        case "destructive_fallback":
            assert found.interrupt.how.state == "fallback" and found.interrupt.how.consequence
            assert decision.refusal is None and decision.outputs


def check_requests(world: World, found: Affordances) -> None:
    held = {r.id: r for r in world.of(Request)}
    for each in found.requests:
        request = held[each.request]
        decision = tried(world, AnswerRequest(request.id, Answer(request.options[0].id)))
        assert (each.state == "respondable") == (request.state == "pending")
        if each.state == "respondable":
            assert decision.refusal is None
        else:
            assert decision.refusal is not None and decision.refusal.code in (
                "request_expired",
                "request_answered",
            )


def check_rest(world: World, found: Affordances) -> None:
    archived = world.state.thread is not None and world.state.thread.archived
    decision = tried(world, ArchiveThread(not archived))
    assert (found.archive.state == "available") == (decision.refusal is None)
    held = {c.id: c for c in world.of(Checkpoint)}
    assert [r.checkpoint for r in found.rollback] == list(held)
    for each in found.rollback:
        ready = held[each.checkpoint].state == "ready"
        assert (each.files.state == "available") == ready
        assert each.conversation.state == "disabled" and each.provider_conversation == "unsupported"
    there = bool(world.of(Plan))
    able = not resolve("plan_progress", world.capabilities, world.policy).refused
    assert (found.plan_panel.state != "disabled") == (there and able)


def check(world: World) -> None:
    found = shown(world)
    check_reasons(world, found)
    check_messages(world, found)
    check_interrupt(world, found)
    check_requests(world, found)
    check_rest(world, found)


@pytest.mark.behaviour("F114", "F142", "F220")
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    agent=st.sampled_from(sorted(AGENTS)),
    policy=policies,
    begun=st.booleans(),
    captures=st.booleans(),
    moves=story,
)
def test_what_is_offered_is_what_happens(
    agent: str, policy: Policy, begun: bool, captures: bool, moves: list[tuple[str, int, int, int]]
) -> None:
    world = World(AGENTS[agent], policy, captures=captures)
    check(world)
    first = [(name, 1, 1, 0) for name in BEGIN] if begun else []
    for name, a, b, c in [*first, *moves]:
        MOVES[name](world, a, b, c)
        check(world)


def at_work(agent: str, policy: Policy | None = None) -> World:
    """A world in which a turn of this agent runs."""
    world = World(AGENTS[agent], policy)
    world.do(SendMessage("m1", "hello"))
    session = world.state.session
    assert session is not None
    world.do(SessionOpened(session.id))
    world.report(SessionReady("open", VERSION))
    world.report(ThreadBound(last_ask(world, "bind"), "n1", handle("n1")))
    world.report(TurnAccepted(last_ask(world, "turn"), "n1", "t1"))
    world.report(TurnStarted("n1", "t1"))
    return world


@pytest.mark.behaviour("F114")
@pytest.mark.parametrize(
    ("agent", "policy", "form", "code"),
    [
        ("rich", Policy(), "available", "native"),
        ("one_shot", Policy(), "destructive_fallback", "interrupt_unsupported"),
        ("one_shot", Policy(interrupt="refuse"), "unavailable", "refused_by_policy"),
        ("one_shot", Policy(strict=True), "unavailable", "refused_by_strict"),
    ],
)
def test_an_interrupt_has_three_forms(agent: str, policy: Policy, form: str, code: str) -> None:
    world = at_work(agent, policy)
    found = shown(world).interrupt
    assert (found.state, found.how.code, found.how.capability) == (form, code, "turns.interrupt")
    check(world)


def test_a_run_whose_prompt_was_not_sent_can_be_stopped_whatever_the_agent_can() -> None:
    world = World(AGENTS["one_shot"], Policy(interrupt="refuse"))
    assert shown(world).interrupt.state == "unavailable"
    world.do(SendMessage("m1", "hello"))
    found = shown(world).interrupt
    assert (found.state, found.how.code) == ("available", "not_sent")
    world.do(InterruptRun())
    assert world.of(Run)[0].outcome == "cancelled"


@pytest.mark.behaviour("F220")
@pytest.mark.parametrize("agent", SHAPES)
def test_the_shapes_differ_where_their_records_do(agent: str) -> None:
    message = shown(at_work(agent)).message
    told = (message.means, message.steer.state, message.restart.state, message.queue.state)
    wanted = {
        "rich": ("steer", "available", "fallback", "available"),
        "weak": ("queue", "fallback", "fallback", "available"),
        "one_shot": ("queue", "fallback", "disabled", "available"),
    }
    assert told == wanted[agent]


def test_a_thread_that_takes_no_message_says_why() -> None:
    from podium.domain.decide import QUEUE_MAX

    world = at_work("rich")
    for number in range(QUEUE_MAX):
        world.do(SendMessage(f"q{number}", "wait", "queue"))
    found = shown(world).message
    assert (found.means, found.auto.code) == ("none", "queue_full")
    check(world)


@pytest.mark.behaviour("F142")
def test_a_request_is_respondable_until_its_agent_is_gone() -> None:
    world = at_work("rich")
    MOVES["request"](world, 0, 0, 1)
    assert [r.state for r in shown(world).requests] == ["respondable"]
    session = world.state.session
    assert session is not None
    world.do(SessionEnded(session.id, "exited", code=1))
    (found,) = shown(world).requests
    assert found.state == "expired" and found.reason


@pytest.mark.parametrize("state", ["pending", "failed", "stale", "ready"])
def test_only_what_was_captured_can_go_back(state: Any) -> None:
    trouble = WHY if state == "failed" else None
    held = Checkpoint(id="chk", thread_id="thr", moment="end", state=state, trouble=trouble)
    found = affordances(World().state, AGENTS["rich"], Policy(), Seen(checkpoints=(held,))).rollback[0]
    assert (found.files.state == "available") == (state == "ready")
    assert found.files.code == {"ready": "captured", "failed": "odd"}.get(state, f"checkpoint_{state}")
    assert found.conversation.code == "not_available_yet"


def test_a_started_capture_is_no_ready_one() -> None:
    world = World(AGENTS["rich"], captures=True)
    world.do(SendMessage("m1", "hello"))
    assert [r.files.code for r in shown(world).rollback] == ["checkpoint_pending"]
    world.do(Captured(world.capturing[0], {"tree": "t"}, "c", "/w"))
    assert [r.files.code for r in shown(world).rollback] == ["captured"]
