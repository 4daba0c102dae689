"""What an agent can do, row by row: each leaf with its proof, each feature with what happens (R8, R9)."""

from __future__ import annotations

from typing import Any

from podium.contract.capabilities import Capabilities
from podium.contract.values import LeafValue, reason_of
from podium.policy import Policy, resolve_all


def leaf_rows(record: Capabilities) -> list[dict[str, Any]]:
    """Every leaf with its value, proof, standing on this version and the reason it gives."""
    rows: list[dict[str, Any]] = []
    for path, value in sorted(record.leaves().items()):
        evidence = record.evidence(path)
        rows.append(
            {
                "kind": "leaf",
                "leaf": path,
                "value": value,
                "word": word_of(value),
                "evidence": str(evidence.evidence_class) if evidence else None,
                "native": list(evidence.native) if evidence else [],
                "standing": str(record.standing(path)),
                "reason": reason_of(value) or "",
            }
        )
    return rows


def word_of(value: LeafValue) -> str:
    """A leaf's value in one word."""
    tag = getattr(getattr(value, "__struct_config__", None), "tag", None)
    if tag is not None:
        return str(tag)
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


def feature_rows(record: Capabilities, policy: Policy) -> list[dict[str, Any]]:
    """What happens with each feature: native, a recorded fallback, or a refusal."""
    return [
        {
            "kind": "feature",
            "feature": name,
            "outcome": found.outcome,
            "capability": found.capability,
            "policy": found.policy,
            "code": found.code,
            "reason": found.reason,
            "fidelity": found.fidelity,
            "consequence": found.consequence,
        }
        for name, found in sorted(resolve_all(record, policy).items())
    ]
