"""Conversations: kept over restarts, several at once, taken over by another owner."""

from __future__ import annotations

import contextlib

from podium.contract.events import AskDone, OffersSeen, RequestOpened, TextDelta, ThreadBound
from podium.contract.inputs import ListModels, ReadThread
from podium.contract.values import LEVEL_DEGRADED, LEVEL_NATIVE, LEVEL_NONE
from podium.testkit.conformance.moves import Command, Edit, Hold, NameModel, Recall, Say
from podium.testkit.conformance.play import QUIET_SECONDS, Play
from podium.testkit.conformance.scenario import scenario
from podium.testkit.driving import DriveError


@scenario("resume")
def resume(play: Play) -> None:
    thread = play.thread()
    thread.turn(Say("Noted."), words="Keep MARK-kept.")
    # Some conversations get their lasting name with their first turn.
    handle = [e for e in play.drive.events if isinstance(e, ThreadBound) and e.thread == thread.id][-1].handle
    play.leave()
    play.start()
    told, same = "", False
    try:
        again = play.thread(handle=handle)
        told = again.turn(Recall()).text()
        same = again.bound.handle.native_id == handle.native_id
    except DriveError as error:
        told = str(error)
    play.shows("lifecycle.persistent", "MARK-kept" in told and same, told)
    level = LEVEL_NATIVE if same and play.native(handle.native_id) else LEVEL_DEGRADED
    play.shows("identity.thread", level, "another id after the restart")
    play.leave()
    play.start()
    other = play.thread().bound.handle.native_id
    play.shows("identity.thread", LEVEL_NONE if other == handle.native_id else LEVEL_NATIVE, other)


@scenario("empty")
def empty(play: Play) -> None:
    thread = play.thread()
    handle = thread.bound.handle
    play.leave()
    play.start()
    answer = None
    with contextlib.suppress(DriveError):
        answer = play.thread(handle=handle).bound.handle
    kept = answer is not None and answer.native_id == handle.native_id
    play.shows("lifecycle.empty_thread", LEVEL_NATIVE if kept else LEVEL_DEGRADED, "lost with its process")


@scenario("two_threads")
def two_threads(play: Play) -> None:
    one, other = play.thread(), play.thread()
    play.shows("lifecycle.multi_thread_per_session", one.id != other.id, "both are one conversation")
    first = one.send(Say("I am one."), Hold("one"))
    first.speaks()
    second = other.turn(Say("I am the other."))
    play.stage.release("one")
    first.finish()
    whole = "I am one." in first.text() and "I am the other." in second.text()
    apart = "other" not in first.text() and "one" not in second.text()
    play.shows("lifecycle.multi_thread_per_session", whole and apart, (first.text(), second.text()))


@scenario("new_owner")
def new_owner(play: Play) -> None:
    thread = play.thread()
    turn = thread.send(Say("Before it. "), Hold("owner"), Say("Behind it."))
    if play.claims("output.text_delta"):
        turn.until(lambda event: isinstance(event, TextDelta))
    goes_on = play.owner_restarts()
    play.stage.release("owner")
    if goes_on:
        turn.finish()
    text = turn.text()
    whole = "Before it." in text and "Behind it." in text and text.count("Behind it.") == 1
    play.shows("lifecycle.reattach", goes_on and whole and turn.ended is not None, text)


@scenario("new_owner_answers")
def new_owner_answers(play: Play) -> None:
    thread = play.thread()
    moves = (Edit("hello.txt", "alpha", "omega"), Command("echo made > made.txt"), Say("Done."))
    turn = thread.send(*moves)
    request = turn.request()
    goes_on = request is not None and play.owner_restarts()
    if request is not None and goes_on:
        turn.answer(request)
        turn.finish()
    done = goes_on and turn.ended is not None and (play.stage.workspace / "made.txt").exists()
    play.shows("lifecycle.requests_survive_restart", done, turn.of(RequestOpened) or "nobody was asked")


@scenario("read_back")
def read_back(play: Play) -> None:
    thread = play.thread()
    thread.turn(Say("An answer to read."), words="Keep MARK-read.")
    answer = play.ask(ReadThread("read", thread.id))
    found = str(answer.result) if isinstance(answer, AskDone) else ""
    whole = "MARK-read" in found and "An answer to read." in found
    play.shows("lifecycle.read_snapshot", whole, answer)


@scenario("models")
def models(play: Play) -> None:
    play.thread()
    answer = play.ask(ListModels("models"))
    play.shows("models.catalog", isinstance(answer, AskDone) and bool(answer.result), answer)


@scenario("model_switch")
def model_switch(play: Play) -> None:
    own, other = play.stage.models
    thread = play.thread(model=own)
    first = thread.turn(NameModel(), model=own).text()
    second = thread.turn(NameModel(), model=other).text()
    # A model knows its own name, not that of the provider that some agents put in front of it.
    named = [name.rpartition("/")[2] in said for name, said in ((own, first), (other, second))]
    play.shows("models.switch", all(named), (first, second))


@scenario("slash_commands")
def slash_commands(play: Play) -> None:
    play.thread().turn(Say("Ready."))
    play.wait(lambda event: isinstance(event, OffersSeen) and bool(event.commands), silence=QUIET_SECONDS)
    named = [c.name for e in play.drive.of(OffersSeen) for c in e.commands or ()]
    play.shows("commands.catalog", bool(named) and all(named))
