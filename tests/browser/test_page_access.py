"""Who cannot see or point reaches everything: axe on each view, the keyboard alone, few announcements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.stage import SHOWN_MAX, WIDE, Visitor

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


LISTEN = """
window.said = [];
const status = document.querySelector('.app > [role=status].hidden');
new MutationObserver(() => window.said.push(status.textContent))
  .observe(status, {childList: true, characterData: true, subtree: true});
"""


def findings(page: Page) -> list[str]:
    """What axe finds wrong, with where."""
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{v['id']}: {n['target']} {n['failureSummary']}" for v in found["violations"] for n in v["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit: Visit, size: ViewportSize, scheme: str) -> None:
    visitor = visit(size, scheme)
    page = visitor.page
    page.get_by_label("Folder").wait_for()
    assert findings(page) == []
    visitor.begin(
        "Think, make a plan, give me a long stream, then add a line to README.md and ask me a question"
    )
    visitor.timeline.locator('.request[data-state="pending"]').wait_for()
    assert findings(page) == []
    visitor.decide()
    visitor.timeline.get_by_role("group", name="Has a question").wait_for()
    page.locator(".meaning .why").first.click()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop").click()
    visitor.settle("Idle")
    page.get_by_role("button", name="Changes").click()
    page.get_by_role("complementary", name="Changes").locator(".changes-sum").wait_for()
    assert findings(page) == []


def test_the_main_flow_works_by_keyboard_alone(visit: Visit) -> None:
    visitor = visit(WIDE)
    page = visitor.page
    page.get_by_label("What should it do?").focus()
    page.keyboard.type("Add a line to README.md")
    expect(page.get_by_role("button", name="Start")).to_be_enabled()
    page.keyboard.press("Enter")
    page.wait_for_url("**/t/*")
    visitor.timeline.locator('.request[data-state="pending"]').wait_for()
    expect(visitor.composer).to_be_focused()
    page.wait_for_timeout(900)
    page.keyboard.press("Control+Enter")
    visitor.settle("Idle")
    page.keyboard.type("Say hello")
    page.keyboard.press("Enter")
    expect(visitor.timeline.locator(".user")).to_have_count(2)
    visitor.settle("Idle")


def test_a_run_is_announced_in_a_few_words_and_never_its_text(visit: Visit) -> None:
    visitor = visit(WIDE)
    page = visitor.page
    visitor.begin("Say hello")
    visitor.settle("Idle")
    page.evaluate(LISTEN)
    visitor.composer.fill("Give me a long stream, then add a line to README.md")
    visitor.composer.press("Enter")
    visitor.decide()
    visitor.settle("Idle")
    said: list[str] = page.evaluate("window.said")
    assert 2 <= len(said) < 8
    assert any("Wants to change files" in s for s in said)
    assert any("completed" in s for s in said)
    assert page.locator(".timeline [aria-live], .timeline[aria-live]").count() == 0


def test_nothing_moves_where_motion_is_not_wanted(visit: Visit) -> None:
    visitor = visit(WIDE)
    visitor.begin("Be slow for 30 seconds")
    visitor.timeline.locator(".working").wait_for()
    assert visitor.page.evaluate("document.getAnimations().length") == 0
    visitor.page.get_by_role("button", name="Stop").click()
    visitor.settle("Idle")
