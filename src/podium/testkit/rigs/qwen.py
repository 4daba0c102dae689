"""An isolated home for Qwen Code, wired to a scripted chat server."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from podium.testkit.chat_server import MODELS, ChatServer
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.rigs.acp import AcpStage, AcpTools, alone, write_home

SPELLING = "{}(openai)"
"""It names the way to sign in behind a model."""


def write_qwen_home(folder: Path, base_url: str) -> dict[str, str]:
    """A QWEN_HOME below `folder`; the variables that make the program use it and nothing else."""
    models = [{"id": name, "name": name, "envKey": "OPENAI_API_KEY", "baseUrl": base_url} for name in MODELS]
    config = {
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"name": MODELS[0]},
        "modelProviders": {"openai": models},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    home = write_home(folder, "qwen", "settings.json", json.dumps(config))
    own = {"QWEN_HOME": str(home), "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": base_url}
    return {**alone(folder), **own, "OPENAI_MODEL": MODELS[0]}


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """Qwen Code with its scripted model."""
    tools = AcpTools(
        "run_shell_command",
        "read_file",
        "edit",
        "file_path",
        child="agent",
        shell_more={"description": "a command", "is_background": False},
        child_more={"subagent_type": "general-purpose"},
    )
    with ChatServer() as server:
        server.spelling = SPELLING
        yield AcpStage(folder, server, write_qwen_home, tools)
