"""Going back and branching."""

from __future__ import annotations

from podium.contract.events import SubagentSeen, ThreadBound
from podium.contract.inputs import ForkThread, RollbackThread
from podium.testkit.conformance.moves import Delegate, Recall, Say
from podium.testkit.conformance.play import Play, Thread
from podium.testkit.conformance.scenario import scenario
from podium.testkit.conformance.stage import Setting


def told(play: Play, mark: str) -> tuple[Thread, str | None]:
    """A conversation of two turns, the first with a mark of its own; its first turn's id."""
    thread = play.thread()
    first = thread.turn(Say("Noted."), words=f"Keep {mark}.")
    thread.turn(Say("Noted too."), words="Keep MARK-later.")
    return thread, first.id


@scenario("fork")
def fork(play: Play) -> None:
    thread, _ = told(play, "MARK-first")
    answer = play.ask(ForkThread("fork", thread.id))
    if not isinstance(answer, ThreadBound):
        play.shows("threads.fork", False, answer)
        return
    branch = Thread(play, answer)
    play.shows("threads.fork", branch.id != thread.id, "the branch is the conversation itself")
    there = branch.turn(Recall()).text()
    branch.turn(Say("Only here."), words="Keep MARK-branch.")
    here = thread.turn(Recall()).text()
    play.shows("threads.fork", "MARK-later" in there, there)
    play.shows("threads.fork", "MARK-later" in here and "MARK-branch" not in here, here)


@scenario("fork_from_turn")
def fork_from_turn(play: Play) -> None:
    thread, turn = told(play, "MARK-first")
    answer = play.ask(ForkThread("fork", thread.id, turn))
    there = Thread(play, answer).turn(Recall()).text() if isinstance(answer, ThreadBound) else ""
    play.shows("threads.fork_from_turn", "MARK-first" in there and "MARK-later" not in there, there or answer)


@scenario("fork_from_subagent", Setting(children=True))
def fork_from_subagent(play: Play) -> None:
    thread = play.thread(mode="full")
    turn = thread.turn(Delegate((Say("Child done."),)), Say("Parent done."))
    children = [event.child for event in turn.of(SubagentSeen) if event.child is not None]
    answer = play.ask(ForkThread("fork", children[0])) if children else None
    found = answer.thread if isinstance(answer, ThreadBound) else None
    said = ""
    if isinstance(answer, ThreadBound) and found not in (None, thread.id, *children):
        said = Thread(play, answer).turn(Say("I am the branch.")).text()
    for leaf in ("threads.fork_from_subagent", "subagents.fork"):
        play.shows(leaf, "I am the branch." in said, answer or "no child has an id")


@scenario("rollback")
def rollback(play: Play) -> None:
    thread = play.thread()
    thread.turn(Say("Noted."), words="Keep MARK-first.")
    second = thread.turn(Say("Noted too."), words="Keep MARK-later.")
    answer = play.ask(RollbackThread("back", thread.id, second.id or ""))
    there = thread.turn(Recall()).text()
    play.shows("threads.rollback", "MARK-first" in there and "MARK-later" not in there, (there, answer))
