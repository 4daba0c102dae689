"""Whoever cancels the block around an open Podium still gets a closed one: nothing left, no hanging wait."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

import podium
from podium.journal.store import Journal

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("linger", [0.0, 30.0])
async def test_cancelling_around_the_block_closes_in_good_order(tmp_path: Path, linger: float) -> None:
    (tmp_path / "ws").mkdir()
    data = tmp_path / "data"
    thread_id = ""
    with anyio.fail_after(40), anyio.move_on_after(60) as scope:
        async with podium.open(data, linger=linger) as p:
            thread = await p.threads.create(workspace=tmp_path / "ws", agent="scripted")
            thread_id = thread.id
            receipt = await thread.post("edit a.txt")
            with thread.subscribe() as reader:
                while thread.run(receipt.result["run"]).state != "waiting":
                    await reader.next()
            scope.cancel()
            await anyio.sleep_forever()
    assert not list((data / "runtimes").glob("*.lock"))
    journal = Journal(data, write=False)
    try:
        assert journal.runtimes() == []
        assert len(journal.processes(thread_id=thread_id)) == (1 if linger else 0)
    finally:
        journal.close()
    if linger:
        async with podium.open(data) as p:
            await p.threads.get(thread_id).adopt()
            assert await p.runtime.stop_agents("test") == 1


async def test_an_error_in_the_block_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with podium.open(tmp_path / "data"):
            raise KeyError("mine")
