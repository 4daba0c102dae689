"""Gives native things our ids: same inputs, same ids, under every strength of identity (F090, F091).

strong: the native id, scoped by conversation and turn. weak: the native id and an ordinal or fingerprint.
none: the ordinal within turn and kind. Ids are scoped by our provider thread, so that two agents that both
say "1" never collide.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from podium.contract.events import (
    ItemKind,
    ItemSeen,
    OpaqueSeen,
    ProviderEvent,
    Ref,
    RequestOpened,
    SubagentSeen,
    TextDelta,
)
from podium.contract.requests import RequestKind
from podium.domain.outputs import derived

Grade = Literal["strong", "weak", "none"]

COUNTERS_MAX = 1024
"""Most scopes whose ordinals are remembered: about 50 KiB as stored. Those without an open item go first."""


ASKED_FOR: dict[RequestKind, ItemKind] = {
    "command_approval": "command",
    "file_change_approval": "file_change",
    "tool_approval": "tool_call",
}
"""The kind of item a request is about: without ids it is the newest of that kind."""


class Counters(msgspec.Struct):
    """The ordinals in use, by scope: what the correlator must not forget over a restart.

    `floor` is the highest ordinal of any scope that was forgotten. A scope that is met again counts on from
    there, so that no id is ever given twice.
    """

    seen: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    open: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    floor: int = 0


class Correlator:
    """Pure but for its counters, which are stored with the adapter's state (R2)."""

    def __init__(self, strength: Grade, counters: Counters | None = None) -> None:
        self.strength: Grade = strength
        self.counters = counters or Counters()

    @classmethod
    def restore(cls, strength: Grade, data: bytes) -> Correlator:
        """Continue with stored counters."""
        return cls(strength, msgspec.json.decode(data, type=Counters) if data else None)

    def dump(self) -> bytes:
        """The counters as stored."""
        return msgspec.json.encode(self.counters)

    def item_of(self, scope: str, event: ProviderEvent) -> tuple[str | None, Grade]:
        """The item id an event is about, and how far it can be trusted. `scope` is our provider thread."""
        match event:
            case TextDelta():
                return self._item(scope, event.ref, event.kind, ended=False)
            case ItemSeen():
                return self._item(scope, event.ref, event.kind, ended=event.state != "open")
            case RequestOpened() if event.item is not None:
                return self._peek(scope, event.item, ASKED_FOR.get(event.kind))
            case SubagentSeen():
                return self._peek(scope, event.ref, "subagent")
            case OpaqueSeen():
                name = derived("opaque", scope, event.turn or "")
                return derived("itm", scope, event.turn or "", "opaque", str(self._step(name))), "none"
            case _:
                return None, "strong"

    def _named(self, scope: str, ref: Ref) -> tuple[str, Grade] | None:
        """The id of an item that its native id alone tells, or with its fingerprint."""
        turn = ref.turn or ""
        if ref.id is not None and self.strength == "strong":
            return derived("itm", scope, turn, ref.id), "strong"
        if ref.id is not None and self.strength == "weak" and ref.fingerprint:
            return derived("itm", scope, turn, ref.id, "print", ref.fingerprint), "weak"
        return None

    def _counted(self, scope: str, ref: Ref, kind: ItemKind | None) -> tuple[str, Grade]:
        """The scope within which an item is told by its ordinal."""
        turn = ref.turn or ""
        if ref.id is not None and self.strength == "weak":
            return derived("id", scope, turn, ref.id), "weak"
        return derived("kind", scope, turn, kind or ""), "none"

    def _item(self, scope: str, ref: Ref, kind: ItemKind, *, ended: bool) -> tuple[str, Grade]:
        named = self._named(scope, ref)
        if named is not None:
            return named
        name, grade = self._counted(scope, ref, kind)
        if name not in self.counters.open:
            self._step(name)
            self.counters.open[name] = True
        ordinal = self.counters.seen[name]
        if ended:
            self.counters.open.pop(name, None)
        return derived("itm", name, str(ordinal)), grade

    def _peek(self, scope: str, ref: Ref, kind: ItemKind | None) -> tuple[str | None, Grade]:
        """The id of an item that is named in passing: nothing is counted."""
        named = self._named(scope, ref)
        if named is not None:
            return named
        name, grade = self._counted(scope, ref, kind)
        ordinal = self.counters.seen.get(name)
        return (derived("itm", name, str(ordinal)) if ordinal else None), grade

    def _step(self, name: str) -> int:
        counters = self.counters
        ordinal = counters.seen.pop(name, counters.floor) + 1
        counters.seen[name] = ordinal
        while len(counters.seen) > COUNTERS_MAX:
            others = [n for n in counters.seen if n != name]
            gone = next((n for n in others if n not in counters.open), others[0])
            counters.floor = max(counters.floor, counters.seen.pop(gone))
            counters.open.pop(gone, None)
        return ordinal
