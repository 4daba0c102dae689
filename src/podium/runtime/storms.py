"""A bound on what an agent may say that nothing depends on: unknown frames, notices, mended frames.

Ten thousand of them must not become ten thousand rows. The first ones are kept, the next one says that the
rest is only counted; the counting begins anew with each turn.
"""

from __future__ import annotations

import msgspec

from podium.contract.events import Notice, OpaqueSeen, ProviderEvent, Retrying, TurnStarted
from podium.domain.commands import NoteTrouble

OPAQUE_MAX = 100
"""Most unknown frames kept as items, from one start of a turn to the next."""

NOTICES_MAX = 100
"""Most notices and retries of the agent kept, likewise."""

REPAIRS_MAX = 5
"""Most warnings that a frame had to be mended, likewise."""


class Storms(msgspec.Struct):
    """How much was kept since a turn began."""

    opaque: int = 0
    notices: int = 0
    repairs: int = 0

    def admit(self, event: ProviderEvent) -> ProviderEvent | NoteTrouble | None:
        """The event itself; one warning in the place of the first one over its bound; then nothing."""
        match event:
            case TurnStarted():
                self.opaque = self.notices = self.repairs = 0
            case OpaqueSeen():
                self.opaque += 1
                if self.opaque > OPAQUE_MAX:
                    text = f"The agent sends many unknown frames; those after {OPAQUE_MAX} are only counted."
                    return _once(self.opaque - OPAQUE_MAX, "unknown_frames", text)
            case Notice() | Retrying():
                self.notices += 1
                if self.notices > NOTICES_MAX:
                    text = f"The agent gives many notices; those after {NOTICES_MAX} are only counted."
                    return _once(self.notices - NOTICES_MAX, "many_notices", text)
            case _:
                pass
        return event

    def repaired(self) -> NoteTrouble | None:
        """A frame held something that is no text."""
        self.repairs += 1
        if self.repairs > REPAIRS_MAX:
            return None
        text = "The agent wrote something that is no text; it was replaced by U+FFFD."
        return NoteTrouble("warning", "frame_repaired", text)


def _once(over: int, code: str, text: str) -> NoteTrouble | None:
    return NoteTrouble("warning", code, text) if over == 1 else None
