"""What is needed to work with an agent program: found and checked, or restored from what was stored."""

from __future__ import annotations

import uuid

import msgspec

from podium.contract.adapter import LaunchSettings
from podium.domain.entities import Thread
from podium.domain.state import ThreadState
from podium.journal.rows import ProcessRow
from podium.runtime.agents import Instance, Registry
from podium.runtime.facts import Known
from podium.runtime.incoming import check_same_workspace
from podium.runtime.pump import Process, Pump, identity_strength
from podium.runtime.settings import Settings
from podium.transport.courier import argv_of
from podium.transport.launch import LaunchSpec
from podium.transport.masking import Secrets, from_environment

PROCESS_FOLDER = "processes"


class Program(msgspec.Struct, frozen=True):
    """An instance whose program was found and asked for its version."""

    instance: Instance
    path: str


class Launcher:
    """Makes pumps and launch specs for one runtime. Starts nothing."""

    def __init__(
        self, settings: Settings, registry: Registry, known: Known, *, runtime_id: str, linger: float
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._known = known
        self._runtime_id = runtime_id
        self._linger = linger

    async def find(self, thread: Thread) -> Program:
        """The program of a thread's agent. Raises what is wrong with agent, program or workspace."""
        instance = self._registry.instance(thread.agent)
        program = self._registry.program(instance)
        self._known.versions[instance.id] = (await self._registry.probe(instance)).version
        check_same_workspace(thread.workspace)
        return Program(instance, program)

    def fresh(self, program: Program, state: ThreadState, session_id: str) -> tuple[Pump, LaunchSpec]:
        """A pump and a launch spec for an opening session."""
        thread, instance = state.thread, program.instance
        assert thread is not None
        options = dict(instance.settings.options)
        plan = instance.adapter.launch(
            LaunchSettings(program.path, thread.workspace, thread.mode, thread.model, options)
        )
        process_id, token = f"pr_{uuid.uuid4().hex[:16]}", uuid.uuid4().hex
        folder = self._settings.data / PROCESS_FOLDER / process_id
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        process = Process(process_id, session_id, thread.id, self._runtime_id, token, str(folder))
        strength = identity_strength(self._known.capabilities(state))
        spec = LaunchSpec(
            argv=argv_of(plan.argv, instance.adapter.descriptor.http),
            cwd=thread.workspace,
            env={**self._registry.environment(instance, token), **plan.environment},
            linger=self._linger,
        )
        pump = Pump(process, instance.adapter, strength, self._secrets(instance))
        pump.options = options
        return pump, spec

    def restored(self, row: ProcessRow, state: ThreadState, last_send: int) -> tuple[Pump | None, Instance]:
        """The pump of a stored process; None where the adapter cannot read its stored state (R1)."""
        assert state.thread is not None
        instance = self._registry.instance(state.thread.agent)
        strength = identity_strength(self._known.capabilities(state))
        mine = msgspec.structs.replace(row, runtime_id=self._runtime_id)
        pump = Pump.restore(mine, instance.adapter, strength, self._secrets(instance), last_send)
        if pump is not None:
            pump.options = dict(instance.settings.options)
        return pump, instance

    def _secrets(self, instance: Instance) -> Secrets:
        declared = [v.name for v in instance.adapter.descriptor.environment if v.secret]
        return from_environment({**self._settings.environ, **instance.settings.env}, declared)
