"""The wheel in an empty environment without Node: the same first steps, page included."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.stage import WIDE, Stage, Visitor
from tools.behaviours import ROOT

BUILT_MAX = 120
"""Longest time for each step of building and installing, in seconds."""


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILT_MAX, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment that holds the wheel and what it needs, nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--require-hashes", "-r", ROOT / "requirements" / "run.txt")
    run(python, "-m", "pip", "install", "-q", "--no-deps", wheel)
    return str(python)


@pytest.fixture
def elsewhere(installed: str, tmp_path: Path) -> Iterator[Stage]:
    """A machine that has the wheel and git, and neither this checkout nor Node."""
    stage = Stage(tmp_path, installed)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("git", "sh", "ls", "cat"):
        (tools / name).symlink_to(next(p for p in map(Path, PATHS) if (p / name).exists()) / name)
    stage.environ["PATH"] = str(tools)
    stage.start()
    yield stage
    stage.close()


PATHS = os.environ["PATH"].split(os.pathsep)


def test_the_wheel_does_the_first_steps_without_node(elsewhere: Stage, browser: Browser) -> None:
    found = subprocess.run(
        [elsewhere.python, "-c", "import podium, shutil; print(podium.__file__, shutil.which('node'))"],
        cwd=elsewhere.workspace,
        env=elsewhere.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(ROOT) not in found.stdout and found.stdout.split()[1] == "None"
    visitor = Visitor(browser, elsewhere, WIDE)
    visitor.page.goto(elsewhere.url)
    visitor.begin("Add a line to README.md")
    visitor.timeline.get_by_role("group", name="Wants to change files").wait_for()
    visitor.decide()
    visitor.settle("Idle")
    assert (elsewhere.workspace / "README.md").read_text() != "# Shop\n"
    visitor.page.get_by_role("button", name="Changes").click()
    changed = visitor.page.get_by_role("complementary", name="Changes").locator(
        '.file[data-path="README.md"]'
    )
    expect(changed.locator(".plus")).to_have_text("+1")
    visitor.check()
    visitor.context.close()
