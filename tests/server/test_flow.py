"""A thread over HTTP from its first message to its diff: what a page and a script do."""

from __future__ import annotations

import anyio
import pytest

from tests.server.desk import Desk

pytestmark = pytest.mark.anyio


async def test_a_message_is_answered_and_read_back(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.ended(thread, await web.say(thread, "text"))
        assert (run["outcome"], run["evidence"]) == ("completed", "provider")
        shown = await web.snapshot(thread)
        kinds = [i["item"]["item_kind"] for i in shown["items"]]
        assert kinds[0] == "user_message" and "assistant_message" in kinds
        assert shown["items"][0]["text"]["text"]["text"] == "text"
        assert shown["state"] == "idle" and shown["affordances"]["message"]["means"] == "start"
        row = (await web.get("/v1/threads"))["threads"][0]
        assert (row["thread"]["id"], row["title"], row["state"]) == (thread, "text", "idle")


@pytest.mark.behaviour("F141", "F142")
async def test_an_approval_is_answered_once_and_the_edit_is_the_threads_change(desk: Desk) -> None:
    await anyio.run_process(["git", "init", "-q", str(desk.workspace)])
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, "edit")
        request = await web.asked(thread)
        shown = await web.snapshot(thread)
        assert shown["state"] == "question"
        assert [(r["request"], r["state"]) for r in shown["affordances"]["requests"]] == [
            (request["id"], "respondable")
        ]
        answer = f"/v1/requests/{request['id']}/answer"
        wrong = await web.call("POST", answer, {"decision": "maybe"}, status=422)
        assert wrong["code"] == "option_not_offered"
        given = {"decision": "accept", "command_id": "one"}
        first = await web.call("POST", answer, given)
        assert await web.call("POST", answer, given) == first
        lost = await web.call("POST", answer, {"decision": "decline", "command_id": "two"}, status=409)
        assert lost["code"] == "request_answered"
        assert (await web.ended(thread, run))["outcome"] == "completed"
        changes = await web.get(f"/v1/threads/{thread}/diff")
        assert changes["paths"] and all(p["owner"] == "agent" for p in changes["paths"])
        assert changes["agent"].startswith("diff --git")
        shown = await web.snapshot(thread)
        assert shown["affordances"]["requests"][0]["state"] == "expired"


async def test_a_run_is_stopped(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, "hang")
        await web.call("POST", f"/v1/threads/{thread}/interrupt", {})
        assert (await web.ended(thread, run))["outcome"] in ("interrupted", "cancelled")


@pytest.mark.behaviour("F240")
async def test_the_same_command_again_gets_the_same_receipt_and_another_one_a_conflict(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread(command_id="begin")
        assert await web.thread(command_id="begin") == thread
        body = {
            "workspace": desk.workspace.as_posix(),
            "agent": "scripted",
            "command_id": "begin",
            "title": "x",
        }
        assert (await web.call("POST", "/v1/threads", body, status=409))["code"] == "command_id_reused"
        run = await web.say(thread, "text", "same")
        assert await web.say(thread, "text", "same") == run
        path = f"/v1/threads/{thread}/messages"
        other = await web.call("POST", path, {"client_id": "same", "text": "other"}, status=409)
        assert other["code"] in ("client_id_reused", "command_id_reused")
        await web.ended(thread, run)
        assert desk.prompts() == ["text"]


async def test_the_input_of_a_run_is_what_the_agent_received(desk: Desk) -> None:
    said = "  text\n\n\u2028 with é and 🎭 \t "
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, said)
        await web.ended(thread, run)
        found = await web.get(f"/v1/runs/{run}/input")
        assert [(b["type"], b["origin"], b["text"]) for b in found["blocks"]] == [("text", "user", said)]
        assert desk.prompts() == [said]
        nodes = (await web.get(f"/v1/threads/{thread}/nodes"))["nodes"]
        assert [n["node_kind"] for n in nodes if n["parent_id"] is None] == ["root"]
        assert (await web.get(f"/v1/threads/{thread}/commands"))["commands"] == []
        assert (await web.get("/v1/runs/run_none/input", status=404))["code"] == "run_unknown"


async def test_a_data_folder_that_was_taken_away_is_not_ready_and_takes_no_command(desk: Desk) -> None:
    async with desk.serve() as web:
        assert (await web.get("/v1/readyz"))["ok"]
        thread = await web.thread()
        held = desk.data / "podium.db"
        held.rename(desk.data / "taken.db")
        try:
            assert (await web.get("/v1/readyz", status=503))["code"] == "data_folder_gone"
            path, body = f"/v1/threads/{thread}/messages", {"client_id": "one", "text": "text"}
            assert (await web.call("POST", path, body, status=503))["code"] == "data_folder_gone"
            new = {"workspace": str(desk.workspace), "agent": "scripted"}
            assert (await web.call("POST", "/v1/threads", new, status=503))["code"] == "data_folder_gone"
        finally:
            (desk.data / "taken.db").rename(held)
        assert (await web.get("/v1/readyz"))["ok"]
