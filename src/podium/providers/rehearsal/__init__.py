"""The rehearsal: an agent for whoever has no account yet. No model runs and nothing is sent anywhere."""

from __future__ import annotations

import msgspec

from podium.contract.adapter import Descriptor
from podium.providers.scripted import ScriptedAdapter
from podium.providers.scripted.flavours import RICH, program

NAME = "rehearsal"
SHAPE = msgspec.structs.replace(RICH, name=NAME)


class RehearsalAdapter(ScriptedAdapter):
    """Drives the rehearsal agent with its friendly face."""

    def __init__(self) -> None:
        super().__init__(SHAPE, program("", "--rehearsal"), name=NAME)

    @property
    def descriptor(self) -> Descriptor:
        """The facts about the program: it is always there."""
        return msgspec.structs.replace(
            super().descriptor,
            adapter=NAME,
            agent_kind=NAME,
            display_name="Rehearsal",
            role="rehearsal",
            install_hint="It comes with Podium and is always there.",
            login_hint="It needs no account: no model runs, and nothing is sent anywhere.",
        )


adapter = RehearsalAdapter()
"""The one that is registered."""

__all__ = ["RehearsalAdapter", "adapter"]
