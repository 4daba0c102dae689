"""What others get wrong, over HTTP: no fork is pretended (D), what cannot be enforced is refused (H)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.providers.scripted import one_shot
from tests.runtime.house import until
from tests.server.desk import Desk, Served
from tests.server.knocking import routes

pytestmark = pytest.mark.anyio


async def working(desk: Desk, web: Served, **more: Any) -> tuple[str, str]:
    """A thread with a run whose prompt the agent has."""
    thread = await web.thread(**more)
    run = await web.say(thread, '{"play": [{"do": "sleep", "seconds": 600}]}')
    await until(desk.prompts, "the prompt")
    return thread, run


def policy(desk: Desk, **choices: Any) -> None:
    lines = [f"{k} = {str(v).lower() if isinstance(v, bool) else repr(v)}" for k, v in choices.items()]
    desk.configure("[policy]\n" + "\n".join(lines).replace("'", '"') + "\n")


@pytest.mark.behaviour("F220")
async def test_d_no_fork_is_offered_and_no_route_pretends_one(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, "text")
        await web.ended(thread, run)
        forks = (await web.snapshot(thread))["affordances"]["fork"]
        assert {f["source"] for f in forks} == {"thread", run}
        for fork in forks:
            assert fork["how"]["state"] == "disabled" and fork["how"]["code"] == "not_available_yet"
            assert fork["how"]["reason"] and fork["how"]["policy"] == "fork"
            assert fork["how"]["capability"] == "threads.fork"
        assert not any("fork" in path for _, path in await routes(web))
        assert "fork" not in (await web.get("/v1/info"))["features"]
        before = web.running.service.runtime.journal.sequence()
        for path in ("fork", "forks", "branch"):
            answer = await web.call("POST", f"/v1/threads/{thread}/{path}", {"source": run}, status=404)
            assert answer["code"] == "not_found"
        for field in ("fork", "source", "parent"):
            body = {"workspace": web.workspace, "agent": "scripted", field: thread}
            assert (await web.call("POST", "/v1/threads", body, status=400))["code"] == "invalid_value"
        assert web.running.service.runtime.journal.sequence() == before
        assert desk.prompts() == ["text"]
        report = await web.get("/v1/agents/scripted/capabilities")
        row = next(f for f in report["features"] if f["feature"] == "fork")
        assert row["outcome"] == "refuse" and row["code"] == "not_available_yet"


def check_refusal(answer: Any, capability: str, policy_key: str) -> None:
    """A refusal names what decided."""
    assert (answer["status"], answer["code"]) == (403, "capability_missing")
    assert answer["capability"] == capability and answer["policy"] == policy_key
    assert answer["reason"] and answer["fix"] and answer["detail"]


async def test_h_what_the_agent_cannot_and_the_policy_forbids_is_refused(
    desk: Desk,
) -> None:
    policy(desk, interrupt="refuse", steer="refuse")
    async with desk.serve() as web:
        registry = web.running.service.registry
        instance = registry.instances["scripted"]
        registry.instances["scripted"] = msgspec.structs.replace(instance, adapter=one_shot())
        held = await web.thread()
        body = {"client_id": "held", "text": "text"}
        refused = await web.call("POST", f"/v1/threads/{held}/messages", body, status=403)
        check_refusal(refused, "approvals.native_requests", "")
        thread, run = await working(desk, web, mode="full")
        shown = (await web.snapshot(thread))["affordances"]
        assert (
            shown["interrupt"]["state"] == "unavailable" and shown["message"]["steer"]["state"] == "disabled"
        )
        before = web.running.service.runtime.journal.sequence()
        refused = await web.call("POST", f"/v1/threads/{thread}/interrupt", {}, status=403)
        check_refusal(refused, "turns.interrupt", "interrupt")
        body = {"client_id": "c", "text": "more", "intent": "steer"}
        refused = await web.call("POST", f"/v1/threads/{thread}/messages", body, status=403)
        check_refusal(refused, "turns.steer_active", "steer")
        assert shown["message"]["steer"]["capability"] == refused["capability"]
        assert web.running.service.runtime.journal.sequence() == before
        assert (await web.run(thread, run))["state"] in ("starting", "running")
