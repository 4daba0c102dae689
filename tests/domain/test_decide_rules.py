"""Single rules of the core, each by its smallest story."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.capabilities import Capabilities
from podium.contract.errors import failure
from podium.contract.events import (
    AskFailed,
    ItemContent,
    ItemSeen,
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
    ThreadMissing,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import EnsureThread, InterruptTurn, Respond, SendTurn
from podium.contract.requests import ACCEPT, DECLINE, Answer, Option, RequestContent
from podium.domain.commands import (
    AnswerRequest,
    CreateThread,
    DeadlinePassed,
    EndSession,
    InterruptRun,
    NoteTrouble,
    SendMessage,
    SessionEnded,
    SessionOpened,
)
from podium.domain.decide import QUEUE_MAX, TEXT_MAX
from podium.domain.entities import (
    Degradation,
    Item,
    Message,
    Node,
    NoticeEntry,
    Plan,
    ProviderThread,
    Request,
    Run,
    Session,
    Turn,
)
from podium.domain.events import Event
from podium.domain.outputs import CloseBodies
from podium.domain.state import ThreadState
from podium.policy.config import Policy
from tests.domain.worlds import ABLE, PLAIN, World, handle

OPTIONS = (Option(ACCEPT, "Yes", "allow_once"), Option(DECLINE, "No", "decline"))
WHY = failure("provider", "odd", "Odd.")


def sent(world: World) -> list[SendTurn]:
    return [a for a in world.asks if isinstance(a, SendTurn)]


def ready(world: World, native: str = "n1") -> None:
    """The session opens, shakes hands and binds its conversation."""
    session = world.state.session
    assert session is not None
    world.do(SessionOpened(session.id))
    world.report(SessionReady("open"))
    bind = next(a for a in reversed(world.asks) if isinstance(a, EnsureThread))
    resumed = bind.handle is not None
    world.report(ThreadBound(bind.ask_id, native, handle(native), resumed))


def working(capabilities: Capabilities = ABLE, policy: Policy | None = None) -> World:
    """A thread whose first message is being worked on, as turn t1 of conversation n1."""
    world = World(capabilities, policy)
    world.do(SendMessage("m1", "hello"))
    ready(world)
    world.report(TurnStarted("n1", "t1"))
    return world


def a_request(world: World, key: str = "k", thread: str = "n1", turn: str = "t1") -> Request:
    world.report(RequestOpened(key, Ref(thread, turn), "command_approval", RequestContent("?"), OPTIONS))
    return world.of(Request)[-1]


def with_child(world: World) -> None:
    world.report(ItemSeen(Ref("n1", "t1", "call"), "subagent", "open"))
    item = world.of(Item)[-1]
    world.report(SubagentSeen(Ref("n1", "t1", "call"), "running", "c1", handle("c1"), "helper"), item=item.id)
    world.report(TurnStarted("c1", "ct1"))


@pytest.mark.behaviour("F248", "F049")
def test_the_barrier_closes_text_then_plans_then_children_then_requests_and_the_run_last() -> None:
    world = working()
    world.report(TextDelta(Ref("n1", "t1", "i1"), "assistant_message", "text", "Hello"))
    world.report(PlanSeen(Ref("n1", "t1"), "todo_list", (PlanStep("one"),)))
    with_child(world)
    a_request(world)
    mark = len(world.outputs)
    world.report(TurnEnded("n1", "t1", "completed"))
    outputs = world.outputs[mark:]
    assert isinstance(outputs[0], CloseBodies)
    kinds = [type(o.entity) for o in outputs if isinstance(o, Event)]
    order = [Item, Plan, Turn, Node, Request, Run]
    firsts = [kinds.index(Item), kinds.index(Plan)]
    assert firsts == sorted(firsts)
    assert kinds[-1] is Run
    last_item = max(i for i, k in enumerate(kinds) if k is Item)
    assert last_item < kinds.index(Plan) < kinds.index(Request) < len(kinds) - 1
    assert set(order) <= set(kinds)
    message = next(i for i in world.of(Item) if i.item_kind == "assistant_message")
    assert (message.state, message.closed_by) == ("completed", "barrier")
    assert world.of(Plan)[0].final


@pytest.mark.behaviour("F110", "F294")
@pytest.mark.parametrize("order", list(permutations(("child", "root", "item"))))
def test_a_child_ends_no_run_and_its_late_words_open_none(order: tuple[str, ...]) -> None:
    world = working()
    with_child(world)
    events: dict[str, ProviderEvent] = {
        "child": TurnEnded("c1", "ct1", "completed"),
        "root": TurnEnded("n1", "t1", "completed"),
        "item": ItemSeen(Ref("c1", "ct1", "ci"), "command", "completed"),
    }
    ended = False
    for word in order:
        world.report(events[word])
        ended = ended or word == "root"
        assert (world.of(Run)[0].state == "ended") == ended
    world.report(SubagentSeen(Ref("n1", "t1", "call"), "running", "c1", handle("c1")))
    assert world.of(Run)[0].outcome == "completed" and world.state.active is None
    if order.index("root") < order.index("child"):  # what the child left open is not called complete
        child = next(t for t in world.of(Turn) if not t.root)
        assert child.outcome == "unverifiable"
    assert all(n.state != "running" for n in world.of(Node))


@pytest.mark.behaviour("F109")
def test_a_child_with_a_name_is_a_provider_thread_and_one_without_a_node() -> None:
    world = working()
    with_child(world)
    child = next(p for p in world.of(ProviderThread) if p.parent_node_id)
    assert child.chain.current == handle("c1")
    node = world.store[child.parent_node_id or ""]
    assert isinstance(node, Node) and node.provider_thread_id == child.id
    other = working()
    other.report(SubagentSeen(Ref("n1", "t1", "x"), "running"))
    assert [n.node_kind for n in other.of(Node)] == ["root", "subagent"]
    assert len(other.of(ProviderThread)) == 1


@pytest.mark.behaviour("F141", "F293")
def test_a_request_of_a_child_makes_the_run_wait() -> None:
    world = working()
    with_child(world)
    request = a_request(world, thread="c1", turn="ct1")
    assert world.of(Run)[0].state == "waiting" and request.run_id == world.of(Run)[0].id
    world.do(AnswerRequest(request.id, Answer(ACCEPT)))
    assert world.of(Run)[0].state == "running"
    assert isinstance(world.asks[-1], Respond)


@pytest.mark.behaviour("F141")
def test_a_request_before_the_turn_makes_the_run_wait_and_the_turn_does_not_hide_it() -> None:
    world = World()
    world.do(SendMessage("m1", "hello"))
    ready(world)
    request = a_request(world)
    assert world.of(Run)[0].state == "waiting"
    world.report(TurnStarted("n1", "t1"))
    assert world.of(Run)[0].state == "waiting"
    world.do(AnswerRequest(request.id, Answer(DECLINE)))
    assert world.of(Run)[0].state == "running"


@pytest.mark.behaviour("F142", "F046")
@pytest.mark.parametrize(
    ("reason", "word"),
    [("exited", "process_exit"), ("keeper_lost", "not_resumable"), ("owner_lost", "not_resumable")],
)
def test_a_request_expires_with_its_process_and_says_why(reason: str, word: str) -> None:
    world = working()
    request = a_request(world)
    session = world.state.session
    assert session is not None
    world.do(SessionEnded(session.id, reason, code=1))
    assert (world.of(Request)[0].state, world.of(Request)[0].reason) == ("expired", word)
    refused = world.do(AnswerRequest(request.id, Answer(ACCEPT))).refusal
    assert refused is not None and (refused.kind, refused.code) == ("gone", "request_expired")


def test_a_repeated_request_that_was_closed_does_not_open_again() -> None:
    world = working()
    a_request(world)
    world.report(RequestClosed("k", "agent"))
    a_request(world)
    assert [r.state for r in world.of(Request)] == ["dismissed"]
    assert world.of(Run)[0].state == "running"


@pytest.mark.behaviour("F249")
def test_an_interrupt_is_an_acknowledgement_and_the_deadline_ends_by_force_once() -> None:
    world = working()
    run = world.of(Run)[0]
    world.do(InterruptRun())
    world.do(InterruptRun())
    assert sum(isinstance(a, InterruptTurn) for a in world.asks) == 1
    assert world.of(Run)[0].state == "running" and ("interrupt", run.id) in world.armed
    world.do(DeadlinePassed("interrupt", run.id))
    assert (world.of(Run)[0].outcome, world.of(Run)[0].evidence) == ("interrupted", "forced")
    world.report(TurnEnded("n1", "t1", "completed"))
    world.do(DeadlinePassed("interrupt", run.id))
    assert world.of(Run)[0].outcome == "interrupted" and len(world.stopped) == 1


@pytest.mark.behaviour("F249")
def test_a_deadline_of_a_run_that_is_over_touches_no_other() -> None:
    world = working()
    first = world.of(Run)[0]
    world.do(InterruptRun())
    world.report(TurnEnded("n1", "t1", "failed"))
    assert world.of(Run)[0].outcome == "interrupted"  # asked to stop, whatever word the agent used
    world.do(SendMessage("m2", "more"))
    world.do(DeadlinePassed("interrupt", first.id))
    assert world.of(Run)[1].state == "starting" and not world.stopped


@pytest.mark.behaviour("F051")
def test_without_an_interrupt_the_session_is_stopped_or_the_policy_refuses() -> None:
    world = working(PLAIN)
    world.do(InterruptRun())
    assert world.stopped and world.of(Degradation)[0].feature == "interrupt"
    session = world.state.session
    assert session is not None
    world.do(SessionEnded(session.id, "ended:interrupt"))
    assert (world.of(Run)[0].outcome, world.of(Run)[0].evidence) == ("interrupted", "forced")
    other = working(PLAIN, Policy(interrupt="refuse"))
    refusal = other.do(InterruptRun()).refusal
    assert refusal is not None and refusal.capability == "turns.interrupt" and refusal.policy == "interrupt"
    assert other.of(Run)[0].state == "running" and not other.stopped


@pytest.mark.behaviour("F059")
@pytest.mark.parametrize("intent", ["steer", "restart"])
def test_what_the_agent_cannot_is_a_typed_refusal(intent: str) -> None:
    world = working(PLAIN)
    refusal = world.do(SendMessage("m2", "no, that way", "steer" if intent == "steer" else "restart")).refusal
    assert refusal is not None and refusal.kind == "refused"
    assert refusal.code == "capability_missing" and refusal.capability and refusal.detail["reason"]


@pytest.mark.behaviour("F279", "F047")
def test_an_end_without_an_outcome_is_unknown_and_an_inferred_one_is_weak() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", None))
    assert world.of(Run)[0].outcome == "unverifiable"
    other = working()
    other.report(TurnEnded("n1", "t1", "completed", "inferred"))
    assert (other.of(Run)[0].evidence, other.of(Turn)[0].correlation) == ("inferred", "weak")


@pytest.mark.behaviour("F280")
def test_the_fate_of_a_prompt_is_accepted_rejected_or_unknown_and_it_is_never_sent_again() -> None:
    for end, expected in (
        ((), "unknown"),  # handed over, no word since
        (("turn",), "rejected"),  # provably never written
    ):
        world = World()
        world.do(SendMessage("m1", "hello"))
        ready(world)
        prompt = sent(world)[0]
        session = world.state.session
        assert session is not None
        world.do(SessionEnded(session.id, "keeper_lost", unsent=(prompt.ask_id,) if end else ()))
        assert world.of(Message)[0].delivery == expected
        assert world.of(Run)[0].outcome == ("cancelled" if end else "interrupted")
        assert world.state.session is None and len(sent(world)) == 1


@pytest.mark.behaviour("F280")
def test_a_refusal_of_a_prompt_that_was_taken_takes_nothing_back() -> None:
    world = working()
    world.report(AskFailed(sent(world)[0].ask_id, WHY))
    assert world.of(Message)[0].delivery == "accepted"
    assert (world.of(Run)[0].outcome, world.of(Run)[0].evidence) == ("failed", "provider")
    other = World()
    other.do(SendMessage("m1", "hello"))
    ready(other)
    other.report(AskFailed(sent(other)[0].ask_id, WHY))
    assert other.of(Message)[0].delivery == "rejected" and other.of(Run)[0].evidence == "rejected"


@pytest.mark.behaviour("F250", "F251")
def test_late_frames_of_an_ended_turn_change_nothing_of_the_next() -> None:
    world = working()
    world.report(TextDelta(Ref("n1", "t1", "i1"), "assistant_message", "text", "one"))
    world.report(TurnEnded("n1", "t1", "completed"))
    world.do(SendMessage("m2", "two"))
    world.report(TurnStarted("n1", "t2"))
    world.state = msgspec.structs.replace(world.state, known={})  # as after a restart
    before = len(world.events)
    world.report(TextDelta(Ref("n1", "t1", "i9"), "assistant_message", "text", "late"))
    world.report(TextDelta(Ref("n1", "t1", "i1"), "assistant_message", "text", "late"))
    world.report(ItemSeen(Ref("n1", "t1", "i8"), "command", "open"))
    world.report(TurnStarted("n1", "t1"))
    assert len(world.events) == before
    world.report(ItemSeen(Ref("n1", "t1", "i1"), "assistant_message", "completed", final={"text": "one."}))
    world.report(ItemSeen(Ref("n1", "t1", "i1"), "assistant_message", "open"))
    world.report(ItemSeen(Ref("n1", "t1", "i1"), "assistant_message", "failed"))
    item = next(i for i in world.of(Item) if i.item_kind == "assistant_message")
    assert item.corrected and item.state == "completed"  # corrected once, never opened, never again


@pytest.mark.behaviour("F060", "F154")
def test_prose_makes_no_plan_and_a_plan_is_one_artifact_that_changes() -> None:
    world = working()
    text = "1. read\n2. write\n3. rest"
    world.report(TextDelta(Ref("n1", "t1", "i1"), "assistant_message", "text", text))
    assert not world.of(Plan)
    world.report(PlanSeen(Ref("n1", "t1"), "todo_list", (PlanStep("read"),)))
    world.report(PlanSeen(Ref("n1", "t1"), "todo_list", (PlanStep("read", "completed"),)))
    world.report(PlanSeen(Ref("n1", "t1", "p"), "proposed_plan", text="Do it."))
    a_request(world)
    assert [(p.plan_kind, p.revision) for p in world.of(Plan)] == [("todo_list", 2), ("proposed_plan", 1)]


def test_a_turn_the_agent_began_before_the_prompt_was_sent_lets_the_prompt_wait() -> None:
    world = World()
    world.do(SendMessage("m1", "hello"))
    ready(world)
    world.report(TurnStarted("n1", "t1"))
    world.report(TurnEnded("n1", "t1", "completed"))
    session = world.state.session
    assert session is not None
    world.do(EndSession(session.id, "idle"))
    world.do(SessionEnded(session.id, "ended:idle"))
    world.do(SendMessage("m2", "again"))
    session = world.state.session
    assert session is not None
    world.do(SessionOpened(session.id))
    world.report(SessionReady("open"))
    world.report(TurnStarted("n1", "own"))  # before the resume is answered
    user, agent = world.of(Run)[1], world.of(Run)[2]
    assert (user.state, agent.origin, agent.state) == ("queued", "agent", "running")
    bind = next(a for a in reversed(world.asks) if isinstance(a, EnsureThread))
    world.report(ThreadBound(bind.ask_id, "n1", handle("n1"), True))
    assert len(sent(world)) == 1
    world.report(TurnEnded("n1", "own", "completed"))
    assert world.of(Run)[1].state == "starting" and len(sent(world)) == 2


def test_a_second_turn_beside_an_open_one_belongs_to_the_same_run() -> None:
    world = working()
    world.report(TextDelta(Ref("n1", "t1", "i1"), "assistant_message", "text", "one"))
    world.report(TurnStarted("n1", "t2"))
    assert [(t.state, t.outcome) for t in world.of(Turn)] == [("ended", "unverifiable"), ("running", None)]
    world.report(TurnEnded("n1", "t1", "completed"))
    assert world.of(Run)[0].state == "running"
    world.report(TurnEnded("n1", "t2", "completed"))
    assert len(world.of(Run)) == 1 and world.of(Run)[0].outcome == "completed"


def test_a_message_sent_while_an_idle_session_leaves_is_not_lost_with_it() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    session = world.state.session
    assert session is not None
    world.do(EndSession(session.id, "idle"))
    world.do(SendMessage("m2", "wait for me"))
    assert world.of(Run)[1].state == "queued"
    world.do(SessionEnded(session.id, "ended:idle"))
    assert world.of(Run)[1].state == "starting"
    ready(world)
    assert len(sent(world)) == 2


@pytest.mark.behaviour("F177")
def test_a_lost_conversation_is_said_and_only_a_wish_begins_anew() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    session = world.state.session
    assert session is not None
    world.do(SessionEnded(session.id, "exited", code=0))
    world.do(SendMessage("m2", "go on"))
    session = world.state.session
    assert session is not None
    world.do(SessionOpened(session.id))
    world.report(SessionReady("open"))
    bind = world.asks[-1]
    assert isinstance(bind, EnsureThread) and bind.handle == handle("n1")
    world.report(ThreadMissing(bind.ask_id, "missing", WHY))
    assert world.of(Run)[1].outcome == "failed" and world.of(Message)[1].delivery == "rejected"
    refusal = world.do(SendMessage("m3", "go on")).refusal
    assert refusal is not None and refusal.code == "conversation_missing"
    world.do(SendMessage("m3", "go on", fresh=True))
    bind = world.asks[-1]
    assert isinstance(bind, EnsureThread) and bind.handle is None
    assert any(n.code == "context_lost" for n in world.of(NoticeEntry))


def test_a_resume_that_comes_back_as_another_conversation_is_said() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    session = world.state.session
    assert session is not None
    world.do(SessionEnded(session.id, "exited", code=0))
    world.do(SendMessage("m2", "go on"))
    ready(world, "n2")
    assert any(n.code == "conversation_replaced" for n in world.of(NoticeEntry))


@pytest.mark.behaviour("F176")
def test_a_second_handshake_narrows_and_never_widens() -> None:
    world = working()
    no = {"support": "unsupported", "reason": "off"}
    world.report(SessionReady("open", narrowed={"turns.interrupt": no}))
    world.report(
        SessionReady("open", narrowed={"turns.interrupt": {"support": "native"}, "input.images": no})
    )
    session = world.of(Session)[0]
    assert set(session.narrowed) == {"turns.interrupt", "input.images"}
    assert ABLE.narrowed(session.narrowed).value("turns.interrupt") == ABLE.narrowed(
        {"turns.interrupt": no}
    ).value("turns.interrupt")


def test_a_handshake_that_cannot_be_read_ends_the_session_with_a_reason() -> None:
    world = World()
    world.do(SendMessage("m1", "hello"))
    session = world.state.session
    assert session is not None
    world.do(SessionOpened(session.id))
    world.report(SessionReady("open", narrowed={"no.such_leaf": 1}))
    run = world.of(Run)[0]
    assert run.outcome == "failed" and run.failure is not None and run.failure.code == "handshake_unreadable"
    assert world.stopped == [session.id]


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("", "bad_input", "prompt_empty"),
        (" \n", "bad_input", "prompt_empty"),
        ("x" * (TEXT_MAX + 1), "bad_input", "prompt_too_long"),
        ("half \udcff", "bad_input", "text_invalid"),
    ],
)
def test_a_prompt_that_cannot_be_sent_is_refused_with_a_way_out(text: str, kind: str, code: str) -> None:
    refusal = World().do(SendMessage("m", text)).refusal
    assert refusal is not None and (refusal.kind, refusal.code) == (kind, code) and refusal.fix


def test_the_queue_has_a_bound_and_says_so() -> None:
    world = working()
    for number in range(QUEUE_MAX):
        assert world.do(SendMessage(f"q{number}", "x")).refusal is None
    refusal = world.do(SendMessage("one more", "x")).refusal
    assert refusal is not None and refusal.code == "queue_full"


def test_a_new_conversation_begins_only_where_no_run_works() -> None:
    world = working()
    refusal = world.do(SendMessage("m2", "anew", fresh=True)).refusal
    assert refusal is not None and refusal.code == "run_active"
    assert world.do(CreateThread("/w", "a", "zz-fake")).refusal is not None


def test_reports_about_a_thread_that_is_not_there_change_nothing() -> None:
    world = World()
    world.state = ThreadState()
    assert not world.do(NoteTrouble("error", "x", "x")).outputs
    assert not world.do(DeadlinePassed("stuck", "run_x")).outputs


@pytest.mark.behaviour("F255")
@given(
    st.lists(
        st.sampled_from(["send", "end", "fail", "cancel_first", "cancel_last", "interrupt"]), max_size=30
    )
)
def test_the_queue_is_the_simplest_queue(moves: list[str]) -> None:
    """Against a list: the head works, the rest waits in order, each end starts one."""
    world = World()
    world.do(SendMessage("m0", "x"))
    ready(world)
    model = ["m0"]
    for number, move in enumerate(moves, 1):
        client = {m.run_id: m.client_id for m in world.of(Message)}
        of_client = {c: r for r, c in client.items()}
        if move == "send":
            world.do(SendMessage(f"m{number}", "x"))
            model.append(f"m{number}")
        elif move in ("end", "fail") and model:
            world.report(TurnAccepted(sent(world)[-1].ask_id, "n1", f"t{number}"))
            world.report(TurnEnded("n1", f"t{number}", "completed" if move == "end" else "failed"))
            model.pop(0)
        elif move == "cancel_first" and len(model) > 1:
            world.do(InterruptRun(of_client[model.pop(1)]))
        elif move == "cancel_last" and len(model) > 1:
            world.do(InterruptRun(of_client[model.pop()]))
        elif move == "interrupt" and model:
            world.report(TurnAccepted(sent(world)[-1].ask_id, "n1", f"t{number}"))
            world.do(InterruptRun())
            world.report(TurnEnded("n1", f"t{number}", "interrupted"))
            model.pop(0)
        client = {m.run_id: m.client_id for m in world.of(Message)}
        active = world.state.active
        line = ([active] if active else []) + world.state.queue
        assert [client[r.id] for r in line] == model
    texts = {m.id: m.client_id for m in world.of(Message)}
    order = [int(texts[a.client_id][1:]) for a in sent(world)]
    assert order == sorted(order)


@pytest.mark.behaviour("F275")
def test_positions_are_given_once_and_in_the_order_of_beginning() -> None:
    world = working()
    for name in ("b", "a", "c"):
        world.report(ItemSeen(Ref("n1", "t1", name), "command", "open", ItemContent(command=name)))
    for name in ("c", "b", "a"):
        world.report(ItemSeen(Ref("n1", "t1", name), "command", "completed"))
    commands = [i for i in world.of(Item) if i.item_kind == "command"]
    assert [(i.position, i.content.command) for i in commands] == [(2, "b"), (3, "a"), (4, "c")]
