"""One agent's claims, each on the real program and on its saboteur."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from podium.contract.adapter import Adapter
from podium.contract.scenarios import SCENARIO_OF
from podium.testkit.conformance.running import Claim, claims_of, needed, run, sabotage
from podium.testkit.conformance.scenario import SCENARIOS
from podium.testkit.conformance.stage import Rig


@dataclass(frozen=True)
class Subject:
    """An agent to be proven. The program is looked for only when a scenario runs."""

    adapter: Adapter[Any]
    rig: Rig
    program: Callable[[], Path | str] = lambda: ""
    options: Mapping[str, Any] | None = None

    @cached_property
    def claims(self) -> Mapping[str, Claim]:
        """What it claims, by leaf."""
        return {claim.leaf: claim for claim in claims_of(self.adapter.capabilities())}

    @property
    def scenarios(self) -> list[str]:
        """The scenarios that its claims need."""
        return [scenario.name for scenario in needed(self.claims.values())]

    def shows(self, scenario: str) -> None:
        """Every claimed leaf of a scenario is shown by the real program."""
        claims = list(self.claims.values())
        program, found = str(self.program()), SCENARIOS[scenario]
        verdicts = run(self.adapter, self.rig, program, found, claims, options=self.options)
        assert verdicts
        assert [v for v in verdicts if v.shown != "shown"] == []

    def fails_without(self, leaf: str) -> None:
        """The scenario of a leaf fails on the agent without it; one that passes there proves nothing."""
        program, claim = str(self.program()), self.claims[leaf]
        verdict = sabotage(self.adapter, self.rig, program, claim, self.options)
        assert verdict.shown == "not_shown", f"{verdict.scenario} passes without {leaf}"


def every_claim_has_a_scenario(subject: Subject) -> None:
    """A claim without a scenario is none."""
    assert [leaf for leaf in subject.claims if leaf not in SCENARIO_OF] == []


PROVE_ALL = "PODIUM_PROVE_ALL"
"""Set it to run every saboteur of every agent; docs/matrix holds the last such run."""


def sabotaged(subject: Subject, others: set[str]) -> list[str]:
    """The leaves whose saboteurs are run: a slow agent's own, and what no quick agent claims.

    A saboteur stands between an agent and its adapter and is the same for all of them; where nothing is an
    agent's own, one of them is run.
    """
    claims = list(subject.claims)
    return [leaf for leaf in claims if os.environ.get(PROVE_ALL) or leaf not in others] or claims[-1:]


shows = pytest.mark.behaviour("F016", "F032")
fails = pytest.mark.behaviour("F016", "F031")
