"""A message is told by its client id: the same one again is the same message, ended run or not (F281)."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

import podium
from podium.contract.errors import Conflict
from podium.domain.commands import SendMessage

pytestmark = pytest.mark.anyio


@pytest.mark.behaviour("F281")
async def test_a_repeat_is_answered_and_a_reuse_refused(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    async with podium.open(tmp_path / "data") as p:
        thread = await p.threads.create(workspace=tmp_path / "ws", agent="scripted")
        engine = p.runtime.engine
        command = SendMessage("same", "hello")
        first = await engine.submit(thread.id, command, actor="user")
        again = await engine.submit(thread.id, command, actor="user")
        assert first.result == again.result
        with anyio.fail_after(20), thread.subscribe() as reader:
            while thread.run(first.result["run"]).state != "ended":
                with anyio.move_on_after(0.5):
                    await reader.next()
        late = await engine.submit(thread.id, command, actor="user")
        assert late.result == first.result
        with pytest.raises(Conflict) as caught:
            await engine.submit(thread.id, SendMessage("same", "another text"), actor="user")
        assert caught.value.code == "client_id_reused"
        assert len(thread.entities("message")) == 1
