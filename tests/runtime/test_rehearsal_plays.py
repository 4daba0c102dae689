"""The rehearsal through the library: each play once, with what a person gets of it."""

from __future__ import annotations

import pytest

from podium.contract.errors import BadInput
from podium.contract.requests import ACCEPT, Answer
from podium.domain.entities import Node, Plan, Run
from podium.runtime.podium import Podium, ThreadHandle
from tests.runtime.house import House, asked, ended, items_of, native_ids, ran, said, sessions, started, until

pytestmark = pytest.mark.anyio

YES, NO = Answer("accept"), Answer("decline")


async def decided(p: Podium, thread: ThreadHandle, prompt: str, *answers: Answer) -> Run:
    """One prompt to its end, its requests answered in their order."""
    receipt = await thread.post(prompt)
    for answer in answers:
        [request] = await asked(p)
        await p.requests.answer(request.id, answer)
        await until(lambda held=request.id: held not in [r.id for r in p.requests.pending()])
    return await ended(thread, receipt.result["run"])


async def test_it_says_what_it_is_and_what_it_plays(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await ran(thread, "help")
        assert (run.outcome, run.evidence) == ("completed", "provider")
        assert "no model runs here and nothing is sent anywhere" in said(thread, run.id)
        assert "**edit**" in said(thread, run.id)
        unknown = await ran(thread, "what is the weather")
        assert "did not understand" in said(thread, unknown.id)


async def test_text_and_reasoning_are_items_of_their_own(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await ran(thread, "show me reasoning and text")
        assert said(thread, run.id).startswith("This is a rehearsal")
        [thought] = items_of(thread, run.id, "reasoning")
        assert "see me think" in thread.text(thought.id, "reasoning")
        assert run.outcome == "completed"


async def test_a_plan_is_done_step_by_step(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await ran(thread, "make a plan")
        [plan] = [e for e in thread.entities("plan") if isinstance(e, Plan)]
        assert [step.state for step in plan.steps] == ["completed"] * 3
        assert plan.revision > 3
        assert run.outcome == "completed"


async def test_an_edit_asks_with_its_diff_and_changes_the_file(house: House) -> None:
    (house.workspace / "README.md").write_text("# Mine\n")
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run_id = await started(thread, "add a line to README.md")
        [request] = await asked(p)
        assert request.request_kind == "file_change_approval"
        assert "+A line added in the rehearsal." in (request.content.diff or "")
        assert (house.workspace / "README.md").read_text() == "# Mine\n"
        await p.requests.answer(request.id, YES)
        run = await ended(thread, run_id)
        [change] = items_of(thread, run_id, "file_change")
        assert (run.outcome, change.state, change.content.changes[0].kind) == (
            "completed",
            "completed",
            "update",
        )
        assert (house.workspace / "README.md").read_text() == "# Mine\nA line added in the rehearsal.\n"


async def test_what_is_declined_is_left_alone_and_the_turn_goes_on(house: House) -> None:
    (house.workspace / "a.txt").write_text("mine")
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await decided(p, thread, "edit a.txt and run `touch b.txt`", NO, YES)
        [change] = items_of(thread, run.id, "file_change")
        [command] = items_of(thread, run.id, "command")
        assert (run.outcome, change.state, command.state) == ("completed", "declined", "completed")
        assert (house.workspace / "a.txt").read_text() == "mine"
        assert (house.workspace / "b.txt").exists()
        assert "You declined" in said(thread, run.id)


async def test_two_plays_in_one_sentence_make_a_program_and_run_it(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await decided(p, thread, "Create hello.py that prints hello and run it", YES, YES)
        [change] = items_of(thread, run.id, "file_change")
        [command] = items_of(thread, run.id, "command")
        assert change.position < command.position
        assert change.content.changes[0].kind == "add"
        assert thread.text(command.id, "output") == "hello\n"
        assert (command.content.command, command.content.exit_code) == ("python3 hello.py", 0)


@pytest.mark.parametrize(("mode", "questions"), [("read", 0), ("edit", 1), ("full", 0)])
async def test_the_mode_decides_what_is_asked(house: House, mode: str, questions: int) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal", mode=mode)
        run = await decided(p, thread, "edit a.txt and run `touch b.txt`", *[YES] * questions)
        assert run.outcome == "completed"
        assert len(house.log("permission")) == questions
        names = sorted(path.name for path in house.workspace.iterdir())
        assert names == ([] if mode == "read" else ["a.txt", "b.txt"])
        assert ("mode `read`" in said(thread, run.id)) is (mode == "read")


async def test_questions_of_every_kind_are_answered(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run_id = await started(thread, "show me a form")
        [request] = await asked(p)
        one, many, free = request.content.questions
        assert request.request_kind == "question"
        assert [option.label for option in one.options] == ["Red", "Green", "Blue"]
        assert (one.multiple, many.multiple, free.free_text) == (False, True, True)
        answers = (("Green",), ("Bread", "Soup"), ("as you like",))
        await p.requests.answer(request.id, Answer("accept", answers))
        await ended(thread, run_id)
        assert "colour: Green; meals: Bread, Soup; words: as you like" in said(thread, run_id)


async def test_a_subagent_works_in_a_conversation_of_its_own_and_asks_itself(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run_id = await started(thread, "delegate to a subagent")
        [request] = await asked(p)
        main = native_ids(thread)
        await p.requests.answer(request.id, YES)
        run = await ended(thread, run_id)
        nodes = [n for n in thread.entities("node") if isinstance(n, Node) and n.node_kind == "subagent"]
        [child] = [n for n in nodes if n.provider_thread_id is not None]
        [change] = items_of(thread, run_id, "file_change")
        assert (run.outcome, child.state, change.state) == ("completed", "completed", "completed")
        assert request.item_id == change.id
        assert change.provider_thread_id == child.provider_thread_id
        assert change.provider_thread_id != items_of(thread, run_id, "user_message")[0].provider_thread_id
        assert native_ids(thread) == main
        assert (house.workspace / "subagent.md").read_text() == "A line written by a subagent.\n"


async def test_a_long_answer_is_whole(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await ran(thread, "give me a long stream")
        text = said(thread, run.id)
        assert "# A long answer\n" in text
        assert text.endswith("That was the whole of it.\n")
        assert len(text.split()) > 200


async def test_a_turn_takes_a_message_while_it_runs(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run_id = await started(thread, "let me steer you")
        await until(lambda: "steer me now" in said(thread, run_id))
        await thread.post("make a plan instead", intent="steer")
        run = await ended(thread, run_id)
        assert run.outcome == "completed"
        assert 'You steered me: "make a plan instead"' in said(thread, run_id)
        assert len(thread.entities("plan")) == 1
        assert [row["text"] for row in house.log("steer")] == ["make a plan instead"]


async def test_a_failure_is_typed_and_the_next_prompt_works(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await ran(thread, "fail, please")
        assert (run.outcome, run.evidence) == ("failed", "provider")
        assert run.failure is not None
        assert (run.failure.kind, run.failure.code) == ("provider", "agent_error_-32603")
        assert "rehearsed failure" in run.failure.message
        assert (await ran(thread, "say hello")).outcome == "completed"


async def test_after_a_crash_the_conversation_goes_on_in_a_new_process(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run = await ran(thread, "crash")
        assert run.outcome == "failed"
        assert run.failure is not None
        assert (run.failure.kind, run.failure.code) == ("process", "process_exit")
        assert run.failure.detail["exit_code"] == 3
        assert said(thread, run.id).endswith("this sen")
        again = await ran(thread, "what did I ask before?")
        assert "1. crash\n" in said(thread, again.id)
        assert len(sessions(thread)) == 2


async def test_a_silent_turn_can_be_stopped(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        run_id = await started(thread, "be slow")
        await until(lambda: "Stop me" in said(thread, run_id))
        await thread.interrupt()
        run = await ended(thread, run_id)
        assert (run.outcome, run.evidence) == ("interrupted", "provider")


@pytest.mark.behaviour("F271")
async def test_it_remembers_in_a_new_process(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        first = await ran(thread, "say hello")
        ids = native_ids(thread)
    await house.empty()
    async with house.open() as p:
        thread = p.threads.get(thread.id)
        run = await ran(thread, "what did I ask before?")
        assert "1. say hello\n" in said(thread, run.id)
        assert "This is a rehearsal" in said(thread, first.id)
        assert "This is a rehearsal" not in said(thread, run.id)
        assert native_ids(thread) == ids


async def test_an_answer_that_is_not_offered_is_refused_and_the_question_stays(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p, "rehearsal")
        await thread.post("Ask me a single choice question")
        await until(p.requests.pending)
        request = p.requests.pending()[0]
        labels = [o.label for o in request.content.questions[0].options]
        for given in (("Purple",), (labels[0], "Purple")):
            with pytest.raises(BadInput) as wrong:
                await p.requests.answer(request.id, Answer(ACCEPT, (given,)))
            assert wrong.value.code == "answer_not_offered"
        await p.requests.answer(request.id, Answer(ACCEPT, ((labels[0],),)))
        await until(lambda: thread.state.active is None)
