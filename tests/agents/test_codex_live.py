"""The real Codex, behind the library, against a scripted model."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from podium.contract.errors import Conflict
from podium.contract.requests import Answer
from podium.domain.entities import Attempt, Item, Message, NoticeEntry, Plan, ProviderThread, Session, Turn
from podium.testkit.model_script import Call, Cut, Fail, Round, Sleep, Status, Text, Wait
from podium.testkit.responses_server import ResponsesServer
from tests.agents.worlds import CodexWorld, follow, play

pytestmark = [pytest.mark.agents, pytest.mark.anyio]

ACCEPT, DECLINE = Answer("accept"), Answer("decline")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def server() -> Iterator[ResponsesServer]:
    with ResponsesServer() as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, server: ResponsesServer) -> CodexWorld:
    return CodexWorld(tmp_path, server, update_plan=True, ask_in_default_mode=True)


def command(cmd: str) -> Call:
    return Call("exec_command", {"cmd": cmd})


@pytest.mark.behaviour("F010", "F059")
async def test_declined_command_never_runs(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("no", [command("touch made.txt")], [Text("As you wish.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, asked = await play(p, thread, "[[no]] x", DECLINE)
        assert (run.outcome, len(asked)) == ("completed", 1)
        assert [i.state for i in thread.items() if i.item_kind == "command"] == ["declined"]
        assert not (world.workspace / "made.txt").exists()


@pytest.mark.behaviour("F144", "F154")
async def test_question_and_plan(world: CodexWorld, server: ResponsesServer) -> None:
    question = {
        "questions": [
            {
                "id": "color",
                "header": "Color",
                "question": "Which color?",
                "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
            }
        ]
    }
    plan = {"plan": [{"step": "First", "status": "in_progress"}, {"step": "Second", "status": "pending"}]}
    server.script(
        "ask", [Call("update_plan", plan)], [Call("request_user_input", question)], [Text("Blue it is.")]
    )
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, asked = await play(p, thread, "[[ask]] x", Answer("accept", answers=(("Blue",),)))
        assert run.outcome == "completed"
        assert [(r.request_kind, r.content.questions[0].text) for r in asked] == [
            ("question", "Which color?")
        ]
        plans = [e for e in thread.entities("plan") if isinstance(e, Plan)]
        assert [s.text for s in plans[0].steps] == ["First", "Second"]
        told = server.of("ask")[-1].body["input"]
        assert any("Blue" in str(i.get("output", "")) for i in told)


@pytest.mark.behaviour("F177", "F271", "F107")
async def test_next_session_continues_the_same_conversation(
    world: CodexWorld, server: ResponsesServer
) -> None:
    server.script("one", [Text("First answer.")])
    server.script("two", [Text("Second answer.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
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
    assert "First answer." in str(server.of("two")[-1].body["input"])


@pytest.mark.behaviour("F249", "F279")
async def test_interrupt_while_a_command_runs(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("long", [command("echo started; sleep 30; echo never")], [Text("unreached")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex", mode="full")
        receipt = await thread.post("[[long]] x")
        with anyio.fail_after(20), thread.subscribe() as reader:
            while not any(i.item_kind == "command" for i in thread.items()):
                await reader.next()
        await thread.interrupt()
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("interrupted", "provider")
        assert [i.state for i in thread.items() if i.item_kind == "command"] == ["interrupted"]
        server.script("after", [Text("Here again.")])
        run, _ = await play(p, thread, "[[after]] y", ACCEPT)
        assert run.outcome == "completed"


@pytest.mark.behaviour("F249", "F252")
async def test_an_interrupt_before_the_turn_has_begun_still_stops_it(
    world: CodexWorld, server: ResponsesServer
) -> None:
    """The agent answers a prompt before its turn runs; a stop in between must not be lost."""
    server.script("early", [Sleep(0.5), command("touch made.txt")], [Text("unreached")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex", mode="full")
        receipt = await thread.post("[[early]] x")
        await follow(thread, receipt.result["run"], states=("running", "ended"))
        await thread.interrupt()
        run = await follow(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("interrupted", "provider")
        server.script("after", [Text("Here again.")])
        run, _ = await play(p, thread, "[[after]] y", ACCEPT)
        assert run.outcome == "completed"
    assert not (world.workspace / "made.txt").exists()


FAILURES: list[tuple[str, Round, str]] = [
    ("e401", [Status(401, {"error": {"message": "no"}})], "auth_required"),
    ("e429", [Status(429, {"error": {"message": "slow down"}})], "rate_limited"),
    ("e500", [Status(500, {"error": {"message": "boom"}})], ""),
    ("cut", [Text("half a sen"), Cut()], ""),
    ("ctx", [Fail("context_length_exceeded", "too long")], "context_too_long"),
]


@pytest.mark.behaviour("F278")
@pytest.mark.parametrize(("key", "answer", "code"), FAILURES, ids=[f[0] for f in FAILURES])
async def test_model_failures_are_typed(
    world: CodexWorld, server: ResponsesServer, key: str, answer: Round, code: str
) -> None:
    server.script(key, answer)
    server.script("fine", [Text("Well again.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, _ = await play(p, thread, f"[[{key}]] x", ACCEPT)
        assert (run.outcome, run.evidence) == ("failed", "provider")
        assert run.failure is not None and run.failure.code and (not code or run.failure.code == code)
        assert not [i for i in thread.items() if i.state == "open"]
        run, _ = await play(p, thread, "[[fine]] y", ACCEPT)
        assert run.outcome == "completed"


@pytest.mark.behaviour("F249")
async def test_a_model_that_never_answers_is_ended_by_us(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("never", [Sleep(60)])
    (world.folder / "config").mkdir()
    (world.folder / "config" / "podium.toml").write_text("[agents.codex]\nstuck_seconds = 3\n")
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, _ = await play(p, thread, "[[never]] x", ACCEPT)
        assert (run.outcome, run.evidence) == ("failed", "timeout")
        assert run.failure is not None and run.failure.fix


@pytest.mark.behaviour("F045", "F019")
async def test_model_switch_and_image(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("img", [Text("I see.")])
    picture = world.workspace / "p.png"
    picture.write_bytes(PIXEL)
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, _ = await play(p, thread, "[[img]] look", ACCEPT, images=(str(picture),), model="other-model")
        assert run.outcome == "completed"
    body = server.of("img")[-1].body
    assert body["model"] == "other-model"
    assert "input_image" in str(body["input"])


@pytest.mark.behaviour("F109", "F110", "F141")
async def test_subagent_stands_under_its_node(
    world: CodexWorld, server: ResponsesServer, tmp_path: Path
) -> None:
    world = CodexWorld(tmp_path / "v2", server, multi_agent=True)
    server.script(
        "parent",
        [
            Call(
                "spawn_agent",
                {"task_name": "worker", "message": "[[child]] do it"},
                namespace="collaboration",
            )
        ],
        [Call("wait_agent", {"timeout_ms": 20000}, namespace="collaboration")],
        [Text("Parent done.")],
    )
    server.script("child", [Text("Child done.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex", mode="full")
        run, _ = await play(p, thread, "[[parent]] x", ACCEPT)
        assert run.outcome == "completed"
        threads = [e for e in thread.entities("provider_thread") if isinstance(e, ProviderThread)]
        children = [t for t in threads if t.parent_node_id is not None]
        assert len(children) == 1
        said = {thread.text(i.id): i for i in thread.items() if i.item_kind == "assistant_message"}
        assert said["Child done."].provider_thread_id == children[0].id
        assert said["Parent done."].provider_thread_id != children[0].id
        roots = [t for t in thread.entities("turn") if isinstance(t, Turn) and t.root]
        assert len(roots) == 1


@pytest.mark.behaviour("F111", "F255")
async def test_message_during_a_run_waits_for_its_end(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("first", [Text("Working on it.", chunk=4), Wait("go"), Text("First done.")])
    server.script("second", [Text("Second done.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        one = await thread.post("[[first]] x")
        await follow(thread, one.result["run"], states=("running", "ended"))
        two = await thread.post("[[second]] y", intent="queue")
        assert thread.run(two.result["run"]).state == "queued"
        assert server.prompts("[[second]] y") == 0
        server.release("go")
        assert (await follow(thread, one.result["run"])).outcome == "completed"
        assert (await follow(thread, two.result["run"])).outcome == "completed"
        with pytest.raises(Conflict):
            await thread.post("now", intent="steer")


@pytest.mark.behaviour("F048", "F253")
@pytest.mark.parametrize("intent", ["auto", "steer"])
async def test_a_message_is_steered_into_the_running_turn(
    world: CodexWorld, server: ResponsesServer, intent: str
) -> None:
    server.script("first", [Text("Working on it.", chunk=4), Wait("go"), Text("unreached")])
    server.script("turned", [Text("As you say.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        one = await thread.post("[[first]] x")
        with anyio.fail_after(20), thread.subscribe() as reader:
            while not any(i.item_kind == "assistant_message" for i in thread.items()):
                await reader.next()
        two = await thread.post("[[turned]] do it otherwise", intent=intent)
        assert two.result["run"] == one.result["run"]
        with anyio.fail_after(20), thread.subscribe() as reader:
            while not any(
                isinstance(m, Message) and m.how == "steered_native" for m in thread.entities("message")
            ):
                with anyio.move_on_after(0.5):
                    await reader.next()
        server.release("go")  # only now: the turn must not end before the agent has the message
        run = await follow(thread, one.result["run"])
        assert run.outcome == "completed"
        (_, told) = [m for m in thread.entities("message") if isinstance(m, Message)]
        assert (told.intent, told.delivery, told.how) == ("steer", "accepted", "steered_native")
        assert thread.text(thread.items()[-1].id) == "As you say."
        assert server.prompts("[[turned]] do it otherwise") == 1
        assert len([a for a in thread.entities("attempt") if isinstance(a, Attempt)]) == 1


@pytest.mark.behaviour("F052", "F108", "F250")
async def test_a_restart_gives_the_same_run_a_new_attempt(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("first", [Text("Working on it.", chunk=4), Wait("never"), Text("unreached")])
    server.script("other", [Text("Otherwise then.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        one = await thread.post("[[first]] x")
        await follow(thread, one.result["run"], states=("running", "ended"))
        two = await thread.post("[[other]] y", intent="restart")
        assert two.result["run"] == one.result["run"]
        run = await follow(thread, one.result["run"])
        assert (run.outcome, run.ordinal) == ("completed", 1)
        attempts = [a for a in thread.entities("attempt") if isinstance(a, Attempt)]
        assert [(a.ordinal, a.reason, a.state) for a in attempts] == [
            (1, "initial", "superseded"),
            (2, "steering_restart", "ended"),
        ]
        turns = [t for t in thread.entities("turn") if isinstance(t, Turn)]
        assert [t.outcome for t in turns] == ["interrupted", "completed"]
        assert server.prompts("[[other]] y") == 1
    server.release("never")


WRAPPER = """#!/bin/sh
if [ "$1" = "--version" ]; then echo "codex-cli 0.999.0"; exit 0; fi
exec {real} "$@" | sed -u 's#/0\\.171\\.0 #/0.999.0 #'
"""


@pytest.mark.behaviour("F033", "F032", "F286")
async def test_an_unknown_newer_version_is_carried_but_not_trusted(
    world: CodexWorld, server: ResponsesServer
) -> None:
    """Prompt, approval and interrupt are carried; fork must be proven on this version first (R8)."""
    wrapper = world.folder / "bin" / "codex"
    wrapper.parent.mkdir()
    from tests.agents.paths import codex_binary

    wrapper.write_text(WRAPPER.format(real=codex_binary()))
    wrapper.chmod(0o755)
    world.env["PATH"] = f"{wrapper.parent}:{world.env['PATH']}"
    server.script("go", [command("echo hi")], [Text("Done.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex")
        run, asked = await play(p, thread, "[[go]] x", ACCEPT)
        assert (run.outcome, len(asked)) == ("completed", 1)
        state = thread.state
        assert state.session is not None and state.session.agent_version == "0.999.0"
        record = p.runtime.known.capabilities(state)
        assert record.has("turns.interrupt") and record.has("approvals.command")
        assert not record.has("threads.fork")
        assert "must_be_proven" in str(record.support("threads.fork"))


@pytest.mark.behaviour("F277")
async def test_notices_name_what_the_agent_warned_of(world: CodexWorld, server: ResponsesServer) -> None:
    server.script("hi", [Text("Hi.")])
    async with world.open() as p:
        thread = await p.threads.create(workspace=world.workspace, agent="codex", model="nobody-knows-1")
        run, _ = await play(p, thread, "[[hi]] x", ACCEPT)
        assert run.outcome == "completed"
        assert any(isinstance(n, NoticeEntry) for n in thread.entities("notice"))
        assert all(isinstance(i, Item) for i in thread.items())
