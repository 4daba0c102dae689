"""Gemini CLI: what it does on the wire, how it is started, and what is claimed of it."""

from __future__ import annotations

from podium.contract.adapter import EnvVar
from podium.contract.values import NATIVE, Strength, degraded
from podium.providers.acp.claims import PERMISSION, PROMPT, proven
from podium.providers.acp.flavour import PLANS, QUESTIONS, SUBAGENTS, Flavour, Program

GEMINI_VERSION = "0.61.0"
"""The version that every proof was made with."""

GEMINI = Flavour(
    name="gemini",
    names=("gemini-cli",),
    load_destroys=True,
    modes={"read": ("plan",), "ask": ("default",), "edit": ("autoEdit",), "full": ("yolo",)},
    mode_echo="[MODE_UPDATE] ",
    describes=True,
    titles_commands=True,
    errors={401: "auth_required", 429: "rate_limited", 500: "agent_error_500"},
    lacks=(*SUBAGENTS, *QUESTIONS, *PLANS),
)

GEMINI_PROGRAM = Program(
    display_name="Gemini CLI",
    executables=("gemini",),
    arguments=("--acp",),
    environment=(
        EnvVar("GEMINI_CLI_HOME", "home"),
        EnvVar("GEMINI_API_KEY", "credential", secret=True),
        EnvVar("GOOGLE_GEMINI_BASE_URL", "config"),
        EnvVar("GEMINI_CLI_TRUST_WORKSPACE", "config"),
    ),
    install_hint="npm install -g @google/gemini-cli",
    login_hint="Start gemini once and choose a way to sign in, or set GEMINI_API_KEY.",
    login_command="gemini",
    start_seconds=60.0,
    # A model that fails is asked again and again, and nothing is said meanwhile.
    stuck_seconds=600.0,
)

GEMINI_CLAIMS = proven(
    GEMINI_VERSION,
    {
        "lifecycle.mode_switch": (NATIVE, ("session/set_mode",)),
        "models.switch": (NATIVE, ("session/set_model",)),
        "output.usage": (NATIVE, (f"{PROMPT} _meta.quota",)),
        "identity.thread": (Strength.WEAK, ("sessionId",)),
    },
    {
        "lifecycle.empty_thread": (
            degraded("volatile", "A conversation without a turn ends with the agent's process."),
            ("session/new",),
        ),
        "output.message_completed": (
            degraded("inferred", "Messages carry no ids: one ends where something else begins."),
            ("session/update agent_message_chunk",),
        ),
        "identity.item": (Strength.WEAK, ("toolCallId",)),
        "policy.enforcement": (
            degraded("agent_rules", "The agent asks by rules of its own: harmless commands run unasked."),
            (PERMISSION, "session/set_mode"),
        ),
    },
    {
        "lifecycle.persistent": "A load fails and destroys the stored conversation, so it is never sent.",
        "tools.output": "A call that has ended tells a diff or nothing; a command's output is not told.",
        "turns.steer_restart": "What was said in a turn that was stopped is forgotten.",
        "turns.steer_active": "A second prompt stops the first.",
        "planning.plan_updates": "A call that writes steps has a title and nothing else.",
        "planning.todo_list": "A call that writes steps has a title and nothing else.",
        "subagents.supported": "Starting one is refused by the agent's own policy, unasked.",
    },
)
