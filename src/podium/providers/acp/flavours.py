"""The agents whose manners are known. Versions and recordings: `docs/adapters.md`.

Grok, Mistral Vibe and those with a module of their own are proven with the real programs. The others were
recorded once; they are recognised when they run behind the general adapter, so that a known trap is not
walked into.
"""

from __future__ import annotations

from podium.providers.acp.copilot import COPILOT
from podium.providers.acp.flavour import PLANS, QUESTIONS, SUBAGENTS, Flavour
from podium.providers.acp.gemini import GEMINI
from podium.providers.acp.qwen import QWEN
from podium.providers.acp.reading import Json, obj, text

GENERAL = Flavour(name="general", lacks=SUBAGENTS)
"""An agent nobody has met: what its handshake offers, and nothing more."""

GROK = Flavour(
    name="grok",
    sign="grokShell",
    # It advertises no modes. `session/set_mode` takes any word, so none is sent; it asks by default.
    modes={},
    own_mode="ask",
    full_meta="yoloMode",
    news=("_x.ai/",),
    side_channel="_x.ai/session_notification",
    side={
        "subagent_spawned": "child_started",
        "subagent_finished": "child_ended",
        "turn_completed": "turn_ended",
        "retry_state": "retry",
    },
    tool_meta="x.ai/tool",
    question_method="_x.ai/ask_user_question",
    errors={-32003: "rate_limited"},
)

VIBE = Flavour(
    name="vibe",
    names=("@mistralai/mistral-vibe",),
    forks=True,
    # It accepts an unknown mode with an empty answer, so only advertised ones are ever sent.
    modes={"ask": ("ask",), "edit": ("accept-edits",), "full": ("auto-approve",)},
    retry_method="_session/retrying",
    usage_of="conversation",
    errors={-31002: "auth_required"},
    lacks=SUBAGENTS,
)

KILO = Flavour(
    name="kilo",
    names=("Kilo",),
    # Its modes are kinds of agents; whether it asks stands in its own configuration.
    modes={},
    lacks=(*SUBAGENTS, *QUESTIONS, *PLANS),
)

CLAUDE_ACP = Flavour(
    name="claude-agent-acp",
    news=("_auth/",),
    names=("@agentclientprotocol/claude-agent-acp",),
    modes={"read": ("plan",), "ask": ("default",), "edit": ("acceptEdits",), "full": ("bypassPermissions",)},
    lacks=SUBAGENTS,
)

CODEX_ACP = Flavour(
    name="codex-acp",
    news=("_auth/",),
    names=("@agentclientprotocol/codex-acp",),
    modes={
        "read": ("read-only",),
        "ask": ("read-only",),
        "edit": ("workspace-write",),
        "full": ("agent-full-access",),
    },
    errors_as_text=True,
    lacks=(*SUBAGENTS, *QUESTIONS, *PLANS),
)

PI_ACP = Flavour(
    name="pi-acp",
    names=("pi-acp",),
    asks=False,
    # Its modes are levels of thinking.
    modes={},
    errors_as_text=True,
    lacks=(*SUBAGENTS, *QUESTIONS, *PLANS, "approvals.command", "approvals.file_change"),
)

KNOWN = (GROK, VIBE, QWEN, GEMINI, COPILOT, KILO, CLAUDE_ACP, CODEX_ACP, PI_ACP)
"""Flavours that a handshake can be recognised by."""


def recognised(result: Json) -> Flavour | None:
    """The agent that an answer to `initialize` shows."""
    name, signs = text(obj(result, "agentInfo"), "name"), obj(result, "_meta")
    return next((f for f in KNOWN if (name and name in f.names) or (f.sign and f.sign in signs)), None)


def named(name: str) -> Flavour | None:
    """A known agent by the name its flavour has."""
    return next((flavour for flavour in KNOWN if flavour.name == name), None)
