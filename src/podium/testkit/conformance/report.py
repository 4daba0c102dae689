"""What a certification says: each claimed leaf proven, failed, drifted or unproven, and because of what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.evidence import Certification
from podium.contract.leaves import LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.testkit.conformance.running import Claim, Verdict

Word = Literal["proven", "failed", "drifted", "unproven"]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One claimed leaf.

    `proven`: shown on this program. `failed`: not shown, although it was proven on this very version, or
    nowhere. `drifted`: proven on another version and not shown on this one: the agent has changed.
    `unproven`: no scenario could be played. `because_of`: the failed leaves that this one cannot be without.
    """

    leaf: str
    word: Word
    scenario: str = ""
    saw: str = ""
    because_of: tuple[str, ...] = ()


def dependants(leaf: str) -> frozenset[str]:
    """The leaves that cannot be there, or not in full, without this one, by the tree's own word."""
    found: set[str] = set()
    rest = [leaf]
    while rest:
        one = rest.pop()
        more = [
            path
            for path, other in LEAVES.items()
            if one in (*other.implies, *other.fully_with) and path not in found
        ]
        found.update(more)
        rest += more
    return frozenset(found)


def findings(
    record: Capabilities,
    version: str | None,
    claims: Iterable[Claim],
    verdicts: Sequence[Verdict],
    earlier: Collection[Certification] = (),
) -> list[Finding]:
    """What the verdicts say of each claim, in the order of the tree."""
    known = {verdict.leaf: verdict for verdict in verdicts}
    lost = {v.leaf for v in verdicts if v.shown == "not_shown"}
    found: list[Finding] = []
    for claim in claims:
        verdict = known.get(claim.leaf)
        if verdict is None or verdict.shown == "not_staged":
            why = verdict.saw if verdict else "no scenario proves this leaf"
            found.append(Finding(claim.leaf, "unproven", SCENARIO_OF.get(claim.leaf, ""), why))
        elif verdict.shown == "shown":
            found.append(Finding(claim.leaf, "proven", verdict.scenario))
        else:
            reasons = tuple(sorted(leaf for leaf in lost if claim.leaf in dependants(leaf)))
            word = _lost(record, claim.leaf, version, earlier)
            found.append(Finding(claim.leaf, word, verdict.scenario, verdict.saw, reasons))
    return found


def _lost(
    record: Capabilities, leaf: str, version: str | None, earlier: Collection[Certification]
) -> Literal["failed", "drifted"]:
    evidence = record.evidence(leaf)
    proven = {*(evidence.proven_on if evidence else ())}
    proven |= {c.agent_version for c in earlier if c.leaf == leaf and c.passed}
    return "drifted" if proven and version not in proven else "failed"
