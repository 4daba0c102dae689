"""The real Claude Code, behind the library, against a scripted model."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from podium.contract.requests import Answer
from podium.domain.entities import Plan, ProviderThread, Session
from podium.testkit.messages_server import MessagesServer
from podium.testkit.model_script import Call, Status, Text, Wait
from tests.agents.claude_worlds import ClaudeWorld
from tests.agents.paths import claude_binary, claude_new_binary
from tests.agents.worlds import follow, play

pytestmark = [pytest.mark.agents, pytest.mark.anyio]

ACCEPT, DECLINE = Answer("accept"), Answer("decline")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


@pytest.fixture(params=[claude_binary, claude_new_binary], ids=["older", "newer"])
def world(request: pytest.FixtureRequest, tmp_path: Path, server: MessagesServer) -> ClaudeWorld:
    return ClaudeWorld(tmp_path, server, request.param)


def command(cmd: str) -> Call:
    return Call("Bash", {"command": cmd, "description": "a command"})


@pytest.mark.behaviour("F010", "F059")
async def test_declined_command_never_runs_and_an_accepted_one_does(
    world: ClaudeWorld, server: MessagesServer
) -> None:
    server.script("no", [command("touch made.txt")], [Text("As you wish.")])
    server.script("yes", [command("touch made.txt")], [Text("It ran.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        run, asked = await play(p, thread, "[[no]] x", DECLINE)
        assert (run.outcome, len(asked)) == ("completed", 1)
        assert [i.state for i in thread.items() if i.item_kind == "command"] == ["declined"]
        assert not (world.workspace / "made.txt").exists()
        run, asked = await play(p, thread, "[[yes]] x", ACCEPT)
        assert (run.outcome, len(asked)) == ("completed", 1)
        assert (world.workspace / "made.txt").exists()
        assert thread.items()[-1].item_kind == "assistant_message"


@pytest.mark.behaviour("F144", "F154")
async def test_question_and_plan(world: ClaudeWorld, server: MessagesServer) -> None:
    rows = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
    asked_of = {"question": "Which color?", "header": "Color", "options": rows, "multiSelect": False}
    todos = [
        {"content": "First", "status": "in_progress", "activeForm": "First"},
        {"content": "Second", "status": "pending", "activeForm": "Second"},
    ]
    server.script(
        "ask",
        [Call("TodoWrite", {"todos": todos})],
        [Call("AskUserQuestion", {"questions": [asked_of]})],
        [Text("Blue it is.")],
    )
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        run, asked = await play(p, thread, "[[ask]] x", Answer("accept", answers=(("Blue",),)))
        assert run.outcome == "completed"
        assert [(r.request_kind, r.content.questions[0].text) for r in asked] == [
            ("question", "Which color?")
        ]
        plans = [e for e in thread.entities("plan") if isinstance(e, Plan)]
        assert [s.text for s in plans[0].steps] == ["First", "Second"]
        assert "Blue" in str(server.of("ask")[-1].body["messages"])


@pytest.mark.behaviour("F177", "F271", "F107")
async def test_next_session_continues_the_same_conversation(
    world: ClaudeWorld, server: MessagesServer
) -> None:
    server.script("one", [Text("First answer.")])
    server.script("two", [Text("Second answer.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        await play(p, thread, "[[one]] x", ACCEPT)
    async with world.open() as p:
        again = p.threads.get(thread.id)
        run, _ = await play(p, again, "[[two]] y", ACCEPT)
        assert run.outcome == "completed"
        (bound,) = [e for e in again.entities("provider_thread") if isinstance(e, ProviderThread)]
        assert len({link.handle.native_id for link in bound.chain.links}) == 1
        assert len([s for s in again.entities("session") if isinstance(s, Session)]) == 2
        assert [again.text(i.id) for i in again.items() if i.item_kind == "assistant_message"] == [
            "First answer.",
            "Second answer.",
        ]
        assert "First answer." in str(server.of("two")[-1].body["messages"])


@pytest.mark.behaviour("F249")
async def test_an_interrupt_stops_the_turn_and_the_session_lives_on(
    world: ClaudeWorld, server: MessagesServer
) -> None:
    server.script("long", [Text("I begin. "), Wait("never"), Text("I went on.")])
    server.script("next", [Text("Here again.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        receipt = await thread.post("[[long]] x")
        run_id = receipt.result["run"]
        await follow(thread, run_id, states=("running", "ended"))
        with anyio.fail_after(20), thread.subscribe() as reader:
            while not any(i.item_kind == "assistant_message" for i in thread.items()):
                await reader.next()
        await thread.interrupt()
        run = await follow(thread, run_id)
        assert run.outcome == "interrupted"
        run, _ = await play(p, thread, "[[next]] x", ACCEPT)
        assert run.outcome == "completed"
        assert len([s for s in thread.entities("session") if isinstance(s, Session)]) == 1


@pytest.mark.parametrize(("status", "code"), [(401, "auth_required"), (429, "rate_limited")])
@pytest.mark.behaviour("F278")
async def test_an_end_that_calls_itself_a_success_has_failed(
    world: ClaudeWorld, server: MessagesServer, status: int, code: str
) -> None:
    server.script("bad", [Status(status)])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        run, _ = await play(p, thread, "[[bad]] x", ACCEPT)
        assert (run.outcome, run.failure.code if run.failure else None) == ("failed", code)


async def test_model_switch_and_image(world: ClaudeWorld, server: MessagesServer) -> None:
    picture = world.workspace / "pixel.png"
    picture.write_bytes(PIXEL)
    server.script("first", [Text("One.")])
    server.script("second", [Text("Two.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        await play(p, thread, "[[first]] x", ACCEPT, images=(str(picture),))
        await play(p, thread, "[[second]] x", ACCEPT, model="claude-haiku-4-5")
        first, second = server.of("first")[-1].body, server.of("second")[-1].body
        assert base64.b64encode(PIXEL).decode() in str(first["messages"])
        assert second["model"].startswith("claude-haiku-4-5") and first["model"] != second["model"]


async def test_a_subagent_stands_under_its_node(world: ClaudeWorld, server: MessagesServer) -> None:
    task = {
        "description": "a child",
        "prompt": "[[child]]",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    server.script("parent", [Call("Agent", task)], [Text("Parent done.")])
    server.script("child", [command("touch child.txt")], [Text("Child done.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="claude")
        run, asked = await play(p, thread, "[[parent]] x", ACCEPT)
        assert (run.outcome, len(asked)) == ("completed", 1)
        assert (world.workspace / "child.txt").exists()
        said = {thread.text(i.id): i for i in thread.items() if i.item_kind == "assistant_message"}
        threads = [e for e in thread.entities("provider_thread") if isinstance(e, ProviderThread)]
        [child] = [t for t in threads if t.parent_node_id is not None]
        assert said["Child done."].provider_thread_id == child.id
        assert said["Parent done."].provider_thread_id != child.id
