"""Copilot CLI, Gemini CLI and Qwen Code behind the library, each on the stage that its rig makes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import podium
from podium.contract.requests import Answer
from podium.runtime.podium import ThreadHandle
from podium.testkit.conformance.moves import Command, Edit, Recall, Say
from podium.testkit.conformance.stage import Rig, Setting, Stage
from podium.testkit.rigs import copilot, gemini, qwen
from tests.agents.paths import copilot_binary, gemini_binary, qwen_binary
from tests.agents.worlds import play

pytestmark = [pytest.mark.agents, pytest.mark.anyio]

ACCEPT, DECLINE = Answer("accept"), Answer("decline")
REAL: dict[str, tuple[Rig, Callable[[], Path]]] = {
    "copilot": (copilot.rig, copilot_binary),
    "gemini": (gemini.rig, gemini_binary),
    "qwen": (qwen.rig, qwen_binary),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=REAL)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(name: str, tmp_path: Path) -> Iterator[Stage]:
    rig, program = REAL[name]
    with rig(tmp_path, str(program()), Setting()) as stage:
        yield stage


@pytest.fixture
def environ(name: str, stage: Stage, tmp_path: Path) -> dict[str, str]:
    """What a person's shell would hold: the agent on PATH, and its variables."""
    path = f"{REAL[name][1]().parent}:{os.environ['PATH']}"
    return {**stage.environment, "PATH": path, "PODIUM_CONFIG": str(tmp_path / "config")}


def said(thread: ThreadHandle) -> list[str]:
    return [thread.text(i.id) for i in thread.items() if i.item_kind == "assistant_message"]


def stored(home: Path, word: str) -> list[Path]:
    """The conversations that an agent keeps below its home and that hold a word."""
    return [path for path in home.rglob("chats/*") if word in path.read_text(errors="replace")]


@pytest.mark.behaviour("F072", "F010", "F011")
async def test_it_acts_when_allowed_and_not_when_declined(
    name: str, stage: Stage, environ: dict[str, str], tmp_path: Path
) -> None:
    place = stage.workspace
    async with podium.open(tmp_path / "data", environ=environ) as p:
        thread = await p.threads.create(workspace=place, agent=name)
        prompt = stage.prompt((Command("echo made > no.txt"), Say("As you wish.")))
        _, asked = await play(p, thread, prompt, DECLINE)
        assert [(r.request_kind, r.content.command) for r in asked] == [
            ("command_approval", "echo made > no.txt")
        ]
        [declined] = [i for i in thread.items() if i.item_kind == "command"]
        assert (declined.state, asked[0].item_id) == ("declined", declined.id)
        assert not (place / "no.txt").exists()

        prompt = stage.prompt((Command("echo made > yes.txt"), Say("It ran.")))
        run, asked = await play(p, thread, prompt, ACCEPT)
        assert (run.outcome, len(asked), (place / "yes.txt").exists()) == ("completed", 1, True)

        prompt = stage.prompt((Edit("hello.txt", "alpha", "beta"), Say("Changed.")))
        run, asked = await play(p, thread, prompt, ACCEPT)
        assert (run.outcome, [r.request_kind for r in asked]) == ("completed", ["file_change_approval"])
        [change] = [i for i in thread.items() if i.item_kind == "file_change"]
        assert "+beta" in change.content.changes[0].diff and said(thread)[-1] == "Changed."
        assert run.usage is not None and run.usage.input
        assert not [i for i in thread.items() if i.state == "open" or i.item_kind == "opaque"]
        assert "+beta" in (await thread.diff()).agent


@pytest.mark.behaviour("F074", "F177")
async def test_after_a_restart_a_conversation_goes_on_or_is_told_to_be_missing(
    name: str, stage: Stage, environ: dict[str, str], tmp_path: Path
) -> None:
    async with podium.open(tmp_path / "data", environ=environ) as p:
        thread = await p.threads.create(workspace=stage.workspace, agent=name)
        run, _ = await play(p, thread, stage.prompt((Say("Noted."),), "Keep MARK-kept."), ACCEPT)
        assert run.outcome == "completed"
    async with podium.open(tmp_path / "data", environ=environ) as p:
        again = p.threads.get(thread.id)
        run, _ = await play(p, again, stage.prompt((Recall(),)), ACCEPT)
        if name != "gemini":
            assert (run.outcome, said(again)[-1]) == ("completed", "I was told MARK-kept.")
            return
        # Its load would destroy what is stored: nothing is sent, and the file is as it was.
        assert run.failure is not None and run.failure.code == "resume_unsupported"
        assert (run.outcome, said(again)) == ("failed", ["Noted."])
    assert len(stored(Path(stage.environment["GEMINI_CLI_HOME"]), "MARK-kept")) == 1
