"""Copilot CLI: what it does on the wire, how it is started, and what is claimed of it."""

from __future__ import annotations

from podium.contract.adapter import EnvVar
from podium.contract.values import NATIVE, Strength, degraded
from podium.providers.acp.claims import PERMISSION, PROMPT, proven
from podium.providers.acp.flavour import PLANS, QUESTIONS, SUBAGENTS, Flavour, Program

COPILOT_VERSION = "1.0.102"
"""The version that every proof was made with."""

COPILOT = Flavour(
    name="copilot",
    names=("Copilot",),
    # What it calls modes are ways of working: one of them prompts itself on and on.
    mode_option="allow_all",
    modes={"ask": ("off",), "full": ("on",)},
    errors_as_text=True,
    error_words="Error: ",
    retry_words=("Info: ", "Retrying..."),
    lacks=(*SUBAGENTS, *QUESTIONS, *PLANS),
)

COPILOT_PROGRAM = Program(
    display_name="Copilot CLI",
    executables=("copilot",),
    arguments=("--acp",),
    environment=(
        EnvVar("COPILOT_HOME", "home"),
        EnvVar("COPILOT_OFFLINE", "config"),
        EnvVar("COPILOT_AUTO_UPDATE", "config"),
        EnvVar("COPILOT_MODEL", "config"),
        EnvVar("COPILOT_PROVIDER_BASE_URL", "config"),
        EnvVar("COPILOT_PROVIDER_TYPE", "config"),
        EnvVar("COPILOT_PROVIDER_API_KEY", "credential", secret=True),
    ),
    install_hint="npm install -g @github/copilot",
    login_hint="copilot login",
    login_command="copilot login",
    start_seconds=60.0,
    stuck_seconds=600.0,
)

COPILOT_CLAIMS = proven(
    COPILOT_VERSION,
    {
        "lifecycle.persistent": (NATIVE, ("session/load",)),
        "lifecycle.mode_switch": (NATIVE, ("session/set_config_option",)),
        "context.context_usage": (NATIVE, ("session/update usage_update",)),
    },
    {
        "lifecycle.empty_thread": (
            degraded("volatile", "A conversation without a turn ends with the agent's process."),
            ("session/new",),
        ),
        "turns.completed": (
            degraded("inferred", "Errors are told as text, and every turn ends as if all were well."),
            (f"{PROMPT} stopReason",),
        ),
        "turns.terminal_quality": (
            Strength.WEAK,
            (f"{PROMPT} stopReason", "session/update agent_message_chunk"),
        ),
        "output.message_completed": (
            degraded("inferred", "Messages carry no ids: one ends where something else begins."),
            ("session/update agent_message_chunk",),
        ),
        "identity.item": (Strength.WEAK, ("toolCallId",)),
        "policy.enforcement": (
            degraded("agent_rules", "The agent asks by rules of its own: harmless commands run unasked."),
            (PERMISSION, "session/set_config_option"),
        ),
    },
    {
        "models.switch": "With a provider of one's own it offers no models; with an account it was not run.",
        "turns.steer_active": "A second prompt stops the first.",
        "planning.plan_updates": "The agent has no tool that writes a plan.",
        "planning.todo_list": "The agent has no tool that writes a list of steps.",
        "subagents.supported": "A subagent works in its parent's conversation, unmarked.",
    },
)
