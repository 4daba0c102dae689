"""What every test stands on: a home of its own, asyncio as the loop, the ledger of behaviours."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = ["pytester", "tools.ledger_plugin"]

HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
AGENT_HOMES = ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "PODIUM_DATA", "PODIUM_CONFIG")

TRIED_TWICE = (
    "agents",
    "browser",
    "cli",
    "conformance",
    "keeper",
    "providers",
    "runtime",
    "server",
    "testkit",
)
"""Rooms whose tests wait for whole programs at work: one that fails there is tried once more, and said so."""

CREDENTIALS = ("_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_ACCESS_TOKEN")

# Time is no part of a property: this project's tests never measure it, and machines are shared.
hypothesis.settings.register_profile("podium", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("podium")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A machine of two cores starves a browser now and then; what is broken fails twice (decision 0019)."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in TRIED_TWICE:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session", autouse=True)
def heard_signals() -> Iterator[None]:
    """A hang-up is heard, also where the tests are run under nohup: what a test starts inherits it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The one loop Podium runs on."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nothing a test does reaches the person's own home, agents, credentials or git configuration."""
    root = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [*HOMES, *AGENT_HOMES]:
            folder = root if name == "HOME" else root / name.lower()
            folder.mkdir(mode=0o700, exist_ok=True)
            patch.setenv(name, str(folder))
        for name in list(os.environ):
            if name.endswith(CREDENTIALS) or (name.startswith("PODIUM_") and name not in AGENT_HOMES):
                patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_NAME", "Podium tests")
            patch.setenv(f"GIT_{who}_EMAIL", "tests@podium.invalid")
        yield root
