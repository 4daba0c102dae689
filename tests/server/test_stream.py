"""The event stream over HTTP: nothing missing, nothing double, whoever writes and however one comes back."""

from __future__ import annotations

import hashlib
from typing import Any

import anyio
import msgspec
import pytest

from podium.server import stream
from tests.runtime.hosting import host
from tests.runtime.house import until
from tests.server.desk import Desk, Served
from tests.server.following import Follower, Frame, ends, following, whole

pytestmark = pytest.mark.anyio

LONG = msgspec.json.encode(
    {
        "play": [
            {"do": "say", "text": "né à ☃ 🎭 " * 60},
            {"do": "tools", "count": 5},
            {"do": "chunks", "count": 60},
        ]
    }
).decode()

STEPS = msgspec.json.encode(
    {"play": [{"do": "tools", "count": 2}, {"do": "sleep", "seconds": 0.05}, {"do": "say", "text": "on"}] * 6}
).decode()
SHOTS_MAX = 40
"""Most snapshots taken while a run works."""


async def stored(web: Served) -> list[int]:
    return [e.sequence for e in web.running.service.runtime.journal.all_events()]


async def reach(follower: Follower, sequence: int) -> None:
    """Read on until the stream is so far."""
    await follower.until(lambda f: f.event in ("event", "heartbeat") and f.data["sequence"] >= sequence)


@pytest.mark.behaviour("F242")
async def test_two_processes_write_and_the_stream_is_the_journal(desk: Desk) -> None:
    async with desk.serve() as web:
        mine = await web.thread()
        other, newest = await host(desk, LONG, LONG), 0
        try:
            await other.word("RUN")
            run = await web.say(mine, LONG)
            async with following(web, "after=0&live=*") as early, anyio.create_task_group() as group:

                async def join(after: int) -> None:
                    async with following(web, last=after) as late:
                        await late.until(ends(run))
                        assert late.sequences == list(range(after + 1, late.sequences[-1] + 1))

                for after in (0, 7, 20):
                    if after <= web.running.service.runtime.journal.sequence():
                        group.start_soon(join, after)
                await early.until(ends(run))
                for _ in range(2):
                    await other.word("STATE ended")
                newest = web.running.service.runtime.journal.sequence()
                await reach(early, newest)
        finally:
            await other.kill()
        assert early.sequences == list(range(1, early.sequences[-1] + 1))
        assert set(await stored(web)) >= set(early.sequences) >= set(range(1, newest + 1))
        threads = {f.data["thread_id"] for f in early.seen if f.event == "event"}
        assert len(threads) == 2, "the other process was not heard"
        heard = {f.data["thread_id"] for f in early.seen if f.event == "delta"}
        assert heard == {mine}


@pytest.mark.behaviour("F242")
async def test_a_snapshot_and_what_comes_above_it_are_everything(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, STEPS)
        shots = [await web.snapshot(thread)]
        while (await web.run(thread, run))["state"] != "ended" and len(shots) < SHOTS_MAX:
            shots.append(await web.snapshot(thread))
        await web.ended(thread, run)
        last = web.running.service.runtime.journal.sequence()
        after = everything(await web.snapshot(thread))
        assert len({s["sequence"] for s in shots}) > 3
        for shot in shots:
            seen = everything(shot)
            if shot["sequence"] < last:
                async with following(web, f"threads={thread}&after={shot['sequence']}") as follower:
                    await reach(follower, last)
                assert follower.sequences == list(range(shot["sequence"] + 1, last + 1))
                for frame in follower.seen[1:]:
                    entity = frame.data["entity"]
                    if entity["revision"] > seen.get(entity["id"], {"revision": 0})["revision"]:
                        seen[entity["id"]] = entity
            assert {name: seen[name] for name in after} == after


def everything(shot: Any) -> dict[str, Any]:
    """The entities of a snapshot by id."""
    items = [i["item"] for i in shot["items"]]
    return {e["id"]: e for e in (*items, *shot["runs"], *shot["messages"], *shot["nodes"])}


MALFORMED = ["abc", "-1", "1.5", "0x1", "1 2", "9" * 19, "%D9%A3", "null"]


@pytest.mark.behaviour("F243")
async def test_each_useless_cursor_is_told_why_and_given_a_snapshot(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk.serve() as web:
        thread, second = await web.thread(), await web.thread()
        await web.ended(thread, await web.say(thread, "text"))
        newest = web.running.service.runtime.journal.sequence()
        identity = (await web.get("/v1/info"))["journal"]
        cases = [
            *(("cursor_malformed", f"after={cursor}", None) for cursor in MALFORMED),
            *(("cursor_malformed", "", cursor) for cursor in ("abc", "-1", "9" * 19)),
            ("cursor_ahead", f"after={newest + 1000}", None),
            ("cursor_ahead", "", newest + 1000),
            ("journal_changed", "after=1&journal=another", None),
            ("journal_changed", "journal=another", 1),
            ("too_far_behind", "after=0", None),
            ("too_far_behind", f"journal={identity}", 0),
        ]
        monkeypatch.setattr(stream, "REPLAY_MAX", newest - 2)
        for reason, query, last in cases:
            live = f"live={thread},{second},thr_none"
            async with following(web, f"{query}&{live}", last=last) as follower:
                hello, reset, *shown = [await follower.next() for _ in range(4)]
                assert [f.event for f in (hello, reset, *shown)] == ["hello", "reset", "snapshot", "snapshot"]
                assert reset.data == {"reason": reason, "sequence": newest, "boot": web.running.place.boot}
                assert reset.id == newest and hello.data["journal"] == identity
                assert {s.data["thread"]["id"] for s in shown} == {thread, second}
                assert all(s.data["sequence"] >= newest for s in shown)
                if (reason, last) == ("too_far_behind", 0):
                    await web.call("PATCH", f"/v1/threads/{second}", {"archived": True})
                    frame = await follower.until(lambda f: f.event == "event")
                    assert frame.data["sequence"] == newest + 1 and frame.data["entity"]["archived"]
        monkeypatch.undo()
        async with following(web, f"after={newest}", last=newest + 1) as follower:
            await follower.next()
            await web.call("PATCH", f"/v1/threads/{second}", {"archived": False})
            frame = await follower.next()
            assert frame.id == newest + 2, (
                "Last-Event-ID is what a browser knows last; it goes before `after`"
            )
        async with following(web, f"after=3&journal={identity}") as follower:
            await reach(follower, newest + 2)
            assert follower.sequences == list(range(4, newest + 3))


async def test_without_a_cursor_the_stream_begins_now(desk: Desk) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        async with following(web) as follower:
            hello = await follower.next()
            await web.call("PATCH", f"/v1/threads/{thread}", {"archived": True})
            assert (await follower.next()).id == hello.data["sequence"] + 1


async def test_deltas_come_of_live_threads_and_events_of_the_named_ones(desk: Desk) -> None:
    async with desk.serve() as web:
        one, two = await web.thread(), await web.thread()
        async with (
            following(web, f"live={one}") as live,
            following(web, f"threads={two}&live={one},{two}") as named,
            following(web) as silent,
        ):
            for follower in (live, named, silent):
                await follower.next()
            runs = [await web.say(one, "text"), await web.say(two, "text")]
            for follower in (live, silent):
                ended = {run: ends(run) for run in runs}
                while ended:
                    frame = await follower.next()
                    ended = {run: check for run, check in ended.items() if not check(frame)}
            await named.until(ends(runs[1]))
        assert {f.data["thread_id"] for f in live.seen if f.event == "delta"} == {one}
        assert {f.data["thread_id"] for f in named.seen if f.event in ("delta", "event")} == {two}
        assert not any(f.event == "delta" for f in silent.seen)
        assert silent.sequences == live.sequences and len(silent.sequences) > 10


async def test_a_heartbeat_says_how_far_the_stream_is_past_what_others_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.05)
    async with desk.serve() as web:
        quiet, busy = await web.thread(), await web.thread()
        async with following(web, f"threads={quiet}") as follower:
            await web.ended(busy, await web.say(busy, "text"))
            newest = web.running.service.runtime.journal.sequence()
            beat = await follower.until(lambda f: f.event == "heartbeat" and f.data["sequence"] >= newest)
            assert follower.sequences == [] and beat.id is None
            await web.call("PATCH", f"/v1/threads/{quiet}", {"archived": True})
            frame = await follower.until(lambda f: f.event == "event")
            assert frame.data["sequence"] > newest


@pytest.mark.behaviour("F275")
async def test_positions_are_stored_and_stay_over_reconnects_pages_and_restarts(desk: Desk) -> None:
    def of(frames: list[Frame]) -> dict[str, int]:
        found: dict[str, int] = {}
        for frame in frames:
            entity = frame.data["entity"] if frame.event == "event" else None
            if entity and entity["kind"] == "item":
                assert found.setdefault(entity["id"], entity["position"]) == entity["position"]
        return found

    async with desk.serve() as web:
        thread = await web.thread()
        async with following(web, "after=0") as follower:
            for prompt in (LONG, "text"):
                await follower.until(ends(await web.say(thread, prompt)))
        first = of(follower.seen)
        assert sorted(first.values()) == list(range(1, len(first) + 1))
    async with desk.serve() as web:
        async with following(web, "after=0") as follower:
            await reach(follower, web.running.service.runtime.journal.sequence())
        assert of(follower.seen) == first
        shown = await web.snapshot(thread)
        assert [i["item"]["position"] for i in shown["items"]] == sorted(first.values())
        before: int | None = None
        paged: dict[str, int] = {}
        for _ in range(len(first) + 1):
            limit = f"limit=2&before={before}" if before else "limit=2"
            page = await web.get(f"/v1/threads/{thread}/items?{limit}")
            paged |= {i["item"]["id"]: i["item"]["position"] for i in page["items"]}
            before = page["before"]
            if before is None:
                break
        assert paged == first


@pytest.mark.behaviour("F276")
async def test_a_tool_that_changes_changes_its_item_alone_and_a_hash_says_what_its_text_is(
    desk: Desk,
) -> None:
    async with desk.serve() as web:
        thread = await web.thread()
        run = await web.say(thread, "edit")
        request = await web.asked(thread)
        before = await web.snapshot(thread)
        held = {i["item"]["id"]: i for i in before["items"]}
        tool = next(i for i in held.values() if i["item"]["state"] == "open")["item"]["id"]
        async with following(web, f"after={before['sequence']}&threads={thread}") as follower:
            await web.call("POST", f"/v1/requests/{request['id']}/answer", {"decision": "accept"})
            await follower.until(ends(run))
        named = {
            f.data["entity"]["id"]: f.data["entity"]
            for f in follower.seen
            if f.event == "event" and f.data["entity"]["kind"] == "item"
        }
        assert set(named) & set(held) == {tool} and named[tool]["state"] == "completed"
        after = await web.snapshot(thread)
        for item in after["items"]:
            name = item["item"]["id"]
            if name in held and name != tool:
                assert item == held[name], "an item changed without an event"
            for field, body in item["text"].items():
                assert body["closed"]
                text = await whole(web, thread, name, field)
                assert body["sha256"] == hashlib.sha256(text.encode()).hexdigest()
                assert item["item"]["bodies"][field]["sha256"] == body["sha256"]


async def test_a_reader_that_leaves_is_forgotten_and_a_server_that_leaves_ends_its_streams(
    desk: Desk,
) -> None:
    async with desk.serve() as web:
        hub = web.running.service.hub
        for _ in range(5):
            async with following(web, "live=*") as follower:
                await follower.next()
                await until(lambda: hub.readers == 1, "one reader")
            await until(lambda: hub.readers == 0, "the reader to be forgotten")
        async with following(web) as follower:
            await follower.next()
            hub.close()
            with pytest.raises(StopAsyncIteration):
                while True:
                    await follower.next()


async def test_bad_names_are_refused_typed(desk: Desk) -> None:
    async with desk.serve() as web:
        many = ",".join(f"t{i}" for i in range(1001))
        found = await web.get(f"/v1/events?threads={many}", status=400)
        assert found["code"] == "too_many_threads"
