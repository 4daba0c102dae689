"""Scenarios run on an agent: what each claimed leaf was seen to do, and why it is less than claimed."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from podium.contract.adapter import Adapter
from podium.contract.capabilities import Capabilities
from podium.contract.leaves import DERIVED, LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.values import LEVEL_DEGRADED, LEVEL_NATIVE, LEVEL_NONE, Degraded, Kind, Strength, level
from podium.testkit.conformance import scenarios
from podium.testkit.conformance.play import SAW_MAX, NotStarted, Play, Unstaged
from podium.testkit.conformance.saboteur import Saboteur
from podium.testkit.conformance.saboteurs import without
from podium.testkit.conformance.scenario import SCENARIOS, Scenario
from podium.testkit.conformance.stage import Rig
from podium.testkit.driving import DriveError

__all__ = ["Claim", "Verdict", "claims_of", "prove", "run", "sabotage", "scenarios"]

Shown = Literal["shown", "not_shown", "not_staged"]


class Claim(msgspec.Struct, frozen=True):
    """A claimed leaf and how much of it is claimed."""

    leaf: str
    level: int


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one leaf. `digest` is of all that was exchanged, `version` the agent's own word."""

    leaf: str
    scenario: str
    shown: Shown
    saw: str = ""
    digest: str = ""
    version: str = ""


def claims_of(record: Capabilities) -> list[Claim]:
    """What a record claims and a scenario can prove, in the order of the tree."""
    return [
        Claim(path, claimed_level(record, path))
        for path, leaf in LEAVES.items()
        if path not in DERIVED and leaf.kind is not Kind.NUMBER and record.has(path)
    ]


def claimed_level(record: Capabilities, path: str) -> int:
    """How much of a leaf is claimed: a lesser path, or all of it. A way of delivery is all of it."""
    value = record.value(path)
    if isinstance(value, Degraded) or value is Strength.WEAK:
        return LEVEL_DEGRADED
    return LEVEL_NATIVE if level(value) > LEVEL_NONE else LEVEL_NONE


def needed(claims: Iterable[Claim]) -> list[Scenario]:
    """The scenarios that prove these claims, in the order of the contract."""
    wanted = {SCENARIO_OF[claim.leaf] for claim in claims if claim.leaf in SCENARIO_OF}
    return [found for name, found in SCENARIOS.items() if name in wanted]


def run(
    adapter: Adapter[Any],
    rig: Rig,
    program: str,
    scenario: Scenario,
    claims: Sequence[Claim],
    saboteur: Saboteur | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """One scenario on the agent, in a folder of its own that is gone afterwards."""
    mine = [claim for claim in claims if claim.leaf in scenario.proves]
    with (
        tempfile.TemporaryDirectory(prefix="podium-proof-", ignore_cleanup_errors=True) as folder,
        rig(Path(folder), program, scenario.setting) as stage,
    ):
        play = Play(adapter, stage, program, saboteur, options)
        problem, unstaged = "", ""
        try:
            scenario.act(play)
        except Unstaged as why:
            unstaged = str(why)
        except NotStarted as error:
            # A saboteur that never started lacks everything, which says nothing of the one leaf.
            problem, unstaged = str(error), str(error) if saboteur is not None else ""
        except DriveError as error:
            problem = str(error)
        finally:
            play.close()
        digest = digest_of(play)
    return [_verdict(claim, scenario, play, digest, problem, unstaged) for claim in mine]


def digest_of(play: Play) -> str:
    """A hash of every input the adapter was fed, so that a stored verdict names its run."""
    found = hashlib.sha256()
    for drive in play.drives:
        for given, _ in drive.steps:
            found.update(msgspec.json.encode(given))
    return found.hexdigest()[:16]


def _verdict(
    claim: Claim, scenario: Scenario, play: Play, digest: str, problem: str, unstaged: str
) -> Verdict:
    seen = play.levels.get(claim.leaf)
    if unstaged:
        return Verdict(claim.leaf, scenario.name, "not_staged", unstaged[:SAW_MAX], digest, play.version)
    # What a broken play had noted before it broke is half of what it looks at.
    if problem or seen is None or seen < claim.level:
        saw = play.saw.get(claim.leaf) or problem or "it did not happen"
        return Verdict(claim.leaf, scenario.name, "not_shown", saw[:SAW_MAX], digest, play.version)
    return Verdict(claim.leaf, scenario.name, "shown", digest=digest, version=play.version)


def prove(
    adapter: Adapter[Any],
    rig: Rig,
    program: str,
    claims: Sequence[Claim],
    told: Callable[[Scenario, list[Verdict]], None] = lambda scenario, verdicts: None,
    options: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Every scenario that the claims need, one after the other; `told` hears of each."""
    verdicts: list[Verdict] = []
    for scenario in needed(claims):
        found = run(adapter, rig, program, scenario, claims, options=options)
        told(scenario, found)
        verdicts += found
    return verdicts


def sabotage(
    adapter: Adapter[Any],
    rig: Rig,
    program: str,
    claim: Claim,
    options: Mapping[str, Any] | None = None,
) -> Verdict:
    """The scenario of a leaf on the agent without that leaf, where it must not be shown."""
    scenario = SCENARIOS[SCENARIO_OF[claim.leaf]]
    return run(adapter, rig, program, scenario, [claim], without(claim.leaf), options)[0]
