"""A client cut 100 times at random bytes over five restarts ends with exactly what the journal holds."""

from __future__ import annotations

import hashlib
import itertools
import random

import anyio
import msgspec
import pytest

from podium.domain.entities import Item
from podium.journal.store import Journal
from podium.runtime.live import decode_entity
from tests.runtime.house import WAIT_MAX
from tests.server.desk import Desk, Web
from tests.server.following import Frame, Parser, Rebuilt, following, whole
from tests.server.processes import Server

pytestmark = pytest.mark.anyio

CUTS = 100
RESTARTS = {12: "kill", 31: "stop", 50: "kill", 69: "stop", 88: "kill"}
"""Before which cut the server ends, and how."""

BYTES_MAX = 6000
"""Most bytes that a connection lives."""

AIMED = 0.3
"""How many of the cuts are moved on into the next character of several bytes."""

SEED = 20_240_611
TURNS_MAX = 60
"""Most messages that are sent; so many are never needed."""

WORDS = ("naïve ", "日本語 ", "🎭🎬 ", "👩‍👩‍👧‍👦 ", "plain ", "🇪🇺 ", "\u2028 ", "e\u0301 ")


def play(rng: random.Random) -> str:
    """A turn of long text with emoji, tools between."""
    say = "".join(rng.choices(WORDS, k=150))
    steps = [{"do": "think", "text": say[:200]}, {"do": "say", "text": say, "delay": 0.004}]
    steps += [{"do": "tools", "count": 6}, {"do": "say", "text": say[::-1], "delay": 0.004}]
    return msgspec.json.encode({"play": steps}).decode()


def inside(data: bytes, begin: int) -> int:
    """Where the first character of several bytes from `begin` on is in two; past the end if there is none."""
    places = (at for at in range(begin, len(data)) if data[at] & 0xC0 == 0x80)
    return next(places, len(data) + 1)


class Cut:
    """The client and its connections."""

    def __init__(self, thread: str, rng: random.Random) -> None:
        self.thread = thread
        self.rng = rng
        self.known = Rebuilt()
        self.run = ""
        self.said = 0
        self.inside = 0
        self.in_character = 0

    @property
    def working(self) -> bool:
        run = self.known.entities.get(self.run, {"state": "none"})
        return bool(self.run) and run["state"] != "ended"

    async def speak(self, web: Web) -> None:
        """Send the next message once the last one's run is over."""
        if not self.working:
            self.said += 1
            assert self.said <= TURNS_MAX
            self.run = await web.say(self.thread, play(self.rng), f"m-{self.said}")

    async def connect(self, web: Web) -> None:
        """One connection, cut after some bytes or at the end of the run."""
        left, aimed = self.rng.randrange(1, BYTES_MAX), self.rng.random() < AIMED
        headers, path = dict(web.headers), "/v1/events?live=*"
        if self.rng.random() < 0.5:
            headers["last-event-id"] = str(self.known.last)
        else:
            path += f"&after={self.known.last}"
        parser, got = Parser(), b""
        async with web.http.stream("GET", path, headers=headers) as answer:
            with anyio.fail_after(WAIT_MAX):
                async for data in answer.aiter_raw():
                    end = inside(data, left) if aimed else left
                    kept = data[:end]
                    left -= min(left, len(data))
                    got += kept
                    for frame in parser.feed(kept):
                        self.known.take(frame)
                    if (not left and len(kept) == end) or not self.working:
                        break
        self.inside += not got.endswith(b"\n\n")
        try:
            got.decode()
        except UnicodeDecodeError:
            self.in_character += 1


@pytest.mark.behaviour("F242", "F243")
async def test_a_client_cut_a_hundred_times_over_five_restarts_has_the_journal(desk: Desk) -> None:
    rng = random.Random(SEED)
    server = await Server.start(desk)
    try:
        async with server.client() as web:
            client = Cut(await web.thread(), rng)
        boots: set[str] = set()
        pieces = sorted({0, CUTS, *RESTARTS})
        for begin, end in itertools.pairwise(pieces):
            if begin:
                await (server.kill() if RESTARTS[begin] == "kill" else server.stop())
                server = await Server.start(desk)
            async with server.client() as web:
                boots.add((await web.get("/v1/info"))["boot"])
                for _ in range(begin, end):
                    await client.speak(web)
                    await client.connect(web)
                    if rng.random() < 0.3:
                        await client.known.read_stale(web)
        async with server.client() as web:
            await settle(web, client)
            await same_text(web, client)
        assert len(boots) == 6 and client.inside > CUTS / 2 and client.in_character
    finally:
        await server.stop()
        await desk.stop_agents()
    same_sequences(desk, client)
    received = (desk.scripted / "prompts.jsonl").read_bytes().split(b"\n")
    prompts = [row for row in map(msgspec.json.decode, filter(None, received)) if row["kind"] == "prompt"]
    assert len(prompts) == client.said, "a prompt was sent twice or not at all"


async def settle(web: Web, client: Cut) -> None:
    """Follow without a cut until the run is over and the stream has what the journal has."""
    async with following(web, f"live=*&after={client.known.last}") as follower:
        while client.working:
            client.known.take(await follower.next())
        newest = (await web.get("/v1/threads"))["sequence"]

        def take(frame: Frame) -> bool:
            client.known.take(frame)
            return client.known.last >= newest

        if client.known.last < newest:
            await follower.until(take)
    await client.known.read_stale(web)
    assert not client.known.stale


async def same_text(web: Web, client: Cut) -> None:
    """Each text that the client built is the one that the journal's hash names."""
    known = client.known
    items = [e for e in known.entities.values() if e["kind"] == "item"]
    checked = 0
    for item in items:
        assert item["state"] != "open"
        for field, ref in item["bodies"].items():
            text = known.texts[item["id"], field].text
            mark = hashlib.sha256(text.encode()).hexdigest()
            assert (len(text), mark) == (ref["chars"], ref["sha256"]), (item["item_kind"], field)
            assert text == await whole(web, client.thread, item["id"], field)
            checked += 1
    assert checked > 10 and known.read_again


def same_sequences(desk: Desk, client: Cut) -> None:
    """The client's sequences and entities are the journal's, as far as it followed."""
    journal = Journal(desk.data, write=False)
    try:
        stored = [e.sequence for e in journal.all_events() if e.sequence <= client.known.last]
        assert client.known.sequences == stored == list(range(1, len(stored) + 1))
        items = [decode_entity(row) for row in journal.entities("item", thread_id=client.thread)]
        shown = {e["id"]: e["revision"] for e in client.known.entities.values() if e["kind"] == "item"}
        assert {i.id: i.revision for i in items if isinstance(i, Item)} == shown
    finally:
        journal.close()
