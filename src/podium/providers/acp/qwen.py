"""Qwen Code: what it does on the wire, how it is started, and what is claimed of it."""

from __future__ import annotations

from podium.contract.adapter import EnvVar
from podium.contract.values import NATIVE, Strength, degraded
from podium.providers.acp.claims import PERMISSION, proven
from podium.providers.acp.flavour import Flavour, Program

QWEN = Flavour(
    name="qwen",
    names=("qwen-code",),
    # By itself it lets a model decide what may run, so the asking mode is set first, and again after a load.
    modes={"read": ("plan",), "ask": ("default",), "edit": ("auto-edit",), "full": ("yolo",)},
    # It asks for messages that came meanwhile, and tells of turns that it begins by itself.
    news=("qwen/", "craft/", "_qwencode/"),
    end_method="_qwencode/end_turn",
    question_meta="qwenQuestions",
    alone_meta="qwenDiscreteMessage",
    counts_pieces=True,
)

QWEN_PROGRAM = Program(
    display_name="Qwen Code",
    executables=("qwen",),
    arguments=("--acp",),
    environment=(
        EnvVar("QWEN_HOME", "home"),
        EnvVar("OPENAI_API_KEY", "credential", secret=True),
        EnvVar("OPENAI_BASE_URL", "config"),
        EnvVar("OPENAI_MODEL", "config"),
    ),
    install_hint="npm install -g @qwen-code/qwen-code (Node.js 22 or newer)",
    login_hint="Start qwen once and choose a way to sign in, or set OPENAI_API_KEY.",
    login_command="qwen",
    start_seconds=60.0,
    stuck_seconds=600.0,
)

QWEN_VERSION = "0.24.4"
"""The version that every proof was made with."""

QWEN_CLAIMS = proven(
    QWEN_VERSION,
    {
        "lifecycle.persistent": (NATIVE, ("session/resume", "session/load")),
        "lifecycle.mode_switch": (NATIVE, ("session/set_mode",)),
        "output.usage": (NATIVE, ("session/update _meta.usage",)),
        "context.context_usage": (NATIVE, ("session/update usage_update",)),
        "approvals.user_input": (NATIVE, (PERMISSION,)),
        "planning.questions": (NATIVE, (PERMISSION,)),
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
        "planning.plan_updates": "The agent has no tool that writes a plan.",
        "planning.todo_list": "The agent has no tool that writes a list of steps.",
        "turns.steer_active": "The agent asks for messages between tool calls only, and so may never ask.",
        "threads.fork": "Not advertised.",
        "subagents.supported": "A subagent works in the background and says nothing before it is done.",
    },
)
