"""A scenario: its name, the leaves it proves, and the play. What proves which leaf stands in the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from podium.contract.scenarios import SCENARIOS as NAMED
from podium.testkit.conformance.play import Play
from podium.testkit.conformance.stage import Setting

Act = Callable[[Play], None]


class Scenario(msgspec.Struct, frozen=True):
    """One play and what it proves; `setting` is what it wants of the agent's configuration."""

    name: str
    act: Act
    setting: Setting = Setting()

    @property
    def proves(self) -> tuple[str, ...]:
        """The leaves that must be shown."""
        return NAMED[self.name]


_ALL: dict[str, Scenario] = {}
SCENARIOS: Mapping[str, Scenario] = MappingProxyType(_ALL)
"""Every scenario by its name; filled when `scenarios` is imported."""


def scenario(name: str, setting: Setting | None = None) -> Callable[[Act], Act]:
    """Register a play under a name that the contract knows."""
    if name not in NAMED:
        raise ValueError(f"{name!r} proves no leaf: add it to contract/scenarios.py.")

    def register(act: Act) -> Act:
        _ALL[name] = Scenario(name, act, setting or Setting())
        return act

    return register
