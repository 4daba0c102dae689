"""The rehearsal agent: a scripted program that stands in for a real agent, in three shapes.

It speaks the Agent Client Protocol, so the adapter is the general one; here stand its flavours and claims.
"""

from __future__ import annotations

from podium.providers.acp.adapter import AcpAdapter
from podium.providers.acp.flavour import Flavour, Program
from podium.providers.scripted.declaration import claims
from podium.providers.scripted.flavours import ONE_SHOT, PROGRAMS, RICH, WEAK, default_program


class ScriptedAdapter(AcpAdapter):
    """The general adapter with one of the rehearsal agent's flavours; nothing is done differently."""

    def __init__(
        self, shape: Flavour = RICH, started: Program | None = None, *, name: str = "scripted"
    ) -> None:
        super().__init__(shape, started or PROGRAMS[shape.name], claims(shape), name=name)


adapter = ScriptedAdapter()
"""The rich shape: the one that is registered."""


def weak() -> ScriptedAdapter:
    """A weak agent: no ids, no permission requests, no resume, turns that just fall silent."""
    return ScriptedAdapter(WEAK)


def one_shot() -> ScriptedAdapter:
    """A one-shot agent: text in, final answer out."""
    return ScriptedAdapter(ONE_SHOT)


__all__ = ["ScriptedAdapter", "adapter", "default_program", "one_shot", "weak"]
