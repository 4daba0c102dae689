"""The captures of a run: one before its prompt is sent, one before its end is told (R11, F248)."""

from __future__ import annotations

from podium.domain.entities import Checkpoint, Moment, Run
from podium.domain.outputs import CaptureFiles, Draft


def capture_start(draft: Draft, run: Run, *, quiescent: bool = True) -> bool:
    """Have the files captured as they are before this run. False where nothing is captured."""
    if not draft.facts.captures:
        return False
    _begin(draft, run, "start", quiescent)
    return True


def has_start(draft: Draft, run: Run) -> bool:
    """Whether there is something to compare the end of this run with."""
    start = start_of(draft, run)
    return draft.facts.captures and start is not None and start.state == "ready"


def capture_end(draft: Draft, run: Run) -> None:
    """Have the files captured as this run left them."""
    _begin(draft, run, "end", True)


def end_overtaken(draft: Draft, run: Run) -> None:
    """The agent went on before the files of this end were captured: what is found then may be newer."""
    for checkpoint in _of(draft, run):
        if checkpoint.moment == "end" and checkpoint.state == "pending":
            draft.change(checkpoint, quiescent=False)


def start_of(draft: Draft, run: Run) -> Checkpoint | None:
    """The start checkpoint of a run, unless it is stale."""
    return next((c for c in _of(draft, run) if c.moment == "start" and c.state != "stale"), None)


def awaits_start(draft: Draft, run: Run) -> bool:
    """Whether this run's prompt has to wait for its files to be captured; one the agent began has none."""
    start = start_of(draft, run)
    return start is not None and start.state == "pending" and run.origin != "agent"


def forget_start(draft: Draft, run: Run, *, pending_only: bool = False) -> None:
    """The files were captured for a start that did not come, or come too late to be of use."""
    start = start_of(draft, run)
    if start is not None and (start.state == "pending" or not pending_only):
        draft.change(start, state="stale")


def _of(draft: Draft, run: Run) -> list[Checkpoint]:
    return [c for c in draft.state.checkpoints.values() if c.run_id == run.id]


def _begin(draft: Draft, run: Run, moment: Moment, quiescent: bool) -> None:
    checkpoint = draft.put(
        Checkpoint(
            id=draft.facts.fresh("chk"),
            thread_id=draft.thread_id,
            moment=moment,
            run_id=run.id,
            quiescent=quiescent,
            at=draft.facts.now,
        )
    )
    draft.do(CaptureFiles(checkpoint.id))
