"""The field faults as recorded: each case is played by a real process and reaches its right outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.field.replaying import Stage, Step, read_case

pytestmark = pytest.mark.anyio

PLAYED = [
    "b01",
    "b02",
    "b06",
    "b07",
    "b08",
    "b17",
    "b18",
    "b21",
    "b23",
    "b25",
    "b27",
    "b28",
    "b30",
    "b37",
    "b77",
]


def exits(steps: list[Step]) -> list[int]:
    """The exit codes a case may end with: its own, or that of a play to its end."""
    return [0, *(step["agent_exit"] for step in steps if "agent_exit" in step)]


@pytest.mark.parametrize("name", PLAYED)
async def test_the_case_reaches_its_right_outcome(name: str, tmp_path: Path) -> None:
    adapter, steps = read_case(name)
    stage = Stage(tmp_path, adapter, steps)
    async with stage.open() as driver:
        await driver.perform()
        assert stage.result() in (None, *exits(steps)), driver.story()
