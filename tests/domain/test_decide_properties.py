"""Any order of commands, provider events and shell reports, sane or not, against what must always hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    BackgroundSeen,
    ContextCleared,
    DiffSeen,
    ItemContent,
    ItemKind,
    ItemSeen,
    ItemState,
    Limited,
    Notice,
    OpaqueSeen,
    PlanSeen,
    PlanStep,
    ProviderEvent,
    Ref,
    RequestClosed,
    RequestOpened,
    SessionReady,
    SubagentSeen,
    TextDelta,
    ThreadBound,
    ThreadChanged,
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageSeen,
)
from podium.contract.requests import ACCEPT, DECLINE, Answer, Option, RequestContent
from podium.domain.commands import (
    AnswerRequest,
    ArchiveThread,
    Captured,
    CreateThread,
    DeadlinePassed,
    EndSession,
    InterruptRun,
    NoteTrouble,
    SendMessage,
    SessionEnded,
    SessionFailed,
    SessionOpened,
)
from podium.domain.entities import Request, Run, Session
from tests.domain.worlds import ABLE, PLAIN, World, handle

WHY = failure("provider", "odd", "Something odd.")
OPTIONS = (Option(ACCEPT, "Yes", "allow_once"), Option(DECLINE, "No", "decline"))
THREADS = ("n1", "n1", "n1", "n2", "c1", "c2")
TURNS: tuple[str, ...] = ("t1", "t2", "t3", "t4")
KINDS: tuple[ItemKind, ...] = ("assistant_message", "command", "user_message", "subagent")
STATES: tuple[ItemState, ...] = ("open", "completed", "failed", "open", "interrupted")
REASONS = ("exited", "owner_lost", "keeper_lost", "ended:idle", "ended:interrupt", "ended:no_host")
OUTCOMES = ("completed", "interrupted", "failed", None)

Move = Callable[[World, int, int, int], object]


def pick(values: tuple[str, ...], at: int) -> str:
    return values[at % len(values)]


def ref(a: int, b: int, c: int) -> Ref:
    return Ref(pick(THREADS, a), (*TURNS, None)[b % 5], (None, "i1", "i2", "i3")[c % 4])


def session_of(world: World, at: int) -> str:
    """Mostly the session that is there, now and then one that is gone."""
    known = [s.id for s in world.of(Session)]
    current = world.state.session
    if at % 8 or current is None:
        return current.id if current else "ses_none"
    return known[0] if known else "ses_none"


def an_ask(world: World, at: int) -> str:
    return world.asks[at % len(world.asks)].ask_id if world.asks else "turn:nobody"


def last_ask(world: World, word: str) -> str:
    found = [a.ask_id for a in world.asks if a.ask_id.startswith(word)]
    return found[-1] if found else f"{word}:nobody"


def a_run(world: World, at: int) -> str:
    runs = world.of(Run)
    return runs[-1 - at % len(runs)].id if runs else "run_none"


def says(make: Callable[[World, int, int, int], ProviderEvent]) -> Move:
    return lambda w, a, b, c: w.report(make(w, a, b, c), session=session_of(w, a + b + c + 1))


def send(world: World, a: int, b: int, c: int) -> object:
    intent = ("auto", "auto", "auto", "queue", "start", "steer", "restart")[b % 7]
    text = ("hello", "", "\ud800", "more")[c % 4 if c > 5 else 0]
    return world.do(SendMessage(f"m{world.commands}", text, intent, fresh=a == 7 and c == 7))


def opened(world: World, a: int, b: int, c: int) -> object:
    """The shell reports once that a process runs."""
    current = world.state.session
    if current is None or current.state != "opening" or any(current.id in x.ask_id for x in world.asks):
        return None
    return world.do(SessionOpened(current.id))


def answer(world: World, a: int, b: int, c: int) -> object:
    requests = world.of(Request)
    key = requests[-1 - a % len(requests)].id if requests else "req_none"
    return world.do(AnswerRequest(key, Answer((ACCEPT, DECLINE, "other")[b % 3])))


def deadline(world: World, a: int, b: int, c: int) -> object:
    names = ("interrupt", "stuck", "start")
    armed = sorted(world.armed)
    if c % 2 and armed:
        name, run = armed[a % len(armed)]
        return world.do(DeadlinePassed("interrupt" if name == "interrupt" else "start", run))
    return world.do(DeadlinePassed(names[b % 3], a_run(world, a)))


def captured(world: World, a: int, b: int, c: int) -> object:
    """Mostly the oldest capture that is awaited, now and then one that is none or no more."""
    pending = [k for k, v in world.state.checkpoints.items() if v.state == "pending"]
    key = (
        pending[0]
        if pending and c != 7
        else (world.capturing or ["chk_none"])[a % max(1, len(world.capturing))]
    )
    return world.do(Captured(key, {"tree": "t"}, "c", "/w", b != 1, WHY if b == 0 else None))


MOVES: dict[str, Move] = {
    "captured": captured,
    "captured_again": captured,
    "send": send,
    "interrupt": lambda w, a, b, c: w.do(InterruptRun(a_run(w, a) if b % 2 else None)),
    "answer": answer,
    "archive": lambda w, a, b, c: w.do(ArchiveThread(a % 3 == 0)),
    "create": lambda w, a, b, c: w.do(CreateThread("/x", "agent", "zz-fake")),
    "opened": opened,
    "failed": lambda w, a, b, c: w.do(SessionFailed(session_of(w, a), WHY)),
    "ended": lambda w, a, b, c: w.do(
        SessionEnded(session_of(w, a), pick(REASONS, b), unsent=(last_ask(w, "turn"),) if c % 4 == 0 else ())
    ),
    "end": lambda w, a, b, c: w.do(EndSession(session_of(w, a), "idle")),
    "deadline": deadline,
    "note": lambda w, a, b, c: w.do(NoteTrouble("warning", "odd", "odd")),
    "ready": says(
        lambda w, a, b, c: SessionReady(
            "open", "1.0", {} if b % 2 else {"turns.interrupt": {"support": "unsupported", "reason": "no"}}
        )
    ),
    "odd_ready": says(lambda w, a, b, c: SessionReady("open", None, {"no.such_leaf": 1})),
    "bound": says(
        lambda w, a, b, c: ThreadBound(
            last_ask(w, "bind") if b % 4 else None, pick(THREADS, c), handle(pick(THREADS, c)), a % 2 == 0
        )
    ),
    "missing": says(lambda w, a, b, c: ThreadMissing(last_ask(w, "bind"), "missing", WHY)),
    "changed": says(lambda w, a, b, c: ThreadChanged(pick(THREADS, a), "m2")),
    "accepted": says(
        lambda w, a, b, c: TurnAccepted(
            last_ask(w, "turn") if a % 4 else an_ask(w, b), pick(THREADS, a), (*TURNS, None)[c % 5]
        )
    ),
    "started": says(lambda w, a, b, c: TurnStarted(pick(THREADS, a), pick(TURNS, b))),
    "turn_ended": says(
        lambda w, a, b, c: TurnEnded(
            pick(THREADS, a), pick(TURNS, b), OUTCOMES[c % 4], "inferred" if c > 5 else "provider"
        )
    ),
    "item": says(
        lambda w, a, b, c: ItemSeen(
            ref(a, b, c),
            KINDS[c % 4],
            STATES[(a + b) % 5],
            ItemContent(title="x"),
            {"text": "t"} if c % 3 else {},
        )
    ),
    "delta": says(lambda w, a, b, c: TextDelta(ref(a, b, c), KINDS[c % 4], "text", "more ")),
    "plan": says(
        lambda w, a, b, c: PlanSeen(
            ref(a, b, c), "todo_list" if c % 2 else "proposed_plan", (PlanStep(f"s{c}"),)
        )
    ),
    "usage": says(
        lambda w, a, b, c: UsageSeen(
            pick(THREADS, a), pick(TURNS, b), Usage(input=c), key=str(c) if c % 2 else None
        )
    ),
    "diff": says(lambda w, a, b, c: DiffSeen(pick(THREADS, a), pick(TURNS, b), f"diff {c}")),
    "request": says(
        lambda w, a, b, c: RequestOpened(
            f"k{c % 3}", ref(a, b, c), "command_approval", RequestContent("May it?"), OPTIONS, ref(a, b, c)
        )
    ),
    "request_closed": says(
        lambda w, a, b, c: RequestClosed(f"k{c % 3}", "agent", ("", "process_exit")[b % 2])
    ),
    "child": says(
        lambda w, a, b, c: SubagentSeen(
            ref(0, b, c),
            ("running", "completed", "failed", "unknown")[a % 4],
            ("c1", "c2")[b % 2],
            handle(("c1", "c2")[b % 2]) if c % 2 else None,
        )
    ),
    "background": says(lambda w, a, b, c: BackgroundSeen(pick(THREADS, a), (ref(a, b, c),))),
    "cleared": says(
        lambda w, a, b, c: ContextCleared(pick(THREADS, a), handle(pick(THREADS, b)) if c % 2 else None)
    ),
    "ask_done": says(lambda w, a, b, c: AskDone(an_ask(w, a))),
    "ask_failed": says(lambda w, a, b, c: AskFailed(an_ask(w, a) if b % 4 else "nonsense", WHY)),
    "stop_failed": says(
        lambda w, a, b, c: AskFailed(last_ask(w, "stop"), failure("provider", "no_active_turn", "None."))
    ),
    "limited": says(lambda w, a, b, c: Limited("model", float(c))),
    "notice": says(lambda w, a, b, c: Notice("info", "n", "x" * 9000, pick(THREADS, a), pick(TURNS, b))),
    "opaque": says(
        lambda w, a, b, c: OpaqueSeen("new/thing", {"a": "x" * (20000 if c == 7 else 1)}, pick(THREADS, a))
    ),
}

BEGIN = ("send", "captured", "opened", "ready", "bound")
"""What brings a thread to a prompt that was sent; half of the stories begin so."""

small = st.integers(0, 7)
story = st.lists(st.tuples(st.sampled_from(sorted(MOVES)), small, small, small), max_size=45)


def play(world: World, begun: bool, moves: list[tuple[str, int, int, int]]) -> None:
    if begun:
        for name in BEGIN:
            MOVES[name](world, 1, 1, 0)
    for name, a, b, c in moves:
        MOVES[name](world, a, b, c)


@pytest.mark.behaviour("F107", "F110", "F142", "F249", "F250", "F251", "F255", "F279", "F280")
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(begun=st.booleans(), able=st.booleans(), captures=st.booleans(), moves=story)
def test_whatever_comes_the_core_keeps_its_rules(
    begun: bool, able: bool, captures: bool, moves: list[tuple[str, int, int, int]]
) -> None:
    play(World(ABLE if able else PLAIN, captures=captures), begun, moves)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(moves=story, begun=st.booleans(), captures=st.booleans())
def test_after_any_story_a_lost_process_leaves_nothing_open(
    begun: bool, captures: bool, moves: list[tuple[str, int, int, int]]
) -> None:
    world = World(ABLE, captures=captures)
    play(world, begun, moves)
    for _ in range(300):
        for key in [k for k, v in world.state.checkpoints.items() if v.state == "pending"]:
            world.do(Captured(key, {"tree": "t"}, "c", "/w"))
        session = world.state.session
        if session is None:
            break
        world.do(SessionEnded(session.id, "exited", code=1))
    state = world.state
    assert not state.checkpoints
    assert not (state.runs or state.items or state.turns or state.nodes or state.requests or state.attempts)
    assert all(r.state == "ended" and r.outcome for r in world.of(Run))


@pytest.mark.behaviour("F281")
@settings(max_examples=60)
@given(moves=story)
def test_the_same_story_gives_the_same_ids(moves: list[tuple[str, int, int, int]]) -> None:
    one, other = World(ABLE, captures=True), World(ABLE, captures=True)
    play(one, True, moves)
    play(other, True, moves)
    assert one.outputs == other.outputs and one.store == other.store
