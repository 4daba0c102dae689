"""Snapshots that replace each other: stored as they grow by a factor, and the last one always (B47).

An agent tells the diff of its turn again whole with each change. To store each would cost the square of the
last one; so one is held back until it has doubled, halved, or its turn is over.
"""

from __future__ import annotations

import msgspec

from podium.contract.events import DiffSeen, ProviderEvent, TurnEnded

GROWTH = 2
"""Factor by which a snapshot must have changed in size to be stored at once."""

HELD_MAX = 8
"""Most turns whose newest snapshot is held back; one more lets the oldest go."""


class Latest(msgspec.Struct):
    """The size of what was stored last, and the newest snapshot that was not, by turn."""

    told: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    held: dict[str, DiffSeen] = msgspec.field(default_factory=dict[str, DiffSeen])

    def admit(self, event: ProviderEvent) -> list[ProviderEvent]:
        """What is to be reported now."""
        match event:
            case DiffSeen():
                return self._snapshot(f"{event.thread}|{event.turn}", event)
            case TurnEnded():
                key = f"{event.thread}|{event.turn}"
                self.told.pop(key, None)
                last = self.held.pop(key, None)
                return [event] if last is None else [last, event]
            case _:
                return [event]

    def release(self) -> list[ProviderEvent]:
        """Everything held back: nothing more will come."""
        left: list[ProviderEvent] = list(self.held.values())
        self.held.clear()
        return left

    def _snapshot(self, key: str, event: DiffSeen) -> list[ProviderEvent]:
        size, told = len(event.diff), self.told.get(key)
        if told is None or size >= told * GROWTH or size * GROWTH <= told:
            self.held.pop(key, None)
            self.told[key] = size
            while len(self.told) > HELD_MAX:
                del self.told[next(iter(self.told))]
            return [event]
        self.held[key] = event
        return [self.held.pop(next(iter(self.held)))] if len(self.held) > HELD_MAX else []
