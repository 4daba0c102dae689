"""What the shell found out about files: a capture that is there or failed, a restore that was carried out."""

from __future__ import annotations

from podium.contract.errors import failure
from podium.domain.checkpoints import awaits_start, start_of
from podium.domain.commands import Captured, Restored
from podium.domain.ending import finish_run
from podium.domain.entities import Checkpoint, Run
from podium.domain.flow import advance
from podium.domain.outputs import Draft, SetDeadline
from podium.domain.waiting import settle_waiting


def captured(draft: Draft, command: Captured) -> None:
    """Settle a pending checkpoint, and let its run go on: to its prompt, or to its end.

    A failed capture stops nothing; it is told once and can never be restored.
    """
    held = draft.state.checkpoints.get(command.checkpoint_id)
    if held is None or held.state != "pending":
        return
    draft.change(
        held,
        state="ready" if command.trouble is None else "failed",
        capture=command.capture,
        checkout=command.checkout,
        root=command.root,
        quiescent=held.quiescent and command.quiescent,
        trouble=command.trouble,
        at=draft.facts.now,
    )
    _tell(draft, command)
    run = draft.state.runs.get(held.run_id or "")
    if run is None:
        return
    if held.moment == "end" and run.ending is not None:
        finish_run(draft, run, run.ending)
        advance(draft)
    elif held.moment == "start" and run.origin != "agent":
        _prepared(draft, run)


def _prepared(draft: Draft, run: Run) -> None:
    """The run may send its prompt as soon as the agent is ready for it."""
    settle_waiting(draft, run)
    advance(draft)
    attempt = draft.state.attempts.get(run.attempt_id or "")
    if attempt is not None and attempt.state == "new":
        draft.do(SetDeadline("start", run.id))


def give_up_start(draft: Draft, run: Run) -> bool:
    """The start took its whole time and the files are still being read: go on without them, once."""
    start = start_of(draft, run)
    if start is None or not awaits_start(draft, run):
        return False
    why = failure("storage", "timeout", "The files could not be captured in the time a start may take.")
    captured(draft, Captured(start.id, quiescent=False, trouble=why))
    return True


def _tell(draft: Draft, command: Captured) -> None:
    """Say once in a thread why its files cannot be captured, and again only if the reason is another."""
    thread, why = draft.state.thread, command.trouble
    if thread is None or why is None or thread.uncaptured == why.code:
        return
    draft.change(thread, uncaptured=why.code)
    text = f"Files are not captured, so this thread can show and restore no changes: {why.message} {why.fix}"
    draft.note("warning", "not_captured", text.strip())


def restored(draft: Draft, command: Restored) -> None:
    """Keep what a restore did, with the safety capture that can undo it. Said twice, it is kept once."""
    if command.checkpoint_id in draft.state.known:
        return
    draft.put(
        Checkpoint(
            id=command.checkpoint_id,
            thread_id=draft.thread_id,
            moment="safety",
            state="ready",
            capture=command.capture,
            checkout=command.checkout,
            root=command.root,
            restore=command.restore,
            at=command.at,
        )
    )
    draft.note("info", "files_restored", command.text)
