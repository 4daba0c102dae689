"""An isolated home for Copilot CLI, wired to a scripted chat server: offline, it needs no account."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from podium.testkit.chat_server import MODELS, ChatServer
from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.rigs.acp import AcpStage, AcpTools, alone, write_home


def write_copilot_home(folder: Path, base_url: str) -> dict[str, str]:
    """A COPILOT_HOME below `folder`; the variables that make the program use it and nothing else."""
    own = {
        "COPILOT_HOME": str(write_home(folder, "copilot", "config.json", "{}")),
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": base_url,
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "x",
        "COPILOT_MODEL": MODELS[0],
    }
    return {**alone(folder), **own}


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """Copilot CLI with its scripted model."""
    tools = AcpTools(
        "bash",
        "view",
        "edit",
        "path",
        child="task",
        shell_more={"description": "a command"},
        edit_args=("path", "old_str", "new_str"),
        child_more={"agent_type": "general-purpose"},
    )
    with ChatServer() as server:
        yield AcpStage(folder, server, write_copilot_home, tools)
