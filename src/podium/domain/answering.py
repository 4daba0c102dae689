"""A person's answer to what an agent asked: it counts once, and only while the one that asked is there."""

from __future__ import annotations

from podium.contract.inputs import Respond
from podium.contract.requests import ACCEPT, Answer, Question
from podium.domain.commands import AnswerRequest
from podium.domain.entities import Request
from podium.domain.flow import ANSWER, ask_id
from podium.domain.outputs import AskAgent, Draft, Refusal
from podium.domain.waiting import settle_waiting


def answer(draft: Draft, command: AnswerRequest) -> Refusal | dict[str, str]:
    """Take the first answer to a request and hand it to the agent that asked; later ones are told who won."""
    held = draft.state.requests.get(command.request_id) or draft.state.known.get(command.request_id)
    request = held if isinstance(held, Request) else None
    if request is None or request.state in ("expired", "dismissed"):
        return Refusal(
            "gone", "request_expired", "This request can no longer be answered.", "Send a message instead."
        )
    if request.state != "pending":
        won = request.answer.decision if request.answer else request.state
        return Refusal(
            "conflict", "request_answered", f"Somebody answered first: {won}.", detail={"decision": won}
        )
    refusal = _check_answer(request, command.answer)
    if refusal is not None:
        return refusal
    session = draft.state.session
    if session is None or session.id != request.session_id:
        return Refusal("gone", "request_expired", "The agent that asked is gone.", "Send a message instead.")
    draft.change(
        request,
        state="answered",
        answer=command.answer,
        answered_by=draft.facts.actor,
        closed_at=draft.facts.now,
    )
    draft.do(AskAgent(session.id, Respond(ask_id(ANSWER, request.id), request.key, command.answer)))
    settle_waiting(draft, draft.state.runs.get(request.run_id or ""))
    return {"request": request.id, "decision": command.answer.decision}


def _check_answer(request: Request, answer: Answer) -> Refusal | None:
    offered = [o.id for o in request.options]
    if answer.decision not in offered:
        return Refusal(
            "bad_input",
            "option_not_offered",
            f"{answer.decision!r} is not offered; offered are: {', '.join(offered)}.",
            "Choose one of the offered options.",
        )
    questions = request.content.questions
    if questions and answer.decision == ACCEPT and len(answer.answers or ()) != len(questions):
        return Refusal(
            "bad_input",
            "wrong_answer_count",
            f"{len(answer.answers or ())} answers for {len(questions)} questions.",
            "Give one list of answers for each question, in order.",
        )
    if questions and answer.decision == ACCEPT:
        return next(filter(None, map(_check_given, questions, answer.answers or ())), None)
    return None


def _check_given(question: Question, given: tuple[str, ...]) -> Refusal | None:
    """A question takes its options, or one's own words where it says so; how many, its agent says."""
    labels = {o.label for o in question.options}
    other = [g for g in given if g not in labels] if labels and not question.free_text else []
    if not other:
        return None
    return Refusal(
        "bad_input",
        "answer_not_offered",
        f"{other[0]!r} is not offered for {question.text[:200]!r}; offered: {', '.join(sorted(labels))}.",
        "Choose among the options.",
    )
