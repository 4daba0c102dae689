"""The server's side of a keeper's socket (R2, R3). No task of its own: whoever waits reads for everybody."""

from __future__ import annotations

import contextlib
from collections import deque
from types import TracebackType
from typing import Any, Literal

import anyio
import anyio.abc
import msgspec

from podium.transport.codec import encode_frame
from podium.transport.spool import (
    ExitRecord,
    SendRecord,
    SpoolReader,
    SpoolTrimmed,
    discard_folder,
    read_exit,
    read_sends,
    read_stderr,
)

__all__ = [
    "Attached",
    "BytesArrived",
    "ExitRecord",
    "Exited",
    "Fenced",
    "FencedOut",
    "KeeperLink",
    "LinkLost",
    "Notice",
    "SendRecord",
    "Sent",
    "SpoolFull",
    "SpoolReader",
    "SpoolTrimmed",
    "StdinClosed",
    "StdinReady",
    "discard_folder",
    "read_exit",
    "read_sends",
    "read_stderr",
]

CONNECT_MAX = 10.0  # seconds to connect and be answered
REPLY_MAX = 30.0  # seconds until a keeper has answered a message
WRITE_MAX = 30.0  # seconds until a keeper has taken a message
NOTICE_WAIT_MAX = 60.0  # seconds of one wait for a notice
RECEIVE = 65536
MESSAGE_MAX = 1 << 20  # bytes of one message of a keeper

Signal = Literal["INT", "TERM", "KILL"]


class LinkLost(Exception):
    """The keeper does not answer: it has left (read its files), or it hangs. Attach again or read the exit
    record."""


class Fenced(Exception):
    """A newer owner holds this keeper; `generation` is its number."""

    def __init__(self, generation: int) -> None:
        super().__init__(f"generation {generation} owns this agent process now; attach with a higher one")
        self.generation = generation


class Attached(msgspec.Struct, frozen=True):
    """The keeper's state at the attach: sends accepted and bytes of output so far."""

    attached: int
    last_sent: int
    offset: int
    agent_pid: int
    exit: ExitRecord | None
    note: str
    spool_full: bool = False


class Sent(msgspec.Struct, frozen=True):
    """The answer to a numbered send. `refused` is None when it was accepted or had been before; else "gap" (a
    number was left out), "stdin_full" (send again after StdinReady), "line_too_long", "stdin_closed",
    "not_encodable" or "log_failed" (disk). A refused send has not reached the agent with a single byte."""

    last_sent: int
    refused: str | None = None


class BytesArrived(msgspec.Struct, frozen=True):
    """There is output up to `offset`."""

    offset: int


class SpoolFull(msgspec.Struct, frozen=True):
    """Reading of the agent's output has stopped (True) or goes on (False)."""

    full: bool


class StdinClosed(msgspec.Struct, frozen=True):
    """The agent closed its stdin: `lost` bytes of accepted sends were never read by it."""

    lost: int


class StdinReady(msgspec.Struct, frozen=True):
    """After a refusal "stdin_full": half of the queue is free again."""


class Exited(msgspec.Struct, frozen=True):
    record: ExitRecord


class FencedOut(msgspec.Struct, frozen=True):
    """A newer owner took over; nothing more comes on this link."""

    generation: int


Notice = BytesArrived | SpoolFull | StdinClosed | StdinReady | Exited | FencedOut


class _Slot:
    """Waits for one answer. It stays in line when its waiter gave up, so that answers keep their order."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] | None = None


_GONE = (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
_decoder = msgspec.json.Decoder(dict[str, Any])


class KeeperLink:
    """One attached connection. Methods may be used from several tasks at once; all raise LinkLost when the
    keeper
    is gone and Fenced when a newer owner came. Leaving the block closes it; the keeper's linger then
    begins."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream
        self._inbox = bytearray()
        self._slots: deque[_Slot] = deque()
        self._notices: dict[type, Notice] = {}  # the newest of each kind: bounded, whoever is slow
        self._write = anyio.Lock()
        self._reading = False
        self._news = anyio.Event()
        self._closed = False
        self._fenced: int | None = None
        self.attached: Attached

    @classmethod
    async def attach(cls, address: str, generation: int) -> KeeperLink:
        """Own the keeper at `address`. Raises Fenced for a generation that is not the newest, LinkLost when
        nobody
        is there."""
        try:
            with anyio.fail_after(CONNECT_MAX):
                link = cls(await anyio.connect_unix(address))
        except (OSError, TimeoutError) as problem:
            raise LinkLost(f"no keeper at its address: {type(problem).__name__}") from None
        try:
            link.attached = msgspec.convert(await link._ask({"gen": generation}, CONNECT_MAX), Attached)
        except BaseException as problem:
            await link.aclose()
            if isinstance(problem, msgspec.ValidationError):
                raise LinkLost(f"the keeper speaks another language: {problem}") from None
            raise
        return link

    async def send(self, n: int, line: str) -> Sent:
        """Write `line` to the agent as send number `n`; a number sent before is acknowledged again and
        ignored."""
        return self._sent(await self._ask({"n": n, "line": line}))

    async def close_stdin(self, n: int) -> Sent:
        """Close the agent's stdin as send number `n`, behind everything queued."""
        return self._sent(await self._ask({"n": n, "close_stdin": True}))

    async def acknowledge(self, offset: int) -> int:
        """Output below `offset` may be deleted; answers from where on it is kept (whole segments)."""
        return int((await self._ask({"ack": offset}))["kept_from"])

    async def set_linger(self, seconds: float) -> None:
        """How long the keeper waits for an owner after losing one."""
        await self._ask({"linger": seconds})

    async def signal(self, name: Signal, *, group: bool = False) -> bool:
        """Signal the agent or its whole process group; False when there was nobody to signal."""
        return bool((await self._ask({"signal": name, "group": group}))["signalled"])

    async def census(self) -> list[int] | None:
        """Living pids in the agent's session and group; None where the system does not tell."""
        pids = (await self._ask({"census": True}))["census"]
        return None if pids is None else msgspec.convert(pids, list[int])

    async def note(self) -> str:
        return str((await self._ask({"note": True}))["note"])

    async def end(self, reason: str, *, grace: float = 5.0) -> None:
        """Close stdin, TERM the group after `grace` seconds, KILL it after as many again. Exited follows."""
        await self._ask({"end": reason, "grace": grace})

    async def release(self) -> None:
        """Leave on purpose: linger begins. The link is closed."""
        await self._ask({"release": True})
        await self.aclose()

    async def next_notice(self, wait: float = NOTICE_WAIT_MAX) -> Notice | None:
        """The next notice; None when none came within `wait` s. Raises LinkLost when none can come."""
        with anyio.move_on_after(wait):
            await self._until(lambda: bool(self._notices))
        if self._notices:
            return self._notices.pop(next(iter(self._notices)))
        return None

    def __aiter__(self) -> KeeperLink:
        return self

    async def __anext__(self) -> Notice:
        """Notices until the keeper has left or another owner came."""
        while True:
            try:
                notice = await self.next_notice()
            except (LinkLost, Fenced):
                raise StopAsyncIteration from None
            if notice is not None:
                return notice

    async def aclose(self) -> None:
        self._closed = True
        self._wake()
        await anyio.aclose_forcefully(self._stream)

    async def __aenter__(self) -> KeeperLink:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask(self, message: dict[str, Any], wait: float | None = None) -> dict[str, Any]:
        slot = _Slot()
        wait = REPLY_MAX if wait is None else wait
        data = encode_frame(message).encode() + b"\n"
        async with self._write:
            self._check()
            self._slots.append(slot)
            # Half a message would spoil all that follow, so a cancelled sender still finishes writing.
            with anyio.move_on_after(WRITE_MAX, shield=True) as scope, contextlib.suppress(*_GONE):
                await self._stream.send(data)  # a keeper that closed has said why: that is read below
            if scope.cancelled_caught:
                await self.aclose()
        try:
            with anyio.fail_after(wait):
                await self._until(lambda: slot.answer is not None)
        except TimeoutError:
            await self.aclose()
            raise LinkLost(f"the keeper did not answer within {wait:g} s") from None
        answer = slot.answer or {}
        if "error" in answer:
            raise LinkLost(f"the keeper does not know this message: {answer['error']}")
        return answer

    def _sent(self, answer: dict[str, Any]) -> Sent:
        code = answer.get("code")
        return Sent(int(answer["last_sent"]), None if code is None else str(code))

    async def _until(self, ready: Any) -> None:
        """Wait until `ready()`; the first who waits reads from the socket for all."""
        while not ready():
            self._check()
            if self._reading:
                await self._news.wait()
                continue
            self._reading = True
            try:
                await self._read_once()
            finally:
                self._reading = False
                self._wake()

    async def _read_once(self) -> None:
        try:
            self._inbox += await self._stream.receive(RECEIVE)
        except _GONE:
            self._closed = True
            return
        *lines, rest = self._inbox.split(b"\n")
        self._inbox = rest
        for line in lines:
            self._dispatch(line)
        if len(rest) > MESSAGE_MAX:
            self._closed = True

    def _dispatch(self, line: bytes | bytearray) -> None:
        try:
            message = _decoder.decode(line)
        except msgspec.MsgspecError:
            self._closed = True
            return
        notice = _notice(message)
        if isinstance(notice, FencedOut):
            self._fenced = notice.generation
        if notice is not None:
            self._notices.pop(type(notice), None)
            self._notices[type(notice)] = notice
        elif self._slots:
            self._slots.popleft().answer = message

    def _check(self) -> None:
        if self._fenced is not None:
            raise Fenced(self._fenced)
        if self._closed:
            raise LinkLost("the keeper has left; read its exit record, or attach again")

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def _notice(message: dict[str, Any]) -> Notice | None:
    """None for an answer."""
    notice: Notice | None = None
    match message:
        case {"attached": _}:
            pass
        case {"off": int(offset)}:
            notice = BytesArrived(offset)
        case {"spool_full": bool(full)}:
            notice = SpoolFull(full)
        case {"stdin_closed": int(lost)}:
            notice = StdinClosed(lost)
        case {"stdin_ready": True}:
            notice = StdinReady()
        case {"fenced": int(generation)}:
            notice = FencedOut(generation)
        case {"exit": record}:
            notice = Exited(msgspec.convert(record, ExitRecord))
        case _:
            pass
    return notice
