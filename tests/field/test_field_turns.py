"""Turns that begin, go on and end in odd ways: one run, one end, the whole text (B17 to B26, B35, B47)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.field.replaying import (
    STAY,
    Driver,
    Stage,
    Step,
    acp_end,
    acp_prompt,
    acp_said,
    acp_start,
    acp_update,
    codex_end,
    codex_said,
    codex_start,
    codex_turn,
    note,
)

pytestmark = pytest.mark.anyio

MIB = 1 << 20


def message(text: str, item: str = "m1") -> dict[str, Any]:
    """An assistant message."""
    return {"type": "agentMessage", "id": item, "text": text}


def command(state: str, item: str = "c1", **more: Any) -> dict[str, Any]:
    """A command."""
    return {"type": "commandExecution", "id": item, "command": "make", "status": state, **more}


def started(item: dict[str, Any], turn: str = "tu-1") -> Step:
    """An item begins."""
    return note("item/started", turnId=turn, item=item)


def completed(item: dict[str, Any], turn: str = "tu-1") -> Step:
    """An item ends."""
    return note("item/completed", turnId=turn, item=item)


def delta(text: str, item: str = "m1", turn: str = "tu-1") -> Step:
    """More text of a message."""
    return note("item/agentMessage/delta", turnId=turn, itemId=item, delta=text)


def status(word: str) -> Step:
    """The agent's own word for what a thread does."""
    return note("thread/status/changed", status={"type": word})


class Told(Driver):
    """What a finished play left, for looking at when its Podium is closed."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver.stage, driver.p, driver.thread)
        self.said = driver.text()
        self.seen = [(i.item_kind, i.state) for i in driver.items]
        self.codes = [n.code for n in driver.notices]
        self.run = driver.last
        self.count = len(driver.runs)
        self.ending = driver.ends(driver.last.id)


async def one_turn(root: Path, *steps: Step, end: Step | None = None) -> tuple[Stage, Told]:
    """Play one turn of an app server with these steps, to the end of its run."""
    stage = Stage(root, "codex", [*codex_start(), *codex_turn(), *steps, end or codex_end(), STAY])
    async with stage.open() as driver:
        await driver.send()
        await driver.ended()
        return stage, Told(driver)


@pytest.mark.behaviour("F022")
async def test_a_final_text_alone_makes_no_delta_and_no_tool(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path, "codex", [*codex_start(), *codex_turn(), codex_said("I ran `make`."), codex_end(), STAY]
    )
    async with stage.open() as driver:
        run_id = await driver.send()
        await driver.ended(run_id)
        assert [(i.item_kind, i.state) for i in driver.items] == [("assistant_message", "completed")]
        assert [n.node_kind for n in driver.entities("node")] == ["root"]


async def test_b35_deltas_before_their_item_are_its_beginning(tmp_path: Path) -> None:
    _, told = await one_turn(
        tmp_path,
        delta("Hello "),
        delta("world"),
        started(message("")),
        delta("!"),
        completed(message("Hello world!")),
    )
    assert told.said == "Hello world!"
    assert told.seen == [("assistant_message", "completed")]


@pytest.mark.behaviour("F251")
async def test_an_item_that_ended_before_it_began_stays_ended(tmp_path: Path) -> None:
    _, told = await one_turn(
        tmp_path,
        completed(command("completed", exitCode=0, aggregatedOutput="ok")),
        started(command("inProgress")),
        completed(message("done")),
        started(message("")),
        delta("late", "m1"),
        completed(message("done")),
    )
    assert told.seen == [("command", "completed"), ("assistant_message", "completed")]
    assert told.said == "done"


@pytest.mark.behaviour("F125", "F250")
async def test_b18_repeated_ends_and_idle_words_end_a_run_once(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        codex_said("a"),
        codex_end(),
        codex_end(),
        codex_end(status="failed", error={"message": "no"}),
        status("idle"),
        status("idle"),
        note("turn/started", turn={"id": "tu-1", "status": "inProgress"}),
        delta("late"),
        *codex_turn("tu-2"),
        codex_said("b", "m2", "tu-2"),
        codex_end("tu-2"),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        first = await driver.ended(await driver.send("one"))
        second = await driver.ended(await driver.send("two"))
        assert (first.outcome, second.outcome) == ("completed", "completed")
        assert driver.text() == "ab"
        assert [driver.ends(run.id) for run in driver.runs] == [1, 1]


async def test_the_end_of_an_unknown_turn_ends_nothing_of_ours(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        {"expect_to_agent": {"method": "turn/start"}, "bind": {"$p": "id"}},
        codex_end("tu-of-before"),
        {"agent": {"id": "$p", "result": {"turn": {"id": "tu-1", "status": "inProgress"}}}},
        codex_end("tu-other"),
        codex_said("mine"),
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert run.outcome == "completed"
        assert driver.text() == "mine"
        assert len(driver.runs) == 1


async def test_an_end_that_overtakes_the_answer_to_its_prompt_still_ends_the_run(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        {"expect_to_agent": {"method": "turn/start"}, "bind": {"$p": "id"}},
        codex_end(status="failed", error={"message": "at once"}),
        {"agent": {"id": "$p", "result": {"turn": {"id": "tu-1", "status": "failed"}}}},
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert (run.outcome, run.failure and run.failure.message) == ("failed", "at once")


async def test_a_turn_without_any_start_is_known_by_its_items(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        {"expect_to_agent": {"method": "turn/start"}, "bind": {"$p": "id"}},
        codex_said("hi"),
        codex_end(),
        {"agent": {"id": "$p", "result": {"turn": {"id": "tu-1", "status": "completed"}}}},
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert driver.text() == "hi"
        assert len(driver.runs) == 1


async def test_b19_idle_before_the_agent_has_begun_is_no_end(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        {"expect_to_agent": {"method": "turn/start"}, "bind": {"$p": "id"}},
        status("idle"),
        {"agent": {"id": "$p", "result": {"turn": {"id": "tu-1", "status": "inProgress"}}}},
        status("idle"),
        {"expect_to_agent": {"method": "thread/read"}, "bind": {"$q": "id"}},
        {"agent": {"id": "$q", "result": {"thread": {"id": "th-1", "turns": []}}}},
        status("active"),
        codex_said("ABC"),
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert driver.text() == "ABC"
        assert len(stage.asked("turn/start")) == 1


async def test_b19_b26_work_after_the_end_is_a_run_of_the_agent_and_the_session_goes_on(
    tmp_path: Path,
) -> None:
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        codex_said("first"),
        codex_end(),
        {"sleep_ms": 300},
        note("turn/started", turn={"id": "tu-2", "status": "inProgress"}),
        codex_said("unasked", "m2", "tu-2"),
        codex_end("tu-2"),
        codex_end("tu-2", "failed", {"message": "only prompts are supported"}),
        *codex_turn("tu-3"),
        codex_said("third", "m3", "tu-3"),
        codex_end("tu-3"),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        await driver.ended(await driver.send("one"))
        await driver.until(
            lambda: len(driver.runs) == 2 and driver.last.state == "ended", "the agent's own run"
        )
        assert (driver.last.origin, driver.last.outcome) == ("agent", "completed")
        assert (await driver.ended(await driver.send("three"))).outcome == "completed"
        assert driver.texts() == ["one", "first", "unasked", "three", "third"]
    assert stage.started() == 1


async def test_b17_silence_with_an_open_command_is_no_death_but_a_hint(tmp_path: Path) -> None:
    steps = [*codex_start(), *codex_turn(), started(command("inProgress")), {"sleep_ms": 3500}]
    stage = Stage(
        tmp_path, "codex", [*steps, completed(command("completed")), codex_end(), STAY], stuck_seconds=1.0
    )
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert {n.code for n in driver.notices} == {"stalled"}


@pytest.mark.behaviour("F249")
@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -32600, "message": "no active turn to interrupt"}},
        None,
    ],
)
async def test_b23_a_refused_or_ignored_cancel_ends_in_time_and_the_next_prompt_runs(
    answer: Any, tmp_path: Path
) -> None:
    ask: Step = {"expect_to_agent": {"method": "turn/interrupt"}, "bind": {"$x": "id"}}
    told: list[Step] = [] if answer is None else [{"agent": {"id": "$x", **answer}}]
    again = [*codex_start()[:3], {"expect_to_agent": {"method": "thread/resume"}, "bind": {"$t": "id"}}]
    bound: Step = {"agent": {"id": "$t", "result": {"thread": {"id": "th-1"}, "model": "m-1"}}}
    next_turn = [*codex_turn("tu-2"), codex_said("next", "m2", "tu-2"), codex_end("tu-2"), STAY]
    stays = answer is not None and "no active" in answer["error"]["message"]
    first = [*codex_start(), *codex_turn(), delta("half"), ask, *told, *(next_turn if stays else [STAY])]
    stage = Stage(tmp_path, "codex", first, [*again, bound, *next_turn])
    async with stage.open() as driver:
        run_id = await driver.send("one")
        await driver.until(lambda: driver.text() == "half")
        await driver.thread.interrupt()
        assert (await driver.ended(run_id, 40)).outcome == "interrupted"
        assert (await driver.ended(await driver.send("two"), 40)).outcome == "completed", driver.story()
        assert driver.text() == "halfnext"


async def test_an_interrupt_before_the_turn_has_a_name_stops_that_turn(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        {"expect_to_agent": {"method": "turn/start"}, "bind": {"$p": "id"}},
        {"sleep_ms": 1000},
        {"agent": {"id": "$p", "result": {"turn": {"id": "tu-1", "status": "inProgress"}}}},
        {"expect_to_agent": {"method": "turn/interrupt", "params": {"turnId": "tu-1"}}, "bind": {"$x": "id"}},
        {"agent": {"id": "$x", "result": {}}},
        codex_end(status="interrupted"),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        await driver.done(len(codex_start()))
        await driver.thread.interrupt()
        run = await driver.ended(run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "provider")
        assert len(driver.runs) == 1


@pytest.mark.behaviour("F279")
@pytest.mark.parametrize(
    ("word", "outcome"), [("halted", "unverifiable"), (None, "unverifiable"), (7, "unverifiable")]
)
async def test_an_unknown_end_word_is_no_success(word: Any, outcome: str, tmp_path: Path) -> None:
    _, told = await one_turn(tmp_path, codex_said("x"), end=codex_end(status=word))
    assert told.run.outcome == outcome


async def test_b73_new_and_broken_frames_break_nothing(tmp_path: Path) -> None:
    frames: list[Any] = [
        {
            "method": "future/thing",
            "params": {"threadId": "th-1", "turnId": "tu-1", "deep": [1, {"x": None}]},
        },
        {"method": "future/thing", "params": [1, 2]},
        {"method": "future/thing", "params": "text"},
        {"method": "future/thing"},
        {"method": 7, "params": {}},
        {"method": None},
        {},
        {"id": None, "error": {"code": -32700, "message": "Parse error"}},
        {"id": 999, "result": {}},
        {"id": "nobody", "error": "odd"},
        {"id": [1], "result": {}},
        {"id": True, "method": "item/commandExecution/requestApproval", "params": {}},
        {"method": "item/completed", "params": {"threadId": 5, "turnId": {}, "item": 3}},
        {"method": "turn/completed", "params": {"threadId": "th-1", "turn": "tu-1"}},
        {"method": "turn/started", "params": {"threadId": "th-1", "turn": {"id": None}}},
        {"method": "item/agentMessage/delta", "params": {"threadId": "th-1", "turnId": "tu-1", "delta": 3}},
        {
            "method": "thread/tokenUsage/updated",
            "params": {"threadId": "th-1", "tokenUsage": {"last": {"x": "1"}}},
        },
        {"method": "error", "params": {"threadId": "th-1", "error": "text", "willRetry": "yes"}},
        {"method": "serverRequest/resolved", "params": {"threadId": "th-1", "requestId": {"a": 1}}},
    ]
    steps: list[Step] = [{"agent": frame} for frame in frames]
    odd: Step = completed({"type": "hologram", "id": "h1", "data": "zzz"})
    _, told = await one_turn(tmp_path, *steps, odd, codex_said("fine"))
    assert told.said == "fine"
    assert told.run.outcome == "completed"
    assert {kind for kind, _ in told.seen} == {"assistant_message", "opaque"}


@pytest.mark.parametrize(
    ("method", "code"),
    [("future/storm", "unknown_frames"), ("warning", "many_notices"), ("error", "many_notices")],
)
async def test_ten_thousand_frames_nobody_needs_leave_a_bounded_trace(
    method: str, code: str, tmp_path: Path
) -> None:
    params = {"threadId": "th-1", "turnId": "tu-1", "message": "m {i}", "error": {"message": "e {i}"}}
    storm: Step = {
        "agent_repeat": {
            "frame": {"method": method, "params": {**params, "willRetry": True}},
            "times": 10_000,
        }
    }
    _, told = await one_turn(tmp_path, storm, codex_said("fine"))
    assert told.said == "fine"
    assert len(told.seen) <= 101
    assert len(told.codes) <= 101
    assert told.codes.count(code) == 1


async def test_two_thousand_open_items_end_with_their_turn(tmp_path: Path) -> None:
    item = command("inProgress", "c{i}")
    many: Step = {
        "agent_repeat": {
            "frame": {
                "method": "item/started",
                "params": {"threadId": "th-1", "turnId": "tu-1", "item": item},
            },
            "times": 2000,
        }
    }
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), many, codex_end(), STAY])
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send(), 60)).outcome == "completed"
        assert {i.state for i in driver.items} == {"unverifiable"}
        assert not driver.thread.state.items


async def test_b40_usage_counts_once_for_each_response(tmp_path: Path) -> None:
    def usage(total: int, last: int) -> Step:
        counts = {"last": {"inputTokens": last, "totalTokens": last}, "total": {"totalTokens": total}}
        return note("thread/tokenUsage/updated", turnId="tu-1", tokenUsage=counts)

    _, told = await one_turn(tmp_path, usage(100, 100), usage(100, 100), usage(140, 40), usage(140, 40))
    assert told.run.usage is not None
    assert (told.run.usage.input, told.run.usage.total) == (140, 140)


def stored(stage: Stage) -> int:
    """Bytes that the journal takes."""
    return sum(path.stat().st_size for path in stage.data.glob("podium.db*"))


async def test_b47_a_patch_that_is_told_again_as_it_grows_is_not_stored_each_time(tmp_path: Path) -> None:
    lines = "".join(f"+line {n} of the patch\n" for n in range(1500))

    def patch(size: int) -> Step:
        change = {"path": "a.txt", "kind": {"type": "add"}, "diff": lines[:size]}
        return note("item/fileChange/patchUpdated", turnId="tu-1", itemId="p1", changes=[change])

    growing = [patch(n * len(lines) // 300) for n in range(1, 301)]
    begin = started({"type": "fileChange", "id": "p1", "status": "inProgress", "changes": []})
    change = {"path": "a.txt", "kind": {"type": "add"}, "diff": lines}
    end = completed({"type": "fileChange", "id": "p1", "status": "completed", "changes": [change]})
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), begin, *growing, end, codex_end(), STAY])
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert driver.item("p1").content.changes[0].diff == lines
    assert stored(stage) < 12 * len(lines) + MIB


async def test_b47_a_turn_diff_that_is_told_again_as_it_grows_is_bounded(tmp_path: Path) -> None:
    lines = "".join(f"+line {n} of the diff\n" for n in range(1500))
    diffs = [
        note("turn/diff/updated", turnId="tu-1", diff=lines[: n * len(lines) // 300]) for n in range(1, 301)
    ]
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), *diffs, codex_end(), STAY])
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert driver.thread.text(driver.turns[0].id, "diff") == lines
    assert stored(stage) < 12 * len(lines) + MIB


async def test_b47_snapshots_of_a_progress_bar_cost_no_more_than_their_last_one(tmp_path: Path) -> None:
    def snapshot(n: int, state: str = "in_progress") -> Step:
        text = f"progress {n}/400 \r" + "#" * (n * 200)
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        return acp_update("tool_call_update", toolCallId="c1", status=state, content=content)

    bar = [snapshot(n) for n in range(1, 401)]
    begin = acp_update("tool_call", toolCallId="c1", title="fetch", kind="execute", status="in_progress")
    steps = [*acp_start(), acp_prompt(), begin, *bar, snapshot(400, "completed"), acp_end(), STAY]
    stage = Stage(tmp_path, "scripted", steps)
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        assert driver.thread.text(driver.item("c1").id, "output") == "progress 400/400 \r" + "#" * 80_000
    assert stored(stage) < 10 * 80_000 + MIB


async def test_b21_a_cancelled_prompt_that_ends_well_is_interrupted_all_the_same(tmp_path: Path) -> None:
    steps: list[Step] = [
        *acp_start(),
        acp_prompt(),
        acp_said("half"),
        {"expect_to_agent": {"method": "session/cancel"}},
        acp_end("end_turn"),
        acp_prompt(),
        acp_said("next"),
        acp_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "scripted", steps)
    async with stage.open() as driver:
        run_id = await driver.send("one")
        await driver.until(lambda: driver.text() == "half")
        await driver.thread.interrupt(actor="somebody")
        run = await driver.ended(run_id)
        assert (run.outcome, run.interrupt_by) == ("interrupted", "somebody")
        assert (await driver.ended(await driver.send("two"))).outcome == "completed"


@pytest.mark.behaviour("F278")
async def test_b77_a_login_that_is_over_fails_the_turn_and_the_next_message_starts_anew(
    tmp_path: Path,
) -> None:
    error = {"message": "Reconnecting... 1/5", "codexErrorInfo": "unauthorized"}
    refused = note("error", turnId="tu-1", willRetry=True, error=error)
    again = [*codex_start()[:3], {"expect_to_agent": {"method": "thread/resume"}, "bind": {"$t": "id"}}]
    bound: Step = {"agent": {"id": "$t", "result": {"thread": {"id": "th-1"}, "model": "m-1"}}}
    stage = Stage(
        tmp_path,
        "codex",
        [*codex_start(), *codex_turn(), refused, refused, STAY],
        [*again, bound, *codex_turn("tu-2"), codex_said("back", "m2", "tu-2"), codex_end("tu-2"), STAY],
    )
    async with stage.open() as driver:
        run = await driver.ended(await driver.send("one"), 40)
        assert (run.outcome, run.evidence) == ("failed", "inferred")
        assert run.failure is not None
        assert (run.failure.kind, run.failure.code, run.failure.retryable) == (
            "permission",
            "auth_required",
            False,
        )
        assert run.failure.fix
        assert (await driver.ended(await driver.send("two"))).outcome == "completed", driver.story()
    assert len(stage.asked("turn/start")) == 1


async def test_b77_a_retry_that_comes_through_leaves_nothing_behind(tmp_path: Path) -> None:
    error = {"message": "Reconnecting... 1/5", "codexErrorInfo": "unauthorized"}
    refused = note("error", turnId="tu-1", willRetry=True, error=error)
    _, told = await one_turn(tmp_path, refused, delta("fine"), {"sleep_ms": 500})
    assert (told.run.outcome, told.run.failure, told.said) == ("completed", None, "fine")
