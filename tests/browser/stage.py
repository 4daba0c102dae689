"""A real server on a machine of its own, and a browser in front of it that hears every complaint."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, ViewportSize, expect

STARTED_MAX = 30.0
"""Longest wait for a server to print its address, in seconds."""

ENDED_MAX = 30.0
"""Longest wait for a server to end, in seconds."""

SHOWN_MAX = 60_000
"""Longest wait for something on the page, in milliseconds: a busy machine has several browsers at work."""

DECIDED_MAX = 5_000
"""Longest wait for a request to close, in milliseconds, before its button is pressed again."""

PRESSES_MAX = 4
"""How often a button is pressed: the card may move away under a pointer, as it may for a person."""

WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 390, "height": 844}

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_URL = re.compile(r"Open: (http://\S+)")

WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (e) => {
  window.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sample}`);
});
"""


def chromium() -> str:
    """The browser of the distribution. Raises FileNotFoundError that says how to get it."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise FileNotFoundError("No Chromium here: run tests/browser/install.sh")
    return found


class Stage:
    """A machine: a home, a data folder, a workspace, and a server that can be killed and started again."""

    def __init__(self, root: Path, python: str = sys.executable) -> None:
        self.root = root
        self.python = python
        self.workspace = root / "shop"
        self.workspace.mkdir()
        (self.workspace / "README.md").write_text("# Shop\n")
        for name in ("home", "data", "config"):
            (root / name).mkdir(mode=0o700)
        self.environ = {
            **{k: os.environ[k] for k in ("PATH", "LANG", "TMPDIR") if k in os.environ},
            "HOME": str(root / "home"),
            "PODIUM_DATA": str(root / "data"),
            "PODIUM_CONFIG": str(root / "config"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.url = ""
        self.port = 0
        self._server: subprocess.Popen[bytes] | None = None

    def podium(self, *words: str) -> str:
        """Run a command to its end; what it printed."""
        command = [self.python, "-m", "podium", *words]
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def start(self) -> str:
        """Start the server, on its earlier port if it had one; the URL that signs a browser in."""
        command = [self.python, "-m", "podium", "serve", "--port", str(self.port)]
        self._server = subprocess.Popen(
            command, cwd=self.workspace, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        printed = ""
        found = None
        deadline = time.monotonic() + STARTED_MAX
        stdout = self._server.stdout
        assert stdout is not None
        while found is None:
            ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
            more = os.read(stdout.fileno(), 4096) if ready else b""
            assert more, f"the server printed no address: {printed}"
            printed += more.decode()
            found = _URL.search(printed)
        self.url = found[1]
        self.port = int(self.url.split(":")[2].split("/")[0])
        return self.url

    @property
    def base(self) -> str:
        """The address without a code."""
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End the server as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server in good order; agents go on."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        server = self._server
        if server is None:
            return
        self._server = None
        server.send_signal(how)
        server.wait(ENDED_MAX)
        if server.stdout is not None:
            server.stdout.close()

    def close(self) -> None:
        """Nothing of this machine goes on."""
        self.stop()
        self.podium("stop", "--agents")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Speak to the server as another client would."""
        token = (self.root / "data" / "token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=self.base, headers=headers, timeout=20, trust_env=False) as http:
            answer = http.request(method, path, json=body) if body is not None else http.request(method, path)
        assert answer.status_code < 300, (answer.status_code, answer.text)
        return answer.json()


class Visitor:
    """A browser window that is signed in, and what it complained of."""

    def __init__(self, browser: Browser, stage: Stage, size: ViewportSize, scheme: str = "light") -> None:
        self.stage = stage
        self.complaints: list[str] = []
        self.forgiven: list[str] = []
        self.foreign: list[str] = []
        self.bases = [stage.base]
        self.context: BrowserContext = browser.new_context(
            viewport=size,
            color_scheme="dark" if scheme == "dark" else "light",
            has_touch=size["width"] < 768,
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(SHOWN_MAX)
        self.context.add_init_script(WATCH)
        self.context.on("request", self._asked)
        self.page = self.new_page()

    def new_page(self) -> Page:
        """Another tab of the same browser."""
        page = self.context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"error {error}"))
        return page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type} {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((*self.bases, "blob:")):
            self.foreign.append(request.url)

    def forgive(self, words: str) -> None:
        """A complaint with these words is the point of the test."""
        self.forgiven.append(words)

    def check(self) -> None:
        """Nothing was complained of, no policy was broken, nothing left this machine."""
        violations = [v for p in self.context.pages for v in p.evaluate("window.violations ?? []")]
        wrong = [c for c in self.complaints if not any(f in c for f in self.forgiven)]
        found = [
            *wrong,
            *(f"policy {v}" for v in violations),
            *(f"left this machine {f}" for f in self.foreign),
        ]
        assert not found, found

    # ---- what a person does

    def begin(self, prompt: str, *, agent: str = "rehearsal") -> str:
        """From an empty page to a running thread; its id."""
        page = self.page
        if agent != "rehearsal":
            return self._begin_unseen(prompt, agent)
        page.get_by_label("Folder").fill(str(self.stage.workspace))
        page.locator(f'input[name="agent"][value="{agent}"]').check()
        page.get_by_label("What should it do?").fill(prompt)
        page.get_by_role("button", name="Start").click()
        page.locator(".thread-head, .composer-trouble").first.wait_for()
        trouble = page.locator(".start .composer-trouble")
        assert trouble.count() == 0, trouble.inner_text()
        return page.url.rsplit("/", 1)[-1]

    def _begin_unseen(self, prompt: str, agent: str) -> str:
        """A thread of an agent that the page does not offer to people."""
        made = self.stage.call(
            "POST", "/v1/threads", {"workspace": str(self.stage.workspace), "agent": agent}
        )
        thread: str = made["result"]["thread"]
        self.stage.call("POST", f"/v1/threads/{thread}/messages", {"client_id": "first", "text": prompt})
        self.page.goto(f"{self.stage.base}/t/{thread}")
        return thread

    @property
    def composer(self) -> Locator:
        """Where messages are typed."""
        return self.page.get_by_role("form", name="Message").get_by_role("textbox")

    @property
    def timeline(self) -> Locator:
        """The log."""
        return self.page.get_by_role("feed", name="Timeline")

    @property
    def dock(self) -> Locator:
        """What waits for an answer."""
        return self.page.get_by_role("complementary", name="Open requests")

    def decide(self, option: str = "accept", *, page: Page | None = None) -> None:
        """Press an option of the request that is open in the timeline until the request closes."""
        card = (page or self.page).locator('.timeline .request[data-state="pending"]').first
        asked = card.get_attribute("data-request")
        open_card = (page or self.page).locator(f'.timeline .request[data-request="{asked}"]')
        button = open_card.locator(f'button[data-option="{option}"]')
        for _ in range(PRESSES_MAX):
            if button.is_visible() and button.is_enabled():
                button.click()
            try:
                expect(open_card).to_have_count(0, timeout=DECIDED_MAX)
            except AssertionError:
                continue
            return
        expect(open_card).to_have_count(0)

    def settle(self, state: str = "Idle") -> None:
        """Wait until the thread's state is this word."""
        self.page.locator(".thread-name .mark-word", has_text=state).wait_for()
