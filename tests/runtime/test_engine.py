"""The engine with a real journal: one batch or nothing, text in its place, each command once."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest

from podium.contract.errors import BadInput, Conflict, PodiumError, StorageFailed
from podium.contract.events import (
    ItemContent,
    ItemSeen,
    Ref,
    RequestClosed,
    RequestOpened,
    SessionReady,
    SubagentSeen,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Command
from podium.contract.requests import ACCEPT, Answer, Option, RequestContent
from podium.domain.commands import (
    AnswerRequest,
    ArchiveThread,
    CreateThread,
    InterruptRun,
    SendMessage,
    SessionEnded,
    SessionOpened,
)
from podium.domain.entities import Item, NoticeEntry, Run
from podium.domain.events import Delta
from podium.journal.database import FILE_NAME
from podium.journal.rebuild import verify
from podium.runtime import engine as engine_module
from podium.runtime import feed as feed_module
from podium.runtime.feed import Committed, Entry, Subscription
from podium.runtime.live import decode_entity, load_thread, text_of
from podium.runtime.pump import Report
from podium.transport.lines import LostLine
from tests.runtime.engine_rig import Rig, asks, frame, handle, running

pytestmark = pytest.mark.anyio

OPTIONS = (Option(ACCEPT, "Yes", "allow_once"),)


def say(item: str, text: str, turn: str = "t1") -> TextDelta:
    return TextDelta(Ref("n1", turn, item), "assistant_message", "text", text)


def done(item: str, text: str, turn: str = "t1") -> ItemSeen:
    return ItemSeen(Ref("n1", turn, item), "assistant_message", "completed", final={"text": text})


def stored(rig: Rig, thread: str, kind: str) -> list[object]:
    return [decode_entity(d) for d in rig.journal.entities(kind, thread_id=thread)]


def said_items(rig: Rig, thread: str) -> list[Item]:
    """The items that the agent made."""
    return [i for i in stored(rig, thread, "item") if isinstance(i, Item) and i.item_kind != "user_message"]


def everything(folder: Path) -> list[list[tuple[object, ...]]]:
    """What a journal holds, times apart from the rest left out by the fixed clock of the rig."""
    db = sqlite3.connect(folder / FILE_NAME)
    statements = (
        "select id, kind, thread_id, run_id, open, position, revision, payload from entities order by id",
        "select owner, body, epoch, group_concat(text, '') from"
        " (select * from parts order by owner, body, epoch, from_part) group by 1, 2, 3 order by 1, 2, 3",
        "select process_id, n, ask_id, prompt, line from sends order by 1, 2",
        "select id, read_offset, inputs, state, correlator from processes order by 1",
        "select type, entity_id, revision, payload from events order by sequence",
    )
    rows = [db.execute(s).fetchall() for s in statements]
    db.close()
    return rows


STORY = [
    frame(TurnStarted("n1", "t1")),
    frame(say("i1", "Hel")),
    frame(say("i1", "lo ")),
    frame(ItemSeen(Ref("n1", "t1", "c1"), "command", "open", ItemContent(command="ls"))),
    frame(RequestOpened("k1", Ref("n1", "t1"), "command_approval", RequestContent("?"), OPTIONS)),
    frame(TextDelta(Ref("n1", "t1", "c1"), "command", "output", "out\n")),
    frame(RequestClosed("k1", "agent")),
    frame(ItemSeen(Ref("n1", "t1", "c1"), "command", "completed", ItemContent(exit_code=0))),
    frame(done("i1", "Hello.")),
    frame(TurnEnded("n1", "t1", "completed")),
]


async def play(folder: Path, failing: set[int]) -> Rig:
    """The story, each frame in a transaction of its own; failed ones are read again from the journal."""
    async with running(folder) as rig:
        thread = await rig.working()
        session = rig.pump(thread).process.session_id
        start, whole = len(rig.output[session]), b"".join(STORY)
        rig.failing = {rig.commits + n for n in failing}
        at = 0
        while at < len(whole):
            pump = rig.pump(thread)
            end = whole.index(b"\n", at) + 1
            rig.read(pump, whole[at:end])
            try:
                await rig.engine.settle()
                at = end
            except StorageFailed as failed:
                assert failed.code == "storage_failed" and not rig.engine.pumps
                at = rig.reattach(thread).read_offset - start
        numbers = [s.n for s in rig.sends]
        assert numbers == sorted(set(numbers)), "a send went out twice or out of order"
        assert verify(rig.journal) == []
        return rig


@pytest.mark.behaviour("F241")
async def test_a_failed_commit_is_read_again_to_the_same_result(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    await play(plain, set())
    wanted = everything(plain)
    for number, failing in enumerate([{n} for n in range(1, len(STORY) + 1)] + [{1, 2, 3}, {2, 4, 7, 8}]):
        folder = tmp_path / f"failing{number}"
        folder.mkdir()
        rig = await play(folder, failing)
        assert rig.drops == len(failing)
        assert everything(folder) == wanted, f"differs where commits {failing} failed"


@pytest.mark.behaviour("F241")
async def test_all_who_wait_are_told_and_the_same_command_works_afterwards(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.thread()
        rig.failing = {rig.commits + 1}
        told: list[str] = []

        async def send(client: str) -> None:
            try:
                await rig.send(thread, client)
            except StorageFailed as failed:
                told.append(failed.code)

        async with anyio.create_task_group() as group:
            for client in ("a", "b", "c"):
                group.start_soon(send, client)
        assert told == ["storage_failed"] * 3 and rig.drops == 1
        assert stored(rig, thread, "run") == []
        assert not rig.effects, "an effect of what never happened"
        receipt = await rig.send(thread, "a")
        assert receipt.sequence == rig.journal.sequence()


@pytest.mark.behaviour("F240")
async def test_a_command_id_is_one_command_stored_or_underway(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.thread("one")
        receipts: list[object] = []

        async def send() -> None:
            receipts.append(await rig.send(thread, "m"))

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(send)
        receipts.append(await rig.send(thread, "m"))
        assert all(r == receipts[0] for r in receipts) and len(receipts) == 5
        assert len(stored(rig, thread, "run")) == 1 and len(rig.started()) == 1
        before = rig.journal.sequence()
        assert await rig.thread("one") == thread
        for other in (SendMessage("m", "other text"), SendMessage("n", "hello")):
            with pytest.raises(Conflict) as reused:
                await rig.engine.submit(thread, other, actor="user", command_id=f"{thread}:m")
            assert reused.value.code == "command_id_reused"
        refusals: list[tuple[str, str]] = []
        for _ in range(2):
            with pytest.raises(BadInput) as refused:
                await rig.engine.submit(thread, SendMessage("e", ""), actor="user", command_id="empty")
            refusals.append((refused.value.code, refused.value.fix))
        assert refusals[0] == refusals[1] and rig.journal.sequence() == before
        with pytest.raises(BadInput) as unwritable:
            await rig.engine.submit(thread, SendMessage("s", "\ud800"), actor="user", command_id="s")
        assert unwritable.value.code == "text_invalid" and rig.drops == 0


@pytest.mark.behaviour("F240")
async def test_an_accepted_command_without_an_event_names_the_newest_sequence(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.thread()
        newest = rig.journal.sequence()
        receipt = await rig.engine.submit(thread, ArchiveThread(False), actor="user")
        assert receipt.sequence == newest == rig.journal.sequence()
        again = await rig.engine.submit(thread, ArchiveThread(False), actor="user", command_id="x")
        assert again.sequence == newest


async def test_the_same_command_in_two_engines_on_one_folder_makes_one_thread(tmp_path: Path) -> None:
    async with running(tmp_path) as one, running(tmp_path) as other:
        first = await one.thread("same")
        assert await other.thread("same") == first
        assert len(one.journal.entities("thread")) == 1


def in_order(entries: list[Entry]) -> None:
    """Each item's text follows its creation and precedes its end; parts are dense; sequences rise."""
    made: set[str] = set()
    ended: set[str] = set()
    parts: dict[tuple[str, str, int], int] = {}
    last = 0
    for entry in entries:
        if isinstance(entry, Delta):
            assert entry.item in made, "text before what made its item"
            assert entry.item not in ended, "text after the end of its item"
            key = (entry.item, entry.field, entry.body_epoch)
            assert entry.from_part == parts.get(key, 0) + 1, "a part is missing or came twice"
            parts[key] = entry.to_part
            continue
        assert entry.sequence == last + 1 or last == 0
        last = entry.sequence
        entity = entry.event.entity
        if isinstance(entity, Item):
            made.add(entity.id)
            if entity.state != "open":
                ended.add(entity.id)


@pytest.mark.parametrize("slow", [0.0, 0.004])
async def test_text_on_the_fast_lane_keeps_its_place_whatever_the_disk_does(
    tmp_path: Path, slow: float
) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.working()
        entries: list[Entry] = []

        async def listen(reader: Subscription) -> None:
            while (entry := await reader.next()) is not None:
                entries.append(entry)

        async with anyio.create_task_group() as group:
            with rig.engine.feed.subscribe(thread) as reader:
                group.start_soon(listen, reader)
                rig.write(thread, frame(TurnStarted("n1", "t1")))
                rig.slow = slow
                for number in range(60):
                    one, other = f"a{number // 6}", f"b{number // 10}"
                    rig.write(thread, frame(say(one, f"{number} ")), frame(say(other, f"{number} ")))
                    if number % 6 == 5:
                        rig.write(
                            thread, frame(done(one, "".join(f"{n} " for n in range(number - 5, number + 1))))
                        )
                    if number % 10 == 9:
                        rig.write(thread, frame(done(other, "something else")))
                    if number % 3 == 0:
                        await anyio.sleep(0.001 * (number % 4))
                rig.write(thread, frame(TurnEnded("n1", "t1", "completed")))
                await rig.engine.settle()
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        in_order(entries)
        told = [e for e in entries if isinstance(e, Delta)]
        assert len(told) >= 120
        items = [
            i for i in stored(rig, thread, "item") if isinstance(i, Item) and i.item_kind != "user_message"
        ]
        assert len(items) == 16
        for item in items:
            ref = item.bodies["text"]
            heard = "".join(d.text for d in told if d.item == item.id and d.body_epoch == ref.epoch)
            assert heard == text_of(rig.journal, rig.engine.live(thread), item.id)


async def test_a_correction_after_the_end_is_stored_and_not_sent_on_the_fast_lane(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.working()
        with rig.engine.feed.subscribe(thread) as reader:
            rig.write(thread, frame(TurnStarted("n1", "t1")), frame(say("i1", "Half a")))
            rig.write(thread, frame(TurnEnded("n1", "t1", "completed")), frame(done("i1", "Half a word.")))
            await rig.engine.settle()
            entries: list[Entry] = []
            while reader._receive.statistics().current_buffer_used:  # pyright: ignore[reportPrivateUsage]
                entry = await reader.next()
                assert entry is not None
                entries.append(entry)
        in_order(entries)
        item = stored(rig, thread, "item")[-1]
        assert isinstance(item, Item) and item.corrected and item.bodies["text"].epoch == 2
        assert text_of(rig.journal, rig.engine.live(thread), item.id) == "Half a word."
        assert [p.text for p in rig.journal.parts(item.id, "text", 1)] == ["Half a"], "the first text is kept"


@pytest.mark.behaviour("F242", "F272")
async def test_a_slow_reader_is_cut_off_and_reads_on_and_a_failing_one_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as rig:
        with rig.engine.feed.subscribe() as good, rig.engine.feed.subscribe() as failing:
            monkeypatch.setattr(feed_module, "CHANNEL_MAX", 5)
            with rig.engine.feed.subscribe() as slow:
                failing.close()
                for number in range(12):
                    await rig.thread(f"t{number}")
                got: list[int] = []
                while (entry := await slow.next()) is not None:
                    assert isinstance(entry, Committed)
                    got.append(entry.sequence)
                assert slow.lagged and got == list(range(1, 6))
                got += [e.sequence for e in rig.journal.events(got[-1])]
                assert got == list(range(1, 13))
            heard = [await good.next() for _ in range(12)]
            assert [e.sequence for e in heard if isinstance(e, Committed)] == list(range(1, 13))
            assert not good.lagged


@pytest.mark.behaviour("F250", "F251")
async def test_late_frames_name_what_ended_before_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.working()
        rig.write(thread, *STORY[:4])
        rig.write(thread, frame(SubagentSeen(Ref("n1", "t1", "x"), "completed", "c9")))
        rig.write(thread, *STORY[4:])
        await rig.engine.settle()
        await rig.send(thread, "m2")
        rig.write(thread, frame(TurnStarted("n1", "t2")))
        await rig.engine.settle()
        before = rig.journal.sequence()
        for forget in (False, True):
            if forget:
                rig.engine.threads.clear()  # as after a restart
            rig.write(thread, *STORY, frame(say("new", "late")))
            rig.write(thread, frame(SubagentSeen(Ref("n1", "t1", "x"), "running", "c9", handle("c9"))))
            await rig.engine.settle()
            assert rig.journal.sequence() == before
        run = stored(rig, thread, "run")[1]
        assert isinstance(run, Run) and run.state == "running"


async def test_what_is_closed_and_not_yet_written_is_remembered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.domain.state.KNOWN_MAX", 2)
    async with running(tmp_path) as rig:
        thread = await rig.working()
        rig.write(thread, frame(TurnStarted("n1", "t1")))
        lines = [frame(done(f"i{n}", f"text {n}")) for n in range(10)]
        rig.write(thread, *lines, *lines)  # no transaction in between
        await rig.engine.settle()
        items = [
            i for i in stored(rig, thread, "item") if isinstance(i, Item) and i.item_kind != "user_message"
        ]
        assert [i.revision for i in items] == [2] * 10
        assert verify(rig.journal) == []


async def test_two_lost_lines_are_two_notices(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.working()
        pump = rig.pump(thread)
        for end in (10_000, 20_000):
            rig.engine.consume(pump, pump.line(LostLine(9_000, end, b"{")))
        await rig.engine.settle()
        notices = [n for n in stored(rig, thread, "notice") if isinstance(n, NoticeEntry)]
        assert [n.code for n in notices] == ["frame_too_long"] * 2


@pytest.mark.behaviour("F272")
@pytest.mark.parametrize("poison", [{"raise": "odd"}, {"size": 300_000}])
async def test_a_broken_adapter_ends_its_own_session_and_no_other(
    tmp_path: Path, poison: dict[str, object]
) -> None:
    async with running(tmp_path) as rig:
        broken, sound = await rig.working("one"), await rig.working("two")
        rig.write(broken, frame(TurnStarted("n1", "t1"), **poison))
        rig.write(sound, frame(TurnStarted("n1", "t1")), frame(say("i1", "still here")))
        await rig.engine.settle()
        run = stored(rig, broken, "run")[0]
        assert isinstance(run, Run) and run.outcome == "failed" and run.failure is not None
        assert run.failure.code == "adapter_fault"
        assert [s.session_id for s in rig.stopped()] == [
            p.process.session_id for p in rig.engine.pumps.values() if p.process.thread_id == broken
        ]
        other = stored(rig, sound, "run")[0]
        assert isinstance(other, Run) and other.state == "running" and rig.drops == 0
        assert verify(rig.journal) == []


async def test_an_answer_to_an_ask_comes_after_the_rest_of_what_asked(tmp_path: Path) -> None:
    """A puppet that answers at once must not be heard before the decision that asked is whole."""
    async with running(tmp_path) as rig:
        thread = await rig.working()
        rig.write(thread, frame(TurnStarted("n1", "t1")), STORY[4])
        await rig.engine.settle()
        request = next(iter(rig.engine.live(thread).state.requests.values()))
        pump = rig.pump(thread)
        answer = pump.ask

        def at_once(command: Command) -> list[Report]:
            return [*answer(command), TurnEnded("n1", "t1", "completed")]

        pump.ask = at_once
        await rig.engine.submit(thread, AnswerRequest(request.id, Answer(ACCEPT)), actor="user")
        await rig.engine.settle()
        runs = [e for e in rig.journal.all_events(thread_id=thread) if e.entity_id == request.run_id]
        revisions = [_revision(e.payload) for e in runs]
        assert revisions == list(range(1, len(revisions) + 1))
        assert verify(rig.journal) == []
        run = stored(rig, thread, "run")[0]
        assert isinstance(run, Run) and run.state == "ended"


def _revision(payload: bytes | None) -> int:
    assert payload is not None
    entity = decode_entity(payload)
    return entity.revision


async def test_memory_is_bounded_and_keeps_what_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "THREADS_IN_MEMORY", 4)
    async with running(tmp_path) as rig:
        worker = await rig.working("worker")
        rig.write(worker, frame(TurnStarted("n1", "t1")), frame(say("i1", "not written ")))
        ids = [await rig.thread(f"t{n}") for n in range(12)]
        assert len(rig.engine.threads) <= 6 and worker in rig.engine.threads
        rig.write(worker, frame(say("i1", "yet")), frame(TurnEnded("n1", "t1", "completed")))
        session = rig.pump(worker).process.session_id
        rig.engine.apply(worker, SessionEnded(session, "exited", code=0))
        for thread in ids:
            rig.engine.live(thread)
        await rig.engine.settle()
        item = stored(rig, worker, "item")[-1]
        assert isinstance(item, Item)
        assert text_of(rig.journal, rig.engine.live(worker), item.id) == "not written yet"


@pytest.mark.behaviour("F273")
async def test_memory_read_back_is_the_memory_there_was_after_each_step(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.working()
        for line in itertools.chain(
            STORY[:6], [frame(done("e", "")), frame(say("f", "x")), frame(done("f", ""))]
        ):
            rig.write(thread, line)
            await rig.engine.settle()
            same(rig, thread)
        await rig.send(thread, "m2")
        await rig.send(thread, "m3")
        await rig.engine.submit(thread, InterruptRun(_queued(rig, thread)), actor="user")
        same(rig, thread)
        for line in STORY[6:]:
            rig.write(thread, line)
            await rig.engine.settle()
            same(rig, thread)


def _queued(rig: Rig, thread: str) -> str:
    return rig.engine.live(thread).state.queue[-1].id


def same(rig: Rig, thread: str) -> None:
    """Live memory and memory read from the journal are equal, but for closed things remembered."""
    live, read = rig.engine.live(thread), load_thread(rig.journal, thread)
    assert msgspec.structs.replace(live.state, known={}) == msgspec.structs.replace(read.state, known={})
    for item in stored(rig, thread, "item"):
        assert isinstance(item, Item)
        assert live.bodies.refs(item.id) == read.bodies.refs(item.id)


async def test_a_timer_is_stored_with_the_input_that_set_it(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.working()
        rig.write(thread, frame(timer=2.5))
        await rig.engine.settle()
        assert rig.reattach(thread).timers == {"t": rig.moment + 2.5}
        rig.write(thread, frame(timer=None))
        await rig.engine.settle()
        assert rig.reattach(thread).timers == {}


async def test_the_prompt_reaches_the_agent_once_byte_for_byte(tmp_path: Path) -> None:
    text = " \t two  spaces\r\nü 漢字 \u2028 end \n"
    async with running(tmp_path) as rig:
        thread = await rig.thread()
        await rig.send(thread, "m1", text)
        pump = rig.attach(thread)
        rig.engine.apply(thread, SessionOpened(pump.process.session_id))
        rig.write(thread, frame(SessionReady("open")))
        rig.bind(thread)
        await rig.engine.settle()
        prompts = asks(rig.sends, "send_turn")
        assert [p["blocks"][0]["text"] for p in prompts] == [text]


@pytest.mark.behaviour("F091")
async def test_two_agents_that_both_say_one_never_meet(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        threads = [await rig.working(name) for name in ("a", "b")]
        for thread in threads:
            rig.write(thread, frame(TurnStarted("n1", "1")), frame(say("1", f"of {thread}", "1")))
        await rig.engine.settle()
        for thread in threads:
            items = [i for i in stored(rig, thread, "item") if isinstance(i, Item)]
            assert len(items) == 2
            assert text_of(rig.journal, rig.engine.live(thread), items[1].id) == f"of {thread}"


async def test_a_journal_of_two_runtimes_is_published_with_its_true_sequences(tmp_path: Path) -> None:
    async with running(tmp_path) as one, running(tmp_path) as other:
        with one.engine.feed.subscribe() as reader:
            for number in range(4):
                await (one, other)[number % 2].thread(f"t{number}")
            heard = [await reader.next(), await reader.next()]
        assert [e.sequence for e in heard if isinstance(e, Committed)] == [1, 3]
        assert [e.sequence for e in one.journal.all_events()] == [1, 2, 3, 4]


async def test_a_thread_is_created_once_and_an_unknown_one_is_a_typed_refusal(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        thread = await rig.thread()
        for target, command in (
            (thread, CreateThread("/w", "a", "zz")),
            ("thr_none", SendMessage("m", "hello")),
        ):
            with pytest.raises(PodiumError) as refused:
                await rig.engine.submit(target, command, actor="user")
            assert refused.value.code in ("thread_exists", "thread_unknown")


async def test_ten_megabytes_in_small_pieces_grow_the_database_by_less_than_two_and_a_half(
    tmp_path: Path,
) -> None:
    size, piece = 10_000_000, "0123456789" * 9 + "123456789\n"
    async with running(tmp_path) as rig:
        thread = await rig.working()
        rig.write(thread, frame(TurnStarted("n1", "t1")))
        await rig.engine.settle()
        before, pump = rig.journal.size(), rig.pump(thread)
        event = TextDelta(Ref("n1", "t1", "c1"), "command", "output", piece)
        for number in range(size // len(piece)):
            rig.engine.consume(pump, [event])
            if number % 500 == 0:
                await anyio.lowlevel.checkpoint()
        rig.write(thread, frame(TurnEnded("n1", "t1", "completed")))
        await rig.engine.settle()
        item = stored(rig, thread, "item")[-1]
        assert isinstance(item, Item)
        ref = item.bodies["output"]
        assert (ref.chars, ref.parts, ref.closed) == (size, size // len(piece), True)
        assert rig.journal.size() - before < 2.5 * size
        rows = rig.journal.parts(item.id, "output", 1)
        assert len(rows) < 2000 and "".join(r.text for r in rows) == piece * (size // len(piece))
