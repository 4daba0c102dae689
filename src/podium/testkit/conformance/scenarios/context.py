"""Context: handed over, missed, shortened."""

from __future__ import annotations

from podium.contract.events import AskDone, ItemSeen, TurnEnded, TurnStarted
from podium.contract.inputs import CompactThread
from podium.testkit.conformance.moves import Recall, Say
from podium.testkit.conformance.play import Play
from podium.testkit.conformance.scenario import scenario


@scenario("handoff")
def handoff(play: Play) -> None:
    """A fresh conversation takes the summary of another as a user message in front of its first prompt."""
    turn = play.thread().turn(Recall(), before="Another agent worked on this before. It kept MARK-handed.")
    for leaf in ("context.synthetic_user", "context.consume", "context.full"):
        play.shows(leaf, "MARK-handed" in turn.text(), turn.text())


@scenario("missed")
def missed(play: Play) -> None:
    """A conversation goes on with what it missed, and still knows what came before."""
    thread = play.thread()
    thread.turn(Say("Noted."), words="Keep MARK-own.")
    own = thread.turn(Recall()).text()
    turn = thread.turn(Recall(), before="Meanwhile another agent kept MARK-missed.")
    play.shows("context.delta", "MARK-own" in own and "MARK-missed" in turn.text(), (own, turn.text()))


@scenario("compaction")
def compaction(play: Play) -> None:
    thread = play.thread()
    thread.turn(Say("Much was said."), words="Keep MARK-long.")
    # Some agents find a single turn too little to shorten.
    thread.turn(Say("And more."))
    at = len(play.drive.events)
    answer = play.ask(CompactThread("compact", thread.id))

    def over(event: object) -> bool:
        return isinstance(event, ItemSeen) and event.kind == "compaction" and event.state == "completed"

    if isinstance(answer, AskDone):
        play.wait(over, after=at)
    if any(isinstance(event, TurnStarted) for event in play.drive.events[at:]):
        play.wait(lambda event: isinstance(event, TurnEnded) and event.thread == thread.id, after=at)
    seen = [event for event in play.drive.events[at:] if over(event)]
    after = thread.turn(Say("I go on."))
    play.shows("context.compaction", isinstance(answer, AskDone) and bool(seen), answer)
    play.shows("context.compaction", "I go on." in after.text(), after.text())
