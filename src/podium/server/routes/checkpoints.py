"""Taking changes back: first the exact paths, then exactly those."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody

from podium.domain.entities import Checkpoint
from podium.server.schema import PlanWish, RestoreWish, ShownPlan
from podium.server.service import Served


@post("/checkpoints/plan", status_code=200)
async def plan(service: Served, data: JSONBody[PlanWish]) -> ShownPlan:
    """What would happen to each path, and why some are refused. Nothing is touched."""
    return await service.plan(data)


@post("/checkpoints/restore", status_code=200)
async def restore(service: Served, data: JSONBody[RestoreWish]) -> Checkpoint:
    """Carry out the plan that was shown. The answer is the safety checkpoint, which undoes it."""
    return await service.podium.checkpoints.restore(await service.planned(data.wish, data.digest))


ROUTES = [plan, restore]
