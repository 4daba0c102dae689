"""Taking changes back on the page: first the exact paths, then exactly those, and back again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from tests.browser.stage import SHOWN_MAX, Stage, Visitor
from tests.browser.test_page_access import findings

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)

WORK = "rm old.txt; echo new > README.md; mkdir made; echo x > made/new.txt"

CHANGED = {
    "write": ["README.md", "old.txt"],
    "delete": ["made/new.txt"],
}


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def worked(stage: Stage, visitor: Visitor) -> Locator:
    """A run that created, changed and deleted a file; the panel of its changes."""
    page = visitor.page
    page.get_by_role("radio", name="full", exact=True).check()
    visitor.begin(f"Run `{WORK}`")
    visitor.settle("Idle")
    page.get_by_role("button", name="Changes").click()
    panel = page.get_by_role("complementary", name="Changes")
    panel.get_by_role("button", name="Take back…").wait_for()
    return panel


def shown(dialog: Locator) -> dict[str, list[str]]:
    """What the dialog says would happen, by fate."""
    dialog.locator("[data-fate]").first.wait_for()
    sections = dialog.locator("section[data-fate]").all()
    return {str(s.get_attribute("data-fate")): s.locator("li code").all_inner_texts() for s in sections}


def test_changes_are_taken_back_and_forth(stage: Stage, visit: Visit, size: ViewportSize) -> None:
    (stage.workspace / "old.txt").write_text("old\n")
    before = files(stage.workspace)
    visitor = visit(size)
    page = visitor.page
    panel = worked(stage, visitor)
    after = files(stage.workspace)
    assert after != before

    panel.get_by_role("button", name="Take back…").click()
    dialog = page.get_by_role("dialog")
    plan = shown(dialog)
    assert {k: sorted(v) for k, v in plan.items() if k != "folders"} == CHANGED
    assert files(stage.workspace) == after
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(panel).to_be_visible()
    assert files(stage.workspace) == after

    panel.get_by_role("button", name="Take back…").click()
    dialog.get_by_role("button", name="Put back 3 paths").click()
    expect(panel.locator(".restored")).to_contain_text("3 paths put back")
    assert files(stage.workspace) == before
    assert not (stage.workspace / "made").exists()

    for state in (after, before):
        panel.get_by_role("button", name="Undo…").click()
        dialog.get_by_role("button", name="Put back 3 paths").click()
        expect(dialog).to_have_count(0)
        expect(panel.locator(".restored")).to_contain_text("Undone: 3 paths put back")
        assert files(stage.workspace) == state


@pytest.mark.behaviour("F269")
def test_a_change_of_ones_own_is_left_alone_until_it_is_asked_for(stage: Stage, visit: Visit) -> None:
    (stage.workspace / "old.txt").write_text("old\n")
    visitor = visit()
    page = visitor.page
    panel = worked(stage, visitor)
    (stage.workspace / "README.md").write_text("mine\n")
    panel.get_by_role("button", name="Take back…").click()
    dialog = page.get_by_role("dialog")
    assert shown(dialog)["refuse"] == ["README.md"]
    expect(dialog.locator('[data-fate="refuse"]')).to_contain_text("changed since")
    expect(dialog.get_by_role("button", name="Put back 2 paths")).to_be_enabled()
    force = dialog.get_by_role("checkbox")
    expect(force).not_to_be_checked()
    force.check()
    expect(dialog.locator('[data-fate="refuse"]')).to_have_count(0)
    expect(dialog.get_by_role("button", name="Put back 3 paths")).to_be_enabled()
    force.uncheck()
    dialog.get_by_role("button", name="Put back 2 paths").click()
    expect(panel.locator(".restored")).to_contain_text("2 paths put back, 1 left alone")
    assert files(stage.workspace) == {"README.md": b"mine\n", "old.txt": b"old\n"}


@pytest.mark.behaviour("F266")
def test_a_plan_that_no_longer_holds_is_shown_anew_and_nothing_was_touched(
    stage: Stage, visit: Visit
) -> None:
    (stage.workspace / "old.txt").write_text("old\n")
    visitor = visit()
    visitor.forgive("409")
    page = visitor.page
    panel = worked(stage, visitor)
    panel.get_by_role("button", name="Take back…").click()
    dialog = page.get_by_role("dialog")
    go = dialog.get_by_role("button", name="Put back 3 paths")
    expect(go).to_be_enabled()
    (stage.workspace / "README.md").write_text("mine\n")
    seen = files(stage.workspace)
    with page.expect_response("**/checkpoints/restore") as refused:
        go.click()
    body: dict[str, Any] = json.loads(refused.value.text())
    assert (refused.value.status, body["code"]) == (409, "plan_changed")
    expect(dialog.get_by_role("alert")).to_contain_text("nothing was touched")
    expect(dialog.locator('[data-fate="refuse"]')).to_contain_text("README.md")
    expect(dialog.get_by_role("button", name="Put back 2 paths")).to_be_enabled()
    assert files(stage.workspace) == seen
