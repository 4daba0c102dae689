"""Real agents that speak ACP, behind the library, against a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from podium.contract.requests import Answer
from podium.domain.entities import Plan, ProviderThread, Session
from podium.runtime.podium import Podium, ThreadHandle
from podium.testkit.chat_server import ChatServer
from podium.testkit.model_script import Call, Reasoning, Status, Text
from tests.agents.acp_worlds import GROK, VIBE, AcpWorld, Real
from tests.agents.worlds import follow, play

pytestmark = [pytest.mark.agents, pytest.mark.anyio]

ACCEPT, DECLINE = Answer("accept"), Answer("decline")
WAIT_MAX = 60.0
"""Longest wait for something an agent should do, in seconds."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(params=[GROK, VIBE], ids=lambda real: real.name)
def world(request: pytest.FixtureRequest, tmp_path: Path, server: ChatServer) -> AcpWorld:
    real = request.param
    assert isinstance(real, Real)
    return AcpWorld(tmp_path, server, real)


async def thread_of(p: Podium, world: AcpWorld, **options: Any) -> ThreadHandle:
    return await p.threads.create(workspace=world.workspace, agent=world.real.name, **options)


def native_ids(thread: ThreadHandle) -> set[str]:
    """The agent's own ids of a thread's conversations."""
    bound = [e for e in thread.entities("provider_thread") if isinstance(e, ProviderThread)]
    return {link.handle.native_id for held in bound for link in held.chain.links}


def said(thread: ThreadHandle) -> list[str]:
    return [thread.text(i.id) for i in thread.items() if i.item_kind == "assistant_message"]


@pytest.mark.behaviour("F072", "F010", "F011", "F145")
async def test_one_session_talks_acts_when_allowed_and_not_when_declined(world: AcpWorld) -> None:
    """Text with thought; a command declined, then accepted; an edit with its diff; a plan."""
    real, place = world.real, world.workspace
    world.server.script("talk", [Reasoning(("Let me think.",)), Text("Hello there.")])
    world.script("no", [real.command("echo made > no.txt")])
    world.script("yes", [real.command("echo made > yes.txt; cat yes.txt")])
    world.script("edit", *real.change(place / "hello.txt", "alpha", "beta"))
    async with world.open() as p:
        thread = await thread_of(p, world)
        run, asked = await play(p, thread, "[[talk]] x", ACCEPT)
        assert (run.outcome, run.evidence, asked) == ("completed", "provider", [])
        assert said(thread) == ["Hello there."]
        assert [thread.text(i.id, "reasoning") for i in thread.items() if i.item_kind == "reasoning"] == [
            "Let me think."
        ]
        assert run.usage is not None and run.usage.input == 100

        run, asked = await play(p, thread, "[[no]] x", DECLINE)
        assert [(r.request_kind, r.content.command) for r in asked] == [
            ("command_approval", "echo made > no.txt")
        ]
        assert {"accept", "decline"} <= {o.id for o in asked[0].options}
        [declined] = [i for i in thread.items() if i.item_kind == "command"]
        assert (declined.state, asked[0].item_id) == ("declined", declined.id)
        assert not (place / "no.txt").exists()

        run, asked = await play(p, thread, "[[yes]] x", ACCEPT)
        assert (run.outcome, len(asked)) == ("completed", 1)
        assert (place / "yes.txt").read_text() == "made\n"
        command = [i for i in thread.items() if i.item_kind == "command"][-1]
        assert (command.state, thread.text(command.id, "output")) == ("completed", "made\n")

        run, asked = await play(p, thread, "[[edit]] x", ACCEPT)
        assert (run.outcome, [r.request_kind for r in asked]) == ("completed", ["file_change_approval"])
        assert (place / "hello.txt").read_text() == "beta\nsecond\n"
        [change] = [i for i in thread.items() if i.item_kind == "file_change"]
        [path] = change.content.changes
        assert (change.state, path.path, path.kind) == ("completed", str(place / "hello.txt"), "update")
        assert "-alpha\n+beta\n" in path.diff
        assert not [i for i in thread.items() if i.state == "open" or i.item_kind == "opaque"]
        assert "+beta" in (await thread.diff()).agent


@pytest.mark.behaviour("F249", "F295", "F279")
async def test_a_cancel_ends_the_turn_and_the_session_goes_on(world: AcpWorld) -> None:
    """While the model streams nothing more, while a command runs, and while a request is open."""
    real = world.real
    world.server.script("hang", [Text("Working on it.", chunk=4, hold="never")])
    world.script("slow", [real.command("echo on > on.txt; sleep 300")])
    world.script("wait", [real.command("echo never > never.txt")])
    world.script("after", said="Here again.")
    async with world.open() as p:
        thread = await thread_of(p, world)
        receipt = await thread.post("[[hang]] x")
        await until(thread, lambda: len(world.server.of("hang")) == 1)
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

        run, _ = await play(p, thread, "[[after]] y", ACCEPT)
        assert (run.outcome, said(thread)[-1]) == ("completed", "Here again.")
        assert not [i for i in thread.items() if i.state == "open"]


@pytest.mark.behaviour("F177", "F271", "F295")
async def test_a_new_process_continues_the_same_conversation(world: AcpWorld) -> None:
    world.server.script("one", [Text("First answer.")])
    world.server.script("two", [Text("Second answer.")])
    async with world.open() as p:
        thread = await thread_of(p, world)
        await play(p, thread, "[[one]] x", ACCEPT)
        before = native_ids(thread)
    async with world.open() as p:
        again = p.threads.get(thread.id)
        run, _ = await play(p, again, "[[two]] y", ACCEPT)
        assert run.outcome == "completed"
        assert native_ids(again) == before and len(before) == 1
        assert said(again) == ["First answer.", "Second answer."]
        assert len([i for i in again.items() if i.item_kind == "user_message"]) == 2
    told = str(world.server.of("two")[-1].body["messages"])
    assert "First answer." in told and "[[one]] x" in told


@pytest.mark.behaviour("F045", "F295", "F278", "F144", "F154")
async def test_models_questions_plans_commands_and_refused_keys(world: AcpWorld) -> None:
    grok = world.real is GROK
    steps = [("First", "completed"), ("Second", "in_progress")]
    todos = [{"id": str(n), "content": c, "status": s} for n, (c, s) in enumerate(steps)]
    plan = Call("todo_write", {"merge": False, "todos": todos})
    if not grok:
        plan = Call("todo", {"action": "write", "todos": todos})
    options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
    asks = Call(
        "ask_user_question", {"questions": [{"question": "Pick one?", "header": "C", "options": options}]}
    )
    world.script("plan", [plan])
    world.script("ask", [asks])
    world.server.script("b", [Text("From the other model.")])
    world.server.script("key", [Status(401, {"error": {"message": "no"}})])
    async with world.open() as p:
        thread = await thread_of(p, world)
        run, _ = await play(p, thread, "[[plan]] x", ACCEPT)
        plans = [e for e in thread.entities("plan") if isinstance(e, Plan)]
        assert [step.text for step in plans[-1].steps] == ["First", "Second"]

        run, asked = await play(p, thread, "[[ask]] x", Answer("accept", answers=(("Blue",),)))
        assert run.outcome == "completed"
        assert [(r.request_kind, r.content.questions[0].text) for r in asked] == [("question", "Pick one?")]
        told = world.server.of("ask")[-1].body["messages"]
        assert any("Blue" in str(m["content"]) for m in told if m["role"] == "tool")

        run, _ = await play(p, thread, "[[b]] x", ACCEPT, model="scripted-b")
        assert (run.outcome, world.server.of("b")[-1].body["model"]) == ("completed", "scripted-b")
        run, _ = await play(p, thread, "[[b]] x", ACCEPT, model="never-offered")
        assert run.outcome == "failed"
        assert run.failure is not None and run.failure.code == "model_not_offered"
        assert len(world.server.of("b")) == 1

        [main] = [e for e in thread.entities("provider_thread") if isinstance(e, ProviderThread)]
        assert {"scripted-a", "scripted-b"} <= set(main.offers.models) and main.title
        command = "session-info" if grok else "help"
        assert command in {offered.name for offered in main.offers.commands}
        run, _ = await play(p, thread, f"/{command}", ACCEPT)
        assert (run.outcome, said(thread)[-1] != "") == ("completed", True)
        assert world.server.prompts(f"/{command}") == 0

        run, _ = await play(p, thread, "[[key]] x", ACCEPT)
        assert run.outcome == "failed"
        assert run.failure is not None and run.failure.code == "auth_required"


@pytest.mark.behaviour("F084", "F286")
async def test_a_real_agent_named_in_the_configuration_only(tmp_path: Path, server: ChatServer) -> None:
    """The general adapter: told a program and arguments, it finds out by the handshake who it talks to."""
    world = AcpWorld(tmp_path, server, GROK)
    own = {name: value for name, value in world.env.items() if name.startswith(("GROK", "XAI"))}
    env = "\n".join(f"{name} = {value!r}" for name, value in own.items())
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "podium.toml").write_text(
        f"""
[agents.mine]
adapter = "acp"
program = {str(GROK.binary())!r}
options = {{ arguments = ["agent", "--no-leader", "stdio"] }}
[agents.mine.env]
{env}
"""
    )
    world.script("no", [GROK.command("echo made > no.txt")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="mine")
        _, asked = await play(p, thread, "[[no]] x", DECLINE)
        assert [r.request_kind for r in asked] == ["command_approval"]
        assert [i.state for i in thread.items() if i.item_kind == "command"] == ["declined"]
        assert not (world.workspace / "no.txt").exists()
        sessions = [e for e in thread.entities("session") if isinstance(e, Session)]
        # It is known for its children, so they are not narrowed away as a stranger's are.
        assert "subagents.supported" not in sessions[-1].narrowed
        assert "threads.fork" in sessions[-1].narrowed


async def until(thread: ThreadHandle, fits: Callable[[], bool]) -> None:
    """Wait, bounded, until something is so; news of the thread or a moment is when to look again."""
    with anyio.fail_after(WAIT_MAX), thread.subscribe() as reader:
        while not fits():
            with anyio.move_on_after(0.1):
                await reader.next()
