"""Programs that start badly, end badly or lose their pipes; and what they may see of us (B09 to B15, B20)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

import podium
from podium.transport.reaper import find_processes, supported
from tests.field.replaying import (
    STAY,
    Stage,
    Step,
    acp_end,
    acp_prompt,
    acp_said,
    acp_start,
    codex_end,
    codex_said,
    codex_start,
    codex_turn,
    note,
)

pytestmark = pytest.mark.anyio

HOST = Path(__file__).with_name("host.py")
WAIT = 20.0


def alive(pid: int) -> bool:
    """Whether a process lives and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def command_lines() -> list[bytes]:
    """What `ps` would show."""
    found: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes())
    return found


def sleeper() -> subprocess.Popen[bytes]:
    """A process that is none of ours."""
    return subprocess.Popen(["sleep", "300"], start_new_session=True)


async def until(ready: Callable[[], bool]) -> None:
    """Wait until something is so."""
    with anyio.move_on_after(WAIT):
        while not ready():  # noqa: ASYNC110 - other processes are looked at from outside
            await anyio.sleep(0.05)
    assert ready()


@pytest.mark.parametrize(
    ("end", "code", "number"),
    [({"agent_exit": 0}, 0, None), ({"agent_exit": 3}, 3, None), ({"agent_signal": signal.SIGKILL}, None, 9)],
)
async def test_an_agent_that_leaves_in_the_middle_fails_its_run_and_the_next_one_resumes(
    end: Step, code: int | None, number: int | None, tmp_path: Path
) -> None:
    resumed = [*codex_start()[:3], {"expect_to_agent": {"method": "thread/resume"}, "bind": {"$t": "id"}}]
    answer: Step = {"agent": {"id": "$t", "result": {"thread": {"id": "th-1"}, "model": "m-1"}}}
    stage = Stage(
        tmp_path,
        "codex",
        [*codex_start(), *codex_turn(), codex_said("half"), end],
        [*resumed, answer, *codex_turn("tu-2"), codex_said("more", "m2", "tu-2"), codex_end("tu-2"), STAY],
    )
    async with stage.open() as driver:
        first = await driver.ended(await driver.send("one"))
        assert (first.outcome, first.evidence) == ("failed", "process_exit")
        assert first.failure is not None
        assert (first.failure.detail["exit_code"], first.failure.detail["signal"]) == (code, number)
        second = await driver.ended(await driver.send("two"))
        assert second.outcome == "completed", driver.story()
        assert driver.texts() == ["one", "half", "two", "more"]
        assert not stage.asked("thread/start", 2)


async def test_an_agent_that_closes_its_output_is_ended_and_its_run_fails(tmp_path: Path) -> None:
    steps = [*codex_start(), *codex_turn(), codex_said("half"), {"close_stdout": True}, STAY]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        assert run.failure is not None
        assert run.failure.code == "output_closed"
        await driver.until(lambda: driver.thread.state.session is None)
        assert driver.text() == "half"


async def test_b32_an_agent_that_closes_its_input_fails_the_next_prompt_at_once(tmp_path: Path) -> None:
    steps = [*codex_start(), *codex_turn(), codex_end(), {"close_stdin": True}, {"sleep_ms": 60_000}]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        await driver.ended(await driver.send("one"))
        await driver.done(len(steps) - 2)
        run = await driver.ended(await driver.send("two"))
        assert run.outcome == "failed"
        assert run.failure is not None
        assert run.failure.code == "input_closed"


async def test_a_slow_start_is_waited_for(tmp_path: Path) -> None:
    slow: Step = {"sleep_ms": 3000}
    stage = Stage(tmp_path, "scripted", [slow, *acp_start(), acp_prompt(), acp_said("ok"), acp_end(), STAY])
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"


async def test_b06_a_handshake_that_never_comes_fails_within_the_start_deadline(tmp_path: Path) -> None:
    first: list[Step] = [{"agent_raw": "Welcome!\nLoading...\n"}, {"sleep_ms": 60_000}]
    again = [*acp_start(), acp_prompt(), acp_said("ok"), acp_end(), STAY]
    stage = Stage(tmp_path, "scripted", first, again)
    async with stage.open() as driver:
        run = await driver.ended(await driver.send("one"), 30)
        assert (run.outcome, run.evidence) == ("failed", "start_failed")
        assert run.failure is not None
        assert run.failure.code == "start_timeout"
        assert (await driver.ended(await driver.send("two"))).outcome == "completed", driver.story()


async def test_an_answer_after_the_start_deadline_changes_nothing(tmp_path: Path) -> None:
    hello, answer, *rest = acp_start()
    late = [hello, {"sleep_ms": 11_000}, answer, *rest, acp_prompt(), acp_said("late"), acp_end(), STAY]
    stage = Stage(tmp_path, "scripted", late, [*acp_start(), acp_prompt(), acp_said("ok"), acp_end(), STAY])
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send("one"), 30)).evidence == "start_failed"
        assert (await driver.ended(await driver.send("two"))).outcome == "completed", driver.story()
        assert driver.text() == "ok"
        assert not stage.asked("session/prompt", 1)


@pytest.mark.parametrize("silent", ["thread/start", "turn/start"])
async def test_a_call_that_is_never_answered_does_not_hold_the_thread_for_ever(
    silent: str, tmp_path: Path
) -> None:
    before = codex_start() if silent == "turn/start" else codex_start()[:3]
    stage = Stage(tmp_path, "codex", [*before, STAY], stuck_seconds=1.5)
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert (run.outcome, run.evidence) == ("failed", "timeout")
        await driver.until(lambda: driver.thread.state.session is None)
        assert len(stage.asked(silent)) == 1


async def test_b09_a_long_prompt_goes_in_whole_and_stands_in_no_process_list(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), codex_end(), STAY])
    text = "long-prompt-" + "wörter " * 30_000
    async with stage.open() as driver:
        run_id = await driver.send(text)
        await driver.done(5)
        assert not [line for line in command_lines() if b"long-prompt-w" in line]
        assert (await driver.ended(run_id)).outcome == "completed"
    assert stage.asked("turn/start")[0]["params"]["input"][0]["text"] == text


async def test_b09_a_program_that_cannot_be_started_is_a_typed_failure(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "codex", [STAY])
    program = stage.root / "bin" / "replayed"
    program.write_bytes(b"\x7fELF but not really")
    async with stage.open() as driver:
        run = await driver.ended(await driver.send())
        assert (run.outcome, run.evidence) == ("failed", "start_failed")
        assert run.failure is not None
        assert run.failure.kind == "process"
        assert run.failure.fix


async def test_b14_b15_an_agent_sees_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    secret, token = "s3cr3t-value-of-the-agent", "sk-abcdefghijklmnopqrstuvwx0123"
    shown = f"KEY={secret} and {token}"
    output = {"type": "commandExecution", "id": "c1", "command": "env", "aggregatedOutput": shown}
    stage = Stage(
        tmp_path,
        "codex",
        [
            *codex_start(),
            *codex_turn(),
            {"agent_err": f"token {secret}\n"},
            note("item/completed", turnId="tu-1", item={**output, "status": "completed"}),
            codex_said(f"it says {secret}"),
            codex_end(),
            STAY,
        ],
    )
    foreign = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "x",
        "RUNTIME_TOKEN": "runtime-token-1",
        "DATABASE_URL": "postgres://u:password-of-db@h/d",
        "OTHER_API_KEY": "other-key-value",
        "NODE_OPTIONS": "--inspect",
    }
    stage.environ |= {**foreign, "OPENAI_API_KEY": secret}
    async with stage.open() as driver:
        assert (await driver.ended(await driver.send())).outcome == "completed"
        text = driver.text() + driver.thread.text(driver.item("c1").id, "output")
    seen: dict[str, Any] = json.loads((stage.play / "environ-1").read_text())
    assert not foreign.keys() & seen.keys()
    assert seen["OPENAI_API_KEY"] == secret
    assert secret not in text
    assert token not in text
    for path in stage.data.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
            assert path.stat().st_mode & 0o077 == 0, path


def host(stage: Stage, linger: float, *texts: str) -> subprocess.Popen[bytes]:
    """A Podium in a process of its own."""
    argv = [sys.executable, str(HOST), str(stage.data), str(stage.workspace), str(linger), *texts]
    environ = {**stage.environ, "PYTHONPATH": str(Path(podium.__file__).parents[1])}
    return subprocess.Popen(argv, env=environ, stdout=subprocess.DEVNULL)


@pytest.mark.skipif(not supported(), reason="this system shows no environments of processes")
@pytest.mark.parametrize("linger", [0.0, 60.0])
async def test_b11_nothing_of_a_killed_generation_lives_on(linger: float, tmp_path: Path) -> None:
    spawn: Step = {"spawn": {"argv": ["sleep", "300"], "pid": "grandchild"}}
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), spawn, {"sleep_ms": 100_000}])
    innocent = sleeper()
    server = host(stage, linger, "go")
    try:
        await until(
            lambda: (stage.play / "grandchild").exists() and (stage.play / "grandchild").read_text() != ""
        )
        agent, child = (int((stage.play / name).read_text()) for name in ("pid-1", "grandchild"))
        token = json.loads((stage.play / "environ-1").read_text())["PODIUM_PROCESS"]
        keepers = parent_of(agent)
        server.kill()
        server.wait()
        if linger:
            os.kill(keepers, signal.SIGKILL)
        async with stage.open() as driver:
            run = await driver.ended(driver.last.id)
            assert run.outcome in ("interrupted", "failed")
            await until(lambda: not alive(agent) and not alive(child))
            assert not find_processes(token)
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()
        server.kill()
        server.wait()


def parent_of(pid: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


async def test_b20_a_killed_server_leaves_a_busy_agent_that_is_joined_again(tmp_path: Path) -> None:
    wait: Step = {"expect_to_agent": {"result": {"decision": "accept"}}, "within_ms": 60_000}
    ask: Step = {
        "agent": {
            "id": 7,
            "method": "item/commandExecution/requestApproval",
            "params": {"threadId": "th-1", "turnId": "tu-1", "itemId": "c1", "command": "make"},
        }
    }
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        codex_said("one"),
        ask,
        wait,
        codex_said("two", "m2"),
        codex_end(),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    server = host(stage, 60.0, "go")
    try:
        await until(lambda: stage.steps_done() >= len(steps) - 5)
    finally:
        server.kill()
        server.wait()
    async with stage.open() as driver:
        await driver.until(lambda: bool(driver.p.requests.pending()), "the request of before")
        assert driver.last.state == "waiting"
        assert driver.text() == "one"
        await driver.act({"op": "approve", "decision": "accept"})
        run = await driver.ended(driver.last.id)
        assert run.outcome == "completed", driver.story()
        assert driver.text() == "onetwo"
    assert stage.started() == 1
    assert len(stage.asked("turn/start")) == 1


async def test_b20_a_run_whose_agent_is_gone_ends_once_and_the_restart_is_idempotent(tmp_path: Path) -> None:
    item = note(
        "item/started", turnId="tu-1", item={"type": "commandExecution", "id": "c1", "command": "make"}
    )
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), item, {"sleep_ms": 100_000}])
    server = host(stage, 0.0, "go")
    try:
        await until(lambda: stage.steps_done() >= len(codex_start()) + 3)
    finally:
        server.kill()
        server.wait()
    await until(lambda: not alive(int((stage.play / "pid-1").read_text())))
    for _ in range(2):
        async with stage.open() as driver:
            run = await driver.ended(driver.last.id)
            assert (run.outcome, run.evidence) == ("interrupted", "host_lost")
            assert driver.item("c1").state == "interrupted"
            assert driver.ends(run.id) == 1
