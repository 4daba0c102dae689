"""An agent that is only named in podium.toml works through the general adapter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.contract.evidence import Standing
from podium.contract.leaves import MUST_BE_PROVEN
from podium.contract.requests import Answer
from podium.domain.entities import NoticeEntry
from podium.providers.acp import adapter
from podium.testkit import scripted_agent
from tests.runtime.house import House, asked, ended, ran, said, started

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    held = House(tmp_path)
    yield held
    held.clear()


def named_in_config(house: House, mode: str = "") -> None:
    """The rehearsal agent as a stranger: nothing is known of it but how it is started."""
    house.configure(
        f"""
[agents.mine]
adapter = "acp"
program = {sys.executable!r}
options = {{ arguments = ["-I", {scripted_agent.__file__!r}] }}
env = {{ SCRIPTED_HOME = {str(house.data / "stranger")!r} }}
{mode}
"""
    )


@pytest.mark.behaviour("F001", "F084")
async def test_a_stranger_talks_acts_and_is_resumed(house: House) -> None:
    named_in_config(house)
    async with house.open() as p:
        thread = await house.thread(p, "mine")
        run = await ran(thread, "hello")
        assert run.outcome == "completed" and "rehearsal agent" in said(thread, run.id)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        assert {"accept", "decline"} <= {option.id for option in request.options}
        await p.requests.answer(request.id, Answer("accept"))
        assert (await ended(thread, run_id)).outcome == "completed"
        assert (house.workspace / "a.txt").exists()
    async with house.open() as p:
        again = p.threads.get(thread.id)
        assert "hello" in said(again, (await ran(again, "recall")).id)
        # It has no mode that several agents share a name for, and that is told.
        notices = [e.code for e in again.entities("notice") if isinstance(e, NoticeEntry)]
        assert "mode_not_offered" in notices


def test_what_was_proven_elsewhere_stands_as_advertised_and_nothing_dangerous_does() -> None:
    declared = adapter.capabilities()
    assert declared.rests_elsewhere()
    without = declared.effective("9.9")
    record = declared.effective("9.9", advertised=declared.rests_elsewhere())
    assert record.standing("input.text") is Standing.ADVERTISED
    assert record.has("approvals.command") and not without.has("approvals.command")
    assert not [path for path in MUST_BE_PROVEN if record.has(path)]
