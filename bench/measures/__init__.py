"""Each module measures one thing. `ALL` holds them by name, in the order they run."""

from __future__ import annotations

from bench.measures import (
    captures,
    commands,
    flood,
    growth,
    late,
    latency,
    memory,
    sessions,
    stalled,
    starting,
    tools,
)
from bench.measuring import Measure

ALL: dict[str, Measure] = {
    m.name: m
    for m in (
        starting.MEASURE,
        memory.MEASURE,
        latency.MEASURE,
        flood.MEASURE,
        tools.MEASURE,
        stalled.MEASURE,
        sessions.MEASURE,
        growth.MEASURE,
        late.MEASURE,
        commands.MEASURE,
        captures.MEASURE,
    )
}
