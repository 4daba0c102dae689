"""Every case of docs/changes.md: whose each path is, and what a restore does to it, on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.workspace.values import Owned, RestoreResult
from tests.workspace.story import CASES, PAGE, Case, checkout, page_with_table
from tests.workspace.yard import Yard, standing

pytestmark = pytest.mark.anyio


def owner(path: str, mine: dict[str, Owned], others: dict[str, Owned], nobodys: dict[str, Owned]) -> str:
    if path in mine:
        return mine[path].owner
    if path in others:
        return "agent of the other"
    return nobodys[path].owner if path in nobodys else "-"


def outcome(path: str, result: RestoreResult, yard: Yard) -> str:
    for step in result.done:
        if step.path == path:
            return "removed" if step.then is None and yard.read(path) is None else "put back"
    for step in result.refused:
        if step.path == path:
            return f"refused: {step.reason}"
    return "not touched"


@pytest.mark.behaviour("F269")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_story_ends_as_told(case: Case, tmp_path: Path) -> None:
    yard = checkout(case, tmp_path)
    await case.act(yard)
    assert [each.failed for each in yard.captures] == [None] * len(yard.captures)
    mine = {each.path: each for each in await yard.owned(*case.runs)}
    others = {each.path: each for each in await yard.owned("two")} if "two" not in case.runs else {}
    nobodys = {each.path: each for each in await yard.nobodys()}
    before = standing(yard.root)
    plan = await yard.plan(*case.runs, force=case.force)
    result = await yard.spaces.restore(plan)
    told = {step.path: step.reason for step in plan.steps if step.action == "nothing"}
    for path, expected in case.paths.items():
        assert yard.read(path) == expected.holds, path
        seen = f"not touched: {told[path]}" if path in told else outcome(path, result, yard)
        if path in mine or expected.owner != "-":
            assert owner(path, mine, others, nobodys) == expected.owner, path
            assert seen == expected.outcome, path
    assert set(mine) <= set(case.paths), "every path of the thread stands in the table"
    assert standing(yard.root) == before


def test_the_page_holds_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert page == page_with_table(page), "write it anew: python -m tests.workspace.story"


def test_there_are_enough_stories() -> None:
    assert len(CASES) >= 25
