"""A client of the event stream by the rules of docs/http.md: frames, cursor, text rebuilt from deltas."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import msgspec

from tests.runtime.house import WAIT_MAX
from tests.server.desk import Web


class Frame(msgspec.Struct, frozen=True):
    """One whole frame."""

    event: str
    data: Any
    id: int | None = None


class Parser:
    """Bytes in, whole frames out; what is incomplete waits, and is lost with the connection."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Frame]:
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        return [_frame(block) for block in whole]


def _frame(block: bytes) -> Frame:
    fields: dict[str, str] = {}
    for line in block.decode().split("\n"):
        name, colon, value = line.partition(": ")
        assert colon and name in ("id", "event", "data") and name not in fields, block
        fields[name] = value
    number = int(fields["id"]) if "id" in fields else None
    return Frame(fields["event"], msgspec.json.decode(fields["data"]), number)


class Follower:
    """One open stream."""

    def __init__(self, answer: httpx.Response) -> None:
        self._bytes = answer.aiter_raw()
        self._parser = Parser()
        self._frames: list[Frame] = []
        self.seen: list[Frame] = []

    async def next(self) -> Frame:
        """The next frame, in bounded time."""
        with anyio.fail_after(WAIT_MAX):
            while not self._frames:
                self._frames = self._parser.feed(await anext(self._bytes))
        self.seen.append(self._frames.pop(0))
        return self.seen[-1]

    async def until(self, wanted: Callable[[Frame], object]) -> Frame:
        """Read on to a frame like this."""
        while True:
            frame = await self.next()
            if wanted(frame):
                return frame

    @property
    def sequences(self) -> list[int]:
        """The sequences of the events so far."""
        return [f.data["sequence"] for f in self.seen if f.event == "event"]


@asynccontextmanager
async def following(web: Web, query: str = "", *, last: object = None) -> AsyncGenerator[Follower]:
    """A stream, with `Last-Event-ID` if there is one."""
    headers = {**web.headers, **({} if last is None else {"last-event-id": str(last)})}
    async with web.http.stream("GET", f"/v1/events?{query}", headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Follower(answer)


def ends(run: str) -> Callable[[Frame], bool]:
    """Whether a frame says that a run is over."""

    def check(frame: Frame) -> bool:
        entity = frame.data.get("entity") if frame.event == "event" else None
        return bool(entity) and entity["kind"] == "run" and entity["id"] == run and entity["state"] == "ended"

    return check


class Text(msgspec.Struct):
    """A body as far as it was rebuilt."""

    epoch: int = 0
    parts: int = 0
    text: str = ""


class Rebuilt:
    """What a client knows after its frames: sequences, entities, text."""

    def __init__(self) -> None:
        self.last: int = 0
        self.sequences: list[int] = []
        self.entities: dict[str, Any] = {}
        self.texts: dict[tuple[str, str], Text] = {}
        self.stale: set[str] = set()
        self.read_again = 0

    def take(self, frame: Frame) -> None:
        """One frame."""
        if frame.event == "event":
            self.sequences.append(frame.data["sequence"])
            sequence: int = frame.data["sequence"]
            assert frame.id == sequence > self.last
            self.last = sequence
            self._entity(frame.data["entity"])
        elif frame.event == "delta":
            self._delta(frame.data)
        elif frame.event == "heartbeat":
            self.last = max(self.last, frame.data["sequence"])
        else:
            assert frame.event == "hello", frame

    def _entity(self, entity: Any) -> None:
        held = self.entities.get(entity["id"])
        if held is not None and held["revision"] > entity["revision"]:
            return
        self.entities[entity["id"]] = entity
        if entity["kind"] == "item" and entity["state"] != "open":
            for field, ref in entity["bodies"].items():
                have = self.texts.get((entity["id"], field), Text())
                if (have.epoch, have.parts) != (ref["epoch"], ref["parts"]) and ref["epoch"] >= have.epoch:
                    self.stale.add(entity["id"])

    def _delta(self, delta: Any) -> None:
        have = self.texts.setdefault((delta["item"], delta["field"]), Text())
        if delta["body_epoch"] > have.epoch and delta["from_part"] == 1:
            have.epoch, have.parts, have.text = delta["body_epoch"], 0, ""
        if delta["body_epoch"] < have.epoch:
            return
        if delta["body_epoch"] == have.epoch and delta["to_part"] <= have.parts:
            return
        if delta["body_epoch"] == have.epoch and delta["from_part"] == have.parts + 1:
            have.parts, have.text = delta["to_part"], have.text + delta["text"]
        else:
            self.stale.add(delta["item"])

    async def read_stale(self, web: Web) -> None:
        """Read again what the deltas alone do not tell."""
        for item in sorted(self.stale):
            self.read_again += 1
            thread = self.entities[item]["thread_id"] if item in self.entities else None
            if thread is None:
                continue  # its event comes
            view = await web.get(f"/v1/threads/{thread}/items/{item}")
            for field, body in view["text"].items():
                text = body["text"]
                if body["tail"] is not None:
                    text = await whole(web, thread, item, field)
                self.texts[item, field] = Text(body["epoch"], body["parts"], text)
            self.stale.discard(item)


async def whole(web: Web, thread: str, item: str, field: str) -> str:
    """A long body, range by range."""
    found, end = "", 1
    while len(found) < end:
        part = await web.get(f"/v1/threads/{thread}/items/{item}/bodies/{field}?start={len(found)}")
        assert part["start"] == len(found) and part["end"] == part["start"] + len(part["text"])
        found, end = found + part["text"], part["chars"]
        if not part["text"]:
            break
    return found
