"""The place that every stage gives its agent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

OFFLINE = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"} | dict.fromkeys(
    ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"
)
"""Everything but loopback leads nowhere."""

TEXT = "alpha\nsecond\n"

GIT_SECONDS = 30.0
"""Longest time to make a repository, in seconds."""


def make_workspace(folder: Path) -> Path:
    """A git repository with one file; no configuration of the user's is read."""
    workspace = (folder / "workspace").resolve()
    workspace.mkdir(parents=True)
    (workspace / "hello.txt").write_text(TEXT)
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    who = ("-c", "user.name=proof", "-c", "user.email=proof@localhost")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "start")):
        subprocess.run(
            ["git", *words],
            cwd=workspace,
            env=environment,
            check=True,
            capture_output=True,
            timeout=GIT_SECONDS,
        )
    return workspace
