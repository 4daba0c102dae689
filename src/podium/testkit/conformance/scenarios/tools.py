"""Commands, edits and tools of others."""

from __future__ import annotations

from podium.contract.events import BackgroundSeen, DiffSeen, ItemSeen, RequestOpened, TextDelta
from podium.contract.requests import DECLINE, Answer
from podium.contract.values import LEVEL_DEGRADED, LEVEL_NATIVE, LEVEL_NONE
from podium.testkit.conformance.moves import Command, Edit, Say, UseTool
from podium.testkit.conformance.play import TOOL_KINDS, Play, Turn, trust
from podium.testkit.conformance.scenario import scenario
from podium.testkit.conformance.stage import Setting

LINES = "line-one; sleep 0.3; echo line-two"


def tools_of(turn: Turn) -> list[ItemSeen]:
    """What was said of tool calls in this conversation."""
    return [item for item in turn.items(*TOOL_KINDS) if item.ref.thread == turn.thread.id]


@scenario("command")
def command(play: Play) -> None:
    made = play.stage.workspace / "made.txt"
    thread = play.thread()
    declined = thread.turn(Command("echo made > made.txt"), Say("As you wish."), answer=Answer(DECLINE))
    before = made.exists()
    turn = thread.turn(Command(f"echo made > made.txt; echo {LINES}"), Say("It ran."))
    asked = [*declined.of(RequestOpened), *turn.of(RequestOpened)]
    told = any("made.txt" in (r.content.command or r.content.title) for r in asked)
    play.shows("approvals.command", not before, "a declined command ran")
    play.shows("approvals.command", len(asked) > 1 and told and made.exists(), asked or "nobody was asked")
    seen = tools_of(turn)
    ended = [item for item in seen if item.state in ("completed", "failed")]
    play.shows("tools.started", bool(seen) and seen[0].state == "open", seen)
    play.shows("tools.completed", bool(ended) and ended[-1].state == "completed", seen)
    results = [i for i in ended if "line-two" in f"{i.final.get('output', '')}{i.content.result or ''}"]
    play.shows("tools.output", bool(results), ended)
    pieces = [e.text for e in turn.of(TextDelta) if e.body == "output"]
    play.shows("output.tool_output", _parts(pieces), pieces)
    ids = {item.ref.id for item in seen}
    play.shows("tools.item_ids", len(ids) == 1 and None not in ids and play.native(next(iter(ids))), ids)
    other = thread.turn(Command("echo other"), Say("Again."))
    both = [*dict.fromkeys(i.ref.id or i.ref.fingerprint for i in (*seen, *tools_of(other)))]
    play.shows("identity.item", trust(play, both) if len(both) > 1 else LEVEL_NONE, both)


def _parts(pieces: list[str]) -> int:
    """Whole output in several parts, or at least the end of it in some."""
    if "line-one" in "".join(pieces) and len(pieces) > 1:
        return LEVEL_NATIVE
    return LEVEL_DEGRADED if pieces else LEVEL_NONE


@scenario("edit")
def edit(play: Play) -> None:
    file = play.stage.workspace / "hello.txt"
    thread = play.thread()
    refused = thread.turn(Edit("hello.txt", "alpha", "omega"), Say("I left it."), answer=Answer(DECLINE))
    before = file.read_text()
    turn = thread.turn(Edit("hello.txt", "second", "third"), Say("Changed."))
    asked = [*refused.of(RequestOpened), *turn.of(RequestOpened)]
    named = [r for r in asked if r.kind == "file_change_approval"]
    for leaf in ("approvals.file_change", "approvals.patch"):
        play.shows(leaf, "alpha" in before, "a declined edit was made")
        play.shows(leaf, len(named) > 1 and "third" in file.read_text(), asked or "nobody was asked")
    diffs = [c.diff for item in tools_of(turn) for c in item.content.changes] + [
        event.diff for event in turn.of(DiffSeen)
    ]
    diffs += [item.final["diff"] for item in turn.of(ItemSeen) if "diff" in item.final]
    diffs += [event.text for event in turn.of(TextDelta) if event.body == "diff"]
    play.shows("output.diffs", any("third" in diff for diff in diffs), diffs)


@scenario("background")
def background(play: Play) -> None:
    thread = play.thread(mode="full")
    go, done = (play.stage.workspace / name for name in ("go.txt", "done.txt"))
    wait = "for i in $(seq 200); do [ -e go.txt ] && break; sleep 0.1; done; touch done.txt"
    turn = thread.turn(Command(wait, background=True), Say("It runs on."))
    told = [*turn.of(BackgroundSeen), *(i for i in tools_of(turn) if i.content.background)]
    play.shows("subagents.background_jobs", bool(told), tools_of(turn))
    held = thread.send(Command("sleep 30"), Say("never"))
    held.until(lambda event: isinstance(event, ItemSeen) and event.kind in TOOL_KINDS)
    held.interrupt()
    held.finish()
    go.touch()
    goes_on = play.finds(done)
    stopped = held.ended is not None and held.ended.outcome == "interrupted"
    play.shows("turns.interrupt_keeps_background", stopped and goes_on, held.ended)


@scenario("tool_server", Setting(tools=True))
def tool_server(play: Play) -> None:
    turn = play.thread(mode="full").turn(UseTool("heard-by-the-server"), Say("It answered."))
    ended = [item for item in tools_of(turn) if item.state == "completed"]
    said = [f"{item.content.result}{item.final.get('output', '')}" for item in ended]
    play.shows("tools.mcp_external", any("heard-by-the-server" in text for text in said), tools_of(turn))
