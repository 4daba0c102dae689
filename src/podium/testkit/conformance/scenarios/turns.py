"""Turns: how they begin, end, follow each other, are stopped and are changed."""

from __future__ import annotations

from podium.contract.events import TurnAccepted, TurnEnded, TurnStarted
from podium.contract.inputs import SteerTurn, TextBlock
from podium.contract.values import LEVEL_DEGRADED, LEVEL_NATIVE, LEVEL_NONE
from podium.testkit.conformance.moves import Heard, Hold, Recall, Refuse, Say
from podium.testkit.conformance.play import QUIET_SECONDS, Play, Turn, trust
from podium.testkit.conformance.scenario import scenario

LINE = "One two three four five six seven eight nine ten eleven twelve."


def end_level(turn: Turn) -> int:
    """How far the end of a turn can be trusted: told by the agent, inferred, or missing."""
    if turn.ended is None:
        return LEVEL_NONE
    return LEVEL_NATIVE if turn.ended.evidence == "provider" else LEVEL_DEGRADED


def outcome_of(turn: Turn) -> str | None:
    """How a turn ended; a prompt that the agent answers with an error has failed."""
    if turn.refused is not None:
        return "failed"
    return turn.ended.outcome if turn.ended is not None else None


@scenario("two_turns")
def two_turns(play: Play) -> None:
    thread = play.thread()
    first = thread.turn(Say("First."))
    second = thread.turn(Say("Second."))
    play.shows("turns.queue", "Second." in second.text(), second.text())
    ids = [turn.id for turn in (first, second)]
    whole = all(t.id == e.turn for t in (first, second) for e in t.of(TurnEnded) if e.thread == thread.id)
    play.shows("identity.turn", trust(play, ids) if whole else LEVEL_NONE, ids)


@scenario("ends")
def ends(play: Play) -> None:
    thread = play.thread()
    well = thread.turn(Say("All is well."))
    badly = thread.turn(Refuse())
    seen = [outcome_of(turn) for turn in (well, badly)]
    levels = [end_level(well), LEVEL_NATIVE if badly.refused else end_level(badly)]
    play.shows("turns.terminal_quality", min(levels))
    play.shows("turns.terminal_quality", seen == ["completed", "failed"], seen)


@scenario("interrupt")
def interrupt(play: Play) -> None:
    turn = stopped(play, "interrupt")
    seen = turn.ended.outcome if turn.ended else None
    after = turn.thread.turn(Say("Here again."))
    play.shows("turns.interrupt", seen == "interrupted", f"the turn ended as {seen}")
    play.shows("turns.interrupt", "Here again." in after.text(), "the session did not live on")
    play.shows("turns.interrupt", play.drive.exit is None, "the process ended")


def stopped(play: Play, name: str, words: str = "") -> Turn:
    """A turn that is stopped while it waits; an agent that goes on is let go in the end."""
    turn = play.thread().send(Say("I begin. "), Hold(name), Say("I went on."), words=words)
    turn.speaks()
    turn.interrupt()
    turn.until(lambda event: isinstance(event, TurnEnded), QUIET_SECONDS)
    play.stage.release(name)
    return turn.finish()


@scenario("interrupt_then_go_on")
def interrupt_then_go_on(play: Play) -> None:
    turn = stopped(play, "restart", "MARK-before")
    seen = turn.ended.outcome if turn.ended else None
    after = turn.thread.turn(Recall())
    play.shows("turns.steer_restart", seen == "interrupted", f"the turn ended as {seen}")
    play.shows("turns.steer_restart", "MARK-before" in after.text(), after.text())


@scenario("steer")
def steer(play: Play) -> None:
    thread = play.thread()
    turn = thread.send(Say("I begin. "), Hold("steer"), Heard())
    turn.speaks()
    turn.until(lambda event: isinstance(event, TurnAccepted | TurnStarted))
    told = SteerTurn("steer", thread.id, turn.id or "", "client-steer", (TextBlock("Mind MARK-steered."),))
    play.drive.ask(told)
    answer = play.wait(lambda event: getattr(event, "ask_id", None) == "steer", after=turn.start)
    play.stage.release("steer")
    turn.finish()
    ends = [event for event in turn.of(TurnEnded) if event.thread == thread.id]
    play.shows("turns.steer_active", "MARK-steered" in turn.text(), answer)
    play.shows("turns.steer_active", len(ends) == 1, "it became a turn of its own")
