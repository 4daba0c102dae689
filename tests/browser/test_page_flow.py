"""The main flow of a person, on a real server with the rehearsal agent, at both widths."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from tests.browser.stage import SHOWN_MAX, Stage, Visitor

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)


SPANS = re.compile(r"</?span[^>]*>")


def test_a_newcomer_gets_from_the_printed_url_to_an_approved_edit_and_its_diff(
    stage: Stage, visit: Visit, size: ViewportSize
) -> None:
    visitor = visit(size, url=stage.url)
    page = visitor.page
    expect(page.get_by_role("heading", name="Run any coding agent from one place.")).to_be_visible()
    assert "code=" not in page.url
    expect(page.locator('input[name="agent"][value="rehearsal"]')).to_be_checked()
    page.get_by_label("What should it do?").fill("Add a line to README.md")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/t/*")

    card = visitor.timeline.get_by_role("group", name="Wants to change files")
    expect(card).to_contain_text("README.md")
    assert (stage.workspace / "README.md").read_text() == "# Shop\n"
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    visitor.decide()

    visitor.settle("Idle")
    assert (stage.workspace / "README.md").read_text() != "# Shop\n"
    expect(visitor.timeline.locator(".request-closed")).to_contain_text("Allow")
    page.get_by_role("button", name="Changes").click()
    changed = page.get_by_role("complementary", name="Changes").locator('.file[data-path="README.md"]')
    expect(changed.locator(".plus")).to_have_text("+1")
    expect(changed.locator(".diff-code-insert")).to_have_count(1)
    expect(page).to_have_title(re.compile(r"^Add a line"))


def test_a_declined_edit_changes_nothing_and_says_so(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Add a line to README.md")
    card = visitor.timeline.get_by_role("group", name="Wants to change files")
    card.get_by_role("button", name="Decline", exact=True).click()
    visitor.settle("Idle")
    expect(visitor.timeline.locator(".request-closed")).to_contain_text("Decline")
    assert (stage.workspace / "README.md").read_text() == "# Shop\n"


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Ask me a multiple choice question", "Bread, Soup"),
        ("Ask me a single choice question", ""),
        ("Ask me a free text question", "Tea, please"),
    ],
)
def test_a_question_is_answered(visit: Visit, size: ViewportSize, prompt: str, said: str) -> None:
    visitor = visit(size)
    visitor.begin(prompt)
    card = visitor.timeline.get_by_role("group", name="Has a question")
    card.wait_for()
    boxes, radios = card.get_by_role("checkbox"), card.get_by_role("radio")
    answer = card.get_by_role("button", name="Answer", exact=True)
    expect(answer).to_be_disabled()
    if boxes.count():
        card.get_by_label("Bread").press(" ")
        card.get_by_label("Soup").press(" ")
    elif radios.count():
        radios.first.press(" ")
    else:
        card.get_by_role("textbox").fill(said)
    answer.click()
    visitor.settle("Idle")
    expect(visitor.timeline.locator(".request-closed")).to_contain_text(said)


def test_a_command_shows_its_live_output_in_colours(visit: Visit, size: ViewportSize) -> None:
    visitor = visit(size)
    visitor.begin("Run `seq 1 440; printf '\\033[31mred\\033[0m\\n'`")
    card = visitor.timeline.locator('[data-kind="command"]')
    expect(card.locator(".tag")).to_contain_text("waits for you")
    visitor.decide()
    visitor.settle("Idle")
    expect(card.locator(".output")).to_contain_text("440")
    expect(card.locator(".ansi-red-fg")).to_have_text("red")
    output = card.locator(".output")
    assert output.evaluate("e => e.clientHeight") <= 260
    assert output.evaluate("e => e.scrollHeight - e.scrollTop - e.clientHeight") <= 2


def test_a_run_is_stopped(visit: Visit, size: ViewportSize) -> None:
    visitor = visit(size)
    visitor.begin("Be slow for 60 seconds")
    visitor.timeline.locator('.working[data-run-state="running"]').wait_for()
    visitor.page.get_by_role("button", name="Stop").click()
    visitor.settle("Idle")
    expect(visitor.timeline).to_contain_text("This run was stopped")
    expect(visitor.page.get_by_role("button", name="Send")).to_be_visible()


def test_a_failed_run_says_why_and_what_to_do(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Fail, please")
    card = visitor.timeline.get_by_role("group", name="This run failed")
    expect(card).to_be_visible()
    assert len(card.inner_text().splitlines()) >= 2


def test_a_crash_says_why_and_what_to_do(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Crash now")
    expect(visitor.timeline.get_by_role("group", name="This run failed")).to_contain_text("ended by itself")


def test_a_subagents_work_and_request_stand_inside_its_thread(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Delegate to a subagent")
    card = visitor.timeline.locator(".subagent")
    expect(card).to_be_visible()
    visitor.decide()
    visitor.settle("Idle")
    expect(card.locator(".nested .agent-text").first).to_contain_text("I am the subagent")
    assert len(stage.call("GET", "/v1/threads")["threads"]) == 1


def test_text_on_the_fly_is_the_same_as_read_whole(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Give me a long stream")
    # Rows far from the screen are not drawn, so it is the long text at the end that is looked at.
    text = visitor.timeline.locator(".agent-text .md").last
    expect(text).to_be_visible()  # before its run begins a thread is idle as well
    visitor.settle("Idle")
    streamed, before = plain(text), ""
    for _ in range(LOOKS_MAX):  # the last pieces may be drawn behind the state
        if streamed == before:
            break
        visitor.page.wait_for_timeout(LOOK)
        before, streamed = streamed, plain(text)
    visitor.page.reload()
    visitor.settle("Idle")
    for _ in range(LOOKS_MAX):  # a long text is read in parts
        if plain(text) == streamed:
            break
        visitor.page.wait_for_timeout(LOOK)
    assert plain(text) == streamed
    assert len(streamed) > 1000


LOOKS_MAX, LOOK = 60, 250
"""How often a page is looked at until it shows what is expected, and how long between, in milliseconds."""


def plain(text: Locator) -> str:
    """What is shown, without colours: code is coloured in idle time, and they are no part of the text."""
    return SPANS.sub("", text.inner_html())


def test_reloading_in_the_middle_of_a_run_loses_nothing(visit: Visit, size: ViewportSize) -> None:
    visitor = visit(size)
    thread = visitor.begin("Give me a long stream")
    expect(visitor.timeline.locator(".agent-text").first).to_be_visible()
    visitor.composer.fill("a draft that stays")
    visitor.page.reload()
    expect(visitor.composer).to_have_value("a draft that stays")
    visitor.settle("Idle")
    snapshot = visitor.stage.call("GET", f"/v1/threads/{thread}")
    last = [i for i in snapshot["items"] if i["item"]["item_kind"] == "assistant_message"][-1]
    shown = visitor.timeline.locator(".agent-text").last
    words = re.sub(r"\W+", "", last["text"]["text"]["text"])[-40:]
    expect(shown).to_be_visible()
    assert words[-10:] in re.sub(r"\W+", "", shown.inner_text())
