"""`podium requests`: what agents wait for, and answers to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.cli.printing import say, say_json, table, when
from podium.contract.errors import BadInput, Conflict, Gone

if TYPE_CHECKING:
    from podium.cli.driving import Hand
    from podium.cli.output import Output
    from podium.contract.requests import Answer
    from podium.domain.entities import Request
    from podium.runtime.interface import AnyPodium


def list_requests(*, all: bool = False, json: bool = False) -> int:
    """List what waits for a person, oldest first.

    Parameters
    ----------
    all
        Those that are over too, each with what became of it.
    json
        Print one request a line, as JSON.
    """
    from podium.cli.narrating import request_line, request_outcome
    from podium.runtime.eventlines import entity_data
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder

    with open_reading(data_folder(os.environ)) as reading:
        found = reading.all_requests() if all else reading.requests()
    if json:
        say_json(map(entity_data, found))
    elif not found:
        say("Nothing was asked.\n" if all else "Nothing waits.\n")
    else:
        rows = [
            (
                r.id,
                r.thread_id,
                request_line(r).strip(),
                ", ".join(o.id for o in r.options) if r.state == "pending" else request_outcome(r),
                when(r.created_at),
            )
            for r in found
        ]
        say(
            table(
                (
                    "request",
                    "thread",
                    "what",
                    "offered or outcome" if all else "offered",
                    "asked" if all else "since",
                ),
                rows,
                fold=2,
            )
        )
    return 0


def answer_request(
    request: str,
    decision: str,
    /,
    *,
    answer: Annotated[tuple[str, ...], Parameter(name="--answer")] = (),
    text: str | None = None,
    follow: bool = False,
) -> int:
    """Answer a request; its agent goes on working.

    Parameters
    ----------
    request
        Its id.
    decision
        One of the offered options.
    answer
        The answer to a question; once for each question, in their order.
    text
        Words for the agent to go with the decision.
    follow
        Follow the run to its end.
    """
    import anyio

    from podium.contract.requests import Answer

    given = Answer(decision, tuple((a,) if a else () for a in answer) or None, text)
    return anyio.run(_answer, request, given, follow)


async def _answer(request_id: str, given: Answer, follow: bool) -> int:
    from podium.cli.driving import attended
    from podium.runtime.runtime import LINGER_MAX

    async def deliver(podium: AnyPodium, output: Output, hand: Hand) -> int:
        return await _deliver(podium, output, hand, request_id, given, follow)

    return await attended(LINGER_MAX, deliver)


async def _deliver(
    podium: AnyPodium, output: Output, hand: Hand, request_id: str, given: Answer, follow: bool
) -> int:
    from podium.cli.driving import WAITING, Choices, Drive, exit_code
    from podium.cli.stream import Stream

    request = await podium.requests.read(request_id)
    check(request, given)
    with Stream(podium) as stream:
        drive = Drive(podium, stream, output, Choices(keep=True))
        thread = podium.threads.get(request.thread_id)
        await thread.read()
        drive.begin(thread)
        try:
            receipt = await podium.requests.answer(request_id, given)
        except (Conflict, Gone):
            check(await podium.requests.read(request_id), given)
            raise
        output.put(output.out, f"answered {request_id}: {given.decision} (sequence {receipt.sequence})\n")
        if not thread.mine:
            drive.tell("the Podium that works with this thread goes on with it")
            return 0
        run = thread.state.runs.get(request.run_id or "")
        if not follow or run is None:
            drive.tell(f"the agent goes on; follow it with podium run --thread {thread.id}")
            return 0
        hand.drive = drive
        ended = await drive.follow(run.id)
        if ended is None:
            drive.waits()
            return WAITING
        drive.summary(ended)
        return exit_code(ended)


def check(request: Request, given: Answer) -> None:
    """What can be said before an agent is touched. Raises Conflict, Gone or BadInput."""
    if request.state == "answered":
        won = request.answer.decision if request.answer else "an answer"
        raise Conflict(
            "request_answered",
            f"The request was already answered: {won} by {request.answered_by or 'somebody'}.",
            fix=f"See what came of it: podium threads show {request.thread_id}",
        )
    if request.state != "pending":
        raise Gone(
            "request_expired",
            f"The request {request.state} ({request.reason or 'its agent is gone'}); it takes no answer.",
            fix=f"Send a message instead: podium run --thread {request.thread_id} PROMPT",
        )
    offered = [o.id for o in request.options]
    if given.decision not in offered:
        raise BadInput(
            "option_not_offered",
            f"{given.decision!r} is not offered; offered are: {', '.join(offered)}.",
            fix="Choose one of them.",
        )
