"""Any command as an agent, end to end: text in, one answer out, and what it cannot do is said (F035)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from podium.contract.errors import Refused
from podium.domain.entities import Degradation, Message, NoticeEntry, Run
from podium.runtime.configuring import table_text
from podium.runtime.podium import ThreadHandle
from podium.runtime.settings import AgentSettings
from tests.runtime.hosting import host
from tests.runtime.house import House, ended, items_of, native_ids, ran, said, sessions, started, until

pytestmark = pytest.mark.anyio

SLOW = (
    "import os, sys, time; text = sys.stdin.read(); open('pid', 'w').write(str(os.getpid()))\n"
    "print('began', text, flush=True)\n"
    "while not os.path.exists('go'): time.sleep(0.01)\n"
    "print('done', flush=True)"
)
"""Prints, then waits for a file."""


def command(house: House, *argv: str, name: str = "mine", more: str = "") -> str:
    """Configure a one-shot command; its name."""
    program, *arguments = argv
    settings = AgentSettings(
        adapter="oneshot", program=program, mode="full", options={"arguments": arguments}
    )
    house.configure(table_text(name, settings) + more)
    return name


def slow(house: House, more: str = "") -> str:
    return command(house, sys.executable, "-I", "-c", SLOW, more=more)


def notices(thread: ThreadHandle) -> list[str]:
    return [n.code for n in thread.entities("notice") if isinstance(n, NoticeEntry)]


def working(house: House) -> bool:
    """Whether the command that wrote its number is alive."""
    pid = int((house.workspace / "pid").read_text())
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def runs(thread: ThreadHandle, house: House, prompt: str) -> str:
    """Post a prompt to the slow command, and wait until it has printed; the id of its run."""
    run_id = await started(thread, prompt)
    await until(lambda: said(thread, run_id), "the first word")
    return run_id


@pytest.mark.behaviour("F035")
async def test_a_command_answers_prompts_one_by_one_in_one_thread(house: House) -> None:
    agent = command(house, "tr", "a-z", "A-Z")
    async with house.open() as p:
        thread = await house.thread(p, agent)
        first, second = await ran(thread, "hello"), await ran(thread, "again")
        assert (first.outcome, first.evidence) == ("completed", "provider")
        assert (said(thread, first.id), said(thread, second.id)) == ("HELLO", "AGAIN")
        (message,) = items_of(thread, first.id, "assistant_message")
        assert message.state == "completed"
        assert len(sessions(thread)) == 1 and len(native_ids(thread)) == 1


@pytest.mark.behaviour("F035")
async def test_ten_megabytes_come_back_whole(house: House) -> None:
    code = "print('0123456789abcde\\n' * (10 * 1024 * 1024 // 16), end='')"
    agent = command(house, sys.executable, "-I", "-c", code)
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run = await ran(thread, "x")
        assert run.outcome == "completed"
        assert said(thread, run.id) == "0123456789abcde\n" * (10 * 1024 * 1024 // 16)


@pytest.mark.behaviour("F035")
async def test_a_failed_command_keeps_what_it_printed_and_says_why(house: House) -> None:
    agent = command(house, "sh", "-c", "cat; echo the reason >&2; exit 4")
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run = await ran(thread, "half an answer")
        assert (run.outcome, run.evidence) == ("failed", "provider")
        assert run.failure is not None and run.failure.code == "command_failed"
        assert run.failure.detail["exit_code"] == 4 and run.failure.detail["stderr"] == "the reason"
        assert said(thread, run.id) == "half an answer"
        (message,) = items_of(thread, run.id, "assistant_message")
        assert message.state == "completed"
        assert len(sessions(thread)) == 1  # the session goes on


@pytest.mark.behaviour("F035")
async def test_only_what_was_named_reaches_a_command(house: House) -> None:
    """The base variables, and the person's own that the table names (B15)."""
    house.environ |= {"MINE": "yes", "NOT_MINE": "no"}
    house.configure(
        '[agents.mine]\nadapter = "oneshot"\nprogram = "env"\nmode = "full"\ninherit = ["MINE"]\n'
    )
    async with house.open() as p:
        thread = await house.thread(p, "mine")
        run = await ran(thread, "x")
        assert "MINE=yes" in said(thread, run.id).splitlines()
        assert "NOT_MINE" not in said(thread, run.id)


@pytest.mark.behaviour("F035")
@pytest.mark.parametrize("mode", ["read", "ask", "edit"])
async def test_a_mode_that_should_hold_it_is_refused_and_nothing_is_started(house: House, mode: str) -> None:
    agent = command(house, "tr", "a-z", "A-Z")
    async with house.open() as p:
        thread = await house.thread(p, agent, mode=mode)
        with pytest.raises(Refused) as refused:
            await thread.post("hello")
        assert refused.value.code == "capability_missing" and "full" in refused.value.fix
        assert not thread.entities("run") and not sessions(thread)
        offered = (await thread.snapshot()).affordances.message
        assert offered.means == "none" and offered.auto.reason


@pytest.mark.behaviour("F035")
async def test_images_and_models_are_refused_and_the_command_never_runs(house: House) -> None:
    agent = command(house, "touch", "ran")
    image = house.root / "one.png"
    image.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(32))
    async with house.open() as p:
        thread = await house.thread(p, agent)
        with pytest.raises(Refused) as refused:
            await thread.post("look", images=(str(image),))
        assert refused.value.code == "capability_missing"
        of_run = await ran(thread, "hello", model="m")
        other = await house.thread(p, agent, model="m")
        of_thread = await ran(other, "hello")
        for run in (of_run, of_thread):
            assert run.outcome == "failed" and run.failure is not None
            assert run.failure.code == "model_not_offered" and run.failure.fix
        assert not (house.workspace / "ran").exists()
        (message,) = (m for m in thread.entities("message") if isinstance(m, Message))
        assert message.delivery == "rejected"


@pytest.mark.behaviour("F035", "F051")
async def test_a_stop_ends_the_session_with_the_command_and_is_on_record(house: House) -> None:
    agent = slow(house)
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run_id = await runs(thread, house, "one")
        stop = (await thread.snapshot()).affordances.interrupt
        assert stop.state == "destructive_fallback"
        await thread.interrupt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "forced")
        assert said(thread, run_id) == "began one\n"  # what it had printed stays
        (message,) = items_of(thread, run_id, "assistant_message")
        assert message.state == "interrupted"
        [note] = [d for d in thread.entities("degradation") if isinstance(d, Degradation)]
        assert (note.feature, note.outcome) == ("interrupt", "stop_session") and note.reason
        await until(lambda: sessions(thread)[0].state == "ended")
        await until(lambda: not working(house), "the end of the command")


@pytest.mark.behaviour("F051")
async def test_where_the_policy_refuses_a_stop_the_command_goes_on(house: House) -> None:
    agent = slow(house, more='\n[policy]\ninterrupt = "refuse"\n')
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run_id = await runs(thread, house, "one")
        with pytest.raises(Refused) as refused:
            await thread.interrupt()
        assert refused.value.detail["capability"] == "turns.interrupt"
        (house.workspace / "go").touch()
        assert (await ended(thread, run_id)).outcome == "completed"
        assert said(thread, run_id) == "began one\ndone\n"


@pytest.mark.behaviour("F035")
async def test_a_message_for_a_running_command_waits_and_starts_one_of_its_own(house: House) -> None:
    agent = slow(house)
    async with house.open() as p:
        thread = await house.thread(p, agent)
        first = await runs(thread, house, "one")
        second = (await thread.post("two")).result["run"]
        assert thread.run(second).state == "queued"
        (house.workspace / "go").touch()
        assert (await ended(thread, second)).outcome == "completed"
        assert (said(thread, first), said(thread, second)) == ("began one\ndone\n", "began two\ndone\n")


@pytest.mark.behaviour("F035", "F074", "F271")
async def test_after_a_restart_it_begins_anew_and_says_so(house: House) -> None:
    """Nothing is resumed that was never kept; a person chooses to begin anew, and the loss is on record."""
    agent = command(house, "tr", "a-z", "A-Z")
    async with house.open() as p:
        thread_id = (thread := await house.thread(p, agent)).id
        first = await ran(thread, "one")
    async with house.open() as p:
        thread = p.threads.get(thread_id)
        refused = await ran(thread, "two")
        assert (refused.outcome, refused.evidence) == ("failed", "start_failed")
        assert refused.failure is not None and refused.failure.code == "resume_unsupported"
        assert "--fresh" in refused.failure.fix and said(thread, refused.id) == ""
        with pytest.raises(Refused) as missing:
            await thread.post("two")
        assert missing.value.code == "conversation_missing"
        assert said(thread, first.id) == "ONE"
        anew = await ran(thread, "two", fresh=True)
        assert anew.outcome == "completed" and said(thread, anew.id) == "TWO"
        assert "context_lost" in notices(thread)
        assert thread.state.main is not None and thread.state.main.epoch == 2


@pytest.mark.behaviour("F035")
async def test_a_host_that_dies_takes_the_command_along_and_what_it_printed_stays(house: House) -> None:
    one = await host(house, "one", agent=slow(house))
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("ITEM assistant_message")
    await one.kill()
    await house.empty()
    assert not working(house)
    async with house.open() as p:
        thread = p.threads.get(thread_id)
        await thread.adopt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "host_lost")
        assert said(thread, run_id) == "began one\n"
        (house.workspace / "go").touch()
        assert (await ran(thread, "two", fresh=True)).outcome == "completed"


@pytest.mark.behaviour("F035")
async def test_with_linger_the_same_command_goes_on_under_a_new_owner(house: House) -> None:
    one = await host(house, "one", agent=slow(house), linger=60)
    thread_id, run_id = await one.word("THREAD"), await one.word("RUN")
    await one.word("ITEM assistant_message")
    await one.kill()
    assert working(house)
    (house.workspace / "go").touch()
    async with house.open(linger=60) as p:
        thread = p.threads.get(thread_id)
        assert await p.runtime.recover_all() == [thread_id]
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("completed", "provider")
        assert said(thread, run_id) == "began one\ndone\n"
        again = await ran(thread, "two")  # the bridge lives, so the thread goes on
        assert said(thread, again.id) == "began two\ndone\n" and len(sessions(thread)) == 1
        await p.runtime.stop_agents("done")


@pytest.mark.behaviour("F035")
async def test_a_command_that_hangs_without_a_word_is_ended(house: House) -> None:
    agent = "mine"
    house.configure(
        '[agents.mine]\nadapter = "oneshot"\nprogram = "sleep"\nmode = "full"\nstuck_seconds = 0.5\n'
        'options = { arguments = ["600"] }\n'
    )
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run = await ran(thread, "x")
        assert (run.outcome, run.evidence) == ("failed", "timeout")
        assert run.failure is not None and run.failure.code == "agent_stuck"
        await until(lambda: sessions(thread)[0].state == "ended")


async def test_a_program_that_is_missing_is_said_before_anything_is_started(house: House) -> None:
    agent = command(house, "no-such-program-anywhere")
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run: Run = await ran(thread, "x")
        assert run.failure is not None and run.failure.code == "agent_missing"


async def test_a_link_is_started_by_its_own_name(house: House) -> None:
    """Some programs do what they are called: a shell's own name tells it what it is."""
    link = house.root / "my-own-name"
    link.symlink_to("/bin/sh")
    agent = command(house, str(link), "-c", "echo $0")
    async with house.open() as p:
        thread = await house.thread(p, agent)
        run = await ran(thread, "x")
        assert said(thread, run.id) == f"{link}\n"
