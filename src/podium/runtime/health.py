"""Agents with what was found of them: program, version, what is wrong and what mends it."""

from __future__ import annotations

from typing import Literal

import anyio
import msgspec

from podium.runtime.agents import REHEARSAL, Instance, Registry

PROBES_AT_ONCE = 4
"""Most programs that are asked for their version at the same time."""


Health = Literal["ok", "missing", "problem", "rejected"]


class SignInFlow(msgspec.Struct, frozen=True):
    """One way to sign in to an agent, by its kind: a command to run, or a variable to set (F222).

    Podium itself never signs in, and never reads what the agent stores.
    """

    kind: Literal["command", "variable"]
    value: str


class Found(msgspec.Struct, frozen=True):
    """An instance and its health."""

    id: str
    agent_kind: str
    adapter: str
    name: str
    program: str | None
    version: str | None
    health: Health
    problem: str = ""
    fix: str = ""
    sign_in: str = "unknown"
    """Unknown unless the adapter says: nothing is read from an agent's own files."""
    sign_in_hint: str = ""
    sign_in_flows: tuple[SignInFlow, ...] = ()
    rehearsal: bool = False


async def probe_all(registry: Registry, names: list[str]) -> list[Found]:
    """Find each program and ask its version; nothing of it stays."""
    results: dict[str, Found] = {}
    limit = anyio.CapacityLimiter(PROBES_AT_ONCE)

    async def probe(name: str) -> None:
        async with limit:
            results[name] = await probe_one(registry, registry.instances[name])

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(probe, name)
    return [results[name] for name in names]


def flows(instance: Instance) -> tuple[SignInFlow, ...]:
    """The ways to sign in that an agent's adapter names."""
    descriptor = instance.adapter.descriptor
    if descriptor.role == REHEARSAL:
        return ()
    commands = (descriptor.login_command,) if descriptor.login_command else ()
    variables = (v.name for v in descriptor.environment if v.purpose == "credential")
    return (
        *(SignInFlow("command", command) for command in commands),
        *(SignInFlow("variable", name) for name in variables),
    )


async def probe_one(registry: Registry, instance: Instance) -> Found:
    """One instance and its health."""
    probe = await registry.probe(instance)
    descriptor = instance.adapter.descriptor
    missing = probe.program is None and bool(probe.problem)
    return Found(
        id=instance.id,
        agent_kind=instance.kind,
        adapter=descriptor.adapter,
        name=descriptor.display_name,
        program=probe.program,
        version=probe.version,
        health="missing" if missing else "problem" if probe.problem else "ok",
        problem=probe.problem or "",
        fix=probe.fix,
        sign_in_hint=descriptor.login_hint,
        sign_in_flows=flows(instance),
        rehearsal=descriptor.role == REHEARSAL,
    )


def rejected(registry: Registry) -> list[Found]:
    """Adapters that were not let in, each with what was found."""
    fix = "Mend the adapter's declaration, or remove its package."
    return [
        Found(name, "", name, name, None, None, "rejected", "; ".join(findings), fix)
        for name, findings in sorted(registry.rejected.items())
    ]
