"""The HTTP server is killed at every boundary of a turn; answers go to its successor, and all is the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from tests.kill.remains import marked
from tests.kill.test_kill_matrix import World, matrix

SERVED_HOST = Path(__file__).with_name("served_host.py")


@dataclass
class Served(World):
    """A world whose thread is driven over HTTP."""

    host: ClassVar[Path] = SERVED_HOST


@pytest.mark.behaviour("F074", "F241", "F247")
def test_the_rehearsal_agent_survives_every_kill_of_the_server(tmp_path: Path) -> None:
    """Text and an edit after an approval that is answered over HTTP."""
    prompt = "say hello and add a line to a.txt"

    def make(name: str) -> World:
        world = Served(tmp_path / name, "rehearsal", [prompt])
        world.env = {"SCRIPTED_HOME": str(world.folder / "scripted")}
        return world

    def check(world: World) -> None:
        log = (world.folder / "scripted" / "prompts.jsonl").read_text()
        rows = [json.loads(line) for line in log.splitlines()]
        assert [r["text"] for r in rows if r["kind"] == "prompt"] == [prompt]
        assert len((world.folder / "ws" / "a.txt").read_text().splitlines()) == 4
        assert not marked(world.folder)

    assert matrix(make, check) > 40
