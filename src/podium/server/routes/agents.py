"""Agents: which there are, how they are, what they can do."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from litestar.params import FromPath, QueryParameter

from podium.contract.errors import NotFound
from podium.runtime.capabilityrows import feature_rows, leaf_rows
from podium.server.schema import AgentCard, Agents, CapabilityReport, Feature, Leaf
from podium.server.service import Served

OptionalFolder = Annotated[str | None, QueryParameter(max_length=4096, pattern=r"^[^\x00]*$")]
"""A folder on the server's machine."""


@get("/agents")
async def list_agents(service: Served) -> Agents:
    """Every agent with version and health."""
    return Agents(await service.agents())


@get("/agents/{agent_id:str}")
async def show_agent(service: Served, agent_id: FromPath[str]) -> AgentCard:
    """One agent."""
    for card in await service.agents():
        if card.id == agent_id:
            return card
    raise unknown(agent_id)


@get("/agents/{agent_id:str}/capabilities")
async def show_capabilities(
    service: Served, agent_id: FromPath[str], workspace: OptionalFolder = None
) -> CapabilityReport:
    """The effective record on the installed version, and what happens with each feature.

    The policy is that of the workspace, else the user's own.
    """
    registry = service.registry
    instance = registry.instances.get(agent_id)
    if instance is None:
        raise unknown(agent_id)
    probe = await registry.probe(instance)
    policy = service.runtime.settings.policy(workspace or str(service.home))
    record = registry.effective(instance, probe.version, strict=policy.strict)
    return CapabilityReport(
        agent=instance.id,
        agent_kind=instance.kind,
        version=probe.version,
        schema_version=record.schema_version,
        leaves=tuple(
            msgspec.convert({k: v for k, v in r.items() if k != "kind"}, Leaf) for r in leaf_rows(record)
        ),
        features=tuple(
            msgspec.convert({k: v for k, v in r.items() if k != "kind"}, Feature)
            for r in feature_rows(record, policy)
        ),
    )


def unknown(agent_id: FromPath[str]) -> NotFound:
    """That there is no such agent."""
    return NotFound("unknown_agent", f"There is no agent {agent_id!r}.", fix="GET /v1/agents lists them.")


ROUTES = [list_agents, show_agent, show_capabilities]
