"""What a session negotiated, kept as plain data: each word of the agent can only narrow it (F176, F286)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.leaves import LEAVES
from podium.contract.values import meet, read


def met(held: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Both narrowings together, leaf by leaf, as stored. Raises CapabilityError where one cannot be read."""
    Capabilities.minimal("any").narrowed(said)
    both = dict(held)
    for path, given in said.items():
        kind = LEAVES[path].kind
        value = read(kind, given)
        if path in held:
            value = meet(kind, read(kind, held[path]), value)
        both[path] = msgspec.to_builtins(value)
    return both
