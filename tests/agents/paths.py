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


def copilot_binary() -> Path:
    """The native Copilot program. Raises AgentMissing where there is none for this platform."""
    found = sorted(MODULES.glob("@github/copilot-*/copilot"))
    if not found:
        raise AgentMissing(f"no Copilot below {MODULES}; run `make agents` first")
    return found[0]


def gemini_binary() -> Path:
    """Gemini CLI, which runs on the Node of PATH. Raises AgentMissing."""
    program = MODULES / ".bin" / "gemini"
    if not program.exists():
        raise AgentMissing(f"no Gemini CLI below {MODULES}; run `make agents` first")
    return program


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


def claude_binary() -> Path:
    """The native Claude Code program of the version that is driven longest. Raises AgentMissing."""
    return _claude(MODULES)


def claude_new_binary() -> Path:
    """The native Claude Code program of the newest version that is driven. Raises AgentMissing."""
    return _claude(MODULES / "claude-code-new" / "node_modules")


def _claude(modules: Path) -> Path:
    """npm installs the packages of this platform; of two, the one without musl is the usual one."""
    found = sorted(modules.glob("@anthropic-ai/claude-code-*/claude"), key=lambda path: len(str(path)))
    if not found:
        raise AgentMissing(f"no Claude Code below {modules}; run `make agents` first")
    return found[0]


def qwen_binary() -> Path:
    """What starts Qwen Code on the pinned Node. Raises AgentMissing."""
    if not (MODULES / "@qwen-code" / "qwen-code").exists():
        raise AgentMissing(f"no Qwen Code below {MODULES}; run `make agents` first")
    return HERE / "bin" / "qwen"


def opencode_binary() -> Path:
    """The OpenCode program. Raises AgentMissing where there is none for this platform."""
    return _program("opencode-linux-*/bin/opencode", "OpenCode")


def _program(pattern: str, name: str) -> Path:
    found = sorted(MODULES.glob(pattern))
    if not found:
        raise AgentMissing(f"no {name} below {MODULES}; run `make agents` first")
    return found[0]


def pinned(package: str) -> str:
    """The exact version that package.json asks for."""
    wanted: dict[str, dict[str, str]] = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    found = {**wanted["dependencies"], **wanted["optionalDependencies"]}[package]
    return found.rpartition("@")[2]


def pi_binary() -> Path:
    """The wrapper that runs Pi on the pinned Node. Raises AgentMissing where it is not installed."""
    if not (MODULES / "@earendil-works" / "pi-coding-agent" / "dist" / "cli.js").exists():
        raise AgentMissing(f"no Pi below {MODULES}; run `make agents` first")
    return HERE / "bin" / "pi"
