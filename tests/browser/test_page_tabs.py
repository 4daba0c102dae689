"""Many tabs of one browser: one stream for all of them, each of them live."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.stage import SHOWN_MAX, Stage, Visitor
from tests.browser.wire import Wire

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)

LOST = "net::ERR_"

TABS = 10
"""More than a browser has connections to one server."""

NO_WORKER = "delete window.SharedWorker;"


@pytest.fixture
def wire(stage: Stage) -> Iterator[Wire]:
    """A wire to the server that can be cut."""
    with Wire(stage.port) as found:
        yield found


LEAVE = """fetch('/v1/session', {method: 'DELETE', headers: {'content-type': 'application/json'}})
  .then((answer) => answer.status)"""


def script(*steps: dict[str, object]) -> str:
    return json.dumps({"play": list(steps)})


def through(visit: Visit, wire: Wire, stage: Stage, prepare: str = "") -> Visitor:
    """A visitor whose browser is at the other end of the wire."""
    visitor = visit(url="about:blank")
    visitor.bases.append(wire.base)
    visitor.forgive(LOST)
    if prepare:
        visitor.context.add_init_script(prepare)
    url = stage.podium("serve", "--url").strip()
    visitor.page.goto(url.replace(stage.base, wire.base))
    visitor.page.get_by_label("Folder").wait_for()
    return visitor


def said(page: Page) -> str:
    """The last text of the agent, as one line."""
    return " ".join(page.locator(".agent-text").last.inner_text().split())


def test_ten_tabs_are_live_over_one_stream(stage: Stage, visit: Visit, wire: Wire) -> None:
    visitor = through(visit, wire, stage)
    visitor.begin("Say hello")
    visitor.settle("Idle")
    address = visitor.page.url
    tabs = [visitor.page] + [visitor.new_page() for _ in range(TABS - 1)]
    for tab in tabs[1:]:
        tab.goto(address)
        tab.locator(".link-live").wait_for()
        tab.locator(".agent-text").first.wait_for()
    assert wire.streams == 1

    visitor.composer.fill("Add a line to README.md")
    visitor.composer.press("Enter")
    for tab in tabs:
        tab.locator('.timeline .request[data-state="pending"]').wait_for()
    assert wire.streams == 1
    visitor.decide(page=tabs[-1])
    for tab in tabs:
        expect(tab.locator(".timeline .request-closed")).to_contain_text("Allow")
        expect(tab.locator(".thread-name .mark-word")).to_have_text("Idle")

    stage.kill()
    for tab in tabs:
        expect(tab.locator(".bar-lost")).to_be_visible()
    stage.start()
    tabs.pop(0).close()
    for tab in tabs:
        expect(tab.locator(".link-live")).to_be_visible()
        expect(tab.locator(".bar-boot")).to_contain_text("started anew")
    assert wire.streams == 1
    tabs[0].get_by_role("form", name="Message").get_by_role("textbox").fill("Give me a long stream")
    tabs[0].get_by_role("button", name="Send").click()
    for tab in tabs:
        # The run may be over before a tab is looked at: the end of its text stays, its "Working" does not.
        expect(tab.locator(".agent-text").last).to_contain_text("That was the whole of it.")
        expect(tab.locator(".thread-name .mark-word")).to_have_text("Idle")
    seen = {said(tab) for tab in tabs}
    assert len(seen) == 1
    assert len(seen.pop()) > 100
    assert wire.streams == 1
    for tab in tabs[:-1]:
        tab.close()
    tabs[-1].reload()
    tabs[-1].locator(".link-live").wait_for()
    visitor.page = tabs[-1]


def test_tabs_on_two_threads_each_see_their_own_text_grow(stage: Stage, visit: Visit, wire: Wire) -> None:
    visitor = through(visit, wire, stage)
    visitor.begin("Be slow for 30 seconds")
    visitor.timeline.locator(".working").wait_for()
    other = visitor.new_page()
    other.goto(wire.base)
    other.get_by_label("Folder").wait_for()
    first, visitor.page = visitor.page, other
    visitor.begin(script({"do": "chunks", "count": 400, "delay": 0.01}), agent="rehearsal")
    expect(other.locator(".agent-text").last).to_be_visible()
    expect(first.locator(".row")).to_have_count(2)
    assert wire.streams == 1
    first.get_by_role("button", name="Stop").click()
    expect(first.locator(".thread-name .mark-word")).to_have_text("Idle")
    expect(other.locator(".thread-name .mark-word")).to_have_text("Idle")


@pytest.mark.parametrize("prepare", ["", NO_WORKER], ids=["shared", "own"])
def test_a_stream_that_breaks_again_and_again_ends_with_all_of_it(
    stage: Stage, visit: Visit, wire: Wire, prepare: str
) -> None:
    visitor = through(visit, wire, stage, prepare)
    made = stage.call("POST", "/v1/threads", {"workspace": str(stage.workspace), "agent": "scripted"})
    thread: str = made["result"]["thread"]
    prompt = script({"do": "chunks", "count": 1500, "delay": 0.004})
    stage.call("POST", f"/v1/threads/{thread}/messages", {"client_id": "first", "text": prompt})
    visitor.page.goto(f"{wire.base}/t/{thread}")
    text = visitor.timeline.locator(".agent-text").last
    text.wait_for()
    for _ in range(8):
        wire.cut()
        visitor.page.wait_for_timeout(500)
    visitor.settle("Idle")
    expect(visitor.page.locator(".bar-lost")).to_have_count(0)
    items = stage.call("GET", f"/v1/threads/{thread}")["items"]
    whole = [i for i in items if i["item"]["item_kind"] == "assistant_message"][-1]["text"]["text"]["text"]
    expect(text).to_have_text(whole.strip())
    assert wire.streams == 1


def test_leaving_reaches_every_tab(stage: Stage, visit: Visit, wire: Wire) -> None:
    visitor = through(visit, wire, stage)
    visitor.forgive("401")
    second = visitor.new_page()
    second.goto(wire.base)
    second.get_by_label("Folder").wait_for()
    left: int = visitor.page.evaluate(LEAVE)
    assert left < 300
    # One tab asks for something and learns it; the other only listens.
    visitor.page.get_by_label("What should it do?").fill("Say hello")
    visitor.page.get_by_role("button", name="Start").click()
    for tab in (visitor.page, second):
        expect(tab.get_by_role("heading")).to_have_text("Podium wants a login")
    url = stage.podium("serve", "--url").strip().replace(stage.base, wire.base)
    third = visitor.new_page()
    third.goto(url)
    third.get_by_label("Folder").wait_for()
    for tab in (visitor.page, second):
        tab.get_by_label("Folder").wait_for()


def test_a_worker_that_cannot_be_loaded_is_done_without(stage: Stage, visit: Visit, wire: Wire) -> None:
    visitor = through(
        visit, wire, stage, "window.SharedWorker = class { constructor() { throw new Error('no') } }"
    )
    visitor.begin("Say hello")
    visitor.settle("Idle")
    assert wire.streams == 1
