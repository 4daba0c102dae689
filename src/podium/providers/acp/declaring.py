"""Claims as data, and the capability record that is made of them (R8)."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Evidence, EvidenceClass, Source
from podium.contract.values import unsupported
from podium.providers.acp.drafting import TRANSPORT
from podium.providers.acp.flavour import Flavour


class Claim(msgspec.Struct, frozen=True):
    """One leaf: its value, the names in the protocol that it rests on, and what showed it."""

    value: Any
    native: tuple[str, ...]
    scenario: str
    evidence_class: EvidenceClass = EvidenceClass.PROVEN_NATIVE


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """What an adapter claims, and why it does not claim the rest.

    `proven_on` are versions of this very agent; `elsewhere` says with which other agents the same path was
    proven, where this one is not known.
    """

    leaves: dict[str, Claim]
    absent: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    proven_on: tuple[str, ...] = ()
    elsewhere: str = ""
    date: str
    reason: str


def record(claims: Claims, adapter: str, agent_kind: str) -> Capabilities:
    """A fresh record of the claims."""
    leaves: dict[str, Any] = {path: unsupported(reason) for path, reason in claims.absent.items()}
    leaves |= {path: claim.value for path, claim in claims.leaves.items()}
    evidence = {
        path: Evidence(
            evidence_class=claim.evidence_class,
            native=claim.native,
            source=Source.PROTOCOL,
            proven_on=claims.proven_on,
            elsewhere=claims.elsewhere,
            scenario=claim.scenario,
            date=claims.date,
        )
        for path, claim in claims.leaves.items()
    }
    return Capabilities.build(
        leaves,
        adapter=adapter,
        evidence=evidence,
        agent_kind=agent_kind,
        transport=TRANSPORT,
        reason=claims.reason,
    )


def asks_of(flavour: Flavour) -> frozenset[str]:
    """The asks that are handled for an agent of this flavour."""
    asks = {"open_session", "ensure_thread", "send_turn", "close_session"}
    if flavour.interrupts:
        asks.add("interrupt_turn")
    if flavour.asks:
        asks.add("respond")
    if flavour.steer_method:
        asks.add("steer_turn")
    if flavour.forks:
        asks.add("fork_thread")
    return frozenset(asks)
