"""What a leaf of the capability tree is."""

from __future__ import annotations

from typing import Literal

import msgspec

from podium.contract.values import Kind

Rule = Literal["same", "any"]


class Leaf(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One leaf of the tree. A derived leaf is the same as its one source, or the best of its sources.

    `implies`: leaves that must be usable where this one is; `fully_with`: those without which it is degraded
    or weak at most. `needs`: the evidence a claim rests on. `asks`: the asks (tags of `contract.inputs`) an
    adapter must handle to claim it, and that may only be sent where it is usable. `feature`: the policy row
    that answers when it is missing. `derived`: the rule by which the leaf follows from others; such a leaf
    cannot be declared.
    """

    path: str
    kind: Kind
    meaning: str
    needs: str = ""
    implies: tuple[str, ...] = ()
    fully_with: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    feature: str | None = None
    derived: Rule | None = None
    derived_from: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The first part of the path."""
        return self.path.partition(".")[0]


def leaf(
    path: str,
    meaning: str,
    needs: str = "",
    *,
    kind: Kind = Kind.SUPPORT,
    implies: tuple[str, ...] = (),
    fully_with: tuple[str, ...] = (),
    asks: tuple[str, ...] = (),
    feature: str | None = None,
) -> Leaf:
    """A leaf that adapters declare."""
    return Leaf(
        path=path,
        kind=kind,
        meaning=meaning,
        needs=needs,
        implies=implies,
        fully_with=fully_with,
        asks=asks,
        feature=feature,
    )


def derived(
    path: str, meaning: str, rule: Rule, *sources: str, asks: tuple[str, ...] = (), **more: str
) -> Leaf:
    """A leaf that follows from others."""
    return Leaf(
        path=path,
        kind=Kind(more.get("kind", "support")),
        meaning=meaning,
        asks=asks,
        feature=more.get("feature"),
        derived=rule,
        derived_from=sources,
    )
