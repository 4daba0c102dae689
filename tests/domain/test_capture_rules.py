"""Files around runs, as the core orders it: before the prompt, after the last word, and never in the way."""

from __future__ import annotations

import pytest

from podium.contract.errors import failure
from podium.contract.events import (
    ItemSeen,
    Ref,
    RequestClosed,
    RequestOpened,
    SubagentSeen,
    TurnEnded,
    TurnStarted,
)
from podium.contract.requests import RequestContent
from podium.domain.commands import (
    Captured,
    DeadlinePassed,
    InterruptRun,
    SendMessage,
    SessionEnded,
)
from podium.domain.entities import Checkpoint, NoticeEntry, Request, Run
from podium.domain.outputs import CaptureFiles
from tests.domain.test_decide_rules import OPTIONS, ready, sent
from tests.domain.worlds import World, handle

WHY = failure("storage", "git_missing", "There is no git.", fix="Install it.")


def captured(world: World, trouble: bool = False, *, quiescent: bool = True) -> Checkpoint:
    """Report the oldest capture that is awaited."""
    key = next(k for k, v in world.state.checkpoints.items() if v.state == "pending")
    why = WHY if trouble else None
    world.do(Captured(key, None if trouble else {"tree": "t"}, "c", "/w", quiescent, why))
    found = world.store[key]
    assert isinstance(found, Checkpoint)
    return found


def working(trouble: bool = False) -> World:
    """A thread whose first message is being worked on, with its files captured before."""
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    ready(world)
    captured(world, trouble)
    world.report(TurnStarted("n1", "t1"))
    return world


def runs(world: World) -> list[Run]:
    return world.of(Run)


def test_the_session_opens_meanwhile_and_the_prompt_waits_for_the_capture() -> None:
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    assert runs(world)[0].state == "preparing" and world.started
    ready(world)
    assert sent(world) == [] and ("start", runs(world)[0].id) in world.armed
    assert captured(world).state == "ready"
    assert len(sent(world)) == 1 and runs(world)[0].state == "starting"


def test_a_capture_before_the_session_is_ready_sends_nothing() -> None:
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    captured(world)
    assert sent(world) == [] and runs(world)[0].state == "starting"
    ready(world)
    assert len(sent(world)) == 1


@pytest.mark.behaviour("F248")
def test_the_end_is_decided_then_captured_then_told_and_the_next_run_follows() -> None:
    world = working()
    world.do(SendMessage("m2", "more", "queue"))
    world.report(TurnEnded("n1", "t1", "completed"))
    first, second = runs(world)
    assert first.state == "running" and first.ending is not None and first.ending.outcome == "completed"
    assert second.state == "queued"
    end = captured(world)
    first, second = runs(world)
    assert (end.moment, end.state) == ("end", "ready")
    assert (first.state, first.outcome, first.ending) == ("ended", "completed", None)
    assert second.state == "preparing"


def test_nothing_changes_an_end_that_is_decided() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    session = world.state.session
    assert session is not None
    world.do(InterruptRun())
    world.do(DeadlinePassed("interrupt", runs(world)[0].id))
    world.do(DeadlinePassed("stuck", runs(world)[0].id))
    world.report(RequestOpened("k", Ref("n1", "t1"), "command_approval", RequestContent("?"), OPTIONS))
    world.report(ItemSeen(Ref("n1", "t1", "late"), "command", "open"))
    world.report(SubagentSeen(Ref("n1", "t1"), "running", "c1", handle("c1")))
    assert world.stopped == [] and world.of(Request)[0].run_id is None
    world.do(SessionEnded(session.id, "exited", code=1))
    assert runs(world)[0].ending is not None
    captured(world)
    assert (runs(world)[0].outcome, runs(world)[0].evidence) == ("completed", "provider")


def test_a_failed_capture_stops_nothing_and_is_told_once() -> None:
    world = working(trouble=True)
    world.report(TurnEnded("n1", "t1", "completed"))
    assert runs(world)[0].state == "ended"  # nothing to compare an end with
    world.do(SendMessage("m2", "more"))
    captured(world, trouble=True)
    assert [n.code for n in world.of(NoticeEntry)] == ["not_captured"]
    assert [c.state for c in world.of(Checkpoint)] == ["failed", "failed"]
    assert len(sent(world)) == 2


def test_a_failed_last_capture_ends_the_run_all_the_same() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    assert captured(world, trouble=True).state == "failed"
    assert runs(world)[0].outcome == "completed"


def test_a_run_that_is_stopped_while_its_files_are_read_is_cancelled() -> None:
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    world.do(InterruptRun())
    assert (runs(world)[0].outcome, runs(world)[0].evidence) == ("cancelled", "user")
    assert [c.state for c in world.of(Checkpoint)] == ["stale"]
    key = world.capturing[0]
    world.do(Captured(key, {"tree": "t"}, "c", "/w"))
    assert [c.state for c in world.of(Checkpoint)] == ["stale"]


def test_a_start_waits_for_its_files_only_so_long() -> None:
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    ready(world)
    world.do(DeadlinePassed("start", runs(world)[0].id))
    [checkpoint] = world.of(Checkpoint)
    assert checkpoint.state == "failed" and checkpoint.trouble and checkpoint.trouble.code == "timeout"
    assert len(sent(world)) == 1


def test_what_the_agent_asks_while_the_files_are_read_is_waited_for() -> None:
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    ready(world)
    world.report(RequestOpened("k", Ref("n1", None), "command_approval", RequestContent("?"), OPTIONS))
    assert runs(world)[0].state == "waiting" and sent(world) == []
    world.report(RequestClosed("k", "agent"))
    assert runs(world)[0].state == "preparing"
    captured(world)
    assert runs(world)[0].state == "starting" and len(sent(world)) == 1


def test_a_run_that_the_agent_begins_does_not_wait_and_is_not_quiet() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    captured(world)
    world.report(TurnStarted("n1", "t2"))
    own = runs(world)[-1]
    assert own.origin == "agent" and own.state == "running"
    start = captured(world)
    assert (start.run_id, start.moment, start.quiescent) == (own.id, "start", False)


def test_an_agent_that_goes_on_before_the_last_capture_ends_the_run_at_once() -> None:
    world = working()
    world.report(TurnEnded("n1", "t1", "completed"))
    world.report(TurnStarted("n1", "t2"))
    first, own = runs(world)
    assert first.outcome == "completed" and own.origin == "agent" and own.state == "running"
    end = captured(world)
    assert (end.run_id, end.moment, end.state, end.quiescent) == (first.id, "end", "ready", False)


def test_a_run_that_was_put_back_is_captured_anew() -> None:
    world = World(captures=True)
    world.do(SendMessage("m1", "hello"))
    ready(world)
    world.report(TurnStarted("n1", "t9"))  # the agent begins by itself before the prompt was sent
    mine, own = runs(world)
    assert mine.state == "queued" and own.origin == "agent"
    captured(world)
    world.report(TurnEnded("n1", "t9", "completed"))
    captured(world)
    assert runs(world)[0].state == "preparing"
    assert [c.state for c in world.of(Checkpoint) if c.run_id == mine.id] == ["stale", "pending"]


def test_where_nothing_is_captured_nothing_is_different() -> None:
    world = World()
    world.do(SendMessage("m1", "hello"))
    assert runs(world)[0].state == "starting"
    ready(world)
    world.report(TurnStarted("n1", "t1"))
    world.report(TurnEnded("n1", "t1", "completed"))
    assert runs(world)[0].state == "ended" and world.of(Checkpoint) == []
    assert not any(isinstance(o, CaptureFiles) for o in world.outputs)
