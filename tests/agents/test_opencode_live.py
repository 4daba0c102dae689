"""The real OpenCode behind the library, against a scripted model: an agent that is an HTTP server."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from podium.contract.requests import Answer
from podium.domain.entities import Plan, ProviderThread
from podium.runtime.podium import Podium, ThreadHandle
from podium.testkit.model_script import Call, Reasoning, Sleep, Status, Text, Usage
from podium.testkit.rigs.opencode import ModelServer, write_home
from tests.agents.acp_worlds import AcpWorld, Real
from tests.agents.paths import opencode_binary
from tests.agents.worlds import follow, play
from tests.kill.remains import kill, launched

pytestmark = [pytest.mark.agents, pytest.mark.anyio]

ACCEPT, DECLINE = Answer("accept"), Answer("decline")
WAIT_MAX = 60.0
"""Longest wait for something the agent should do, in seconds."""

REAL = Real("opencode", opencode_binary, write_home, "bash", "edit", "filePath")
MINE, OTHER = "scripted/scripted-a", "scripted/scripted-b"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AcpWorld]:
    with ModelServer() as server:
        yield AcpWorld(tmp_path, server, REAL)


def shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": "a command"})


def change(path: Path, old: str, new: str) -> tuple[list[Any], list[Any]]:
    edit = Call("edit", {"filePath": str(path), "oldString": old, "newString": new})
    return [Call("read", {"filePath": str(path)})], [edit]


async def thread_of(p: Podium, world: AcpWorld, **options: Any) -> ThreadHandle:
    return await p.threads.create(workspace=world.workspace, agent="opencode", **options)


def said(thread: ThreadHandle) -> list[str]:
    return [thread.text(i.id) for i in thread.items() if i.item_kind == "assistant_message"]


def native_ids(thread: ThreadHandle) -> set[str]:
    bound = [e for e in thread.entities("provider_thread") if isinstance(e, ProviderThread)]
    return {link.handle.native_id for held in bound for link in held.chain.links}


async def until(thread: ThreadHandle, fits: Callable[[], bool]) -> None:
    """Wait, bounded, until something is so."""
    with anyio.fail_after(WAIT_MAX), thread.subscribe() as reader:
        while not fits():
            with anyio.move_on_after(0.1):
                await reader.next()


def servers(world: AcpWorld) -> list[int]:
    """The processes of the agent itself, below their couriers."""
    couriers = [row["agent_pid"] for row in launched(world.data)]
    places = [Path(f"/proc/{pid}/task/{pid}/children") for pid in couriers]
    return [int(child) for place in places for child in place.read_text().split()]


def checked(thread: ThreadHandle) -> None:
    """Nothing is left open, and nothing was not understood."""
    wrong = [i for i in thread.items() if i.state == "open" or i.item_kind == "opaque"]
    assert not wrong, wrong


@pytest.mark.behaviour("F072", "F010", "F011", "F145")
async def test_one_session_talks_acts_when_allowed_and_not_when_declined(world: AcpWorld) -> None:
    place = world.workspace
    used = Usage(input=120, cached=20, output=30, reasoning=10)
    world.server.script("talk", [Reasoning(("Let me think.",)), Text("Hello there."), used])
    world.script("no", [shell("echo made > no.txt")])
    world.script("yes", [shell("echo made > yes.txt; cat yes.txt")])
    world.script("edit", *change(place / "hello.txt", "alpha", "beta"))
    todos = [{"content": "First", "status": "completed", "priority": "low"}]
    world.script("plan", [Call("todowrite", {"todos": todos})])
    async with world.open() as p:
        thread = await thread_of(p, world)
        run, asked = await play(p, thread, "[[talk]] x", ACCEPT)
        assert (run.outcome, run.evidence, asked) == ("completed", "provider", [])
        assert said(thread) == ["Hello there."]
        assert [thread.text(i.id, "reasoning") for i in thread.items() if i.item_kind == "reasoning"] == [
            "Let me think."
        ]
        assert run.usage is not None
        usage = (run.usage.input, run.usage.cached_input, run.usage.output, run.usage.reasoning)
        assert usage == (120, 20, 30, 10)

        run, asked = await play(p, thread, "[[no]] x", DECLINE)
        assert [(r.request_kind, r.content.command) for r in asked] == [
            ("command_approval", "echo made > no.txt")
        ]
        [declined] = [i for i in thread.items() if i.item_kind == "command"]
        assert (declined.state, asked[0].item_id) == ("declined", declined.id)
        assert run.outcome == "completed" and not (place / "no.txt").exists()

        run, asked = await play(p, thread, "[[yes]] x", ACCEPT)
        assert (run.outcome, len(asked)) == ("completed", 1)
        command = [i for i in thread.items() if i.item_kind == "command"][-1]
        assert (command.state, thread.text(command.id, "output")) == ("completed", "made\n")
        assert command.content.exit_code == 0

        run, asked = await play(p, thread, "[[edit]] x", ACCEPT)
        assert (run.outcome, [r.request_kind for r in asked]) == ("completed", ["file_change_approval"])
        assert "+beta" in (asked[0].content.diff or "")
        [changed] = [i for i in thread.items() if i.item_kind == "file_change"]
        [path] = changed.content.changes
        assert (changed.state, path.path, path.kind) == ("completed", str(place / "hello.txt"), "update")
        assert "-alpha\n+beta\n" in path.diff

        await play(p, thread, "[[plan]] x", ACCEPT)
        plans = [e for e in thread.entities("plan") if isinstance(e, Plan)]
        assert [(step.text, step.state) for step in plans[-1].steps] == [("First", "completed")]
        checked(thread)


@pytest.mark.behaviour("F249", "F295", "F279")
async def test_an_interrupt_ends_the_turn_and_the_session_goes_on(world: AcpWorld) -> None:
    """While the model streams nothing more, while a command runs, and while a request is open."""
    world.server.script("hang", [Text("Working on it.", chunk=4, hold="never")])
    world.script("slow", [shell("echo on > on.txt; sleep 300")])
    world.script("wait", [shell("echo never > never.txt")])
    world.script("after", said="Here again.")
    async with world.open() as p:
        thread = await thread_of(p, world)
        receipt = await thread.post("[[hang]] x")
        await until(thread, lambda: bool(said(thread)))
        await thread.interrupt()
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("interrupted", "provider")
        world.server.release("never")

        receipt = await thread.post("[[slow]] x")
        await until(thread, lambda: bool(p.requests.pending()))
        await p.requests.answer(p.requests.pending()[0].id, ACCEPT)
        await until(thread, (world.workspace / "on.txt").exists)
        await thread.interrupt()
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("interrupted", "provider")

        receipt = await thread.post("[[wait]] x")
        await until(thread, lambda: bool(p.requests.pending()))
        await thread.interrupt()
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("interrupted", "provider")
        assert p.requests.pending() == []
        assert not (world.workspace / "never.txt").exists()

        # The agent says twice that it rests; the second time must not end the turn that has just begun.
        run, _ = await play(p, thread, "[[after]] y", ACCEPT)
        assert (run.outcome, said(thread)[-1]) == ("completed", "Here again.")
        checked(thread)


@pytest.mark.behaviour("F177", "F271", "F280")
async def test_a_killed_agent_fails_its_run_and_a_new_one_continues_the_conversation(world: AcpWorld) -> None:
    world.server.script("one", [Text("First answer.")])
    world.server.script("dies", [Text("I begin."), Sleep(30.0)])
    world.server.script("two", [Text("Second answer.")])
    async with world.open() as p:
        thread = await thread_of(p, world)
        await play(p, thread, "[[one]] x", ACCEPT)
        before = native_ids(thread)
        receipt = await thread.post("[[dies]] x")
        await until(thread, lambda: len(said(thread)) == 2)
        for pid in servers(world):
            os.kill(pid, signal.SIGKILL)
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        assert said(thread)[-1] == "I begin."
        run, _ = await play(p, thread, "[[two]] y", ACCEPT)
        assert (run.outcome, said(thread)[-1]) == ("completed", "Second answer.")
        assert native_ids(thread) == before and len(before) == 1
        assert world.server.prompts("[[dies]] x") == 1
        # Its courier too.
        receipt = await thread.post("[[dies]] again")
        await until(thread, lambda: said(thread).count("I begin.") == 2)
        for row in launched(world.data):
            kill(row["agent_pid"])
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
    told = str(world.server.of("two")[-1].body["messages"])
    assert "First answer." in told and "[[one]] x" in told


@pytest.mark.behaviour("F278", "F046")
async def test_models_refused_keys_and_a_busy_model(world: AcpWorld) -> None:
    world.server.script("b", [Text("From the other model.")])
    world.server.script("key", [Status(401, {"error": {"message": "no"}})])
    world.server.script(
        "busy", [Status(429, {"error": {"message": "slow down"}}, {"retry-after": "0"})], [Text("So.")]
    )
    async with world.open() as p:
        thread = await thread_of(p, world)
        run, _ = await play(p, thread, "[[b]] x", ACCEPT, model=OTHER)
        assert (run.outcome, world.server.of("b")[-1].body["model"]) == ("completed", OTHER)
        run, _ = await play(p, thread, "[[b]] x", ACCEPT, model="never/offered")
        assert run.failure is not None and run.failure.code == "model_not_offered"
        assert len(world.server.of("b")) == 1

        run, _ = await play(p, thread, "[[key]] x", ACCEPT)
        assert run.outcome == "failed"
        assert run.failure is not None and run.failure.code == "auth_required"
        run, _ = await play(p, thread, "[[busy]] x", ACCEPT)
        assert (run.outcome, said(thread)[-1]) == ("completed", "So.")
        checked(thread)


async def test_the_mode_holds_and_is_changed_for_a_turn(world: AcpWorld) -> None:
    """Nothing is asked in the mode `full`, edits are not in `edit`, and in `read` nothing changes."""
    place = world.workspace / "hello.txt"
    for key, (old, new) in {"a": ("alpha", "beta"), "b": ("beta", "gamma"), "c": ("gamma", "delta")}.items():
        world.script(key, *change(place, old, new), [shell(f"echo {key} > {key}.txt")])
    async with world.open() as p:
        thread = await thread_of(p, world, mode="edit")
        _, asked = await play(p, thread, "[[a]] x", DECLINE)
        assert [r.request_kind for r in asked] == ["command_approval"]
        assert place.read_text().startswith("beta") and not (world.workspace / "a.txt").exists()
        full = await thread_of(p, world, mode="full")
        _, asked = await play(p, full, "[[b]] x", DECLINE)
        assert asked == []
        assert place.read_text().startswith("gamma") and (world.workspace / "b.txt").exists()
        read = await thread_of(p, world, mode="read")
        run, asked = await play(p, read, "[[c]] x", ACCEPT)
        assert (run.outcome, asked) == ("completed", [])
        assert place.read_text().startswith("gamma") and not (world.workspace / "c.txt").exists()
