"""Commits take long: a text that is being written is whole for whoever reads it, the agent included (J)."""

from __future__ import annotations

import time

import anyio
import pytest

from podium.journal.rows import Batch
from tests.runtime.house import House, ended, ran, started, until

pytestmark = pytest.mark.anyio

SLOW = 0.08
"""Seconds of one commit."""


async def test_a_prompt_that_is_being_written_reaches_the_agent_whole(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        await ran(thread, "hello")
        commit = p.runtime.journal.commit

        def slowly(batch: Batch) -> int:
            time.sleep(SLOW)
            return commit(batch)

        monkeypatch.setattr(p.runtime.journal, "commit", slowly)
        prompts = [f"say number {n}, " + "word by word " * 5 for n in range(8)]
        for number, prompt in enumerate(prompts):
            run_id = await started(thread, "slow 0.3", intent="queue")
            await anyio.sleep(0.2 + number * 0.02)  # its text is written while the run before it ends
            queued = (await thread.post(prompt, intent="queue")).result["run"]
            await ended(thread, run_id)
            await ended(thread, queued)
        assert [text for text in house.prompts() if text.startswith("say")] == prompts


async def test_what_a_reader_sees_never_shrinks(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        commit = p.runtime.journal.commit

        def slowly(batch: Batch) -> int:
            time.sleep(SLOW)
            return commit(batch)

        run_id = await started(thread, "long 100")
        monkeypatch.setattr(p.runtime.journal, "commit", slowly)
        await until(lambda: any(i.item_kind == "assistant_message" for i in thread.items()))
        [item] = [i for i in thread.items() if i.item_kind == "assistant_message"]
        lengths: list[int] = []
        while thread.run(run_id).state != "ended":
            lengths.append(len(thread.text(item.id)))
            await anyio.sleep(0.005)
        assert lengths == sorted(lengths)
        assert thread.text(item.id) == "".join(f"word {n} " for n in range(100))
