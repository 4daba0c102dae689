"""What is chosen before a thread begins: the agent, how to sign in to it, what it may do unasked."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from podium.testkit import scripted_agent
from tests.browser.stage import SHOWN_MAX, Stage, Visitor

Visit = Callable[..., Visitor]

expect.set_options(timeout=SHOWN_MAX)


def configure(stage: Stage, text: str) -> None:
    """Give the server another podium.toml."""
    stage.stop()
    (stage.root / "config" / "podium.toml").write_text(text)
    stage.start()


def stranger(stage: Stage, name: str, more: str = "") -> str:
    """The scripted program as an agent of which nothing is known but how it is started."""
    home = json.dumps(str(stage.root / name))
    return f"""
[agents.{name}]
adapter = "acp"
program = {json.dumps(sys.executable)}
options = {{ arguments = ["-I", {json.dumps(scripted_agent.__file__)}] }}
env = {{ SCRIPTED_HOME = {home} }}
{more}
"""


def adapter_that_signs_in_by_command(stage: Stage) -> str:
    """An installed adapter whose agent has a command to sign in with."""
    for line in stage.podium("agents", "--json").splitlines():
        agent: dict[str, Any] = json.loads(line)
        if any(flow["kind"] == "command" for flow in agent.get("sign_in_flows", ())):
            return agent["adapter"]
    raise AssertionError("no adapter with a command to sign in")


def test_what_nothing_holds_begins_only_once_somebody_chose_that(stage: Stage, visit: Visit) -> None:
    configure(stage, '[agents.bare]\nadapter = "oneshot"\nprogram = "cat"\n')
    visitor = visit()
    page = visitor.page
    page.get_by_label("Folder").fill(str(stage.workspace))
    page.get_by_label("What should it do?").fill("Say this")
    start = page.get_by_role("button", name="Start")
    expect(start).to_be_enabled()
    page.locator('input[name="agent"][value="bare"]').check()
    expect(page.locator(".mode-unheld")).to_contain_text("Nothing holds this agent")
    expect(page.locator('input[name="mode"]:checked')).to_have_count(0)
    expect(page.locator('input[name="mode"][value="ask"]')).to_be_disabled()
    expect(start).to_be_disabled()
    page.locator('input[name="mode"][value="full"]').check()
    start.click()
    page.wait_for_url("**/t/*")
    visitor.settle("Idle")
    expect(visitor.timeline.locator(".agent-text")).to_contain_text("Say this")


@pytest.mark.behaviour("F222")
def test_two_kinds_of_sign_in_come_through_the_one_component(
    stage: Stage, visit: Visit, size: ViewportSize
) -> None:
    program = stage.root / "program"
    program.write_text("#!/bin/sh\necho 1.0.0\n")
    program.chmod(0o755)
    by_command = adapter_that_signs_in_by_command(stage)
    configure(
        stage,
        f'[agents.first]\nadapter = "scripted"\n'
        f'[agents.second]\nadapter = "{by_command}"\nprogram = {json.dumps(str(program))}\n',
    )
    visitor = visit(size)
    page = visitor.page
    cards = {card["id"]: card for card in stage.call("GET", "/v1/agents")["agents"]}
    kinds: set[str] = set()
    for name in ("first", "second"):
        box = page.locator(".agent").filter(has=page.locator(f'input[value="{name}"]')).locator(".sign-in")
        expect(box).to_be_visible()
        flows = cards[name]["sign_in_flows"]
        expect(box.locator(".sign-in-way")).to_have_count(len(flows))
        for at, flow in enumerate(flows):
            way = box.locator(".sign-in-way").nth(at)
            expect(way).to_have_attribute("data-kind", flow["kind"])
            expect(way.locator("code")).to_have_text(flow["value"])
            expect(way.get_by_role("button")).to_have_count(1 if flow["kind"] == "command" else 0)
            kinds.add(flow["kind"])
    assert kinds == {"command", "variable"}
    rehearsal = page.locator(".agent").filter(has=page.locator('input[value="rehearsal"]'))
    expect(rehearsal).to_be_visible()
    expect(rehearsal.locator(".sign-in")).to_have_count(0)


def test_a_mode_is_chosen_and_stands_in_the_thread(stage: Stage, visit: Visit, size: ViewportSize) -> None:
    visitor = visit(size)
    page = visitor.page
    ask = page.get_by_role("radio", name="ask", exact=True)
    expect(ask).to_be_checked()
    expect(page.locator("#mode-ask")).to_have_text(re.compile("asks you before"))
    page.get_by_role("radio", name="full", exact=True).check()
    expect(page.locator("#mode-ask")).to_be_hidden()
    expect(page.locator("#mode-full")).to_be_visible()
    thread = visitor.begin("Add a line to README.md")
    expect(page.locator(".thread-mode")).to_have_text("mode full")
    visitor.settle("Idle")
    expect(visitor.timeline.locator(".request")).to_have_count(0)
    assert (stage.workspace / "README.md").read_text() != "# Shop\n"
    assert stage.call("GET", f"/v1/threads/{thread}")["thread"]["mode"] == "full"


def test_an_agents_own_mode_is_the_one_that_is_offered(stage: Stage, visit: Visit) -> None:
    configure(stage, stranger(stage, "mine", 'mode = "edit"'))
    page = visit().page
    page.locator('input[name="agent"][value="mine"]').check()
    expect(page.get_by_role("radio", name="edit", exact=True)).to_be_checked()
    page.locator('input[name="agent"][value="rehearsal"]').check()
    expect(page.get_by_role("radio", name="ask", exact=True)).to_be_checked()


def test_a_refusal_says_why_by_what_rule_and_keeps_the_text(stage: Stage, visit: Visit) -> None:
    configure(stage, stranger(stage, "mine") + "\n[policy]\nstrict = true\n")
    visitor = visit()
    visitor.forgive("403")
    page = visitor.page
    page.get_by_label("Folder").fill(str(stage.workspace))
    page.locator('input[name="agent"][value="mine"]').check()
    page.get_by_label("What should it do?").fill("edit a.txt")
    page.get_by_role("button", name="Start").click()
    trouble = page.locator(".start .composer-trouble")
    expect(trouble).to_contain_text("Nothing holds this agent to the mode ask")
    expect(trouble.locator("dt").first).to_have_text("Why")
    expect(trouble.locator("dt").nth(1)).to_have_text("What this agent cannot do")
    expect(trouble.locator("dd").nth(1)).to_contain_text("approvals")
    expect(page.get_by_label("What should it do?")).to_have_value("edit a.txt")
    assert not (stage.workspace / "a.txt").exists()
    # The thread exists; there it is said before anything is sent.
    [thread] = stage.call("GET", "/v1/threads")["threads"]
    page.goto(f"{stage.base}/t/{thread['thread']['id']}")
    visitor.composer.fill("edit a.txt")
    visitor.composer.press("Enter")
    page.locator(".meaning .why").click()
    expect(page.get_by_role("dialog")).to_contain_text("your text stays")
    expect(visitor.composer).to_have_value("edit a.txt")
    assert not (stage.workspace / "a.txt").exists()


REFUSAL = {
    "type": "urn:podium:error:capability_missing",
    "status": 403,
    "code": "capability_missing",
    "title": "Refused",
    "detail": "Nothing holds this agent.",
    "fix": "Take another one.",
    "reason": "It asks nobody.",
    "capability": "approvals.command",
    "policy": "approvals/refuse",
}


def test_a_message_that_is_refused_says_what_that_rests_on_and_stays(
    visit: Visit, size: ViewportSize
) -> None:
    visitor = visit(size)
    visitor.forgive("403")
    page = visitor.page
    visitor.begin("Say hello")
    visitor.settle("Idle")
    page.route(
        "**/v1/threads/*/messages",
        lambda route: route.fulfill(
            status=403, content_type="application/problem+json", body=json.dumps(REFUSAL)
        ),
    )
    visitor.composer.fill("and this?")
    page.locator(".send").click()
    trouble = page.get_by_role("form", name="Message").get_by_role("alert")
    expect(trouble).to_contain_text("Not sent: Nothing holds this agent. Take another one.")
    expect(trouble.locator("dd")).to_have_text(["It asks nobody.", "approvals.command", "approvals/refuse"])
    expect(visitor.composer).to_have_value("and this?")
    page.unroute("**/v1/threads/*/messages")
    page.locator(".send").click()
    expect(visitor.composer).to_have_value("")
    expect(trouble).to_have_count(0)
