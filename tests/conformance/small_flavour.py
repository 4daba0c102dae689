"""A flavour for an agent that behaves well: all that has to be written for it."""

from __future__ import annotations

from podium.contract.values import NATIVE, Strength
from podium.providers.acp import AcpAdapter
from podium.providers.acp.claims import PERMISSION, proven
from podium.providers.acp.flavour import SUBAGENTS, Flavour, Program

VERSION = "1.0.0"

PROGRAM = Program(
    display_name="Polite agent",
    executables=("polite-agent",),
    arguments=("--acp",),
    install_hint="npm install -g polite-agent",
)

FLAVOUR = Flavour(
    name="polite",
    names=("polite-agent",),
    modes={"read": ("read",), "ask": ("ask",), "edit": ("edit",), "full": ("full",)},
    lacks=SUBAGENTS,
)

CLAIMS = proven(
    VERSION,
    {
        "lifecycle.persistent": (NATIVE, ("session/load",)),
        "lifecycle.mode_switch": (NATIVE, ("session/set_mode",)),
        "output.message_completed": (NATIVE, ("session/update messageId",)),
        "identity.item": (Strength.STRONG, ("toolCallId", "messageId")),
        "policy.enforcement": (NATIVE, (PERMISSION, "session/set_mode")),
    },
    lesser={},
    absent={"commands.catalog": "The agent has no slash commands."},
)

polite = AcpAdapter(FLAVOUR, PROGRAM, CLAIMS)
