"""The three agents that one program can be: rich, weak and one-shot."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from podium.contract.adapter import EnvVar
from podium.contract.inputs import Mode
from podium.providers.acp.flavour import Flavour, Program

PROGRAM = Path(__file__).resolve().parents[2] / "testkit" / "scripted_agent.py"

MODES: dict[Mode, tuple[str, ...]] = {mode: (mode,) for mode in ("read", "ask", "edit", "full")}


def default_program() -> str:
    """The interpreter that runs the rehearsal agent; it is always installed."""
    return sys.executable


def program(suffix: str, *switches: str) -> Program:
    """The program with the switches that make it so. It has none of its own: it runs on our interpreter."""
    return Program(
        display_name=f"Rehearsal agent{suffix}",
        own=(default_program(), "-I", str(PROGRAM)),
        arguments=switches,
        option="switches",
        adds=True,
        environment=(
            EnvVar("SCRIPTED_HOME", "home"),
            EnvVar("SCRIPTED_TOKEN", "credential", secret=True),
            EnvVar("SCRIPTED_SWITCHES", "config"),
        ),
        install_hint="It comes with Podium.",
        login_hint="It needs no account.",
        start_seconds=10.0,
    )


RICH = Flavour(
    name="rich",
    steer_method="_session/steering",
    steer_sign="steering",
    child_sign="childSessions",
    modes=MODES,
    holds_settings=False,
    echoes_ids=True,
    uses_files=True,
)
"""An agent with everything: ids, permissions, children, steering, conversations that are kept."""

WEAK = msgspec.structs.replace(
    RICH,
    name="weak",
    steer_method="",
    steer_sign="",
    resumes=False,
    asks=False,
    has_ids=False,
    infers_end=True,
    ends_messages=False,
    selects=False,
)
"""No ids, no permission requests, no resume, turns that just fall silent."""

ONE_SHOT = msgspec.structs.replace(
    RICH,
    name="one_shot",
    steer_method="",
    steer_sign="",
    resumes=False,
    asks=False,
    interrupts=False,
    has_ids=False,
    streams=False,
    selects=False,
)
"""Text in, final answer out."""

PROGRAMS = {
    "rich": program(""),
    "weak": program(" (weak)", "--weak-ids", "--no-load", "--no-permission", "--no-stop"),
    "one_shot": program(" (one-shot)", "--text-only", "--no-load", "--no-permission", "--no-cancel"),
}
"""The program of each."""
