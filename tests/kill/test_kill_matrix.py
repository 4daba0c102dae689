"""The server is killed at every boundary of a turn, restarted, and the outcome is the unkilled one (R2)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from podium.testkit.model_script import Call, CustomCall, Reasoning, Text
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs import opencode as opencode_rig
from podium.testkit.rigs.codex import write_home
from tests.agents.paths import codex_binary, opencode_binary
from tests.kill.projection import projection

HOST = Path(__file__).with_name("host.py")
RUN_MAX = 40
WORKERS = 2
RESTARTS_MAX = 2

PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n"


@dataclass
class World:
    """One data folder and workspace with what the agent needs."""

    folder: Path
    agent: str
    prompts: list[str]
    env: dict[str, str] = field(default_factory=dict[str, str])

    host: ClassVar[Path] = HOST

    def __post_init__(self) -> None:
        for name in ("ws", "home", "tmp"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "ws" / "a.txt").write_text("one\ntwo\nthree\n")

    def run(self, **extra: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "PODIUM_CONFIG": str(self.folder / "config"),
            "SCRIPTED_HOME": str(self.folder / "scripted"),
            **self.env,
            **extra,
        }
        return subprocess.run(
            [
                sys.executable,
                str(self.host),
                str(self.folder / "data"),
                str(self.folder / "ws"),
                self.agent,
                *self.prompts,
            ],
            env=env,
            capture_output=True,
            text=True,
            timeout=RUN_MAX,
            check=False,
        )

    def projection(self) -> list[Any]:
        return projection(self.folder / "data", paths={str(self.folder): "<W>", self.folder.name: "<N>"})


def everywhere(names: list[str]) -> range:
    """Every point."""
    return range(1, len(names) + 1)


def matrix(
    make: Callable[[str], World],
    check: Callable[[World], None],
    where: Callable[[list[str]], range] = everywhere,
) -> int:
    """Kill at each point in turn; every restart must end as the unkilled run did. Returns how many points."""
    whole = make("at-000")
    trace = whole.folder / "points"
    done = whole.run(PODIUM_TEST_POINTS=str(trace))
    assert done.returncode == 0, done.stdout + done.stderr
    check(whole)
    wanted = whole.projection()
    names = trace.read_text().splitlines()

    def one(number: int) -> str | None:
        world = make(f"at-{number:03d}")
        killed = world.run(PODIUM_TEST_DIE_AT=str(number))
        point = names[number - 1] if number <= len(names) else "beyond"
        if killed.returncode == 0:  # this run had fewer points than the first
            return None
        again = killed
        for _ in range(RESTARTS_MAX):
            again = world.run()
            if again.returncode == 0:
                break
        if again.returncode != 0:
            return f"{point}: did not end: {again.stdout[-500:]} {again.stderr[-1500:]}"
        check(world)
        found = world.projection()
        if found != wanted:
            return f"{point}: {difference(wanted, found)}"
        return None

    with ThreadPoolExecutor(WORKERS) as pool:
        wrong = [w for w in pool.map(one, where(names)) if w is not None]
    assert not wrong, f"{len(wrong)} of {len(names)} points: " + "\n".join(wrong[:5])
    return len(where(names))


def difference(wanted: list[Any], found: list[Any]) -> str:
    """The first entries that differ."""
    for left, right in zip(wanted, found, strict=False):
        if left != right:
            return f"\n  wanted {left}\n  found  {right}"
    return f"\n  {len(wanted)} entries wanted, {len(found)} found"


@pytest.mark.behaviour("F241", "F280")
def test_scripted_agent_survives_every_kill(tmp_path: Path) -> None:
    def make(name: str) -> World:
        return World(tmp_path / name, "scripted", ["edit a.txt"])

    def check(world: World) -> None:
        log = (world.folder / "scripted" / "prompts.jsonl").read_text()
        assert log.count('"edit a.txt"') == 1, log

    assert matrix(make, check) > 40


@pytest.mark.behaviour("F241")
def test_what_an_agent_has_done_for_it_survives_every_kill(tmp_path: Path) -> None:
    """It reads and writes through its client; interrupted, it is told so and asks again."""
    told: list[str] = []

    def make(name: str) -> World:
        return World(tmp_path / name, "scripted", ["client_edit a.txt"], {"HOST_MODE": "full"})

    def check(world: World) -> None:
        log = (world.folder / "scripted" / "prompts.jsonl").read_text()
        assert log.count('"client_edit a.txt"') == 1, log
        told.extend(line for line in log.splitlines() if '"interrupted"' in line)
        text = (world.folder / "ws" / "a.txt").read_text()
        assert text == "one\ntwo\nthree\nA line written through the client.\n"
        assert not list((world.folder / "ws").glob(".podium-*"))

    def where(names: list[str]) -> range:
        """From just before the first thing that is done until just behind the last one."""
        at = [number for number, name in enumerate(names, 1) if name.split()[1] in ("serve", "served")]
        assert len(at) == 4
        return range(at[0] - 2, at[-1] + 4)

    assert matrix(make, check, where) > 8
    assert {'"fs/read_text_file"' in line for line in told} == {True, False}


@pytest.mark.agents
@pytest.mark.behaviour("F074", "F108")
def test_real_codex_survives_every_kill(tmp_path: Path) -> None:
    """A turn with text, command, approval and edit: one prompt at the model, one command run, one edit."""
    with ExitStack() as servers:
        of: dict[str, ResponsesServer] = {}

        def make(name: str) -> World:
            server = servers.enter_context(ResponsesServer())
            server.script(
                "go",
                [
                    Reasoning(("thinking about it",)),
                    Text("I will work."),
                    Call("exec_command", {"cmd": "echo ran >> ran.txt; echo hi"}),
                ],
                [CustomCall("apply_patch", PATCH)],
                [Text("All done.")],
            )
            world = World(tmp_path / name, "codex", ["[[go]] go"])
            of[str(world.folder)] = server
            home = write_home(world.folder / "agent", server.base_url)
            world.env = {"PATH": f"{codex_binary().parent}:{os.environ['PATH']}", "CODEX_HOME": str(home)}
            return world

        def check(world: World) -> None:
            assert of[str(world.folder)].prompts(world.prompts[0]) == 1
            assert (world.folder / "ws" / "ran.txt").read_text() == "ran\n"
            assert (world.folder / "ws" / "a.txt").read_text() == "one\nTWO\nthree\n"

        assert matrix(make, check) > 60


EVERY = 15
"""Of the points of a slow agent, each that many is tried."""


@pytest.mark.agents
@pytest.mark.behaviour("F074", "F280")
def test_a_real_agent_behind_http_survives_kills(tmp_path: Path) -> None:
    """The same for an agent that is a server: nothing of its stream is missed, no request made twice."""
    with ExitStack() as servers:
        of: dict[str, ResponsesServer] = {}

        def make(name: str) -> World:
            server = servers.enter_context(opencode_rig.ModelServer())
            world = World(tmp_path / name, "opencode", ["[[go]] go"])
            place = str(world.folder / "ws" / "b.txt")
            command = {"command": "echo ran >> ran.txt; echo hi", "description": "a command"}
            server.script(
                "go",
                [Reasoning(("thinking about it",)), Text("I will work."), Call("bash", command)],
                [Call("write", {"filePath": place, "content": "made\n"})],
                [Text("All done.")],
            )
            of[str(world.folder)] = server
            home = opencode_rig.write_home(world.folder / "agent", server.base_url)
            world.env = {**home, "PATH": f"{opencode_binary().parent}:{os.environ['PATH']}"}
            return world

        def check(world: World) -> None:
            assert of[str(world.folder)].prompts(world.prompts[0]) == 1
            assert (world.folder / "ws" / "ran.txt").read_text() == "ran\n"
            assert (world.folder / "ws" / "b.txt").read_text() == "made\n"

        assert matrix(make, check, lambda names: range(1, len(names) + 1, EVERY)) > 4
