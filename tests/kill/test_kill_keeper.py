"""Server and keeper are both killed at every boundary of a turn: a legal end, nothing left, and it goes on.

With the keeper the agent's pipes are gone, so the turn cannot be continued (R10). What was read stays, what
was asked expires, no process of the old generation lives, and no prompt reaches the agent twice (B11, B20).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from podium.testkit.model_script import Call, CustomCall, Reasoning, Text
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs.codex import write_home
from tests.agents.paths import codex_binary
from tests.kill.remains import gone, kill_keepers, left_open, marked, native_ids, stored
from tests.kill.test_kill_matrix import PATCH, WORKERS, World

LEGAL = {
    ("completed", "provider"),
    ("interrupted", "host_lost"),
    ("cancelled", "host_lost"),
    ("failed", "process_exit"),
}
"""The ends of a run whose host was lost, by outcome and evidence (R10)."""

LEAVING = {
    "play": [
        {"do": "command", "command": "setsid sleep 600 >/dev/null 2>&1 & echo on"},
        {"do": "edit", "file": "a.txt"},
    ]
}
"""A turn that leaves a grandchild in a session of its own, then asks again."""

AGAIN_MAX = 3
"""Most restarts until everything is over."""


class Struck(World):
    """A world with the prompt that comes after the blow, and a check of what the agent saw."""

    again = "recall"

    def wrong(self, runs: list[dict[str, object]]) -> str | None:
        log = self.folder / "scripted" / "prompts.jsonl"
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        prompts = [row["text"] for row in rows if row["kind"] == "prompt"]
        if prompts.count(self.prompts[0]) > 1:
            return f"prompted twice: {prompts}"
        if self.prompts[0] in prompts and len(native_ids(self.folder / "data")) != 1:
            return f"conversations: {native_ids(self.folder / 'data')}"
        if self.prompts[0] not in prompts and runs[0]["outcome"] != "cancelled":
            return f"never prompted, and yet {runs[0]}"
        return None


def points(make: Callable[[str], Struck]) -> list[str]:
    """The boundaries one undisturbed turn passes."""
    whole = make("whole")
    trace = whole.folder / "points"
    done = whole.run(PODIUM_TEST_POINTS=str(trace))
    assert done.returncode == 0, done.stdout + done.stderr
    return trace.read_text().splitlines()


def struck(world: Struck, number: int) -> str | None:
    """Kill server and keeper at a point and start again; what is wrong then, or None."""
    first = world.run(PODIUM_TEST_DIE_AT=str(number))
    if first.returncode == 0:  # this run had fewer points than the first
        return None
    old = marked(world.folder)
    kill_keepers(world.folder / "data")
    data = world.folder / "data"
    world.prompts = [*world.prompts, world.again]
    done = world.run()
    for _ in range(AGAIN_MAX):
        if done.returncode == 0:
            break
        done = world.run()
    if done.returncode != 0:
        return f"did not end: {done.stdout[-500:]} {done.stderr[-1500:]}"
    if not gone(old, world.folder):
        return f"still alive: {old & marked(world.folder)}"
    if marked(world.folder):
        return "a process stayed behind"
    if left_open(data):
        return f"open: {left_open(data)}"
    runs = stored(data, "run")
    ends = [(run["outcome"], run.get("evidence")) for run in runs]
    if ends[0] not in LEGAL or ends[-1] != ("completed", "provider"):
        return f"ends {ends}"
    open_requests = [r["state"] for r in stored(data, "request") if r.get("state", "pending") == "pending"]
    if open_requests:
        return "a request is still pending"
    return world.wrong(runs)


def strike_all(make: Callable[[str], Struck], numbers: list[int], names: list[str]) -> None:
    """Strike at each of these points; every one must be right."""

    def one(number: int) -> str | None:
        wrong = struck(make(f"at-{number:03d}"), number)
        return f"{names[number - 1]}: {wrong}" if wrong else None

    with ThreadPoolExecutor(WORKERS) as pool:
        wrong = [w for w in pool.map(one, numbers) if w is not None]
    assert not wrong, f"{len(wrong)} of {len(numbers)} points: " + "\n".join(wrong[:5])


@pytest.mark.behaviour("F245", "F247", "F271", "F280")
def test_scripted_agent_after_server_and_keeper_are_killed(tmp_path: Path) -> None:
    def make(name: str) -> Struck:
        return Struck(tmp_path / name, "scripted", [json.dumps(LEAVING)])

    names = points(make)
    assert len(names) > 40
    strike_all(make, list(range(1, len(names) + 1)), names)


class StruckCodex(Struck):
    """The same for a real agent: what it saw stands at its model server."""

    again = "[[next]] next"
    server: ResponsesServer

    def wrong(self, runs: list[dict[str, object]]) -> str | None:
        asked = self.server.prompts(self.prompts[0])
        if asked > 1:
            return f"the model was asked {asked} times"
        if asked and len(native_ids(self.folder / "data")) != 1:
            return f"conversations: {native_ids(self.folder / 'data')}"
        if self.server.prompts(self.again) != 1:
            return "the next prompt did not reach the model once"
        return None


@pytest.mark.agents
@pytest.mark.behaviour("F074", "F245", "F271")
def test_real_codex_after_server_and_keeper_are_killed(tmp_path: Path) -> None:
    with ExitStack() as servers:

        def make(name: str) -> StruckCodex:
            server = servers.enter_context(ResponsesServer())
            server.script(
                "go",
                [
                    Reasoning(("thinking about it",)),
                    Text("I will work."),
                    Call("exec_command", {"cmd": "echo ran >> ran.txt; echo hi"}),
                ],
                [CustomCall("apply_patch", PATCH)],
                [Text("All done.")],
            )
            server.script("next", [Text("Here I am again.")])
            world = StruckCodex(tmp_path / name, "codex", ["[[go]] go"])
            world.server = server
            home = write_home(world.folder / "agent", server.base_url)
            world.env = {"PATH": f"{codex_binary().parent}:{os.environ['PATH']}", "CODEX_HOME": str(home)}
            return world

        names = points(make)
        step = max(1, len(names) // 10)
        strike_all(make, list(range(1 + step // 2, len(names) + 1, step)), names)
