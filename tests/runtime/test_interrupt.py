"""An interrupt is a request: the agent's own end ends the run, and a bound where the agent does not."""

from __future__ import annotations

import pytest

from podium.contract.errors import Conflict, PodiumError, Refused
from podium.contract.requests import Answer
from podium.domain.entities import Degradation
from podium.providers.scripted import one_shot
from podium.runtime.agents import Registry
from podium.runtime.settings import load_settings
from tests.runtime.house import House, asked, both, ended, native_ids, ran, said, sessions, started, until

pytestmark = pytest.mark.anyio


@pytest.mark.behaviour("F249")
async def test_the_agents_end_ends_the_run_not_the_acknowledgement(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "long 3000")
        await thread.interrupt()
        asked_for = thread.run(run_id)
        assert asked_for.interrupt_requested_at is not None
        assert asked_for.interrupt_by == "user"
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "provider")
        assert said(thread, run_id).startswith("word 0 ")
        assert [i.state for i in thread.items() if i.state == "open"] == []
        assert len(house.log("cancel")) == 1


@pytest.mark.behaviour("F249")
async def test_twice_is_once(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "long 3000")
        await both(thread.interrupt, thread.interrupt)
        assert (await ended(thread, run_id)).outcome == "interrupted"
        assert len(house.log("cancel")) == 1
        with pytest.raises(Conflict) as late:
            await thread.interrupt()
        assert late.value.code == "run_not_active"


@pytest.mark.behaviour("F249", "F271")
async def test_a_deaf_agent_is_ended_by_force_and_the_conversation_goes_on(house: House) -> None:
    async with house.open(interrupt_max=0.5) as p:
        thread = await house.thread(p, mode="full")
        first = await ran(thread, "command setsid sleep 600 >/dev/null 2>&1 & echo started")
        assert first.outcome == "completed"
        run_id = await started(thread, "deaf 60")
        await thread.interrupt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "forced")
        assert said(thread, run_id).startswith("still here 0 ")
        await until(lambda: sessions(thread)[0].state == "ended", "the end of the session")
        await house.empty()  # the grandchild in a session of its own too (B11)
        again = await ran(thread, "recall")
        assert again.outcome == "completed"
        assert "You wrote 2 prompts before this one" in said(thread, again.id)
        assert len(set(native_ids(thread))) == 1
        assert len(sessions(thread)) == 2


@pytest.mark.behaviour("F249", "F271")
async def test_an_agent_that_dies_inside_cancel_is_interrupted_and_usable_again(house: House) -> None:
    """B23: the session never stays busy."""
    async with house.open(interrupt_max=20) as p:
        thread = await house.thread(p)
        run_id = await started(thread, "crash_in_cancel")
        await until(lambda: "Cancel me." in said(thread, run_id))
        await thread.interrupt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "process_exit")
        assert (await ran(thread, "hello")).outcome == "completed"
        assert len(set(native_ids(thread))) == 1


@pytest.mark.behaviour("F249")
async def test_before_anything_was_sent_it_is_cancelled_and_never_sent(house: House) -> None:
    house.configure('[agents.late]\nadapter = "scripted"\noptions = { switches = ["--start-delay", "1"] }\n')
    async with house.open() as p:
        thread = await house.thread(p, "late")
        receipt = await thread.post("hello")
        await thread.interrupt()
        run = await ended(thread, receipt.result["run"])
        assert (run.outcome, run.evidence) == ("cancelled", "user")
        again = await ran(thread, "recall")
        assert again.outcome == "completed"
        assert house.prompts() == ["recall"]


async def test_a_queued_message_is_cancelled_and_the_active_run_goes_on(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "long 100")
        queued = (await thread.post("hello", intent="queue")).result["run"]
        await thread.interrupt(queued)
        assert (await ended(thread, queued)).outcome == "cancelled"
        assert (await ended(thread, run_id)).outcome == "completed"
        assert house.prompts() == ["long 100"]


@pytest.mark.behaviour("F249")
async def test_while_a_person_is_asked_the_request_closes_and_no_late_answer_counts(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "edit a.txt")
        [request] = await asked(p)
        await thread.interrupt()
        run = await ended(thread, run_id)
        assert run.outcome == "interrupted"
        assert p.requests.pending() == []
        with pytest.raises(PodiumError) as late:
            await p.requests.answer(request.id, Answer("accept"))
        assert late.value.code in ("request_expired", "request_answered")
        assert p.requests.get(request.id).state in ("dismissed", "expired")
        assert not (house.workspace / "a.txt").exists()


def shapes(house: House) -> Registry:
    settings = load_settings(house.environ, data=house.data)
    return Registry({"shot": one_shot()}, settings)


@pytest.mark.behaviour("F051")
async def test_an_agent_without_interrupt_is_stopped_and_the_fallback_is_recorded(house: House) -> None:
    async with house.open(registry=shapes(house)) as p:
        thread = await house.thread(p, "shot", mode="full")
        run_id = (await thread.post("slow 60")).result["run"]
        await until(lambda: house.prompts() == ["slow 60"])
        await thread.interrupt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "forced")
        [note] = [d for d in thread.entities("degradation") if isinstance(d, Degradation)]
        assert (note.feature, note.outcome) == ("interrupt", "stop_session")
        assert note.reason and note.consequence
        await until(lambda: sessions(thread)[0].state == "ended")


@pytest.mark.behaviour("F051")
async def test_policy_refuse_leaves_the_run_working(house: House) -> None:
    house.configure('[policy]\ninterrupt = "refuse"\n')
    async with house.open(registry=shapes(house)) as p:
        thread = await house.thread(p, "shot", mode="full")
        run_id = (await thread.post("slow 1")).result["run"]
        await until(lambda: house.prompts() == ["slow 1"])
        with pytest.raises(Refused) as refused:
            await thread.interrupt()
        assert refused.value.detail["capability"] == "turns.interrupt"
        run = await ended(thread, run_id)
        assert run.outcome == "completed"
        assert run.interrupt_requested_at is None


async def test_a_broken_project_file_stops_new_work_and_never_an_interrupt(house: House) -> None:
    """The agent may write anything into its workspace."""
    async with house.open() as p:
        thread = await house.thread(p)
        run_id = await started(thread, "long 3000")
        (house.workspace / "podium.toml").write_text("[policy\n")
        with pytest.raises(PodiumError) as broken:
            await thread.post("hello")
        assert broken.value.code == "invalid_config"
        await thread.interrupt()
        assert (await ended(thread, run_id)).outcome == "interrupted"
        (house.workspace / "podium.toml").unlink()
        assert (await ran(thread, "hello")).outcome == "completed"
