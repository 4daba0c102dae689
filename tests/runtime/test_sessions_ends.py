"""How agents end, well and badly: every run gets its legal end with what was said so far (R10)."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from podium.contract.adapter import Descriptor
from podium.contract.errors import BadInput, Refused
from podium.domain.entities import NoticeEntry, ProviderThread
from podium.providers.scripted import ScriptedAdapter, weak
from podium.runtime.agents import Registry
from podium.runtime.settings import load_settings
from tests.runtime.house import House, ended, items_of, native_ids, ran, said, sessions, started, until

pytestmark = pytest.mark.anyio


def switched(house: House, name: str, *switches: str, more: str = "") -> None:
    """Configure an instance of the rehearsal agent that misbehaves."""
    listed = ", ".join(f'"{s}"' for s in switches)
    house.configure(f'[agents.{name}]\nadapter = "scripted"\noptions = {{ switches = [{listed}] }}\n{more}')


@pytest.mark.parametrize("code", [0, 1, 3, 137])
async def test_an_agent_that_exits_fails_its_run_and_half_a_sentence_is_kept(house: House, code: int) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run = await ran(thread, f"die {code}")
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        assert run.failure is not None and run.failure.code == "process_exit"
        assert run.failure.detail["exit_code"] == code
        assert said(thread, run.id) == "This sentence has no "
        assert (await ran(thread, "recall")).outcome == "completed"
        assert len(set(native_ids(thread))) == 1


@pytest.mark.behaviour("F271")
async def test_half_a_frame_at_the_end_is_no_frame(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run = await ran(thread, '{"play": [{"do": "die", "code": 3, "half_line": true}]}')
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        assert said(thread, run.id) == "This sentence has no "


async def test_the_last_frame_counts_without_its_newline(house: House) -> None:
    """B07."""
    async with house.open() as p:
        thread = await house.thread(p)
        run = await ran(thread, "die_after_last")
        assert (run.outcome, run.evidence) == ("completed", "provider")
        assert said(thread, run.id) == "These are my last words."


async def test_a_tool_left_open_is_never_completed(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run = await ran(thread, "tools_open")
        assert run.outcome == "completed"
        [tool] = items_of(thread, run.id, "tool_call")
        assert (tool.state, tool.closed_by) == ("unverifiable", "barrier")


async def test_silence_is_ended_by_the_configured_bound(house: House) -> None:
    switched(house, "quiet", more="stuck_seconds = 0.4\n")
    async with house.open() as p:
        thread = await house.thread(p, "quiet")
        run = await ran(thread, "silent")
        assert (run.outcome, run.evidence) == ("failed", "timeout")
        assert run.failure is not None and run.failure.code == "agent_stuck" and run.failure.fix
        await until(lambda: sessions(thread)[0].state == "ended")
        assert (await ran(thread, "hello")).outcome == "completed"


async def test_an_agent_that_never_answers_a_prompt_is_stuck_too(house: House) -> None:
    """It shook hands, took the prompt and said nothing at all."""
    program = house.root / "mute"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    answers = {'initialize': {'protocolVersion': 1, 'agentCapabilities': {'loadSession': True}},\n"
        "               'session/new': {'sessionId': 's-1'}}\n"
        "    if asked.get('method') in answers:\n"
        "        frame = {'jsonrpc': '2.0', 'id': asked['id'], 'result': answers[asked['method']]}\n"
        "        print(json.dumps(frame), flush=True)\n"
    )
    program.chmod(0o700)
    house.configure(f'[agents.mute]\nadapter = "scripted"\nprogram = "{program}"\nstuck_seconds = 0.4\n')
    async with house.open() as p:
        thread = await house.thread(p, "mute")
        run = await ran(thread, "hello")
        assert (run.outcome, run.evidence) == ("failed", "timeout")


async def test_while_a_tool_works_silence_is_no_death(house: House) -> None:
    """B17: the bound warns and does not kill."""
    switched(house, "quiet", more="stuck_seconds = 0.3\n")
    async with house.open() as p:
        thread = await house.thread(p, "quiet", mode="full")
        run = await ran(thread, "command sleep 1.2; echo done")
        assert run.outcome == "completed"
        notices = [n.code for n in thread.entities("notice") if isinstance(n, NoticeEntry)]
        assert "stalled" in notices


async def test_a_missing_program_says_what_to_do(house: House) -> None:
    house.configure('[agents.gone]\nadapter = "scripted"\nprogram = "/nowhere/agent"\n')
    async with house.open() as p:
        thread = await house.thread(p, "gone")
        run = await ran(thread, "hello")
        assert (run.outcome, run.evidence) == ("failed", "start_failed")
        assert run.failure is not None
        assert (run.failure.code, bool(run.failure.fix)) == ("agent_missing", True)
        assert thread.state.session is None


async def test_a_program_that_cannot_be_executed(house: House) -> None:
    program = house.root / "text"
    program.write_text("this is no program")
    program.chmod(0o700)
    house.configure(f'[agents.text]\nadapter = "scripted"\nprogram = "{program}"\n')
    async with house.open() as p:
        thread = await house.thread(p, "text")
        run = await ran(thread, "hello")
        assert run.outcome == "failed"
        assert run.failure is not None and run.failure.message


async def test_one_that_exits_at_once_fails_its_run(house: House) -> None:
    switched(house, "short", "--exit-at-start", "7")
    async with house.open() as p:
        thread = await house.thread(p, "short")
        for _ in range(3):
            run = await ran(thread, "hello")
            assert run.outcome in ("failed", "cancelled")
            assert run.failure is not None
        await until(lambda: sessions(thread)[-1].state == "ended")
        assert sessions(thread)[-1].exit_code == 7
        assert house.prompts() == []


async def test_words_before_the_handshake_are_no_frames(house: House) -> None:
    switched(house, "chatty", "--handshake-noise")
    async with house.open() as p:
        thread = await house.thread(p, "chatty")
        run = await ran(thread, "hello")
        assert run.outcome == "completed"
        kept = (house.data / "diagnostics" / thread.id).read_text()
        assert "Welcome to the rehearsal agent!" in kept


class Impatient(ScriptedAdapter):
    """The rehearsal agent with a short start bound."""

    @property
    def descriptor(self) -> Descriptor:
        return msgspec.structs.replace(super().descriptor, start_seconds=0.5)


async def test_one_that_never_shakes_hands_is_ended_by_the_start_bound(house: House) -> None:
    switched(house, "wall", "--start-delay", "60")
    settings = load_settings(house.environ, data=house.data)
    async with house.open(registry=Registry({"scripted": Impatient()}, settings)) as p:
        thread = await house.thread(p, "wall")
        run = await ran(thread, "hello")
        assert (run.outcome, run.evidence) == ("failed", "start_failed")
        assert run.failure is not None and run.failure.code == "start_timeout"
        await until(lambda: sessions(thread)[0].state == "ended")
        assert house.prompts() == []


@pytest.mark.behaviour("F177", "F074", "F271")
async def test_a_conversation_that_cannot_be_loaded_is_said_and_never_silently_new(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        assert (await ran(thread, "hello")).outcome == "completed"
        [native] = set(native_ids(thread))
    (house.scripted / "sessions" / f"{native}.json").unlink()
    async with house.open() as p:
        thread = p.threads.get(thread.id)
        run = await ran(thread, "again")
        assert (run.outcome, run.evidence) == ("failed", "start_failed")
        assert thread.state.main is not None and thread.state.main.state == "missing"
        with pytest.raises(Refused) as refused:
            await thread.post("once more")
        assert refused.value.code == "conversation_missing"
        fresh = await ran(thread, "recall", fresh=True)
        assert fresh.outcome == "completed"
        assert "You wrote 0 prompts before this one" in said(thread, fresh.id)
        chains = [e for e in thread.entities("provider_thread") if isinstance(e, ProviderThread)]
        assert {c.epoch for c in chains} == {1, 2}
        assert "context_lost" in [n.code for n in thread.entities("notice") if isinstance(n, NoticeEntry)]
        assert (await ran(thread, "hello")).outcome == "completed"
        assert [row["kind"] for row in house.log("new")] == ["new", "new"]


async def test_a_refused_prompt_is_rejected_and_the_session_stays_usable(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run = await ran(thread, "error -32603")
        assert (run.outcome, run.evidence) == ("failed", "rejected")
        assert run.failure is not None and run.failure.message
        assert (await ran(thread, "hello")).outcome == "completed"
        assert len(sessions(thread)) == 1


@pytest.mark.behaviour("F047")
async def test_an_end_that_had_to_be_inferred_says_so(house: House) -> None:
    settings = load_settings(house.environ, data=house.data)
    async with house.open(registry=Registry({"vague": weak()}, settings)) as p:
        thread = await house.thread(p, "vague", mode="full")
        run = await ran(thread, "hello")
        assert (run.outcome, run.evidence) == ("completed", "inferred")
        turns = thread.entities("turn", run_id=run.id)
        assert [getattr(t, "correlation", None) for t in turns] == ["weak"]
        assert said(thread, run.id).startswith("Hello.")


@pytest.mark.behaviour("F111", "F255")
async def test_a_queue_is_worked_off_in_order_one_at_a_time(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        first = await started(thread, "long 50")
        rest = [(await thread.post(f"say {n}", intent="queue")).result["run"] for n in range(3)]
        assert [thread.run(r).state for r in rest] == ["queued"] * 3
        for run_id in (first, *rest):
            assert (await ended(thread, run_id)).outcome == "completed"
        assert house.prompts() == ["long 50", "say 0", "say 1", "say 2"]
        runs = [thread.run(r) for r in (first, *rest)]
        for before, after in pairwise(runs):
            assert before.ended_at is not None and after.started_at is not None
            assert before.ended_at <= after.started_at


async def test_the_workspace_may_be_gone_and_come_back(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        house.workspace.rmdir()
        with pytest.raises(BadInput) as gone:
            await thread.post("hello")
        assert gone.value.code == "workspace_missing"
        house.workspace.mkdir()
        assert (await ran(thread, "hello")).outcome == "completed"
