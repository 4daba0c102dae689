"""Full and partial, by what is proven on the installed version."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from podium.contract.capabilities import NATIVE, Capabilities, Evidence, EvidenceClass, Strength
from podium.contract.leaves import LEAVES
from podium.contract.rating import FULL, rate
from podium.contract.values import DIRECT, Kind

VERSION = "1.0"
PROOF = Evidence(
    evidence_class=EvidenceClass.PROVEN_NATIVE, native=("x",), proven_on=(VERSION,), scenario="own:x"
)
BEST: dict[Kind, Any] = {Kind.SUPPORT: NATIVE, Kind.STRENGTH: Strength.STRONG, Kind.DELIVERY: DIRECT}
NEEDED = [leaf for need in FULL for leaf in need.leaves]


def record(*lacking: str, **changes: Any) -> Capabilities:
    claims = {path: BEST[LEAVES[path].kind] for path in NEEDED if path not in lacking}
    proofs = dict.fromkeys(claims, msgspec.structs.replace(PROOF, **changes))
    return Capabilities.build(claims, adapter="zz", evidence=proofs)


@pytest.mark.behaviour("F034")
def test_a_full_agent_is_proven_in_every_part_and_need_not_do_everything() -> None:
    found = record().effective(VERSION)
    assert rate(found).word == "full"
    assert not found.has("lifecycle.tree")


@pytest.mark.behaviour("F034")
@pytest.mark.parametrize("leaf", NEEDED)
def test_each_part_that_is_missing_makes_it_partial_and_is_named(leaf: str) -> None:
    rating = rate(record(leaf).effective(VERSION))
    assert rating.word == "partial"
    assert [m.leaves for m in rating.missing] == [(leaf,)]


@pytest.mark.behaviour("F034", "F032")
def test_what_is_only_carried_is_not_proven() -> None:
    rating = rate(record().effective("2.0"))
    assert rating.word == "partial"
    assert [m.name for m in rating.missing] == [need.name for need in FULL]


def test_a_declared_record_alone_proves_nothing() -> None:
    assert rate(record()).word == "partial"
