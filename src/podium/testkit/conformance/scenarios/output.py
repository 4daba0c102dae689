"""What an agent shows of its answer."""

from __future__ import annotations

import base64

from podium.contract.events import TextDelta, TurnStarted, UsageSeen
from podium.testkit.conformance.moves import NameImage, Recall, Say, Think
from podium.testkit.conformance.play import QUIET_SECONDS, Play
from podium.testkit.conformance.scenario import scenario
from podium.testkit.conformance.scenarios.turns import LINE, end_level

WORDS = "Plain “words” in MARK-input, {braces}, 'quotes', ünïcödé and 🎭."

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@scenario("text")
def text(play: Play) -> None:
    thread = play.thread()
    turn = thread.turn(Recall(), Say(LINE), words=WORDS)
    said = turn.text()
    play.shows("input.text", "MARK-input" in said, said)
    play.shows("turns.started", any(e.thread == thread.id for e in turn.of(TurnStarted)))
    play.shows("turns.completed", end_level(turn))
    play.shows("turns.completed", turn.ended is not None and turn.ended.outcome == "completed", turn.ended)
    deltas = [e for e in turn.of(TextDelta) if e.kind == "assistant_message"]
    play.shows("output.text_delta", len(deltas) > 2 and LINE in said, f"{len(deltas)} pieces")
    closed = [item for item in turn.items("assistant_message") if item.state != "open"]
    play.shows("output.message_completed", bool(closed) and closed[-1].state == "completed", closed)
    play.shows("output.raw", bool(play.frames()))


@scenario("usage")
def usage(play: Play) -> None:
    turn = play.thread().turn(Say("Short."))
    window = play.claims("context.context_usage")

    def told() -> tuple[bool, bool]:
        seen = turn.of(UsageSeen)
        return any(map(counts, seen)), any(event.context_window for event in seen)

    # Some tell it only behind the end of the turn, and not all of it at once.
    turn.until(lambda _: told() == (True, True) or (told()[0] and not window), QUIET_SECONDS)
    counted, measured = told()
    play.shows("output.usage", counted, turn.of(UsageSeen))
    play.shows("context.context_usage", measured, turn.of(UsageSeen))


def counts(usage: UsageSeen) -> bool:
    """Whether it says how many tokens the turn or the conversation took."""
    last, total = usage.last, usage.total
    return bool(last.input or last.output or (total is not None and total.total))


@scenario("reasoning")
def reasoning(play: Play) -> None:
    turn = play.thread().turn(Think("I weigh it."), Say("I am done."))
    thought = turn.text("reasoning", "summary") + turn.text("reasoning", "reasoning") + turn.text("reasoning")
    play.shows("output.reasoning", "I weigh it." in thought, thought)
    play.shows("output.reasoning", "I weigh it." not in turn.text(), "the thought stands in the answer")


@scenario("image")
def image(play: Play) -> None:
    picture = play.stage.workspace / "pixel.png"
    picture.write_bytes(PIXEL)
    turn = play.thread().turn(NameImage(), image=str(picture))
    play.shows("input.images", "image/png" in turn.text(), turn.text() or turn.refused)
