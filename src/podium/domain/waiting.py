"""A run waits while a request of it is pending, whichever node asked (F141, F293)."""

from __future__ import annotations

from podium.domain.checkpoints import awaits_start
from podium.domain.entities import Run
from podium.domain.outputs import Draft


def settle_waiting(draft: Draft, run: Run | None) -> None:
    """Bring the run's state in line with its pending requests: waiting, or where its attempt stands."""
    held = draft.state.open_run(run.id) if run else None
    if held is None or held.state not in ("preparing", "starting", "running", "waiting"):
        return
    pending = any(r.run_id == held.id and r.state == "pending" for r in draft.state.requests.values())
    attempt = draft.state.attempts.get(held.attempt_id or "")
    works = attempt is None or attempt.state == "running"
    before = "preparing" if awaits_start(draft, held) else "starting"
    draft.change(held, state="waiting" if pending else "running" if works else before)
