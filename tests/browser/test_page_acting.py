"""Sending, answering, keys: what the page promises before it acts; what it does when somebody was first."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.stage import SHOWN_MAX, Stage, Visitor

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)

GUARD = 900
"""A little longer than keys do nothing, in milliseconds."""


def messages(stage: Stage, thread: str) -> int:
    return len(stage.call("GET", f"/v1/threads/{thread}")["messages"])


def test_two_presses_of_enter_send_once(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    thread = visitor.begin("Say hello")
    visitor.settle("Idle")
    visitor.composer.fill("Say hello again")
    visitor.composer.press("Enter")
    visitor.composer.press("Enter")
    expect(visitor.composer).to_have_value("")
    visitor.settle("Idle")
    expect(visitor.timeline.locator(".user")).to_have_count(2)
    assert messages(stage, thread) == 2


def test_shift_enter_breaks_a_line_and_a_draft_outlives_a_switch(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Say hello")
    visitor.settle("Idle")
    visitor.composer.fill("one")
    visitor.composer.press("Shift+Enter")
    visitor.composer.type("two")
    visitor.page.get_by_role("link", name="New thread").click()
    visitor.page.locator(".row").first.click()
    expect(visitor.composer).to_have_value("one\ntwo")


def test_composing_characters_sends_nothing(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    thread = visitor.begin("Say hello")
    visitor.settle("Idle")
    visitor.composer.fill("にほん")
    visitor.composer.evaluate(
        "e => e.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true}))"
    )
    visitor.composer.evaluate(
        "e => e.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true}))"
    )
    expect(visitor.composer).to_have_value("にほん")
    assert messages(stage, thread) == 1


def test_the_line_says_what_sending_means_and_both_keys_do_it(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    thread = visitor.begin("Be slow for 30 seconds")
    line = visitor.page.locator(".meaning")
    expect(line).not_to_contain_text("Starts a run")
    how = stage.call("GET", f"/v1/threads/{thread}")["affordances"]["message"]
    word = {"steer": "Steer", "queue": "Queue"}[how["means"]]
    expect(visitor.page.locator(".send")).to_contain_text(word)
    visitor.composer.fill("Say hello")
    if how["means"] == "steer":
        visitor.composer.press("Control+Enter")
    else:
        visitor.composer.press("Enter")
    expect(visitor.composer).to_have_value("")
    queued = [r for r in stage.call("GET", f"/v1/threads/{thread}")["runs"] if r["state"] == "queued"]
    assert len(queued) == 1
    visitor.page.get_by_role("button", name="Stop").click()
    visitor.settle("Idle")


def test_why_explains_in_facts(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Be slow for 30 seconds")
    visitor.page.locator(".meaning .why").first.click()
    facts = visitor.page.locator(".popover dt")
    expect(facts.first).to_have_text("What you asked")
    assert facts.count() >= 3
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(".popover")).to_have_count(0)
    visitor.page.get_by_role("button", name="Stop").click()
    visitor.settle("Idle")


def test_keys_allow_and_deny_with_an_empty_box_but_not_too_soon(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Add a line to README.md, then add a line to README.md")
    pending = visitor.timeline.locator('.request[data-state="pending"]')
    expect(pending).to_have_count(1)
    visitor.composer.focus()
    # At once, as somebody would who pressed it for something else.
    visitor.composer.press("Control+Enter")
    visitor.composer.press("Control+Enter")
    assert (stage.workspace / "README.md").read_text() == "# Shop\n"
    visitor.page.wait_for_timeout(GUARD)
    visitor.composer.fill("not empty")
    first = pending.get_attribute("data-request")
    visitor.composer.press("Control+Backspace")
    assert pending.get_attribute("data-request") == first
    visitor.composer.fill("")
    visitor.composer.press("Control+Enter")
    expect(visitor.timeline.locator(f'.request-closed[data-request="{first}"]')).to_contain_text("Allow")
    expect(pending).to_have_count(1)
    visitor.composer.press("Control+Enter")
    visitor.page.wait_for_timeout(GUARD)
    visitor.composer.press("Control+Backspace")
    visitor.settle("Idle")
    assert visitor.timeline.locator(".request-closed").count() == 2
    assert (stage.workspace / "README.md").read_text().count("\n") == 2


def test_focus_stays_where_somebody_types_when_a_request_comes(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Be slow for 2 seconds, then add a line to README.md")
    visitor.composer.fill("I am ty")
    visitor.timeline.locator('.request[data-state="pending"]').wait_for()
    visitor.page.keyboard.type("ping")
    expect(visitor.composer).to_have_value("I am typing")
    visitor.decide()
    visitor.settle("Idle")


def test_a_reason_goes_with_a_denial(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    thread = visitor.begin("Add a line to README.md")
    card = visitor.timeline.locator(".request")
    card.get_by_role("button", name="Decline with reason…").click()
    card.get_by_label("Reason").fill("Use a branch")
    card.get_by_label("Reason").press("Enter")
    visitor.settle("Idle")
    request = stage.call("GET", f"/v1/threads/{thread}")["requests"][0]
    assert request["answer"]["text"] == "Use a branch"


def test_an_answer_in_another_tab_shows_here(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Add a line to README.md")
    other = visitor.new_page()
    other.goto(visitor.page.url)
    for page in (visitor.page, other):
        page.locator('.timeline .request[data-state="pending"]').wait_for()
    visitor.decide(page=other)
    expect(visitor.timeline.locator(".request-closed")).to_contain_text("Allow")
    visitor.settle("Idle")


def test_who_comes_second_is_told_and_nothing_is_sent_twice(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    visitor.forgive("409")
    thread = visitor.begin("Add a line to README.md")
    card = visitor.timeline.locator('.request[data-state="pending"]')
    card.wait_for()
    # The page does not hear of the other answer before its own click.
    visitor.page.route("**/answer", lambda route: (answer_first(stage, thread), route.continue_()))
    visitor.decide("decline")
    closed = visitor.timeline.locator(".request-closed")
    expect(closed).to_contain_text("Allow")
    visitor.settle("Idle")
    assert (stage.workspace / "README.md").read_text() != "# Shop\n"


def answer_first(stage: Stage, thread: str) -> None:
    (request,) = [r for r in stage.call("GET", "/v1/requests")["requests"] if r["thread_id"] == thread]
    stage.call("POST", f"/v1/requests/{request['id']}/answer", {"decision": "accept"})


def test_requests_of_other_threads_are_counted_and_reached(visit: Visit) -> None:
    visitor = visit()
    page = visitor.page
    visitor.begin("Add a line to README.md")
    visitor.timeline.locator('.request[data-state="pending"]').wait_for()
    page.get_by_role("link", name="New thread").click()
    visitor.begin("Say hello")
    visitor.settle("Idle")
    waiting = page.get_by_role("region", name="Waiting for you")
    expect(waiting.locator(".row")).to_have_count(1)
    order = "all => all.map(row => row.dataset.thread)"
    rows = page.locator(".list section:not(.waiting) .row")
    before = rows.evaluate_all(order)
    visitor.dock.get_by_role("link").click()
    visitor.decide()
    expect(waiting).to_have_count(0)
    visitor.settle("Idle")
    assert rows.evaluate_all(order) == before


def test_a_thread_is_put_away_and_taken_back(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Say hello")
    visitor.settle("Idle")
    visitor.page.get_by_role("button", name="Archive", exact=True).click()
    visitor.settle("Ended")
    expect(visitor.page.locator(".send")).to_be_disabled()
    expect(visitor.page.locator(".meaning")).to_contain_text("archived")
    visitor.page.get_by_role("button", name="Take back").click()
    visitor.settle("Idle")


def test_what_was_filled_in_stays_when_the_card_leaves_the_screen(visit: Visit) -> None:
    visitor = visit()
    visitor.begin("Give me a long stream, then ask me a multiple choice question")
    card = visitor.timeline.get_by_role("group", name="Has a question")
    card.get_by_label("Soup").press(" ")
    box = visitor.timeline.bounding_box()
    assert box is not None
    visitor.page.mouse.move(box["x"] + 300, box["y"] + 100)
    visitor.page.mouse.wheel(0, -20_000)
    docked = visitor.dock.get_by_role("group", name="Has a question")
    expect(docked.get_by_label("Soup")).to_be_checked()
    docked.get_by_role("button", name="Answer", exact=True).click()
    visitor.settle("Idle")
    visitor.page.locator(".pill button").click()
    expect(visitor.timeline).to_contain_text("Soup")
