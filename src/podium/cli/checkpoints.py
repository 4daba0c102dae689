"""`podium checkpoints`: captured files of runs, and taking back what was changed since."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from podium.cli.printing import complain, say, say_json, short, table, when
from podium.contract.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from podium.domain.entities import Checkpoint
    from podium.runtime.interface import AnyPodium
    from podium.workspace.values import PlanStep, RestorePlan

LISTED = 200
"""Newest checkpoints that `list` prints."""

REFUSED = 3

WORDS = {
    "write": "put back",
    "link": "put back",
    "mode": "put back",
    "delete": "remove",
    "nothing": "as it was",
    "refuse": "leave alone",
}
"""What happens to a path, in words."""

Undo = Annotated[str | None, Parameter(name="--undo")]


def list_checkpoints(thread: str | None = None, /, *, json: bool = False) -> int:
    """List checkpoints, newest first.

    Parameters
    ----------
    thread
        Only those of this thread, or of the newest with `last`.
    json
        Print one checkpoint a line, as JSON.
    """
    from podium.runtime.eventlines import entity_data
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder

    with open_reading(data_folder(os.environ)) as reading:
        chosen = reading.thread(thread).id if thread is not None else None
        found = reading.checkpoints(chosen, limit=LISTED)
    if json:
        say_json(map(entity_data, found))
    elif not found:
        say("No checkpoints yet. They are made at the start and at the end of every run.\n")
    else:
        heads = ("checkpoint", "moment", "state", "made", "thread", "run", "folder")
        rows = [(c.id, c.moment, c.state, when(c.at), c.thread_id, c.run_id or "", c.root) for c in found]
        say(table(heads, rows))
    return 0


def show_checkpoint(checkpoint: str, /, *, json: bool = False) -> int:
    """Show one checkpoint, and what a restore after it did.

    Parameters
    ----------
    checkpoint
        Its id.
    json
        Print it as JSON.
    """
    from podium.runtime.eventlines import entity_data
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder

    with open_reading(data_folder(os.environ)) as reading:
        found = reading.checkpoint(checkpoint)
    if json:
        say_json([entity_data(found)])
        return 0
    say(_told(found))
    return 0


def _told(found: Checkpoint) -> str:
    import msgspec

    from podium.workspace.values import Capture, RestoreResult

    lines = [
        f"checkpoint {found.id}  {found.moment}  {found.state}  {when(found.at)}",
        f"thread {found.thread_id}  run {found.run_id or '-'}",
        f"folder {found.root or '-'}  {'quiet' if found.quiescent else 'something else was writing'}",
    ]
    if found.trouble is not None:
        lines.append(f"failed: {short(f'{found.trouble.message} {found.trouble.fix}', 400)}")
    if found.state == "ready" and found.capture is not None:
        capture = msgspec.convert(found.capture, Capture)
        lines += [f"not covered: {u.path} ({u.reason})" for u in capture.uncovered]
    text = "".join(f"{line}\n" for line in lines)
    if found.restore is None:
        return text
    result = msgspec.convert(found.restore, RestoreResult)
    return f"{text}\n{_steps((*result.done, *result.refused))}"


def plan(target: str | None = None, /, *, undo: Undo = None, force: bool = False, json: bool = False) -> int:
    """Say what a restore would do to each path; nothing is touched.

    Parameters
    ----------
    target
        A run, a thread or `last`, or a checkpoint: what its thread changed since.
    undo
        Take back the restore with this safety checkpoint instead.
    force
        Also take back what is shared with others, or was changed since.
    json
        Print one path a line, as JSON.
    """
    import anyio

    async def work() -> RestorePlan:
        from podium.cli.driving import opened

        async with opened(0.0) as podium:
            return await _planned(podium, target, undo, force)

    found = anyio.run(work)
    _print(found.steps, json)
    return 0


def restore(
    target: str | None = None, /, *, undo: Undo = None, force: bool = False, json: bool = False
) -> int:
    """Take back what was changed, after a capture of the files as they are now.

    Exit codes: 0 put back, 3 nothing could be put back.

    Parameters
    ----------
    target
        A run, a thread or `last`, or a checkpoint: what its thread changed since.
    undo
        Take back the restore with this safety checkpoint instead.
    force
        Also take back what is shared with others, or was changed since.
    json
        Print one path a line, as JSON, then the safety checkpoint.
    """
    import anyio

    async def work() -> tuple[RestorePlan, Checkpoint | None]:
        from podium.cli.driving import opened

        async with opened(0.0) as podium:
            found = await _planned(podium, target, undo, force)
            acts = any(step.action not in ("nothing", "refuse") for step in found.steps)
            return found, await podium.checkpoints.restore(found) if acts else None

    found, safety = anyio.run(work)
    if safety is None:
        _print(found.steps, json)
        complain("Nothing was put back.", fix="See why above." if found.steps else "")
        return REFUSED if any(step.action == "refuse" for step in found.steps) else 0
    return _carried_out(safety, json)


def _carried_out(safety: Checkpoint, json: bool) -> int:
    import msgspec

    from podium.runtime.eventlines import entity_data
    from podium.workspace.values import RestoreResult

    result = msgspec.convert(safety.restore, RestoreResult)
    _print((*result.done, *result.refused), json)
    if json:
        say_json([entity_data(safety)])
    else:
        complain(f"Undo it with: podium checkpoints restore --undo {safety.id}")
    return 0 if result.done else REFUSED


async def _planned(podium: AnyPodium, target: str | None, undo: str | None, force: bool) -> RestorePlan:
    if (target is None) == (undo is None):
        raise BadInput(
            "restore_target",
            "Name either what to take back, or with --undo the restore to take back.",
            fix="podium checkpoints restore last",
        )
    if undo is not None:
        return await podium.checkpoints.undo_plan(undo, force=force)
    return await podium.checkpoints.plan(target or "", force=force)


def _print(steps: Iterable[PlanStep], json: bool) -> None:
    import msgspec

    if json:
        rows: list[dict[str, Any]] = [{"kind": "step", **msgspec.structs.asdict(s)} for s in steps]
        say_json(rows)
    else:
        say(_steps(steps))


def _steps(steps: Iterable[PlanStep]) -> str:
    return table(("what", "path", "why"), [(WORDS[s.action], s.path, s.reason) for s in steps], fold=2)
