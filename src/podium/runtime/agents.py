"""Adapters found by entry point, instances made of them, and the programs behind them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import anyio
import msgspec

from podium.contract.adapter import Adapter
from podium.contract.capabilities import Capabilities
from podium.contract.errors import BadInput, Unavailable
from podium.contract.inputs import Mode
from podium.contract.validation import check_declaration
from podium.policy.config import merge
from podium.policy.resolve import resolve
from podium.runtime import certificates
from podium.runtime.settings import AgentSettings, Settings
from podium.transport.environment import agent_environment

ENTRY_POINTS = "podium.providers"

HOMES = "agents"
"""Folder of the data folder for homes of agents that come with Podium."""

REHEARSAL = "rehearsal"
"""The role of an agent that needs no model and no account."""

COMMAND = "command"
"""The role of a program of the user's that nothing holds."""

VERSION_SECONDS = 20.0
"""Longest wait for a program to say its version."""

VERSION_OUTPUT_MAX = 64 * 1024
"""Most bytes read of a version answer."""


class Instance(msgspec.Struct, frozen=True):
    """One configured agent: an adapter with a program and settings of its own."""

    id: str
    adapter: Adapter[Any]
    settings: AgentSettings = AgentSettings()

    @property
    def kind(self) -> str:
        """The brand, from data."""
        return self.adapter.descriptor.agent_kind

    @property
    def mode(self) -> Mode:
        """The mode that a thread begins in where nobody chooses one."""
        return self.settings.mode or "ask"


class Probe(msgspec.Struct, frozen=True):
    """What was found of an instance's program."""

    program: str | None
    version: str | None
    problem: str | None = None
    fix: str = ""


class Registry:
    """All adapters and instances of this runtime. One new adapter package needs no change here (F084)."""

    def __init__(
        self, adapters: dict[str, Adapter[Any]], settings: Settings, broken: Mapping[str, str] | None = None
    ) -> None:
        self.settings = settings
        self.adapters: dict[str, Adapter[Any]] = {}
        self.rejected: dict[str, list[str]] = {name: [why] for name, why in (broken or {}).items()}
        for name, adapter in adapters.items():
            findings = faults_of(adapter)
            if findings:
                self.rejected[name] = findings
            else:
                self.adapters[name] = adapter
        self.instances = {n: Instance(n, a) for n, a in self.adapters.items()}
        for name, configured in settings.config.agents.items():
            self._configure(name, configured)
        self._versions: dict[tuple[str, int, tuple[str, ...]], str] = {}

    def _configure(self, name: str, configured: AgentSettings) -> None:
        """Add a configured instance; one of a rejected adapter is rejected with it, and the others work."""
        wanted = configured.adapter or name
        adapter = self.adapters.get(wanted)
        if adapter is not None:
            self.instances[name] = Instance(name, adapter, configured)
        elif wanted in self.rejected:
            self.rejected[name] = self.rejected[wanted]
        else:
            raise BadInput(
                "unknown_adapter",
                f"[agents.{name}] names the adapter {wanted!r}; it is not installed.",
                fix=f"Installed adapters: {', '.join(sorted(self.adapters))}.",
            )

    @classmethod
    def installed(cls, settings: Settings) -> Registry:
        """Every adapter whose package is installed; one that cannot be loaded is rejected by name."""
        found: dict[str, Adapter[Any]] = {}
        broken: dict[str, str] = {}
        for entry in metadata.entry_points(group=ENTRY_POINTS):
            try:
                found[entry.name] = entry.load()
            except Exception as error:  # a package of others may fail in any way
                broken[entry.name] = f"not loadable: {type(error).__name__}: {error}"
        return cls(found, settings, broken)

    def instance(self, name: str) -> Instance:
        """An instance by its id. Raises BadInput `unknown_agent`."""
        held = self.instances.get(name)
        if held is None:
            if name in self.rejected:
                raise Unavailable("adapter_rejected", f"{name}: {'; '.join(self.rejected[name])}")
            raise BadInput(
                "unknown_agent",
                f"There is no agent {name!r}.",
                fix=f"Known agents: {', '.join(sorted(self.instances))}. `podium agents` shows them.",
            )
        return held

    def listed(self) -> list[str]:
        """Every instance in the order to offer them: those with a program, the rehearsal, all others."""
        return sorted(self.instances, key=lambda name: (self._rank(self.instances[name]), name))

    def _rank(self, instance: Instance) -> int:
        descriptor = instance.adapter.descriptor
        if descriptor.role == REHEARSAL:
            return 1
        return 0 if descriptor.executables or instance.settings.program else 2

    def offered(self, name: str) -> bool:
        """Whether an instance is for people: one that comes for tests is not, unless configured."""
        return self._rank(self.instances[name]) < 2 or name in self.settings.config.agents

    def default(self) -> str:
        """The agent to take where none is named: the configured one, else the first whose program is found,
        else the rehearsal. One that only comes with Podium for tests is never taken, nor a command, nor one
        that nothing holds to the mode in which it would begin.

        Raises Unavailable `agent_missing`.
        """
        if self.settings.config.default_agent is not None:
            return self.settings.config.default_agent
        for name in self.listed():
            instance = self.instances[name]
            if self._rank(instance) == 1:
                return name
            if instance.adapter.descriptor.role == COMMAND or instance.mode not in self.modes(instance):
                continue
            with contextlib.suppress(Unavailable):
                if self.program(instance):
                    return name
        raise Unavailable("agent_missing", "No agent program was found.", fix="See: podium agents")

    def program(self, instance: Instance) -> str:
        """The program to start, the native one behind a launcher. Raises Unavailable `agent_missing`."""
        descriptor = instance.adapter.descriptor
        configured = instance.settings.program
        path = self.settings.environ.get("PATH")
        for name in (configured,) if configured else descriptor.executables:
            found = shutil.which(name, path=path)
            if found is not None:
                return native_program(found, descriptor.native_programs)
        if not configured and not descriptor.executables:
            return ""
        wanted = configured or " or ".join(descriptor.executables)
        raise Unavailable(
            "agent_missing",
            f"The program of {descriptor.display_name} ({wanted}) was not found.",
            fix=descriptor.install_hint or f"Install it, or set program under [agents.{instance.id}].",
        )

    def environment(self, instance: Instance, token: str | None = None) -> dict[str, str]:
        """The whole environment of the agent: the base list and what its adapter declares (B15)."""
        declared = [*(v.name for v in instance.adapter.descriptor.environment), *instance.settings.inherit]
        homes = self.own_home(instance)
        if token is not None:
            for home in homes.values():
                Path(home).parent.mkdir(mode=0o700, exist_ok=True)
                Path(home).mkdir(mode=0o700, exist_ok=True)
        extra = {**homes, **instance.settings.env}
        return agent_environment(self.settings.environ, declared, extra, token=token)

    def own_home(self, instance: Instance) -> dict[str, str]:
        """The home of an agent that comes with Podium: in our data, unless the user names another."""
        descriptor = instance.adapter.descriptor
        if descriptor.executables:
            return {}
        home = str(self.settings.data / HOMES / instance.id)
        homes = [v.name for v in descriptor.environment if v.purpose == "home"]
        return {name: home for name in homes if name not in self.settings.environ}

    async def probe(self, instance: Instance) -> Probe:
        """Find the program and ask its version. The program is ended with the question; nothing stays."""
        try:
            program = self.program(instance)
        except Unavailable as error:
            return Probe(None, None, error.message, error.fix)
        descriptor = instance.adapter.descriptor
        arguments = instance.settings.version_args or descriptor.version_args
        if not program or not arguments:
            return Probe(program or None, None)
        key = (program, _changed(program), arguments)
        version = self._versions.get(key) or await self._ask_version(instance, program, arguments)
        if version is None:
            return Probe(program, None, "The program did not say its version.", descriptor.install_hint)
        self._versions[key] = version
        return Probe(program, version)

    async def _ask_version(self, instance: Instance, program: str, arguments: tuple[str, ...]) -> str | None:
        """Ask in a group of its own that is ended with the question; it reads no stdin of ours."""
        descriptor = instance.adapter.descriptor
        said = bytearray()
        try:
            process = await anyio.open_process(
                [program, *arguments],
                env=self.environment(instance),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        async with process:
            try:
                with anyio.move_on_after(VERSION_SECONDS):
                    assert process.stdout is not None
                    async for piece in process.stdout:
                        said += piece
                        if len(said) > VERSION_OUTPUT_MAX:
                            break
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        text = said[:VERSION_OUTPUT_MAX].decode("utf-8", "replace")
        match = re.search(descriptor.version_pattern, text)
        return match.group(1) if match else None

    def capabilities(self, instance: Instance) -> Capabilities:
        """The adapter's declared record, for this instance."""
        return msgspec.structs.replace(instance.adapter.capabilities(), instance=instance.id)

    def modes(self, instance: Instance) -> tuple[Mode, ...]:
        """The modes that a thread of an instance can be in: only `full` where nothing holds it to another."""
        asks = resolve("approvals", self.capabilities(instance), merge(self.settings.policy_layer))
        return ("full",) if asks.refused else ("read", "ask", "edit", "full")

    def effective(self, instance: Instance, version: str | None, *, strict: bool = False) -> Capabilities:
        """What may be relied on of an instance on this version, by its adapter's proofs and the user's."""
        declared = self.capabilities(instance)
        program = ""
        with contextlib.suppress(Unavailable):
            program = self.program(instance)
        known = certificates.certifications(self.settings.data, instance.id, program)
        return declared.effective(version, known, advertised=declared.rests_elsewhere(), strict=strict)


def faults_of(adapter: Adapter[Any]) -> list[str]:
    """What is wrong with an adapter's declaration, in words; nothing if it may be used (F031)."""
    try:
        findings = check_declaration(adapter.capabilities(), set(adapter.asks()))
        _ = adapter.descriptor.agent_kind
    except Exception as error:  # whatever an adapter of others does, the others work
        return [f"unusable: {error}"]
    return [f"{f.code} {f.leaf}: {f.message}" for f in findings]


def _changed(program: str) -> int:
    """When a program was changed, so that an upgraded one is asked again."""
    try:
        return Path(program).stat().st_mtime_ns
    except OSError:
        return 0


def native_program(found: str, patterns: tuple[str, ...]) -> str:
    """The real program behind a launcher script, or the found one.

    Where there is no launcher, links are not followed: some programs go by the name they are called by.
    """
    if not patterns:
        return str(Path(found).absolute())
    resolved = Path(found).resolve()
    for pattern in patterns:
        for candidate in sorted(resolved.parent.glob(pattern)):
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate.resolve())
    return str(resolved)
