"""What is stored and read back, and what users hand in: once, in order, exactly (B41 to B46, B75 to B81)."""

from __future__ import annotations

import sqlite3
import struct
import subprocess
import sys
import time
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

import podium
from podium.contract.errors import PodiumError
from podium.runtime.feed import Committed
from podium.runtime.images import IMAGE_MAX, IMAGES_MAX, SIDE_MAX, check_images
from podium.runtime.live import decode_entity
from tests.field.replaying import (
    STAY,
    Driver,
    Stage,
    Step,
    acp_end,
    acp_prompt,
    acp_said,
    acp_start,
    codex_end,
    codex_said,
    codex_start,
    codex_turn,
    note,
)

pytestmark = pytest.mark.anyio

HOLDER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("HELD", flush=True)
time.sleep(float(sys.argv[2]))
db.execute("ROLLBACK")
"""


def deltas(count: int) -> Step:
    """A stream of text."""
    params = {"threadId": "th-1", "turnId": "tu-1", "itemId": "m1", "delta": "{i},"}
    return {
        "agent_repeat": {"frame": {"method": "item/agentMessage/delta", "params": params}, "times": count}
    }


def hold(stage: Stage, seconds: float) -> subprocess.Popen[bytes]:
    """Another process that holds the write lock of the database."""
    path = str(stage.data / "podium.db")
    held = subprocess.Popen([sys.executable, "-c", HOLDER, path, str(seconds)], stdout=subprocess.PIPE)
    assert held.stdout is not None
    assert held.stdout.readline() == b"HELD\n"
    return held


async def test_b46_a_locked_database_delays_and_loses_nothing(tmp_path: Path) -> None:
    steps = [*codex_start(), *codex_turn(), {"sleep_ms": 1500}, deltas(2000), codex_end(), STAY]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run_id = await driver.send()
        await driver.until(lambda: driver.last.state == "running", "the turn")
        held = hold(stage, 3.0)
        reader = sqlite3.connect(stage.data / "podium.db", isolation_level=None)
        reader.execute("begin")
        reader.execute("select count(*) from events").fetchone()
        try:
            assert (await driver.ended(run_id, 30)).outcome == "completed"
            assert driver.text() == "".join(f"{i}," for i in range(2000))
        finally:
            reader.close()
            held.kill()
            held.communicate()


async def test_b46_a_second_runtime_is_told_that_the_thread_is_in_use(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), {"sleep_ms": 800}, codex_end(), STAY])
    async with stage.open() as driver:
        run_id = await driver.send()
        async with podium.open(stage.data, environ=stage.environ) as other:
            thread = other.threads.get(driver.thread.id)
            with pytest.raises(PodiumError) as refused:
                await thread.post("two")
            assert refused.value.code == "thread_in_use"
            assert refused.value.fix
        assert (await driver.ended(run_id)).outcome == "completed"


async def test_b41_b42_a_reader_that_comes_back_gets_the_rest_once_and_in_order(tmp_path: Path) -> None:
    turns = [
        step
        for n in (1, 2)
        for step in (*codex_turn(f"tu-{n}"), codex_said(f"s{n}", f"m{n}", f"tu-{n}"), codex_end(f"tu-{n}"))
    ]
    stage = Stage(tmp_path, "codex", [*codex_start(), *turns, STAY])
    async with stage.open() as driver:
        journal = driver.p.runtime.journal
        live: list[int] = []
        rest: list[int] = []
        seen = 0

        async def listen() -> None:
            with driver.thread.subscribe() as reader:
                while (entry := await reader.next()) is not None:
                    if isinstance(entry, Committed):
                        live.append(entry.sequence)

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await anyio.lowlevel.checkpoint()
            await driver.ended(await driver.send("one", client_id="m1"))
            seen = journal.sequence()
            await driver.ended(await driver.send("two", client_id="m2"))
            rest = [row.sequence for row in journal.events(seen, thread_id=driver.thread.id)]
            await driver.until(lambda: bool(live) and live[-1] >= rest[-1], "the feed")
            group.cancel_scope.cancel()
        every = [row.sequence for row in journal.all_events(thread_id=driver.thread.id)]
        assert every == sorted(set(every))
        assert rest == [n for n in every if n > seen]
        assert live == [n for n in every if n >= live[0]]
        assert not journal.events(journal.sequence() + 1000)


@pytest.mark.behaviour("F281")
async def test_b42_b75_one_client_id_is_one_message_however_often_it_is_sent(tmp_path: Path) -> None:
    echo = note("item/completed", turnId="tu-1", item={"type": "userMessage", "id": "u1", "content": []})
    stage = Stage(
        tmp_path, "codex", [*codex_start(), *codex_turn(), echo, codex_said("hi"), codex_end(), STAY]
    )
    async with stage.open() as driver:
        runs: set[str] = set()

        async def send() -> None:
            runs.add(await driver.send("go", client_id="m1"))

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(send)
        await driver.ended()
        await send()
        assert len(runs) == 1
        assert driver.texts() == ["go", "hi"]
        with pytest.raises(PodiumError) as refused:
            await driver.send("other", client_id="m1")
        assert refused.value.code == "command_id_reused"
    assert len(stage.asked("turn/start")) == 1


@pytest.mark.behaviour("F255")
async def test_b75_messages_queued_behind_a_turn_go_out_once_and_in_order(tmp_path: Path) -> None:
    none: Step = {"expect_none": {"method": "session/prompt"}, "for_ms": 400}
    first = [acp_prompt(), none, acp_said("r0"), acp_end()]
    more = [step for n in range(1, 5) for step in (acp_prompt(), acp_said(f"r{n}"), acp_end())]
    stage = Stage(tmp_path, "scripted", [*acp_start(), *first, *more, none, STAY])
    async with stage.open() as driver:
        await driver.send("go")
        for n in range(1, 5):
            await driver.send(f"q{n}", client_id=f"k{n}")
            await driver.send(f"q{n}", client_id=f"k{n}")
        await driver.ended()
        await driver.until(lambda: stage.steps_done() >= len(stage.starts[0]) - 2, "the quiet end")
        assert [run.outcome for run in driver.runs] == ["completed"] * 5
    prompts = [frame["params"]["prompt"][0]["text"] for frame in stage.asked("session/prompt")]
    assert prompts == ["go", "q1", "q2", "q3", "q4"]


async def test_b75_a_refused_message_is_kept_and_the_next_ones_go_on(tmp_path: Path) -> None:
    refuse: Step = {
        "agent": {"jsonrpc": "2.0", "id": "$p", "error": {"code": -32600, "message": "not like this"}}
    }
    steps = [*acp_start(), acp_prompt(), refuse, acp_prompt(), acp_said("ok"), acp_end(), STAY]
    stage = Stage(tmp_path, "scripted", steps)
    async with stage.open() as driver:
        first = await driver.send("one")
        second = await driver.send("two")
        run = await driver.ended(first)
        assert (run.outcome, run.evidence) == ("failed", "rejected")
        assert (await driver.ended(second)).outcome == "completed"
        assert driver.texts() == ["one", "two", "ok"]


async def test_b43_a_clock_that_jumps_reorders_nothing_and_makes_no_negative_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [*codex_start(), *codex_turn(), codex_said("r1"), {"sleep_ms": 1500}, codex_end()]
    again = [*codex_turn("tu-2"), codex_said("r2", "m2", "tu-2"), codex_end("tu-2"), STAY]
    stage = Stage(tmp_path, "codex", [*steps, *again])
    real, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    async with stage.open() as driver:
        run_id = await driver.send("m1")
        await driver.until(lambda: driver.text() == "r1")
        ahead[0] = -90.0
        await driver.ended(run_id)
        ahead[0] = 5 * 3600.0
        await driver.ended(await driver.send("m2"))
        assert driver.texts() == ["m1", "r1", "m2", "r2"]
        assert [run.ordinal for run in driver.runs] == [1, 2]
        for run in driver.runs:
            assert run.started_at is not None
            assert run.ended_at is not None
            assert run.created_at <= run.started_at <= run.ended_at, driver.story()


TEXTS = [
    "/docs folder is full",
    "/nosuch x",
    "/compact",
    " /compact",
    "/clear",
    "/foo\nrest",
    "!ls",
    "@file",
    "#note",
    "line\r\nend\t \\",
    "\u2028 and \u2029 and \x85 \x00 \x7f",
    "-rf",
    "  spaces  ",
]


@pytest.mark.parametrize("text", TEXTS)
async def test_b81_a_text_reaches_the_agent_byte_for_byte(text: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path / "one", "codex", [*codex_start(), *codex_turn(), codex_end(), STAY])
    async with stage.open() as driver:
        await driver.ended(await driver.send(text))
        assert driver.text("user_message") == text
    assert stage.asked("turn/start")[0]["params"]["input"][0]["text"] == text
    other = Stage(tmp_path / "two", "scripted", [*acp_start(), acp_prompt(), acp_end(), STAY])
    async with other.open() as driver:
        await driver.ended(await driver.send(text))
    assert other.asked("session/prompt")[0]["params"]["prompt"][0]["text"] == text


def png(width: int, height: int, size: int = 100) -> bytes:
    """The beginning of a PNG of this size, filled up to so many bytes."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", width, height)
    return head + b"\0" * max(0, size - len(head))


REFUSED = {
    "text.png": b"this is no image",
    "empty.png": b"",
    "huge.png": png(10, 10, IMAGE_MAX + 1),
    "wide.png": png(SIDE_MAX + 1, 10),
    "tall.gif": b"GIF89a" + struct.pack("<HH", 1, SIDE_MAX + 1),
    "wide.jpg": b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 10, SIDE_MAX + 1),
    "wide.webp": b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + struct.pack("<I", SIDE_MAX)[:3] + b"\1\0\0",
}


@pytest.mark.parametrize("name", REFUSED)
async def test_b80_an_image_that_would_spoil_the_history_is_refused_with_its_reason(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(REFUSED[name])
    stage = Stage(tmp_path / "stage", "codex", [STAY])
    async with stage.open() as driver:
        with pytest.raises(PodiumError) as refused:
            await driver.thread.post("look", images=(str(tmp_path / name),))
        assert refused.value.code == "image_invalid"
        assert refused.value.detail["reason"]
        assert not driver.runs
    assert not stage.started()


async def test_b80_good_images_are_typed_by_content_and_sent_by_path(tmp_path: Path) -> None:
    odd = tmp_path / "really-a-png.txt"
    odd.write_bytes(png(1000, 800))
    assert check_images((str(odd),)) == [{"path": str(odd), "media_type": "image/png"}]
    with pytest.raises(PodiumError) as many:
        check_images((str(odd),) * (IMAGES_MAX + 1))
    assert many.value.code == "too_many_images"
    stage = Stage(tmp_path / "stage", "codex", [*codex_start(), *codex_turn(), codex_end(), STAY])
    async with stage.open() as driver:
        receipt = await driver.thread.post("look", images=(str(odd),))
        await driver.ended(receipt.result["run"])
    assert stage.asked("turn/start")[0]["params"]["input"][1] == {"type": "localImage", "path": str(odd)}


async def test_b80_an_agent_without_images_is_no_place_for_one(tmp_path: Path) -> None:
    image = tmp_path / "a.png"
    image.write_bytes(png(10, 10))
    stage = Stage(tmp_path / "stage", "scripted", [STAY])
    async with stage.open() as driver:
        with pytest.raises(PodiumError) as refused:
            await driver.thread.post("look", images=(str(image),))
        assert refused.value.code == "capability_missing"
        assert not driver.runs


def child_of(driver: Driver, native: str) -> list[str]:
    """The texts of a child's conversation."""
    found = [p for p in driver.entities("provider_thread") if p.chain.current.native_id == native]
    return [
        driver.thread.text(i.id)
        for i in driver.items
        if found and i.provider_thread_id == found[0].id and i.item_kind == "assistant_message"
    ]


async def test_b44_children_speak_in_conversations_of_their_own(tmp_path: Path) -> None:
    def spawn(thread: str, turn: str, item: str, child: str) -> list[Step]:
        activity = {"type": "subAgentActivity", "id": item, "agentThreadId": child, "agentPath": child}
        return [
            note(f"item/{word}", thread=thread, turnId=turn, item={**activity, "kind": "started"})
            for word in ("started", "completed")
        ]

    def says(thread: str, turn: str, item: str, text: str) -> Step:
        message = {"type": "agentMessage", "id": item, "text": text}
        return note("item/completed", thread=thread, turnId=turn, item=message)

    def turn(word: str, thread: str, turn: str) -> Step:
        status = "inProgress" if word == "started" else "completed"
        return note(f"turn/{word}", thread=thread, turn={"id": turn, "rootTurnId": "tu-1", "status": status})

    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        says("th-1", "tu-1", "m1", "before"),
        *spawn("th-1", "tu-1", "a1", "th-c"),
        turn("started", "th-c", "tu-c"),
        says("th-c", "tu-c", "m1", "child says"),
        *spawn("th-c", "tu-c", "a1", "th-g"),
        turn("started", "th-g", "tu-g"),
        says("th-g", "tu-g", "m1", "grand says"),
        turn("completed", "th-g", "tu-g"),
        turn("completed", "th-c", "tu-c"),
        says("th-1", "tu-1", "m2", "final"),
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert run.outcome == "completed"
        assert child_of(driver, "th-1") == ["before", "final"]
        assert child_of(driver, "th-c") == ["child says"]
        assert child_of(driver, "th-g") == ["grand says"]
        assert len(driver.runs) == 1
        subagents = [n for n in driver.entities("node") if n.node_kind == "subagent"]
        assert len({n.provider_thread_id for n in subagents if n.provider_thread_id}) == 2


async def test_the_stored_thread_is_what_was_shown(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), deltas(500), codex_end(), STAY])
    async with stage.open() as driver:
        await driver.ended(await driver.send())
        shown = driver.texts()
        items = [i.id for i in driver.thread.items()]
    async with stage.open() as driver:
        assert driver.texts() == shown
        assert [i.id for i in driver.thread.items()] == items
        rows = driver.p.runtime.journal.all_events(thread_id=driver.thread.id)
        assert all(decode_entity(row.payload) for row in rows if row.payload)


async def test_b43_a_clock_set_back_between_two_runtimes_is_not_seen_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), codex_end(), STAY])
    async with stage.open() as driver:
        await driver.ended(await driver.send("m1"))
    ahead[0] = -90.0
    async with stage.open() as driver:
        rows = list(driver.p.runtime.journal.all_events())
        times = [row.at for row in rows]
        assert times == sorted(times)
        await driver.thread.archive()
        assert next(driver.p.runtime.journal.all_events(thread_id=driver.thread.id)).at <= times[-1]
        assert driver.p.runtime.journal.events(rows[-1].sequence)[-1].at >= times[-1]
