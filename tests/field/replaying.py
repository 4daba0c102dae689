"""Plays a case against the library: the replay agent is its program, the driver's steps are calls and checks.

The agent is a real process under a real keeper. Every wait is bounded and none is measured.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

import podium
from podium.contract.errors import PodiumError
from podium.contract.inputs import Mode
from podium.contract.requests import Answer
from podium.domain.entities import Item, NoticeEntry, ProviderThread, Request, Run, Session, Turn
from podium.runtime.live import decode_entity
from podium.runtime.podium import Podium, ThreadHandle

CASES = Path(__file__).with_name("cases")
AGENT = Path(__file__).with_name("replay_agent.py")

REACH_MAX = 20.0
"""Longest wait for a wanted state, in seconds."""

POLL = 0.02
"""Seconds between two looks."""

Step = dict[str, Any]

ADAPTERS = {"codex-app-server": "codex", "acp": "scripted"}

_STATES: dict[str, str] = {"cancelled": "interrupted"}

DECISIONS = {"accept": "accept", "decline": "decline", "yes": "accept", "acceptForSession": "accept_session"}
"""The agents' words for a decision, as the option ids that Podium offers."""


def read_case(name: str) -> tuple[str, list[Step]]:
    """A case's adapter and its steps."""
    lines = (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()
    head, *steps = [json.loads(line) for line in lines if line.strip()]
    return ADAPTERS[head["proto"]], steps


def codex_start(*, thread: str = "th-1", version: str = "0/0.171.0") -> list[Step]:
    """The handshake of an app server and one new thread."""
    return [*codex_hello(version), *codex_thread(thread)]


def codex_hello(version: str = "0/0.171.0") -> list[Step]:
    """The handshake alone."""
    return [
        {"expect_to_agent": {"method": "initialize"}, "bind": {"$i": "id"}},
        {"agent": {"id": "$i", "result": {"userAgent": f"fake{version}"}}},
        {"expect_to_agent": {"method": "initialized"}},
    ]


def codex_thread(thread: str = "th-1", method: str = "thread/start", **more: Any) -> list[Step]:
    """One thread made or resumed."""
    return [
        {"expect_to_agent": {"method": method}, "bind": {"$t": "id"}},
        {"agent": {"id": "$t", "result": {"thread": {"id": thread}, "model": "m-1", **more}}},
    ]


def codex_turn(turn: str = "tu-1", thread: str = "th-1") -> list[Step]:
    """One prompt taken, its turn started."""
    body: dict[str, Any] = {"id": turn, "items": [], "status": "inProgress", "error": None}
    return [
        {"expect_to_agent": {"method": "turn/start"}, "bind": {"$p": "id"}},
        {"agent": {"id": "$p", "result": {"turn": body}}},
        note("turn/started", turn=body, thread=thread),
    ]


def note(method: str, *, thread: str = "th-1", **params: Any) -> Step:
    """A notification of an app server."""
    return {"agent": {"method": method, "params": {"threadId": thread, **params}}}


def codex_said(text: str, item: str = "m1", turn: str = "tu-1") -> Step:
    """A whole assistant message."""
    return note("item/completed", turnId=turn, item={"type": "agentMessage", "id": item, "text": text})


def codex_end(turn: str = "tu-1", status: str = "completed", error: Any = None) -> Step:
    """The end of a turn."""
    return note("turn/completed", turn={"id": turn, "items": [], "status": status, "error": error})


def acp_start(session: str = "s-1", **offers: Any) -> list[Step]:
    """The handshake of an ACP agent and one new session."""
    hello: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": offers, "authMethods": []}
    return [
        {"expect_to_agent": {"method": "initialize"}, "bind": {"$i": "id"}},
        {"agent": {"jsonrpc": "2.0", "id": "$i", "result": hello}},
        {"expect_to_agent": {"method": "session/new"}, "bind": {"$s": "id"}},
        {"agent": {"jsonrpc": "2.0", "id": "$s", "result": {"sessionId": session}}},
    ]


def acp_prompt() -> Step:
    """Wait for a prompt."""
    return {"expect_to_agent": {"method": "session/prompt"}, "bind": {"$p": "id"}}


def acp_update(what: str, session: str = "s-1", **update: Any) -> Step:
    """A session update."""
    params = {"sessionId": session, "update": {"sessionUpdate": what, **update}}
    return {"agent": {"jsonrpc": "2.0", "method": "session/update", "params": params}}


def acp_said(text: str, kind: str = "agent_message_chunk") -> Step:
    """A piece of a message."""
    return acp_update(kind, content={"type": "text", "text": text})


def acp_end(word: str = "end_turn") -> Step:
    """The end of a turn."""
    return {"agent": {"jsonrpc": "2.0", "id": "$p", "result": {"stopReason": word}}}


STAY: Step = {"stay": True}
SEND: Step = {"client": {"op": "send", "text": "go"}}


class Stage:
    """One data folder, workspace and replay agent; `open` starts Podium on them, as often as needed."""

    def __init__(self, root: Path, adapter: str, *starts: list[Step], **agent: Any) -> None:
        self.root = root
        self.adapter = adapter
        self.starts = starts
        self.play = root / "play"
        self.workspace = root / "ws"
        self.data = root / "data"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "PODIUM_CONFIG": str(root / "config"),
        }
        for folder in (self.play, self.workspace, root / "home", root / "config"):
            folder.mkdir(parents=True)
        for number, steps in enumerate(starts, 1):
            lines = (json.dumps(step, ensure_ascii=True) + "\n" for step in steps)
            (self.play / f"{number}.jsonl").write_text("".join(lines), "ascii")
        program = root / "bin" / "replayed"
        program.parent.mkdir()
        program.write_text(
            "#!/bin/sh\n"
            'if [ "$1" = --version ]; then echo "replayed 0.171.0"; exit 0; fi\n'
            f'exec "{sys.executable}" "{AGENT}" "{self.play}"\n'
        )
        program.chmod(0o755)
        settings = {"adapter": adapter, "program": str(program), **agent}
        rows = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        (root / "config" / "podium.toml").write_text("[agents.replayed]\n" + rows)

    @asynccontextmanager
    async def open(self, *, mode: Mode = "ask", linger: float = 0.0) -> AsyncGenerator[Driver]:
        """Podium on this stage, with its one thread."""
        async with podium.open(self.data, environ=self.environ, linger=linger) as p:
            thread = await p.threads.create(
                workspace=self.workspace, agent="replayed", mode=mode, command_id="the thread"
            )
            await thread.adopt()
            yield Driver(self, p, thread)

    def got(self, start: int = 1) -> list[Any]:
        """What the agent of this start was sent."""
        path = self.play / f"got-{start}"
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def asked(self, method: str, start: int = 1) -> list[Any]:
        """The requests and notifications of one method that it was sent."""
        return [frame for frame in self.got(start) if frame.get("method") == method]

    def result(self, start: int = 1) -> int | None:
        """How the play of this start ended; None while it goes on, or where it was killed."""
        path = self.play / f"result-{start}"
        return int(path.read_text()) if path.exists() else None

    def steps_done(self, start: int = 1) -> int:
        """The index of the last step that is done; -1 before the first."""
        path = self.play / f"done-{start}"
        return int(path.read_text().splitlines()[-1]) if path.exists() and path.read_text() else -1

    def started(self) -> int:
        """How often the program was started."""
        return len(list(self.play.glob("started-*")))


class Driver:
    """Drives the one thread of a stage, as a client would."""

    def __init__(self, stage: Stage, p: Podium, thread: ThreadHandle) -> None:
        self.stage = stage
        self.p = p
        self.thread = thread
        self.run_id: str | None = None
        self.errors: list[PodiumError] = []
        self.wins: list[tuple[str, str]] = []

    # ---- looking

    def entities(self, kind: str) -> list[Any]:
        """All stored entities of a kind."""
        return list(self.thread.entities(kind))

    @property
    def runs(self) -> list[Run]:
        """All runs, in order."""
        found = [e for e in self.entities("run") if isinstance(e, Run)]
        return sorted(found, key=lambda run: run.ordinal)

    @property
    def last(self) -> Run:
        """The newest run."""
        return self.runs[-1]

    @property
    def requests(self) -> list[Request]:
        """All requests, oldest first."""
        found = [e for e in self.entities("request") if isinstance(e, Request)]
        return sorted(found, key=lambda request: request.created_at)

    @property
    def items(self) -> list[Item]:
        """The newest page of items that are not the user's own messages."""
        return [item for item in self.thread.items() if item.item_kind != "user_message"]

    @property
    def notices(self) -> list[NoticeEntry]:
        """All notices."""
        return [e for e in self.entities("notice") if isinstance(e, NoticeEntry)]

    @property
    def sessions(self) -> list[Session]:
        """All sessions."""
        return [e for e in self.entities("session") if isinstance(e, Session)]

    @property
    def turns(self) -> list[Turn]:
        """All turns."""
        return [e for e in self.entities("turn") if isinstance(e, Turn)]

    @property
    def main(self) -> ProviderThread:
        """The agent's conversation."""
        found = [e for e in self.entities("provider_thread") if isinstance(e, ProviderThread)]
        return next(p for p in found if p.parent_node_id is None)

    def item(self, native: str) -> Item:
        """The one item with this native id."""
        (found,) = [i for i in self.thread.items() if i.native is not None and i.native.id == native]
        return found

    def text(self, kind: str = "assistant_message") -> str:
        """The text of all items of a kind, in order."""
        return "".join(self.thread.text(i.id) for i in self.thread.items() if i.item_kind == kind)

    def texts(self) -> list[str]:
        """The texts of all messages, in order."""
        return [
            self.thread.text(i.id)
            for i in self.thread.items()
            if i.item_kind in ("user_message", "assistant_message")
        ]

    def ends(self, run_id: str) -> int:
        """How many events say that a run is over."""
        rows = self.p.runtime.journal.all_events(thread_id=self.thread.id)
        return sum(
            1 for row in rows if row.entity_id == run_id and row.payload and b'"state":"ended"' in row.payload
        )

    def went_through(self, native: str, state: str) -> bool:
        """Whether an item is, or was, in this state: the agent may have corrected it since."""
        rows = self.p.runtime.journal.all_events(thread_id=self.thread.id)
        wanted = self.item(native).id
        found = [decode_entity(row.payload) for row in rows if row.entity_id == wanted and row.payload]
        return any(isinstance(entity, Item) and entity.state == state for entity in found)

    async def until(self, ready: Callable[[], bool], what: str = "", seconds: float = REACH_MAX) -> None:
        """Wait until something is so."""
        with anyio.move_on_after(seconds):
            while not ready():  # noqa: ASYNC110 - the journal is looked at from outside
                await anyio.sleep(POLL)
        assert ready(), f"not reached: {what}; {self.story()}"

    def story(self) -> str:
        """What there is, for a failed test."""
        runs = [(r.state, r.outcome, r.evidence, r.failure) for r in self.runs]
        ends = [(s.state, s.ended_reason, s.exit_code, s.exit_signal) for s in self.sessions]
        said = [(n.code, n.text) for n in self.notices]
        played = [self.stage.result(n) for n in range(1, self.stage.started() + 1)]
        return f"runs {runs}; sessions {ends}; notices {said}; plays {played}"

    # ---- acting

    async def send(self, text: str = "go", *, client_id: str | None = None) -> str:
        """Send a message; the id of its run."""
        receipt = await self.thread.post(text, client_id=client_id)
        self.run_id = receipt.result["run"]
        assert isinstance(self.run_id, str)
        return self.run_id

    async def ended(self, run_id: str | None = None, seconds: float = REACH_MAX) -> Run:
        """Wait for the end of a run."""
        wanted = run_id or self.run_id or ""
        await self.until(lambda: self.thread.run(wanted).state == "ended", "the end of the run", seconds)
        return self.thread.run(wanted)

    async def pending(self) -> Request:
        """Wait for a request."""
        await self.until(lambda: bool(self.p.requests.pending()), "a request")
        return self.p.requests.pending()[0]

    async def done(self, step: int, start: int = 1) -> None:
        """Wait until the agent has done this step of its start."""
        await self.until(lambda: self.stage.steps_done(start) >= step, f"step {step} of start {start}")

    async def perform(self) -> None:
        """Carry out the driver's steps of all starts, each once what stands before it is done."""
        for number, steps in enumerate(self.stage.starts, 1):
            for index, step in enumerate(steps):
                if "client" not in step and "assert" not in step:
                    continue
                before = max((i for i in range(index) if is_agents(steps[i])), default=-1)
                if before >= 0 and self.stage.started() >= number:
                    await self.done(before, number)
                if "client" in step:
                    await self._client(step["client"])
                else:
                    await self.check(step["assert"])

    async def _client(self, given: dict[str, Any]) -> None:
        refused = bool(given.get("expect_http")) and 200 not in given["expect_http"]
        try:
            await self.act(given)
        except PodiumError as error:
            assert refused, f"{given}: {error.code} {error}"
            self.errors.append(error)
        else:
            assert not refused, f"{given} was not refused"

    async def act(self, given: dict[str, Any]) -> None:
        """Carry out one call of a case."""
        match given:
            case {"op": "send", "text": text}:
                await self.send(text, client_id=given.get("client_id"))
            case {"op": "interrupt"}:
                await self.until(self._asked, "a prompt that is out")
                await self.thread.interrupt()
            case {"op": "approve", "decision": decision}:
                if not given.get("expect_http"):
                    await self.pending()
                request = self._request(given.get("request"))
                await self.p.requests.answer(request.id, Answer(DECISIONS[decision]))
            case {"op": "approve_race", "decisions": decisions, "keys": keys}:
                await self._race(decisions, keys)
            case {"op": "repeat_last_winner"}:
                key, decision = self.wins[-1]
                await self.p.requests.answer(self.requests[-1].id, Answer(decision), command_id=key)
            case _:
                raise AssertionError(f"unknown step {given}")

    def _asked(self) -> bool:
        return any(e.state in ("asked", "running") for e in self.entities("attempt"))

    def _request(self, native: int | None) -> Request:
        if native is None:
            return self.requests[-1]
        return next(r for r in self.requests if r.key in (f"n:{native}", str(native)))

    async def _race(self, decisions: list[str], keys: list[str]) -> None:
        request = await self.pending()
        lost: list[PodiumError] = []

        async def one(key: str, decision: str) -> None:
            try:
                await self.p.requests.answer(request.id, Answer(decision), command_id=key)
                self.wins.append((key, decision))
            except PodiumError as error:
                lost.append(error)

        async with anyio.create_task_group() as group:
            for key, decision in zip(keys, decisions, strict=True):
                group.start_soon(one, key, decision)
        assert len(self.wins) == 1, "one answer wins"
        assert [e.code for e in lost] == ["request_answered"]
        assert self.wins[0][1] in str(lost[0])

    # ---- checking

    async def check(self, wanted: dict[str, Any]) -> None:
        """Wait for each part of a wanted state."""
        seconds = wanted.get("within_ms", REACH_MAX * 1000) / 1000
        for name, value in wanted.items():
            if name == "within_ms":
                continue
            await self.until(lambda n=name, v=value: self.holds(n, v), f"{name} = {value}", seconds)

    def holds(self, name: str, value: Any) -> bool:
        """Whether one part of a wanted state is so."""
        match name:
            case "turn":
                run = self.last
                return run.outcome == value if run.state == "ended" else value == "running"
            case "text":
                return self.text() == value
            case "texts":
                return self.texts() == value
            case "items":
                return len(self.items) == value
            case "item":
                return all(self.went_through(n, _STATES.get(str(s), str(s))) for n, s in value.items())
            case "pending":
                # The agent does not wait for this look: what it asked may be over again.
                return len(self.requests) >= value if value else not self.p.requests.pending()
            case "terminal_events":
                return self.ends(self.last.id) == value
            case "error_contains":
                return self.last.failure is not None and value in self.last.failure.message
            case "code":
                return self.last.failure is not None and self.last.failure.code == value
            case "auth":
                return self.last.failure is None
            case "approval":
                return self.requests[-1].state == value
            case "pending_or_rejected":
                told = any(f.get("id") == value and "error" in f for f in self.stage.got())
                return told or any(r.key == f"n:{value}" and r.state == "pending" for r in self.requests)
            case "session":
                return self.thread.state.session is None
            case "accepted":
                return self.last.state != "ended" or self.last.outcome is not None
            case "turns":
                return len(self.runs) == value
            case "event":
                return self.main.failure is not None and self.main.state == "missing"
            case _:
                raise AssertionError(f"unknown want {name}")


def is_agents(step: Step) -> bool:
    """Whether a step is played by the agent."""
    return not {"client", "assert", "note"} & step.keys()
