"""`--json`: every event from the thread's beginning on, in order, without gap, with whole texts."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from podium.cli.stream import Stream
from podium.domain.entities import Item, Run
from podium.domain.events import Delta
from podium.runtime.feed import CHANNEL_MAX, Committed
from podium.runtime.podium import open as open_podium
from tests.cli.calling import POLL, Json, Shell

EVENT = {"sequence", "type", "thread_id", "run_id", "at", "actor", "command_id", "entity"}
DELTA = {"type", "thread_id", "item", "field", "body_epoch", "from_part", "to_part", "text"}


def texts(rows: list[Json]) -> dict[str, str]:
    """The text of each item as a reader of deltas puts it together."""
    found: dict[str, str] = {}
    have: dict[tuple[str, str, int], int] = {}
    for row in rows:
        if row["type"] != "delta":
            continue
        key = (row["item"], row["field"], row["body_epoch"])
        assert row["from_part"] == have.get(key, 0) + 1
        have[key] = row["to_part"]
        found[row["item"]] = found.get(row["item"], "") + row["text"]
    return found


@pytest.mark.behaviour("F242")
def test_the_stream_is_the_journal(shell: Shell) -> None:
    done = shell.run("--json", "--approve", "all", "edit a.txt")
    assert done.code == 0
    durable = [r for r in done.rows if r["type"] != "delta"]
    assert durable[0]["type"] == "thread.created"
    assert [r["sequence"] for r in durable] == list(range(1, len(durable) + 1))
    assert all(set(r) == EVENT for r in durable)
    assert all(set(r) == DELTA for r in done.rows if r["type"] == "delta")
    last = durable[-1]
    assert (last["type"], last["entity"]["outcome"]) == ("run.updated", "completed")
    shown = shell.call("threads", "show", "last", "--json").rows
    items = {r["id"]: r["texts"].get("text", "") for r in shown if r["kind"] == "item"}
    assert {i: t for i, t in items.items() if t} == texts(done.rows)


def test_defaults_are_told_too(shell: Shell) -> None:
    rows = shell.run("--json", "hello").rows
    begun = next(r for r in rows if r["type"] == "item.created")
    assert begun["entity"]["state"] == "open"
    assert begun["entity"]["kind"] == "item"


def test_control_characters_are_escaped_and_kept(shell: Shell) -> None:
    says = "a\x9b31m\x7f\x1b]0;t\x07\x85 é"
    done = shell.run("--json", json.dumps({"play": [{"do": "say", "text": says}]}))
    assert not {chr(n) for n in [*range(10), *range(11, 32), *range(127, 160)]} & set(done.out)
    assert says in texts(done.rows).values()


def test_the_wait_for_a_reader_does_not_lose_a_word(shell: Shell) -> None:
    """The reader begins late; what the feed could not hold is read on from the journal."""
    done = shell.run("--json", "flood 20000")
    whole = "".join(f"word {n} " for n in range(20_000))
    assert whole in texts(done.rows).values()


@pytest.mark.anyio
@pytest.mark.behaviour("F242")
async def test_a_stream_that_lagged_reads_on_without_gap(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with open_podium(tmp_path / "data") as podium:
        with Stream(podium) as stream:
            thread = await podium.threads.create(workspace=workspace, agent="scripted")
            stream.of(thread.id)
            count = CHANNEL_MAX + 500
            run_id = (await thread.post(f"flood {count}")).result["run"]
            with anyio.fail_after(60):
                # Nobody reads the stream meanwhile, so it falls behind.
                while thread.run(run_id).state != "ended":  # noqa: ASYNC110
                    await anyio.sleep(POLL)
                entries = await all_of(stream, run_id)
        durable = [e for e in entries if isinstance(e, Committed)]
        assert [e.sequence for e in durable] == list(range(1, len(durable) + 1))
        answer = next(
            i.event.entity
            for i in durable
            if isinstance(i.event.entity, Item) and i.event.entity.item_kind == "assistant_message"
        )
        told = "".join(e.text for e in entries if isinstance(e, Delta) and e.item == answer.id)
        assert told == "".join(f"word {n} " for n in range(count))
        assert told == thread.text(answer.id)


async def all_of(stream: Stream, run_id: str) -> list[Committed | Delta]:
    found: list[Committed | Delta] = []
    while True:
        entry = await stream.next()
        assert entry is not None
        found.append(entry)
        entity = entry.event.entity if isinstance(entry, Committed) else None
        if isinstance(entity, Run) and entity.id == run_id and entity.state == "ended":
            return found
