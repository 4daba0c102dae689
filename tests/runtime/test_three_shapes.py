"""One script of a person on three shapes of agent: the same happens, but for what is recorded as lesser."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from podium.domain.entities import Degradation
from podium.providers.scripted import adapter, one_shot, weak
from podium.runtime.agents import Registry
from podium.runtime.podium import ThreadHandle
from podium.runtime.settings import load_settings
from tests.runtime.house import House, ended, ran, said, until

pytestmark = pytest.mark.anyio

SHAPES = {"rich": adapter, "weak": weak(), "one_shot": one_shot()}

DEGRADED: dict[str, list[tuple[str, str]]] = {
    "rich": [],
    "weak": [("steer", "queue")],
    "one_shot": [("steer", "queue"), ("interrupt", "stop_session")],
}
"""What is recorded of each: nothing; no way into a running turn; no way to stop but to end the process."""

UNHEARD = {"one_shot": {("message", 4, "accepted"): ("message", 4, "unknown")}}
"""What follows from it: an agent that was ended cannot say whether it took the last message."""

Event = tuple[str, int, str]
KINDS = ("run", "message", "checkpoint")
NOT_EVERYWHERE = ("starting", "running")
"""States of a run that only an agent shows which says when a turn starts."""


async def working(house: House, thread: ThreadHandle, prompt: str, **options: Any) -> str:
    """Post a prompt and wait until the agent has it."""
    before = house.prompts().count(prompt)
    run_id: str = (await thread.post(prompt, **options)).result["run"]
    await until(lambda: house.prompts().count(prompt) > before, f"the prompt {prompt}")
    return run_id


def happened(data: Path) -> list[Event]:
    """The product's events in their order: what became of which run, message and checkpoint."""
    with sqlite3.connect(data / "podium.db") as db:
        rows = db.execute("select entity_kind, entity_id, payload from events order by sequence").fetchall()
    numbers: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
    last: dict[str, str] = {}
    found: list[Event] = []
    for kind, name, payload in rows:
        if kind not in KINDS:
            continue
        entity = json.loads(payload)
        word = "/".join(str(entity[f]) for f in ("state", "outcome", "delivery") if entity.get(f))
        number = numbers[kind].setdefault(name, len(numbers[kind]))
        if word not in NOT_EVERYWHERE and last.get(name) != word:
            found.append((kind, number, word))
        last[name] = word
    return found


def of_runs(events: list[Event]) -> list[Event]:
    """The runs' events in their order."""
    return [event for event in events if event[0] == "run"]


def of_each(events: list[Event]) -> dict[tuple[str, int], list[str]]:
    """What became of each thing: when an agent's word about one comes, against another, is its own affair."""
    found: dict[tuple[str, int], list[str]] = {}
    for kind, number, word in events:
        found.setdefault((kind, number), []).append(word)
    return found


async def script(house: House, shape: str) -> tuple[list[Event], list[str]]:
    """A first prompt, one behind it, a command, another process, a stop: what happened, and what was said."""
    settings = load_settings(house.environ, data=house.data)

    def registry() -> Registry:
        return Registry({"agent": SHAPES[shape]}, settings)

    texts: list[str] = []
    async with house.open(registry=registry()) as p:
        thread = await house.thread(p, "agent", mode="full")
        first = await working(house, thread, "slow 1")
        behind: str = (await thread.post("hello", intent="queue")).result["run"]
        for run_id in (first, behind):
            assert (await ended(thread, run_id)).outcome == "completed"
            texts.append(said(thread, run_id))
        done = await ran(thread, "command echo made > made.txt")
        assert done.outcome == "completed"
        texts.append(said(thread, done.id))
        name = thread.id
    async with house.open(registry=registry()) as p:
        thread = p.threads.get(name)
        again = await ran(thread, "recall", fresh=True)
        assert again.outcome == "completed"
        texts.append(said(thread, again.id))
        stopped = await working(house, thread, "slow 60")
        await thread.interrupt()
        assert (await ended(thread, stopped)).outcome == "interrupted"
    assert (house.workspace / "made.txt").read_text() == "made\n"
    return happened(house.data), texts


@pytest.mark.behaviour("F044", "F024", "F051")
async def test_the_same_script_gives_the_same_events_on_every_shape(tmp_path: Path) -> None:
    seen: dict[str, tuple[list[Event], list[str]]] = {}
    for shape in SHAPES:
        house = House(tmp_path / shape)
        seen[shape] = await script(house, shape)
        await house.empty()
    events, texts = seen["rich"]
    assert len([e for e in events if e[0] == "run" and "ended" in e[2]]) == 5
    for shape, (other, words) in seen.items():
        lesser = UNHEARD.get(shape, {})
        wanted = [lesser.get(event, event) for event in events]
        assert of_runs(other) == of_runs(wanted), shape
        assert of_each(other) == of_each(wanted), shape
        assert [text.split() for text in words] == [text.split() for text in texts], shape


@pytest.mark.behaviour("F044", "F047", "F050")
@pytest.mark.parametrize("shape", SHAPES)
async def test_what_is_lesser_is_recorded_with_reason_and_consequence(tmp_path: Path, shape: str) -> None:
    house = House(tmp_path / shape)
    settings = load_settings(house.environ, data=house.data)
    async with house.open(registry=Registry({"agent": SHAPES[shape]}, settings)) as p:
        thread = await house.thread(p, "agent", mode="full")
        run_id = await working(house, thread, "slow 60")
        if shape != "one_shot":  # which never says that it has begun
            await until(lambda: thread.run(run_id).state == "running", "the start of the turn")
        steered: str = (await thread.post("hello", intent="steer")).result["run"]
        assert (steered == run_id) is (shape == "rich")
        await thread.interrupt(run_id)
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == (
            "interrupted",
            {"rich": "provider", "weak": "inferred", "one_shot": "forced"}[shape],
        )
        await ended(thread, steered)
        notes = [d for d in thread.entities("degradation") if isinstance(d, Degradation)]
        assert [(d.feature, d.outcome) for d in notes] == DEGRADED[shape]
        assert all(d.reason and d.consequence for d in notes)
    await house.empty()
