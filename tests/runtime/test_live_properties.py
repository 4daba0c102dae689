"""Random stories through engine and journal: memory read back is the memory there was (F273)."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from podium.contract.errors import PodiumError
from podium.contract.events import ProviderEvent
from podium.domain.commands import DomainCommand, UserCommand
from podium.domain.entities import Entity, Item, Turn
from podium.domain.outputs import CaptureFiles
from podium.domain.state import ThreadState
from podium.journal.rebuild import verify
from podium.runtime.live import decode_entity, load_thread, text_of
from tests.domain.test_decide_properties import MOVES, story
from tests.domain.worlds import World
from tests.runtime.engine_rig import Rig, running


class EngineWorld(World):
    """The moves of the core's stories, played on an engine."""

    def __init__(self, rig: Rig, thread: str) -> None:
        self.rig = rig
        self.thread = thread
        self.captures = True
        self.commands = 0
        self.waiting: list[UserCommand] = []

    @property
    def state(self) -> ThreadState:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.rig.engine.live(self.thread).state

    @property
    def armed(self) -> set[tuple[str, str]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        held: set[tuple[str, str]] = set()
        for effect in self.rig.deadlines():
            key = (effect.name, effect.run_id)
            (held.add if effect.armed else held.discard)(key)
        return held

    @property
    def capturing(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return [e.checkpoint_id for _, e in self.rig.effects if isinstance(e, CaptureFiles)]

    @property
    def asks(self) -> list[Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Every ask that went out, with its id."""
        return [_Ask(s.ask_id or "") for s in self.rig.sends]

    def of(self, kind: type[Any]) -> list[Any]:
        found: list[Entity] = []
        for word in ("run", "session", "request"):
            found += [decode_entity(d) for d in self.rig.journal.entities(word, thread_id=self.thread)]
        return [e for e in found if isinstance(e, kind)]

    def report(self, event: ProviderEvent, *, session: str | None = None, item: str | None = None) -> Any:
        current = self.state.session
        if current is None or session != current.id:
            return
        if current.id not in self.rig.engine.pumps:
            self.rig.attach(self.thread)
        self.rig.engine.consume(self.rig.engine.pumps[current.id], [event])

    def do(self, command: DomainCommand) -> Any:
        self.commands += 1
        current = self.state.session
        if current is not None and current.id not in self.rig.engine.pumps:
            self.rig.attach(self.thread)
        if isinstance(command, UserCommand):
            self.waiting.append(command)
        else:
            self.rig.engine.apply(self.thread, command)

    async def settle(self) -> None:
        for command in self.waiting:
            try:
                await self.rig.engine.submit(self.thread, command, actor="user")
            except PodiumError as refused:
                assert refused.code and refused.message and refused.code != "storage_failed"
        self.waiting.clear()
        await self.rig.engine.settle()


class _Ask(msgspec.Struct):
    ask_id: str


def same(world: EngineWorld) -> None:
    """Live and reloaded memory agree, and every body is as its item says."""
    live, read = world.rig.engine.live(world.thread), load_thread(world.rig.journal, world.thread)
    assert msgspec.structs.replace(live.state, known={}) == msgspec.structs.replace(read.state, known={})
    for word in ("item", "turn"):
        for data in world.rig.journal.entities(word, thread_id=world.thread):
            entity = decode_entity(data)
            assert isinstance(entity, Item | Turn)
            assert live.bodies.refs(entity.id) == read.bodies.refs(entity.id)
            for body, ref in read.bodies.refs(entity.id).items():
                assert len(text_of(world.rig.journal, live, entity.id, body)) == ref.chars


@pytest.mark.behaviour("F273")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(moves=story)
def test_memory_read_back_is_the_memory_there_was(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int, int, int]]
) -> None:
    async def play() -> None:
        async with running(tmp_path_factory.mktemp("journal")) as rig:
            world = EngineWorld(rig, await rig.working())
            rig.captures = True
            for number, (name, a, b, c) in enumerate(moves):
                MOVES[name](world, a, b, c)
                await world.settle()
                same(world)
                if number % 7 == 6:
                    rig.engine.threads.clear()  # and the story goes on from what was read
            assert verify(rig.journal) == [] and rig.drops == 0

    anyio.run(play)
