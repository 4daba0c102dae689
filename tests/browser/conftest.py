"""A stage for each test, and one browser for each file of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.browser.stage import FLAGS, NARROW, WIDE, Stage, Visitor, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The distribution's browser. It ends with the file: its loop must not meet those of other tests."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A machine with a server."""
    place = Stage(tmp_path)
    try:
        place.start()
        yield place
    finally:
        place.close()


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def size(request: pytest.FixtureRequest) -> ViewportSize:
    """Both widths that the page is made for."""
    return request.param


@pytest.fixture
def visit(browser: Browser, stage: Stage) -> Iterator[Callable[..., Visitor]]:
    """Opens a window on the server, signed in by its one-time URL; checks its complaints at the end."""
    opened: list[Visitor] = []

    def open_one(size: ViewportSize = WIDE, scheme: str = "light", url: str | None = None) -> Visitor:
        visitor = Visitor(browser, stage, size, scheme)
        opened.append(visitor)
        visitor.page.goto(url or stage.podium("serve", "--url").strip())
        return visitor

    yield open_one
    try:
        for visitor in opened:
            visitor.check()
    finally:
        for visitor in opened:
            visitor.context.close()
