"""Where the pinned real agents lie once `make agents` has installed them."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
VIBE = HERE.parents[1] / ".cache" / "vibe"


class AgentMissing(FileNotFoundError):
    """A pinned agent is not installed in this checkout."""


def codex_binary() -> Path:
    """The native Codex program of this machine's kind, not its Node launcher.

    npm installs the package of this platform only, so there is one; raises AgentMissing where there is none.
    """
    found = sorted(MODULES.glob("@openai/codex-*/vendor/*/bin/codex"))
    if not found:
        raise AgentMissing(f"no Codex below {MODULES}; run `make agents` first")
    return found[0]


def grok_binary() -> Path:
    """The native Grok program. Raises AgentMissing where there is none for this platform."""
    found = sorted(MODULES.glob("@xai-official/grok-*/bin/grok"))
    if not found:
        raise AgentMissing(f"no Grok below {MODULES}; run `make agents` first")
    return found[0]


def vibe_binary() -> Path:
    """The ACP program of Mistral Vibe, in a virtual environment of its own. Raises AgentMissing."""
    program = VIBE / "bin" / "vibe-acp"
    if not program.exists():
        raise AgentMissing(f"no Mistral Vibe below {VIBE}; run `make agents` first")
    return program


def opencode_binary() -> Path:
    """The OpenCode program, first generation. Raises AgentMissing where there is none for this platform."""
    return _program("opencode-linux-*/bin/opencode", "OpenCode")


def opencode2_binary() -> Path:
    """The OpenCode program, second generation. Raises AgentMissing where there is none for this platform."""
    return _program("@opencode/cli-*/bin/opencode", "OpenCode 2")


def _program(pattern: str, name: str) -> Path:
    found = sorted(MODULES.glob(pattern))
    if not found:
        raise AgentMissing(f"no {name} below {MODULES}; run `make agents` first")
    return found[0]


def pinned(package: str) -> str:
    """The exact version that package.json asks for."""
    wanted: dict[str, dict[str, str]] = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    return {**wanted["dependencies"], **wanted["optionalDependencies"]}[package]
