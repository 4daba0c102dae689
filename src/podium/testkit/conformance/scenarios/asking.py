"""What an agent asks of a person, and whether it holds to the answers."""

from __future__ import annotations

from podium.contract.events import PlanSeen, RequestOpened, SubagentSeen, TextDelta
from podium.contract.requests import DECLINE, Answer
from podium.contract.values import LEVEL_NONE
from podium.testkit.conformance.moves import Command, Delegate, Edit, Propose, Question, Say, Todo
from podium.testkit.conformance.play import Play, steady, trust
from podium.testkit.conformance.scenario import scenario
from podium.testkit.conformance.stage import Setting

STEPS = ("Look around", "Do the work", "Look again")
WRITE = Command("echo made > made.txt")


@scenario("requests")
def requests(play: Play) -> None:
    thread = play.thread()
    asked: list[RequestOpened] = []
    for moves in ((Command("echo one > one.txt"),), (Edit("hello.txt", "alpha", "omega"),)) * 2:
        asked += thread.turn(*moves, Say("Done.")).of(RequestOpened)
    keys = [request.key for request in asked]
    play.shows("approvals.native_request_ids", len(keys) > 1 and steady(keys), keys)
    play.shows("identity.request", trust(play, keys) if len(keys) > 1 else LEVEL_NONE, keys)


@scenario("read_only")
def read_only(play: Play) -> None:
    """In the mode `read` nothing is written, whatever the model wants."""
    space = play.stage.workspace
    turn = play.thread(mode="read").send(WRITE, Edit("hello.txt", "alpha", "omega"), Say("I tried."))
    # Without a yes from anybody, whatever is written was written unasked.
    turn.finish(Answer(DECLINE))
    kept = "alpha" in (space / "hello.txt").read_text() and not (space / "made.txt").exists()
    play.shows("policy.enforcement", kept, "the mode `read` let it write")


@scenario("modes")
def modes(play: Play) -> None:
    thread = play.thread()
    moves = (Edit("hello.txt", "alpha", "omega"), WRITE, Say("Done."))
    asked = thread.turn(*moves, mode="ask").of(RequestOpened)
    (play.stage.workspace / "hello.txt").write_text("alpha\nsecond\n")
    turn = thread.turn(*moves, mode="full")
    free = turn.of(RequestOpened)
    play.shows("lifecycle.mode_switch", bool(asked) and not free, f"asked {len(asked)}, then {len(free)}")
    play.shows("lifecycle.mode_switch", (play.stage.workspace / "made.txt").exists(), "it did not run")


@scenario("question", Setting(plans=True))
def question(play: Play) -> None:
    turn = play.thread().turn(Question("Which colour?", ("Red", "Blue")), Say("Thank you."))
    asked = [r for r in turn.of(RequestOpened) if r.content.questions]
    labels = [o.label for r in asked for q in r.content.questions for o in q.options]
    closed = turn.ended is not None and "Thank you." in turn.text()
    for leaf in ("approvals.user_input", "planning.questions"):
        play.shows(leaf, bool(asked) and labels[:2] == ["Red", "Blue"], asked or "nobody was asked")
        play.shows(leaf, closed, "the answer did not let it go on")


@scenario("plan", Setting(plans=True))
def plan(play: Play) -> None:
    turn = play.thread().turn(Todo(STEPS), Say("That is the plan."))
    plans = [event for event in turn.of(PlanSeen) if event.kind == "todo_list"]
    steps = [tuple(step.text for step in event.steps) for event in plans]
    states = {step.state for event in plans for step in event.steps}
    play.shows("planning.plan_updates", STEPS in steps, steps)
    play.shows("planning.todo_list", STEPS in steps and "in_progress" in states, states)


@scenario("proposal", Setting(plans=True))
def proposal(play: Play) -> None:
    turn = play.thread().turn(Propose("First this, then that."))
    plans = [event for event in turn.of(PlanSeen) if event.kind == "proposed_plan"]
    play.shows("planning.proposed_plan", any("First this" in (p.text or "") for p in plans), plans)
    pieces = [event.text for event in turn.of(TextDelta) if event.kind == "plan"]
    play.shows("output.plan_text", len(pieces) > 1 and "then that" in "".join(pieces), pieces)


@scenario("subagent", Setting(children=True))
def subagent(play: Play) -> None:
    thread = play.thread()
    turn = thread.turn(Delegate((Command("echo child > child.txt"), Say("Child done."))), Say("Parent done."))
    seen = turn.of(SubagentSeen)
    play.shows("subagents.supported", bool(seen))
    children = {event.child for event in seen} - {None}
    own = [e.ref.thread for e in turn.of(TextDelta) if e.ref.thread in children]
    play.shows("subagents.thread_ids", bool(children) and thread.id not in children, seen)
    play.shows("subagents.thread_ids", bool(own), "nothing of the child's stands under its own id")
    states = [event.state for event in seen]
    play.shows("subagents.lifecycle", "running" in states and "completed" in states, states)
    asked = [r for r in turn.of(RequestOpened) if r.ref.thread in children]
    ran = (play.stage.workspace / "child.txt").exists()
    play.shows("approvals.from_subagents", bool(asked) and ran, turn.of(RequestOpened))
