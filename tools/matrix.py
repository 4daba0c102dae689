"""The matrix: every claim of every shipped agent, run on the real program and on the agent without the leaf.

`write [AGENT ...]` runs all of it, for some minutes, and stores docs/matrix/AGENT.json; `check` compares what
is stored with what is claimed, and runs nothing. Usage: python -m tools.matrix write [AGENT ...] | check
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.adapter import Adapter
from podium.contract.capabilities import Capabilities
from podium.contract.scenarios import SCENARIO_OF
from podium.providers.acp import copilot, gemini, grok, qwen, vibe
from podium.providers.claude import adapter as claude
from podium.providers.codex import adapter as codex
from podium.providers.oneshot import adapter as oneshot
from podium.providers.oneshot.declaration import BRIDGE_VERSION
from podium.providers.opencode import adapter as opencode
from podium.providers.pi import adapter as pi
from podium.providers.rehearsal import adapter as rehearsal
from podium.testkit.conformance.running import claims_of, prove, sabotage
from podium.testkit.conformance.stage import Rig
from podium.testkit.rehearsal.program import VERSION
from podium.testkit.rigs import acp as acp_rigs
from podium.testkit.rigs import claude as claude_rig
from podium.testkit.rigs import codex as codex_rig
from podium.testkit.rigs import copilot as copilot_rig
from podium.testkit.rigs import gemini as gemini_rig
from podium.testkit.rigs import oneshot as oneshot_rig
from podium.testkit.rigs import opencode as opencode_rig
from podium.testkit.rigs import pi as pi_rig
from podium.testkit.rigs import qwen as qwen_rig
from podium.testkit.rigs import rehearsal as rehearsal_rig
from tests.agents.paths import (
    claude_new_binary,
    codex_binary,
    copilot_binary,
    gemini_binary,
    grok_binary,
    opencode_binary,
    pi_binary,
    qwen_binary,
    vibe_binary,
)
from tools.behaviours import ROOT, LedgerError

FOLDER = ROOT / "docs" / "matrix"

VERSION_MAX = 60.0
"""Longest wait for a program to say its version, in seconds."""


class Agent(msgspec.Struct, frozen=True):
    """A shipped agent that is run for the matrix."""

    name: str
    adapter: Adapter[Any]
    rig: Rig
    program: Callable[[], Path | str] = lambda: ""
    """The pinned program; none for one that comes with Podium."""
    ours: str = ""
    """The version, where it is Podium's own; else the program is asked: not every handshake tells it."""
    options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])

    def path(self) -> str:
        """The program that is run."""
        return str(self.program())

    def version(self) -> str:
        """What the program says its version is."""
        descriptor = self.adapter.descriptor
        done = subprocess.run(
            [self.path(), *descriptor.version_args],
            capture_output=True,
            text=True,
            timeout=VERSION_MAX,
            check=True,
        )
        found = re.search(descriptor.version_pattern, done.stdout)
        return found[1] if found else ""


AGENTS = (
    Agent("claude", claude, claude_rig.rig, claude_new_binary),
    Agent("codex", codex, codex_rig.rig, codex_binary),
    Agent("copilot", copilot, copilot_rig.rig, copilot_binary),
    Agent("gemini", gemini, gemini_rig.rig, gemini_binary),
    Agent("grok", grok, acp_rigs.grok_rig, grok_binary),
    Agent("opencode", opencode, opencode_rig.rig, opencode_binary),
    Agent("pi", pi, pi_rig.rig, pi_binary),
    Agent("qwen", qwen, qwen_rig.rig, qwen_binary),
    Agent("vibe", vibe, acp_rigs.vibe_rig, vibe_binary),
    Agent("rehearsal", rehearsal, rehearsal_rig.rig, ours=VERSION),
    Agent(
        "oneshot",
        oneshot,
        oneshot_rig.rig,
        lambda: oneshot_rig.PROGRAM,
        ours=BRIDGE_VERSION,
        options=oneshot_rig.OPTIONS,
    ),
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One claim: how its scenario went on the agent and on the agent without it, and a hash of each run."""

    leaf: str
    scenario: str
    shown: str
    run: str
    without: str
    without_run: str


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, on which version and when."""

    agent: str
    version: str
    date: str
    rows: tuple[Row, ...]


def read(name: str) -> Matrix | None:
    """The stored matrix of an agent."""
    place = FOLDER / f"{name}.json"
    return msgspec.json.decode(place.read_bytes(), type=Matrix) if place.exists() else None


def made(agent: Agent) -> Matrix:
    """Run everything that an agent claims, twice."""
    claims = claims_of(agent.adapter.capabilities())
    rig, program, options = agent.rig, agent.path(), agent.options
    verdicts = {v.leaf: v for v in prove(agent.adapter, rig, program, claims, options=options)}
    rows: list[Row] = []
    for claim in claims:
        verdict = verdicts[claim.leaf]
        without = sabotage(agent.adapter, rig, program, claim, options=options)
        print(f"{agent.name} {claim.leaf}: {verdict.shown}, without it {without.shown}", flush=True)
        rows.append(
            Row(
                leaf=claim.leaf,
                scenario=verdict.scenario,
                shown=verdict.shown,
                run=verdict.digest,
                without=without.shown,
                without_run=without.digest,
            )
        )
    told = next((v.version for v in verdicts.values() if v.version), "")
    version = agent.ours or told or agent.version()
    day = datetime.now(UTC).date().isoformat()
    return Matrix(agent=agent.name, version=version, date=day, rows=tuple(rows))


def problems(name: str, record: Capabilities, matrix: Matrix | None) -> list[str]:
    """What is wrong with the proof of an agent's claims; nothing if each was shown, and failed without it."""
    if matrix is None:
        return [f"{name}: there is no stored matrix"]
    rows = {row.leaf: row for row in matrix.rows}
    found: list[str] = []
    for claim in claims_of(record):
        row, evidence = rows.get(claim.leaf), record.evidence(claim.leaf)
        if row is None:
            found.append(f"{name} {claim.leaf}: was never run")
            continue
        if row.shown != "shown":
            found.append(f"{name} {claim.leaf}: {row.shown} by {row.scenario}")
        if row.without != "not_shown":
            found.append(f"{name} {claim.leaf}: {row.scenario} passes on the agent without it")
        if row.scenario != SCENARIO_OF.get(claim.leaf):
            found.append(f"{name} {claim.leaf}: was shown by {row.scenario}, which does not prove it")
        if evidence is not None and matrix.version not in evidence.proven_on:
            found.append(f"{name} {claim.leaf}: was run on {matrix.version}, not on {evidence.proven_on}")
    return found


def check(agents: Iterable[Agent] = AGENTS) -> None:
    """Raises LedgerError for a claim that the stored matrix does not prove."""
    found = [p for a in agents for p in problems(a.name, a.adapter.capabilities(), read(a.name))]
    if found:
        raise LedgerError("; ".join([*found, "run `make matrix` and commit the result"]))


def write(names: list[str]) -> None:
    """Run the named agents, or all of them, and store what came of it."""
    FOLDER.mkdir(exist_ok=True)
    for agent in AGENTS:
        if not names or agent.name in names:
            text = msgspec.json.format(msgspec.json.encode(made(agent)), indent=1)
            place: Path = FOLDER / f"{agent.name}.json"
            place.write_bytes(text + b"\n")


def main(arguments: list[str]) -> int:
    """Exit status 0 if all is well, 1 for an unproven claim, 2 for wrong usage."""
    try:
        match arguments:
            case ["write", *names]:
                write(names)
                check(agent for agent in AGENTS if not names or agent.name in names)
            case ["check"]:
                check()
            case _:
                print("usage: python -m tools.matrix write [AGENT ...] | check", file=sys.stderr)
                return 2
    except LedgerError as error:
        print(f"matrix: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
