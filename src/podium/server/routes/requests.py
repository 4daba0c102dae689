"""Requests: what agents wait for, and the answers."""

from __future__ import annotations

from typing import Any

from litestar import Request, get, post
from litestar.params import FromPath, JSONBody

from podium.contract.requests import Answer
from podium.domain.entities import Request as AskedRequest
from podium.runtime.receipts import Receipt
from podium.server.routes.threads import actor
from podium.server.schema import GivenAnswer, Requests
from podium.server.service import Served


@get("/requests", sync_to_thread=False)
def list_requests(service: Served) -> Requests:
    """Everything that waits for a person, oldest first, whichever thread and subagent it is of (F141)."""
    sequence = service.runtime.journal.sequence()
    return Requests(sequence, tuple(service.podium.requests.pending()))


@get("/requests/{request_id:str}", sync_to_thread=False)
def show_request(service: Served, request_id: FromPath[str]) -> AskedRequest:
    """A request as it is now."""
    return service.podium.requests.get(request_id)


@post("/requests/{request_id:str}/answer", status_code=202)
async def answer(
    service: Served, request: Request[Any, Any, Any], request_id: FromPath[str], data: JSONBody[GivenAnswer]
) -> Receipt:
    """Decide a request. 409 names the winner of a lost race, 410 says that it is too late."""
    given = Answer(data.decision, data.answers, data.text, data.updated_input)
    return await service.podium.requests.answer(
        request_id, given, actor=actor(request), command_id=data.command_id
    )


ROUTES = [list_requests, show_request, answer]
