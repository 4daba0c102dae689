"""Threads: list, snapshot, items, bodies, messages, interrupts."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from podium.contract.errors import BadInput
from podium.contract.events import Body
from podium.runtime.bodyviews import BodyRange, ItemView
from podium.runtime.changes import Changes
from podium.runtime.podium import ThreadHandle
from podium.runtime.receipts import Receipt
from podium.runtime.snapshot import ITEMS_SHOWN, ItemPage, Snapshot, ThreadList
from podium.server.schema import (
    Checkpoints,
    Commands,
    Diagnostics,
    Interrupt,
    NewMessage,
    NewThread,
    Nodes,
    RunInput,
    ThreadChange,
    Workspaces,
)
from podium.server.service import ACTOR_API, ACTOR_PAGE, Served, Service

OptionalPosition = Annotated[int | None, QueryParameter(ge=0, le=2**53)]
Offset = Annotated[int, QueryParameter(ge=0, le=2**53)]
OptionalOffset = Annotated[int | None, QueryParameter(ge=0, le=2**53)]
Count = Annotated[int, QueryParameter(ge=1, le=500)]


def actor(request: Request[Any, Any, Any]) -> str:
    """Who calls: the page with its cookie, or a program with the token."""
    return ACTOR_API if "authorization" in request.headers else ACTOR_PAGE


@get("/threads", sync_to_thread=False)
def list_threads(service: Served) -> ThreadList:
    """Every thread with its state and its open requests."""
    return service.snapshots.threads()


@post("/threads", status_code=202)
async def create_thread(
    service: Served, request: Request[Any, Any, Any], data: JSONBody[NewThread]
) -> Receipt:
    """Begin a thread; `result.thread` is its id."""
    handle = await service.podium.threads.create(
        workspace=data.workspace,
        agent=data.agent or service.default_agent(),
        mode=data.mode,
        model=data.model,
        title=data.title,
        actor=actor(request),
        command_id=data.command_id,
    )
    return handle.receipt


@get("/threads/{thread_id:str}", sync_to_thread=False)
def show_thread(service: Served, thread_id: FromPath[str], items: Count = ITEMS_SHOWN) -> Snapshot:
    """A thread whole: entities, the newest items with text, and what can be done with it."""
    return service.snapshots.thread(thread_id, items=items)


@patch("/threads/{thread_id:str}", status_code=202)
async def change_thread(
    service: Served, request: Request[Any, Any, Any], thread_id: FromPath[str], data: JSONBody[ThreadChange]
) -> Receipt:
    """Put a thread away, or back."""
    thread = service.podium.threads.get(thread_id)
    return await thread.archive(data.archived, actor=actor(request), command_id=data.command_id)


@get("/threads/{thread_id:str}/items", sync_to_thread=False)
def list_items(
    service: Served, thread_id: FromPath[str], before: OptionalPosition = None, limit: Count = ITEMS_SHOWN
) -> ItemPage:
    """The newest items before a position, in their stored order."""
    return service.snapshots.page(thread_id, before=before, limit=limit)


@get("/threads/{thread_id:str}/items/{item_id:str}", sync_to_thread=False)
def show_item(service: Served, thread_id: FromPath[str], item_id: FromPath[str]) -> ItemView:
    """One item with its text."""
    return service.snapshots.item(thread_id, item_id)


@get("/threads/{thread_id:str}/items/{item_id:str}/bodies/{field:str}", sync_to_thread=False)
def show_body(
    service: Served,
    thread_id: FromPath[str],
    item_id: FromPath[str],
    field: FromPath[Body],
    start: Offset = 0,
    end: OptionalOffset = None,
) -> BodyRange:
    """Characters `start` to `end` of a body."""
    return service.snapshots.body(thread_id, item_id, field, start=start, end=end)


@post("/threads/{thread_id:str}/messages", status_code=202)
async def send_message(
    service: Served, request: Request[Any, Any, Any], thread_id: FromPath[str], data: JSONBody[NewMessage]
) -> Receipt:
    """Say something; `result.run` is the run it leads to."""
    if not data.text.strip():
        raise BadInput("prompt_empty", "The message is empty.", fix="Write what the agent should do.")
    return await service.podium.threads.get(thread_id).post(
        data.text,
        client_id=data.client_id,
        model=data.model,
        intent=data.intent,
        fresh=data.fresh,
        actor=actor(request),
    )


@post("/threads/{thread_id:str}/interrupt", status_code=202)
async def interrupt(
    service: Served, request: Request[Any, Any, Any], thread_id: FromPath[str], data: JSONBody[Interrupt]
) -> Receipt:
    """Ask a run to stop; its end comes as its own event."""
    thread = service.podium.threads.get(thread_id)
    return await thread.interrupt(data.run, actor=actor(request), command_id=data.command_id)


@get("/threads/{thread_id:str}/diff")
async def diff(
    service: Served, thread_id: FromPath[str], run: FromQuery[str | None] = None, text: FromQuery[bool] = True
) -> Changes:
    """What the thread, or one run, changed: paths with owners, and the text of it."""
    return await thread_of(service, thread_id).diff(run, text=text)


@get("/threads/{thread_id:str}/checkpoints", sync_to_thread=False)
def list_checkpoints(service: Served, thread_id: FromPath[str]) -> Checkpoints:
    """The captures of a thread, newest first."""
    thread = thread_of(service, thread_id)
    return Checkpoints(tuple(thread.checkpoints()))


@get("/threads/{thread_id:str}/diagnostics", sync_to_thread=False)
def diagnostics(service: Served, thread_id: FromPath[str]) -> Diagnostics:
    """What the agent sent that nothing else shows, masked."""
    thread_of(service, thread_id)
    return Diagnostics(service.diagnostics(thread_id))


@get("/threads/{thread_id:str}/nodes", sync_to_thread=False)
def list_nodes(service: Served, thread_id: FromPath[str]) -> Nodes:
    """The newest actions of a thread, with their place in its tree."""
    thread_of(service, thread_id)
    return Nodes(service.snapshots.nodes(thread_id))


@get("/threads/{thread_id:str}/commands", sync_to_thread=False)
def list_commands(service: Served, thread_id: FromPath[str]) -> Commands:
    """The slash commands that the agent offers in the thread."""
    thread_of(service, thread_id)
    return Commands(service.snapshots.commands(thread_id))


@get("/runs/{run_id:str}/input", sync_to_thread=False)
def run_input(service: Served, run_id: FromPath[str]) -> RunInput:
    """The exact blocks that a run's messages gave the agent, each with its origin."""
    return service.run_input(run_id)


@get("/workspaces", sync_to_thread=False)
def workspaces(service: Served) -> Workspaces:
    """Folders threads were begun in, newest first."""
    found = dict.fromkeys(t.workspace for t in service.runtime.reading.threads())
    return Workspaces(str(service.home), tuple(found))


def thread_of(service: Service, thread_id: FromPath[str]) -> ThreadHandle:
    """A thread by its id. Raises NotFound `thread_unknown`."""
    return service.podium.threads.get(thread_id)


ROUTES = [
    list_threads,
    create_thread,
    show_thread,
    change_thread,
    list_items,
    show_item,
    show_body,
    send_message,
    interrupt,
    diff,
    list_checkpoints,
    diagnostics,
    list_nodes,
    list_commands,
    run_input,
    workspaces,
]
