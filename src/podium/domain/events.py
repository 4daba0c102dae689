"""Domain events: one entity, whole, with who caused it. The journal gives each its dense sequence."""

from __future__ import annotations

import msgspec

from podium.contract.events import Body
from podium.domain.entities import Entity

RECORDED = frozenset({"degradation", "notice"})


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that is now true.

    `type` is `<kind>.created` at the first revision and `<kind>.updated` after it; a degradation or notice is
    `.recorded`; a body that the agent's final text replaced is `item.body_replaced` (R6).
    """

    type: str
    thread_id: str
    entity: Entity
    at: float = 0.0
    actor: str = "system"
    command_id: str | None = None
    run_id: str | None = None


def event_type(entity: Entity) -> str:
    """The name of the event that carries this entity."""
    kind = str(entity.__struct_config__.tag)
    if kind in RECORDED:
        return f"{kind}.recorded"
    return f"{kind}.created" if entity.revision == 1 else f"{kind}.updated"


class Delta(msgspec.Struct, frozen=True):
    """Text on the fast lane: parts `from_part` to `to_part` of one body, not yet an event (R7)."""

    thread_id: str
    item: str
    field: Body
    body_epoch: int
    from_part: int
    to_part: int
    text: str
