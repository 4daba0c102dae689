"""`podium.connect(url, token)`: a server's data folder with the interface of `podium.open()` (R12).

One event stream feeds a mirror; reads of open entities come from it, everything older is asked for.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec

from podium.client.mirror import Mirror, MirroredThread
from podium.client.sse import SseFrame
from podium.client.wire import Wire
from podium.contract.errors import BadInput, NotFound, PodiumError, Unavailable
from podium.contract.events import Body
from podium.contract.inputs import Mode
from podium.contract.requests import Answer
from podium.domain.entities import Checkpoint, Entity, ProviderThread, Request, Run, Thread
from podium.domain.events import Delta, Event
from podium.domain.state import ThreadState
from podium.runtime.bodyviews import BodyRange
from podium.runtime.changes import Changes
from podium.runtime.feed import Committed, Feed, Subscription
from podium.runtime.following import Have, Sending
from podium.runtime.receipts import Receipt
from podium.runtime.snapshot import ITEMS_SHOWN, ItemPage, Snapshot, ThreadList
from podium.workspace.values import RestorePlan

RETRY_FIRST, RETRY_MOST = 0.1, 5.0
"""Seconds before a broken stream is taken up again, at first and at most."""

CONNECT_MAX = 30.0
"""Longest wait for a server's first word, in seconds."""

CAUGHT_UP_MAX = 30.0
"""Longest wait until the mirror shows what a command did, in seconds."""


READY_MAX = 5.0
"""Longest wait for the server's word on its disk, in seconds."""

Told = Callable[[PodiumError | None], None]
"""Is told once when the server is away or cannot write, and, with None, once when that is over."""


class _Line(msgspec.Struct):
    sequence: int
    type: str
    thread_id: str
    entity: msgspec.Raw
    run_id: str | None = None
    at: float = 0.0
    actor: str = "system"
    command_id: str | None = None


class _Position(msgspec.Struct):
    sequence: int
    journal: str = ""


class _Waiting(msgspec.Struct):
    requests: tuple[Request, ...]


class _Card(msgspec.Struct):
    rehearsal: bool


class _Ready(msgspec.Struct):
    ok: bool


class _Plan(msgspec.Struct):
    plan: RestorePlan
    digest: str


_entity = msgspec.json.Decoder(Entity)


def absolute(path: str | Path) -> str:
    """A folder as a server can find it: from this process's own place."""
    return str(Path(path).expanduser().absolute())


def committed(frame: SseFrame) -> Committed | None:
    """An event of the stream; None for one of a kind that this version does not know."""
    line = msgspec.json.decode(frame.data, type=_Line)
    try:
        entity = _entity.decode(line.entity)
    except msgspec.ValidationError:
        return None
    event = Event(line.type, line.thread_id, entity, line.at, line.actor, line.command_id, line.run_id)
    return Committed(line.sequence, event)


class ConnectedThread:
    """One thread of a server."""

    def __init__(self, podium: ConnectedPodium, thread_id: str, receipt: Receipt | None = None) -> None:
        self._podium = podium
        self._wire = podium.wire
        self.id = thread_id
        self.receipt = receipt or Receipt(0, {"thread": thread_id})
        self._path = f"/v1/threads/{thread_id}"

    def _held(self) -> MirroredThread:
        held = self._podium.mirror.held.get(self.id)
        if held is None:
            raise BadInput(
                "thread_not_read", "This thread was not read yet.", fix="Await thread.read() first."
            )
        return held

    @property
    def state(self) -> ThreadState:
        """The open entities as of now. Raises BadInput `thread_not_read` before `read`."""
        return self._held().state

    @property
    def mine(self) -> bool:
        """The server works with its threads."""
        return True

    async def adopt(self) -> None:
        """The server works with its threads: they are only read."""
        await self.read()

    async def read(self) -> None:
        """Read the thread; from then on its state follows the server's. Raises NotFound `thread_unknown`."""
        if self.id not in self._podium.mirror.held:
            self._podium.mirror.take_snapshot(await self.snapshot())

    def run(self, run_id: str) -> Run:
        """A run by its id. Raises NotFound `run_unknown`."""
        found = self._held().runs.get(run_id)
        if found is None:
            raise NotFound("run_unknown", f"There is no run {run_id!r}.")
        return found

    def provider_threads(self) -> list[ProviderThread]:
        """The agent's own conversations behind this thread."""
        return list(self._held().conversations.values())

    async def snapshot(self) -> Snapshot:
        """The thread whole, with what can be done."""
        return await self._wire.call("GET", self._path, Snapshot)

    async def page(self, *, before: int | None = None, limit: int = ITEMS_SHOWN) -> ItemPage:
        """The newest items before a position, with their text (F275)."""
        return await self._wire.call("GET", f"{self._path}/items", ItemPage, before=before, limit=limit)

    async def body(self, item_id: str, field: Body = "text", *, start: int = 0) -> BodyRange:
        """A part of a body, from a character on. Raises NotFound."""
        path = f"{self._path}/items/{item_id}/bodies/{field}"
        return await self._wire.call("GET", path, BodyRange, start=start)

    async def diff(self, run_id: str | None = None, *, text: bool = True) -> Changes:
        """What the thread, or one run of it, changed (R11)."""
        said = "true" if text else "false"
        return await self._wire.call("GET", f"{self._path}/diff", Changes, run=run_id, text=said)

    def subscribe(self) -> AbstractContextManager[Subscription]:
        """Listen to this thread from now on."""
        return self._podium.subscribe(self.id)

    async def events_after(self, after: int) -> list[Committed]:
        """Stored events of this thread above a sequence."""
        return await self._podium.events_after(after, self.id)

    async def post(
        self,
        text: str,
        *,
        client_id: str | None = None,
        model: str | None = None,
        images: tuple[str, ...] = (),
        intent: str = "auto",
        fresh: bool = False,
    ) -> Receipt:
        """Send a message; returns once it is durable. The same `client_id` again: the same receipt (F281)."""
        if images:
            raise BadInput(
                "images_not_here", "A server takes no images yet.", fix="Send them without the server."
            )
        body = {"client_id": client_id or uuid.uuid4().hex, "text": text, "intent": intent, "fresh": fresh}
        if model is not None:
            body["model"] = model
        return await self._podium.command("POST", f"{self._path}/messages", body)

    def send(self, text: str, *, client_id: str | None = None, **options: Any) -> Sending:
        """Send a message and iterate over what happens. Options as for `post`."""
        chosen = client_id or uuid.uuid4().hex
        return Sending(self, lambda: self.post(text, client_id=chosen, **options))

    async def interrupt(self, run_id: str | None = None) -> Receipt:
        """Ask the active run to stop (F249)."""
        return await self._podium.command("POST", f"{self._path}/interrupt", {"run": run_id})

    async def archive(self, archived: bool = True) -> Receipt:
        """Put the thread away, or back."""
        return await self._podium.command("PATCH", self._path, {"archived": archived})


class ConnectedThreads:
    """Threads of a server."""

    def __init__(self, podium: ConnectedPodium) -> None:
        self._podium = podium

    async def create(
        self,
        *,
        workspace: str | Path,
        agent: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        title: str | None = None,
        command_id: str | None = None,
    ) -> ConnectedThread:
        """Begin a thread in a folder of the server's machine; without an agent, with the default one."""
        given = {
            "workspace": absolute(workspace),
            "agent": agent,
            "mode": mode,
            "model": model,
            "title": title,
            "command_id": command_id,
        }
        receipt = await self._podium.command("POST", "/v1/threads", given)
        thread = ConnectedThread(self._podium, receipt.result["thread"], receipt)
        await thread.read()
        return thread

    def get(self, thread_id: str) -> ConnectedThread:
        """A thread by its id. Raises NotFound `thread_unknown`."""
        if thread_id not in self._podium.mirror.threads:
            raise NotFound("thread_unknown", f"There is no thread {thread_id!r}.", fix="podium threads list")
        return ConnectedThread(self._podium, thread_id)

    def list(self) -> Sequence[Thread]:
        """Threads, newest first."""
        found = self._podium.mirror.threads.values()
        return sorted(found, key=lambda t: t.created_at, reverse=True)


class ConnectedRequests:
    """Requests of all threads of a server."""

    def __init__(self, podium: ConnectedPodium) -> None:
        self._podium = podium

    def pending(self) -> Sequence[Request]:
        """Everything that waits for a person, oldest first."""
        return self._podium.mirror.pending()

    async def read(self, request_id: str) -> Request:
        """A request as it is now. Raises NotFound `request_unknown`."""
        return await self._podium.wire.call("GET", f"/v1/requests/{request_id}", Request)

    async def answer(self, request_id: str, answer: Answer, *, command_id: str | None = None) -> Receipt:
        """Decide a request. Raises Conflict `request_answered`, Gone `request_expired`, or BadInput."""
        given = {**msgspec.to_builtins(answer), "command_id": command_id}
        return await self._podium.command("POST", f"/v1/requests/{request_id}/answer", given)


class ConnectedCheckpoints:
    """Captured files of a server's threads, and taking back what was changed since (R11)."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._shown: dict[str, dict[str, Any]] = {}

    async def plan(self, target: str, *, force: bool = False) -> RestorePlan:
        """What taking back would do; nothing is touched."""
        return await self._plan({"target": target, "force": force, "undo": False})

    async def undo_plan(self, checkpoint_id: str, *, force: bool = False) -> RestorePlan:
        """What taking a restore back would do."""
        return await self._plan({"target": checkpoint_id, "force": force, "undo": True})

    async def _plan(self, wish: dict[str, Any]) -> RestorePlan:
        found = await self._wire.call("POST", "/v1/checkpoints/plan", _Plan, wish)
        self._shown[found.plan.id] = {"wish": wish, "digest": found.digest}
        return found.plan

    async def restore(self, plan: RestorePlan) -> Checkpoint:
        """Carry a plan out that was made here. Raises Conflict `plan_changed` if the files changed since."""
        shown = self._shown.pop(plan.id, None)
        if shown is None:
            raise BadInput("plan_unknown", "This plan was not made by this connection.", fix="Make it anew.")
        return await self._wire.call("POST", "/v1/checkpoints/restore", Checkpoint, shown)


class ConnectedPodium:
    """A server's data folder. Made by `podium.connect()`."""

    def __init__(self, wire: Wire, told: Told | None = None) -> None:
        self.wire = wire
        self._told = told
        self._trouble: str | None = None
        self.mirror = Mirror()
        self.feed = Feed()
        self.threads = ConnectedThreads(self)
        self.requests = ConnectedRequests(self)
        self.checkpoints = ConnectedCheckpoints(wire)
        self._moved = anyio.Event()

    @property
    def sequence(self) -> int:
        """The newest sequence that came through the stream."""
        return self.mirror.sequence

    def subscribe(self, thread_id: str | None = None) -> AbstractContextManager[Subscription]:
        """Listen to committed events and deltas of one thread or of all."""
        return self.feed.subscribe(thread_id)

    async def command(self, method: str, path: str, body: dict[str, Any]) -> Receipt:
        """Give a command; returns once the mirror shows what it did."""
        given = {k: v for k, v in body.items() if v is not None}
        receipt = await self.wire.call(method, path, Receipt, given)
        with anyio.move_on_after(CAUGHT_UP_MAX):
            while self.mirror.sequence < receipt.sequence:
                self._moved = anyio.Event()
                await self._moved.wait()
        return receipt

    async def events_after(self, after: int, thread_id: str) -> list[Committed]:
        """Stored events of a thread above a sequence, up to the newest."""
        found: list[Committed] = []
        upto: int | None = None
        async with aclosing(self.wire.frames(after=str(after), threads=thread_id)) as frames:
            async for frame in frames:
                if frame.event == "hello":
                    upto = msgspec.json.decode(frame.data, type=_Position).sequence
                    if after >= upto:
                        break
                elif frame.event == "event":
                    seen = committed(frame)
                    if seen is not None:
                        found.append(seen)
                    if upto is not None and seen is not None and seen.sequence >= upto:
                        break
                elif frame.event in ("heartbeat", "reset"):
                    break
        return found

    async def missed(self, have: Have) -> Delta | None:
        """The text of a body behind what a reader has; None where there is no more."""
        path = f"/v1/threads/{have.thread_id}/items/{have.item}/bodies/{have.field}"
        pieces: list[str] = []
        start = have.chars
        while True:
            found = await self.wire.call("GET", path, BodyRange, start=start)
            if found.epoch != have.epoch or found.parts <= have.parts:
                return None
            pieces.append(found.text)
            start = found.end
            if found.end >= found.chars:
                break
        text = "".join(pieces)
        return Delta(have.thread_id, have.item, have.field, have.epoch, have.parts + 1, found.parts, text)

    async def is_rehearsal(self, agent: str) -> bool:
        """Whether an agent only plays, without a model."""
        return (await self.wire.call("GET", f"/v1/agents/{agent}", _Card)).rehearsal

    async def stop_agents(self, reason: str) -> int:
        """A server's agents are its own: none is ended."""
        return 0

    # ---- the stream

    async def follow(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Keep the mirror up to date until cancelled; a broken stream is taken up where it broke."""
        journal: str | None = None
        wait, first = RETRY_FIRST, True
        while True:
            after = None if first else str(self.mirror.sequence)
            try:
                async with aclosing(self.wire.frames(after=after, journal=journal, live="*")) as frames:
                    async for frame in frames:
                        if frame.event == "hello":
                            found = msgspec.json.decode(frame.data, type=_Position)
                            journal = found.journal
                            if first:
                                self.mirror.sequence = found.sequence
                                await self._read_lists()
                                task_status.started()
                            first, wait = False, RETRY_FIRST
                            self._tell(None)
                        else:
                            await self._take(frame)
            except PodiumError as error:
                if first:
                    raise
                self._tell(error)
            await anyio.sleep(wait)
            wait = min(RETRY_MOST, wait * 2)

    def _tell(self, trouble: PodiumError | None) -> None:
        code = trouble.code if trouble is not None else None
        if code == self._trouble:
            return
        self._trouble = code
        if self._told is not None:
            self._told(trouble)

    async def _ask_ready(self) -> None:
        """Whether the silence has a reason: a server that cannot write says nothing else."""
        try:
            with anyio.move_on_after(READY_MAX):
                await self.wire.call("GET", "/v1/readyz", _Ready)
                self._tell(None)
        except PodiumError as error:
            if error.code != "server_unreachable":  # the stream itself says so, if it is
                self._tell(error)

    async def _read_lists(self) -> None:
        found = await self.wire.call("GET", "/v1/threads", ThreadList)
        waiting = await self.wire.call("GET", "/v1/requests", _Waiting)
        self.mirror.take_list(found, waiting.requests)

    async def _take(self, frame: SseFrame) -> None:
        if frame.event == "event":
            seen = committed(frame)
            if seen is None:
                self.mirror.sequence = max(self.mirror.sequence, int(frame.id or 0))
            elif seen.sequence > self.mirror.sequence:
                self.mirror.take_event(seen)
                self.feed.publish(seen)
        elif frame.event == "delta":
            self.feed.publish(msgspec.json.decode(frame.data, type=Delta))
        elif frame.event in ("heartbeat", "reset"):
            self.mirror.sequence = msgspec.json.decode(frame.data, type=_Position).sequence
            if frame.event == "reset":
                await self._read_again()
            else:
                await self._ask_ready()
        self._moved.set()

    async def _read_again(self) -> None:
        """The cursor could not be used: everything that is held is read anew."""
        await self._read_lists()
        for thread_id in list(self.mirror.held):
            self.mirror.take_snapshot(await ConnectedThread(self, thread_id).snapshot())


@asynccontextmanager
async def connect(url: str, token: str, *, told: Told | None = None) -> AsyncGenerator[ConnectedPodium]:
    """Use a server from another process: the same interface as `podium.open()`.

    A server that goes away is waited for; `told` hears of it, and of one that cannot write.

    Raises Unavailable `server_unreachable` or `not_signed_in`.
    """
    wire = Wire(url, token)
    podium = ConnectedPodium(wire, told)
    problem: Exception | None = None
    try:
        async with anyio.create_task_group() as group:
            try:
                with anyio.fail_after(CONNECT_MAX):
                    await group.start(podium.follow)
                yield podium
            except TimeoutError:
                problem = Unavailable("server_unreachable", f"The server at {url} does not answer.")
            except Exception as error:  # raised again below, outside of the group
                problem = error
            finally:
                podium.feed.close()
                group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await wire.aclose()
    if problem is not None:
        raise problem
