"""How the agents that have a name of their own here are found and started."""

from __future__ import annotations

from podium.contract.adapter import EnvVar, Preset
from podium.providers.acp.flavour import Program


def _preset(name: str, display_name: str, program: str, *arguments: str, hint: str) -> Preset:
    """A known program behind the general adapter; it was recorded, not proven."""
    return Preset(name, display_name, program, {"arguments": list(arguments)}, (), hint)


GENERAL_PROGRAM = Program(
    display_name="Any agent that speaks ACP",
    # Without a configured program there is nothing to start; this name is what the error then tells.
    own=("a-configured-program",),
    presets=(_preset("kilo", "Kilo Code", "kilo", "acp", hint="npm install -g @kilocode/cli"),),
    install_hint='Name it in podium.toml: [agents.NAME] adapter = "acp", program = "...", options.arguments.',
    version_args=(),
    # Some import a great deal before they answer.
    start_seconds=60.0,
    stuck_seconds=600.0,
)

GROK_PROGRAM = Program(
    display_name="Grok",
    executables=("grok",),
    # Without a leader every thread has a process of its own, which ends with it.
    arguments=("agent", "--no-leader", "stdio"),
    # The package's launcher only starts the native program beside it.
    native_programs=("grok-native",),
    environment=(
        EnvVar("GROK_HOME", "home"),
        EnvVar("XAI_API_KEY", "credential", secret=True),
        EnvVar("GROK_DISABLE_AUTOUPDATER", "config"),
    ),
    install_hint="npm install -g @xai-official/grok",
    login_hint="grok login",
    login_command="grok login",
    start_seconds=60.0,
    # A model that fails is asked up to 15 times, with growing pauses.
    stuck_seconds=600.0,
)

VIBE_PROGRAM = Program(
    display_name="Mistral Vibe",
    executables=("vibe-acp",),
    environment=(
        EnvVar("VIBE_HOME", "home"),
        EnvVar("MISTRAL_API_KEY", "credential", secret=True),
    ),
    install_hint="pip install mistral-vibe (Python 3.12 or newer)",
    login_hint="Set MISTRAL_API_KEY, or run vibe --setup.",
    login_command="vibe --setup",
    start_seconds=60.0,
    stuck_seconds=600.0,
)
