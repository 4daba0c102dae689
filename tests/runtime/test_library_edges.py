"""What a caller can get wrong is said in typed words, and nothing waits for a Podium that is closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

import podium
from podium.contract.errors import BadInput, StorageFailed
from podium.runtime.settings import read_config

pytestmark = pytest.mark.anyio


async def test_a_wrong_value_is_refused_and_spoils_nothing(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    wrong: Any = "bogus"
    async with podium.open(tmp_path / "data") as p:
        with pytest.raises(BadInput) as caught:
            await p.threads.create(workspace=tmp_path / "ws", agent="scripted", mode=wrong)
        assert caught.value.code == "invalid_value"
        thread = await p.threads.create(workspace=tmp_path / "ws", agent="scripted")
        nothing: Any = None
        with pytest.raises(BadInput):
            await thread.post("hello", intent="bogus")
        with pytest.raises(BadInput):
            await thread.post(nothing)
        assert [t.id for t in p.threads.list()] == [thread.id]


async def test_a_closed_podium_answers_at_once(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    async with podium.open(tmp_path / "data") as p:
        thread = await p.threads.create(workspace=tmp_path / "ws", agent="scripted")
    calls = (
        lambda: thread.post("hello"),
        thread.interrupt,
        thread.archive,
        lambda: p.threads.create(workspace=tmp_path / "ws", agent="scripted"),
    )
    with anyio.fail_after(10):
        for call in calls:
            with pytest.raises(StorageFailed) as caught:
                await call()
            assert caught.value.code == "closed"
        with thread.subscribe() as reader:
            assert await reader.next() is None


def test_a_configuration_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / "podium.toml").mkdir()
    with pytest.raises(BadInput) as caught:
        read_config(tmp_path / "podium.toml")
    assert caught.value.code == "invalid_config"
