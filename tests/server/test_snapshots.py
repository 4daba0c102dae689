"""What a thread is shown as: equal to the journal, whoever works with it, however long it is."""

from __future__ import annotations

import hashlib
from typing import Any

import anyio
import msgspec
import pytest

from podium.contract.events import ItemContent
from podium.domain.entities import BodyRef, Entity, Item, Thread
from podium.journal.rows import Batch, PartRow
from podium.runtime.bodyviews import BODY_END, BODY_INLINE_MAX, RANGE_MAX
from podium.runtime.eventlines import entity_data
from podium.runtime.live import decode_entity
from podium.runtime.snapshot import ITEMS_MAX, ITEMS_SHOWN
from tests.journal.writing import event
from tests.runtime.hosting import host
from tests.server.desk import Desk, Served
from tests.server.following import whole

pytestmark = pytest.mark.anyio

LONG = "né à ☃ 🎭 👩‍👩‍👧‍👦 " * 60_000
"""About a million characters."""


def stored(web: Served, kind: str, thread: str) -> list[Entity]:
    rows = web.running.service.runtime.journal.entities(kind, thread_id=thread)
    return [decode_entity(row) for row in rows]


def plain(entity: Entity) -> Any:
    """An entity as the face shows it."""
    return msgspec.json.decode(msgspec.json.encode(entity_data(entity)))


async def check_equal(web: Served, thread: str) -> Any:
    """A snapshot of a thread at rest against the journal's own rows."""
    shown = await web.snapshot(thread)
    assert shown["sequence"] == web.running.service.runtime.journal.sequence()
    for name, kind in (("runs", "run"), ("messages", "message"), ("nodes", "node"), ("requests", "request")):
        assert shown[name] == [plain(e) for e in stored(web, kind, thread)], kind
    items = stored(web, "item", thread)
    assert [i["item"] for i in shown["items"]] == [plain(i) for i in items]
    for item, held in zip(shown["items"], items, strict=True):
        assert isinstance(held, Item)
        for field, ref in held.bodies.items():
            rows = web.running.service.runtime.journal.parts(held.id, field, ref.epoch)
            text = "".join(r.text for r in rows)
            body = item["text"][field]
            assert (body["text"], body["chars"], body["parts"]) == (text, len(text), ref.parts)
            assert body["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    return shown


@pytest.mark.behaviour("F242")
async def test_a_snapshot_is_the_journal_also_of_what_another_process_works_with(desk: Desk) -> None:
    other = await host(desk, "text", "plan")
    try:
        async with desk.serve() as web:
            theirs = await other.word("THREAD")
            for _ in range(2):
                await other.word("STATE ended")
            run = (await web.snapshot(theirs))["runs"][-1]["id"]
            await web.ended(theirs, run)
            shown = await check_equal(web, theirs)
            assert shown["plans"] and len(shown["runs"]) == 2
            refused = await web.call(
                "POST", f"/v1/threads/{theirs}/messages", {"client_id": "x", "text": "hi"}, status=409
            )
            assert refused["code"] == "thread_in_use"
            mine = await web.thread()
            await web.ended(mine, await web.say(mine, "text"))
            await check_equal(web, mine)
            rows = (await web.get("/v1/threads"))["threads"]
            assert {r["thread"]["id"] for r in rows} == {mine, theirs}
    finally:
        await other.kill()


async def test_what_is_shown_of_an_open_item_is_never_behind_what_was_streamed(desk: Desk) -> None:
    play = {"play": [{"do": "say", "text": "wörd 🎭 " * 200, "delay": 0.002}]}
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, msgspec.json.encode(play).decode())
        lengths: list[int] = []
        while (await web.run(thread, run))["state"] != "ended":
            for item in (await web.snapshot(thread))["items"]:
                for body in item["text"].values():
                    assert body["chars"] == len(body["text"])
                    if item["item"]["item_kind"] == "assistant_message":
                        lengths.append(body["chars"])
            await anyio.sleep(0.01)
        assert lengths == sorted(lengths) and len(set(lengths)) > 2
        await check_equal(web, thread)


async def test_pages_from_the_end_cover_everything_while_the_thread_grows(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        for prompt in ("edit", "plan"):
            run = await web.say(thread, prompt)
            if prompt == "edit":
                request = await web.asked(thread)
                await web.call("POST", f"/v1/requests/{request['id']}/answer", {"decision": "accept"})
            await web.ended(thread, run)
        known = {i.id for i in stored(web, "item", thread)}
        grow = await web.say(thread, msgspec.json.encode({"play": [{"do": "tools"}] * 12}).decode())
        for limit in (1, 2, 3, 500):
            seen: list[tuple[int, str]] = []
            before: int | None = None
            for _ in range(200):
                more = f"&before={before}" if before is not None else ""
                page = await web.get(f"/v1/threads/{thread}/items?limit={limit}{more}")
                assert len(page["items"]) <= limit
                positions = [i["item"]["position"] for i in page["items"]]
                assert positions == sorted(positions)
                seen = [(i["item"]["position"], i["item"]["id"]) for i in page["items"]] + seen
                before = page["before"]
                if before is None:
                    break
            found = [position for position, _ in seen]
            assert found == list(range(1, len(found) + 1)), "a hole or a double"
            assert known <= {name for _, name in seen}
        await web.ended(thread, grow)
        assert (await web.get(f"/v1/threads/{thread}/items?before=1"))["items"] == []


async def test_a_long_body_has_head_and_tail_and_ranges_that_make_it_whole(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, LONG)  # a prompt that is no play is answered in short
        await web.ended(thread, run)
        first = (await web.snapshot(thread))["items"][0]
        body, item = first["text"]["text"], first["item"]["id"]
        assert len(LONG) > 3 * BODY_INLINE_MAX and body["chars"] == len(LONG)
        assert body["text"] == LONG[:BODY_END] and body["tail"] == LONG[-BODY_END:]
        assert body["sha256"] == hashlib.sha256(LONG.encode()).hexdigest()
        assert await whole(web, thread, item, "text") == LONG
        path = f"/v1/threads/{thread}/items/{item}/bodies/text"
        for start, end in ((0, 0), (0, 1), (7, 19), (len(LONG), len(LONG)), (3, 3 + RANGE_MAX), (0, 10**9)):
            part = await web.get(f"{path}?start={start}&end={end}")
            assert part["text"] == LONG[start : part["end"]] and part["chars"] == len(LONG)
            assert part["end"] == min(end, len(LONG), start + RANGE_MAX)
        for query in (f"start={len(LONG) + 1}", "start=5&end=4"):
            assert (await web.get(f"{path}?{query}", status=400))["code"] == "bad_range"
        for query in ("start=-1", "start=x", f"end={2**70}"):
            assert (await web.get(f"{path}?{query}", status=400))["code"] == "invalid_value"
        assert (await web.get(path.replace("/text", "/nobody"), status=400))["code"] == "invalid_value"
        assert (await web.get(path.replace("/text", "/reasoning"), status=404))["code"] == "body_unknown"
        other = await web.thread()
        await web.get(f"/v1/threads/{other}/items/{item}", status=404)


async def test_a_thread_of_ten_thousand_items_opens_at_its_end(desk: Desk) -> None:
    async with desk.serve() as web:
        journal, count = web.running.service.runtime.journal, 10_000
        made = Thread(id="thr_large", workspace=web.workspace, agent="scripted", agent_kind="scripted")
        journal.commit(Batch(events=[event(made)]))
        for begin in range(0, count, 1000):
            rows = [
                Item(
                    id=f"itm_{n}",
                    thread_id=made.id,
                    item_kind="assistant_message",
                    position=n + 1,
                    state="completed",
                    content=ItemContent(),
                    bodies={"text": BodyRef(parts=1, chars=6, closed=True)},
                )
                for n in range(begin, begin + 1000)
            ]
            parts = [PartRow(made.id, row.id, "text", 1, 1, 1, f"{row.position:06}") for row in rows]
            journal.commit(Batch(events=[event(row) for row in rows], parts=parts))
        shown = await web.snapshot(made.id)
        assert [i["item"]["position"] for i in shown["items"]] == list(
            range(count - ITEMS_SHOWN + 1, count + 1)
        )
        assert shown["items"][-1]["text"]["text"]["text"] == f"{count:06}" and shown["state"] == "idle"
        seen, before = 0, shown["items"][0]["item"]["position"]
        while before is not None:
            page = await web.get(f"/v1/threads/{made.id}/items?limit={ITEMS_MAX}&before={before}")
            seen, before = seen + len(page["items"]), page["before"]
        assert seen + ITEMS_SHOWN == count
        assert (await web.get(f"/v1/threads/{made.id}?items=500"))["before"] == count - 499
