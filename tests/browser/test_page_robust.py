"""The page when things go wrong: no login, a server that dies, hostile text, much text."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser.stage import NARROW, SHOWN_MAX, WIDE, Stage, Visitor

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)

LOST = "net::ERR_"
"""What the browser itself says of a server that is gone."""

HOSTILE = (
    """# <img src=x onerror=alert(1)>

<script>alert(1)</script>

<base href="https://evil.example/"><iframe src="https://evil.example/"></iframe>
<style>* { display: none }</style>
<svg><script href="https://evil.example/x.js"/></svg>

![tracked](https://evil.example/pixel.png) ![data](data:image/svg+xml,<svg/onload=alert(1)>)

[a](javascript:alert(1)) [b](JAVASCRIPT:alert(2)) [c](data:text/html,x) [d](//evil.example/) [e](https://evil.example/)
[bidi \u202egpj.exe](https://evil.example/\u202egpj.exe)

https://evil.example/"""
    + "a" * 3000
    + """

```html
<script>alert(1)</script>
```

| <b>x</b> | `<i>` |
|---|---|
| [t](vbscript:x) | <img src=y> |
"""
)


def script(*steps: dict[str, object]) -> str:
    return json.dumps({"play": list(steps)})


def test_without_a_login_the_page_says_how_to_get_one(
    browser: Browser, stage: Stage, size: ViewportSize
) -> None:
    visitor = Visitor(browser, stage, size)
    visitor.forgive("401")
    visitor.page.goto(stage.base)
    expect(visitor.page.get_by_role("heading")).to_have_text("Podium wants a login")
    expect(visitor.page.get_by_text("podium serve --url")).to_be_visible()
    visitor.check()
    visitor.context.close()


def test_a_code_works_once(browser: Browser, stage: Stage, visit: Visit) -> None:
    visit(url=stage.url).page.get_by_label("Folder").wait_for()
    second = Visitor(browser, stage, WIDE)
    second.forgive("40")
    second.page.goto(stage.url)
    expect(second.page.get_by_role("alert")).to_be_visible()
    assert "code=" not in second.page.url
    second.check()
    second.context.close()


def test_the_server_is_killed_in_the_middle_of_a_run_and_comes_back(
    stage: Stage, visit: Visit, size: ViewportSize
) -> None:
    visitor = visit(size)
    visitor.forgive(LOST)
    visitor.begin("Be slow for 6 seconds, then say hello")
    expect(visitor.timeline.locator(".working")).to_contain_text("Working")
    visitor.composer.fill("a draft")
    stage.kill()
    expect(visitor.page.get_by_role("alert")).to_contain_text("Not connected. Showing what was known at")
    expect(visitor.timeline).not_to_contain_text("Working")
    visitor.composer.press("Enter") if size["width"] > 768 else visitor.page.locator(".send").click()
    expect(visitor.page.locator(".composer-trouble")).to_contain_text("Not sent")
    expect(visitor.composer).to_have_value("a draft")
    stage.start()
    expect(visitor.page.locator(".bar-lost")).to_have_count(0)
    expect(visitor.page.locator(".bar-boot")).to_contain_text("started anew")
    expect(visitor.composer).to_have_value("a draft")
    visitor.settle("Idle")
    expect(visitor.timeline.locator(".agent-text").last).to_be_visible()
    visitor.page.reload()
    expect(visitor.composer).to_have_value("a draft")
    visitor.settle("Idle")


def test_a_request_survives_the_servers_death_and_is_answered_after_it(stage: Stage, visit: Visit) -> None:
    visitor = visit()
    visitor.forgive(LOST)
    visitor.begin("Add a line to README.md")
    visitor.timeline.locator('.request[data-state="pending"]').wait_for()
    stage.kill()
    expect(visitor.page.get_by_role("alert").first).to_contain_text("Not connected")
    stage.start()
    expect(visitor.page.locator(".bar-lost")).to_have_count(0)
    visitor.decide()
    visitor.settle("Idle")
    assert (stage.workspace / "README.md").read_text() != "# Shop\n"


def test_hostile_text_is_text(visit: Visit, size: ViewportSize) -> None:
    visitor = visit(size)
    visitor.page.on("dialog", lambda dialog: visitor.complaints.append(f"dialog {dialog.message}"))
    visitor.begin(script({"do": "say", "text": HOSTILE}), agent="scripted")
    visitor.settle("Idle")
    text = visitor.timeline.locator(".agent-text").last
    expect(text).to_contain_text("<script>alert(1)</script>")
    expect(text).to_contain_text("Image: tracked (evil.example)")
    assert text.locator("script, iframe, base, style, svg, img, object").count() == 0
    links = text.locator("a").evaluate_all("all => all.map(a => [a.href, a.rel, a.target])")
    assert links
    for href, rel, target in links:
        assert href.startswith("https://evil.example/")
        assert ("noopener" in rel, target) == (True, "_blank")
    wide = visitor.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size["width"]


def test_the_reader_is_not_moved_while_text_comes(visit: Visit) -> None:
    visitor = visit()
    visitor.begin(script({"do": "chunks", "count": 2500, "delay": 0.002}), agent="scripted")
    scroller = visitor.timeline
    text = scroller.locator(".agent-text").last
    text.wait_for()
    for _ in range(200):
        if scroller.evaluate("e => e.scrollHeight > 1400"):
            break
        visitor.page.wait_for_timeout(50)
    # Followed until the user leaves.
    gap = "e => e.scrollHeight - e.scrollTop - e.clientHeight"
    assert scroller.evaluate(gap) <= 40
    box = scroller.bounding_box()
    assert box is not None
    visitor.page.mouse.move(box["x"] + 300, box["y"] + 300)
    visitor.page.mouse.wheel(0, -400)
    expect(visitor.page.locator(".pill")).to_be_visible()
    visitor.page.wait_for_timeout(1500)
    top = scroller.evaluate("e => e.scrollTop")
    visitor.page.wait_for_timeout(1000)
    assert abs(scroller.evaluate("e => e.scrollTop") - top) <= 1
    visitor.page.locator(".pill button").click()
    expect(visitor.page.locator(".pill")).to_have_count(0)
    visitor.settle("Idle")
    assert scroller.evaluate(gap) <= 40


def test_much_output_is_shown_at_its_ends(visit: Visit) -> None:
    visitor = visit()
    visitor.begin(script({"do": "output", "bytes": 2_000_000}), agent="scripted")
    visitor.settle("Idle")
    visitor.page.reload()
    visitor.settle("Idle")
    fold = visitor.page.locator(".fold-line .opener-line")
    if fold.count():
        fold.click()
    head = visitor.timeline.locator(
        '[data-kind="command"] .card-title, [data-kind="tool_call"] .opener-line'
    ).first
    if head.get_attribute("aria-expanded") == "false":
        head.click()
    expect(visitor.timeline.locator(".output-more")).to_contain_text("characters in the middle are not shown")
    with visitor.page.expect_response("**/bodies/output**") as more:
        visitor.timeline.locator(".output-more button").click()
    assert more.value.status == 200


def test_a_phone_has_the_list_as_a_page_and_the_composer_in_reach(visit: Visit) -> None:
    visitor = visit(NARROW)
    visitor.begin("Say hello")
    visitor.settle("Idle")
    page = visitor.page
    expect(page.get_by_role("navigation", name="Threads")).to_be_hidden()
    page.get_by_role("link", name="Back to the threads").click()
    expect(page.get_by_role("navigation", name="Threads")).to_be_visible()
    page.locator(".row").first.click()
    # With a keyboard open, half of the height is left.
    page.set_viewport_size({"width": 390, "height": 430})
    box = visitor.composer.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 430


def test_older_items_come_by_page_and_nothing_jumps(visit: Visit) -> None:
    visitor = visit()
    says: list[dict[str, object]] = [
        {"do": "say", "text": f"Message {n}\n\nwith {'more ' * (n % 40)}", "delay": 0} for n in range(90)
    ]
    visitor.begin(script(*says), agent="scripted")
    visitor.settle("Idle")
    visitor.page.reload()
    visitor.settle("Idle")
    visitor.page.locator(".fold-line .opener-line").click()
    more = visitor.page.get_by_role("button", name="Load earlier")
    box = visitor.timeline.bounding_box()
    assert box is not None
    visitor.page.mouse.move(box["x"] + 300, box["y"] + 300)
    visitor.page.mouse.wheel(0, -40_000)
    more.wait_for()
    visitor.page.wait_for_timeout(1500)
    first = visitor.timeline.locator(".entry-item").first
    name = first.get_attribute("data-key")
    anchor = visitor.timeline.locator(f'.entry[data-key="{name}"]')
    drift: list[float] = visitor.page.evaluate(DRIFT, name)
    assert max(drift) - min(drift) <= 1
    expect(anchor).to_be_visible()


DRIFT = """async (key) => {
  const row = () => document.querySelector(`.entry[data-key="${key}"]`);
  const place = Number(row().getAttribute('aria-posinset'));
  const seen = [row().getBoundingClientRect().top];
  let came = false;
  document.querySelector('.timeline-top button').click();
  for (let frame = 0; frame < 90; frame++) {
    await new Promise(requestAnimationFrame);
    came ||= Number(row()?.getAttribute('aria-posinset')) > place;
    seen.push(row()?.getBoundingClientRect().top ?? 9999);
  }
  return came ? seen : [0, 9999];
}"""
"""Where a row stands in 90 frames while others come before it."""
