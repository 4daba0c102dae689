"""Approvals and questions: one answer for each, none lost, none invented (B27 to B33)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from podium.contract.errors import PodiumError
from podium.contract.requests import Answer
from tests.field.replaying import (
    STAY,
    Driver,
    Stage,
    Step,
    acp_end,
    acp_prompt,
    acp_start,
    acp_update,
    codex_end,
    codex_said,
    codex_start,
    codex_turn,
    note,
)

pytestmark = pytest.mark.anyio


def approval(number: Any, item: str = "c1", turn: str | None = "tu-1", **more: Any) -> Step:
    """The agent asks whether it may run a command."""
    params = {"threadId": "th-1", "turnId": turn, "itemId": item, "command": "make", **more}
    return {"agent": {"id": number, "method": "item/commandExecution/requestApproval", "params": params}}


def answered(number: Any, decision: str = "accept") -> Step:
    """Wait for our answer, with the id exactly as it was."""
    return {"expect_to_agent": {"id": number, "result": {"decision": decision}}}


async def accept(driver: Driver, decision: str = "accept") -> str:
    """Answer the one open request."""
    request = await driver.pending()
    await driver.p.requests.answer(request.id, Answer(decision))
    return request.id


@pytest.mark.parametrize("number", [0, -1, 7, 2**53, 2**62, "0", "a-b", "x" * 128, "7"])
async def test_b28_the_id_goes_back_as_it_came(number: Any, tmp_path: Path) -> None:
    steps = [*codex_start(), *codex_turn(), approval(number), answered(number), codex_end(), STAY]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        await accept(driver)
        assert (await driver.ended(run_id)).outcome == "completed", driver.story()
    replies = [frame for frame in stage.got() if "result" in frame]
    assert [(frame["id"], type(frame["id"])) for frame in replies] == [(number, type(number))]


@pytest.mark.behaviour("F125")
async def test_b28_a_request_that_is_repeated_while_it_is_open_is_one_card(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        approval(3),
        approval(3),
        approval(3),
        answered(3),
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        await accept(driver)
        assert (await driver.ended(run_id)).outcome == "completed"
        assert len(driver.requests) == 1
    assert len([frame for frame in stage.got() if "result" in frame]) == 1


@pytest.mark.parametrize("resolved", [False, True])
async def test_an_id_that_is_used_again_is_another_request(resolved: bool, tmp_path: Path) -> None:
    told = [note("serverRequest/resolved", requestId=1)] if resolved else []
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        approval(1, "c1"),
        answered(1),
        *told,
        approval(1, "c2"),
        answered(1, "decline"),
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        first = await accept(driver)
        await driver.until(lambda: len(driver.requests) == 2, "the second request")
        second = await accept(driver, "decline")
        assert first != second
        assert (await driver.ended(run_id)).outcome == "completed", driver.story()
        found = {r.id: r.answer and r.answer.decision for r in driver.requests}
        assert found == {first: "accept", second: "decline"}


async def test_the_same_through_the_other_protocol(tmp_path: Path) -> None:
    def ask(call: str) -> Step:
        options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
        params = {"sessionId": "s-1", "toolCall": {"toolCallId": call}, "options": options}
        return {
            "agent": {"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params}
        }

    told: Step = {
        "expect_to_agent": {"id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
    }
    done = [acp_update("tool_call_update", toolCallId=c, status="completed") for c in ("c1", "c2")]
    steps = [*acp_start(), acp_prompt(), ask("c1"), ask("c1"), told, ask("c2"), told, *done, acp_end(), STAY]
    stage = Stage(tmp_path, "scripted", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        first = await accept(driver)
        await driver.until(lambda: len(driver.requests) == 2, "the second request")
        assert await accept(driver) != first
        assert (await driver.ended(run_id)).outcome == "completed", driver.story()
        assert {r.state for r in driver.requests} == {"answered"}
        assert {i.state for i in driver.items} == {"completed"}


async def test_b28_many_answers_at_once_are_one_answer(tmp_path: Path) -> None:
    none: Step = {"expect_none": {"id": 0, "result": "*"}, "for_ms": 500}
    steps = [*codex_start(), *codex_turn(), approval(0)]
    stage = Stage(
        tmp_path,
        "codex",
        [*steps, {"expect_to_agent": {"id": 0, "result": {"decision": "*"}}}, none, codex_end(), STAY],
    )
    lost: list[str] = []
    async with stage.open() as driver:
        run_id = await driver.send()
        request = await driver.pending()

        async def one(number: int) -> None:
            decision = "accept" if number % 2 else "decline"
            try:
                await driver.p.requests.answer(request.id, Answer(decision), command_id=f"k{number}")
            except PodiumError as error:
                lost.append(error.code)

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)
        assert lost == ["request_answered"] * 19
        assert (await driver.ended(run_id)).outcome == "completed"


async def test_b32_a_request_after_the_turn_is_answered_all_the_same(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        codex_said("done"),
        codex_end(),
        {"sleep_ms": 1000},
        approval("late-1"),
        answered("late-1"),
        {"write_file": {"name": str(tmp_path / "answered"), "text": "x"}},
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        await accept(driver)
        await driver.until((tmp_path / "answered").exists, "the answer")
        assert len(driver.runs) == 1


@pytest.mark.behaviour("F046")
@pytest.mark.parametrize("end", [{"agent_exit": 137}, {"agent_exit": 0}, {"agent_signal": 9}])
async def test_b27_requests_of_a_dead_agent_expire_once_and_a_late_answer_is_told(
    end: Step, tmp_path: Path
) -> None:
    wait: Step = {"expect_to_agent": {"id": 99, "result": "*"}, "within_ms": 1000}
    first = [*codex_start(), *codex_turn(), approval(1), approval(2, "c2"), approval(99, "c3"), wait, end]
    again = [
        *codex_start()[:3],
        {"expect_to_agent": {"method": "thread/resume"}, "bind": {"$t": "id"}},
        {"agent": {"id": "$t", "result": {"thread": {"id": "th-1"}, "model": "m-1"}}},
        *codex_turn("tu-2"),
        codex_end("tu-2"),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", first, again)
    async with stage.open() as driver:
        run_id = await driver.send()
        await driver.until(lambda: len(driver.p.requests.pending()) == 3, "three requests")
        await driver.p.requests.answer(driver.p.requests.pending()[2].id, Answer("accept"))
        run = await driver.ended(run_id)
        assert run.outcome == "failed"
        assert sorted((r.state, r.reason) for r in driver.requests if r.answer is None) == [
            ("expired", "process_exit"),
            ("expired", "process_exit"),
        ]
        for request in [r for r in driver.requests if r.answer is None]:
            with pytest.raises(PodiumError) as gone:
                await driver.p.requests.answer(request.id, Answer("accept"))
            assert gone.value.code == "request_expired"
        assert (await driver.ended(await driver.send("two"))).outcome == "completed", driver.story()
        assert not driver.p.requests.pending()
    assert not [frame for frame in stage.got(2) if "result" in frame]


async def test_b30_only_what_is_offered_can_be_chosen(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        approval(1, availableDecisions=["accept", "cancel"]),
        answered(1),
        {
            "agent": {
                "id": 2,
                "method": "item/quantum/requestApproval",
                "params": {"threadId": "th-1", "turnId": "tu-1"},
            }
        },
        {"expect_to_agent": {"id": 2, "error": {"code": -32601}}},
        {"agent": {"id": 3, "method": "account/unheard/of", "params": {}}},
        {"expect_to_agent": {"id": 3, "error": {"code": -32601}}},
        {"agent": {"id": 4, "method": "item/tool/call", "params": {"threadId": "th-1", "tool": "x"}}},
        {"expect_to_agent": {"id": 4, "result": {"success": False}}},
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        request = await driver.pending()
        for wrong in ("accept_session", "accept_rule", "yes", "", "Accept"):
            with pytest.raises(PodiumError) as refused:
                await driver.p.requests.answer(request.id, Answer(wrong))
            assert refused.value.code == "option_not_offered"
        await driver.p.requests.answer(request.id, Answer("accept"))
        await driver.until(lambda: len(driver.requests) == 2, "the unknown request")
        assert driver.requests[1].request_kind == "unknown"
        await accept(driver, "decline")
        assert (await driver.ended(run_id)).outcome == "completed", driver.story()
        assert {"unknown_request", "request_refused", "tool_missing"} <= {n.code for n in driver.notices}


def questions(number: int) -> Step:
    """Two questions, one of them with several answers."""
    listed = [
        {"id": "base", "question": "Which base?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {
            "id": "extras",
            "question": "Which extras?",
            "options": [{"label": "X"}, {"label": "Y"}, {"label": "Z"}],
        },
    ]
    params = {"threadId": "th-1", "turnId": "tu-1", "itemId": "q1", "questions": listed}
    return {"agent": {"id": number, "method": "item/tool/requestUserInput", "params": params}}


async def test_b33_answers_go_by_question_and_label_and_all_of_them(tmp_path: Path) -> None:
    wanted = {"answers": {"base": {"answers": ["Blue"]}, "extras": {"answers": "*"}}}
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        questions(1),
        {"expect_to_agent": {"id": 1, "result": wanted}},
        questions(2),
        {"expect_to_agent": {"id": 2, "result": {"answers": "*"}}},
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        request = await driver.pending()
        for short in (None, (), (("Blue",),), (("Blue",), ("X",), ("Z",))):
            with pytest.raises(PodiumError) as refused:
                await driver.p.requests.answer(request.id, Answer("accept", answers=short))
            assert refused.value.code == "wrong_answer_count"
        await driver.p.requests.answer(request.id, Answer("accept", answers=(("Blue",), ("X", "Z"))))
        await driver.until(lambda: len(driver.requests) == 2, "the second form")
        await accept(driver, "decline")
        assert (await driver.ended(run_id)).outcome == "completed"
    first, second = [frame["result"]["answers"] for frame in stage.got() if "result" in frame]
    assert first["extras"] == {"answers": ["X", "Z"]}
    assert second == {}


async def test_b33_a_form_that_nobody_answered_names_no_answer(tmp_path: Path) -> None:
    steps = [*codex_start(), *codex_turn(), questions(1), codex_end(), STAY]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        assert (await driver.ended(run_id)).outcome == "completed"
        (request,) = driver.requests
        assert (request.state, request.answer) == ("dismissed", None)
        with pytest.raises(PodiumError) as gone:
            await driver.p.requests.answer(request.id, Answer("accept", answers=(("Red",), ("X",))))
        assert gone.value.code == "request_expired"
    assert not [frame for frame in stage.got() if "result" in frame]
