"""Our modes in the agent's words, and back."""

from __future__ import annotations

from typing import Any

from podium.contract.inputs import Mode

NATIVE_MODES: dict[Mode, str] = {
    "read": "dontAsk",
    "ask": "default",
    "edit": "acceptEdits",
    "full": "acceptEdits",
}
"""The agent's permission modes. `dontAsk` denies by itself whatever would have been asked.

`full` is no mode of the agent's: its own one must be chosen at the start and is refused to root. So the agent
asks for what is no edit, and is answered yes at once (`cards.py`).
"""

CHANGING = (
    "Bash",
    "PowerShell",
    "Monitor",
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "EnterWorktree",
    "CronCreate",
    "mcp__*",
)
"""What is denied by a rule in the mode `read`: `dontAsk` alone lets run what the person's own rules allow."""

_BACK: dict[str, Mode] = {"dontAsk": "read", "default": "ask", "acceptEdits": "edit"}


def native_mode(mode: str) -> str:
    """The agent's mode for one of ours; asking is what is done for an unknown one."""
    for known, native in NATIVE_MODES.items():
        if known == mode:
            return native
    return NATIVE_MODES["ask"]


def held_rules(mode: str) -> dict[str, Any]:
    """The request that puts the rules of a mode in force, and takes those of another one back."""
    denied = list(CHANGING) if mode == "read" else []
    return {"subtype": "apply_flag_settings", "settings": {"permissions": {"deny": denied}}}


def mode_of(native: str, wanted: str) -> str:
    """Our mode for what the agent says it runs with; a mode that we never set keeps its own word."""
    if native == native_mode(wanted) or (wanted == "full" and native == NATIVE_MODES["ask"]):
        return wanted
    return _BACK.get(native, native[:80])
