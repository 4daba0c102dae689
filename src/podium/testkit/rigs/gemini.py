"""An isolated home for Gemini CLI, wired to a scripted model server."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from podium.testkit.conformance.stage import Setting, Stage
from podium.testkit.gemini_server import MODELS, GeminiServer
from podium.testkit.rigs.acp import AcpStage, AcpTools, alone, write_home


def write_gemini_home(folder: Path, base_url: str) -> dict[str, str]:
    """A home below `folder`; the variables that make the program use it and nothing else."""
    config = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        # Its own choice of a model would ask one which to take.
        "model": {"name": MODELS[0]},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    }
    # The variable names what stands for HOME; the configuration is in a folder in it.
    home = write_home(folder / "gemini", ".gemini", "settings.json", json.dumps(config)).parent
    own = {"GEMINI_CLI_HOME": str(home), "GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": base_url}
    return {**alone(folder), **own, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


@contextmanager
def rig(folder: Path, program: str, setting: Setting) -> Generator[Stage]:
    """Gemini CLI with its scripted model."""
    tools = AcpTools(
        "run_shell_command",
        "read_file",
        "replace",
        "file_path",
        shell_more={"description": "a command"},
        edit_more={"instruction": "Change one line."},
    )
    with GeminiServer() as server:
        yield AcpStage(folder, server, write_gemini_home, tools, MODELS)
