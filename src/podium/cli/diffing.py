"""`podium threads diff`: what a thread or one of its runs changed, and whose each change is."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from podium.cli.cleaning import clean
from podium.cli.printing import complain, say, say_json, table

if TYPE_CHECKING:
    from podium.runtime.changes import Changes
    from podium.workspace.values import Owned

SHARED = "# Changed too, but not by this thread alone or not known to be:\n"


def diff(
    thread: str,
    /,
    *,
    run: Annotated[str | None, Parameter(name="--run")] = None,
    stat: bool = False,
    json: bool = False,
) -> int:
    """Show what a thread changed: its agent's changes, then what is shared, apart.

    Parameters
    ----------
    thread
        Its id, or `last` for the newest.
    run
        Only this run.
    stat
        Only the paths, each with its owner.
    json
        Print one path a line, as JSON, then the texts.
    """
    import anyio

    changes = anyio.run(_changes, thread, run, not stat)
    if json:
        say_json(_rows(changes, texts=not stat))
    elif stat:
        rows = [(_letter(p), shown(p), p.owner, _note(p)) for p in changes.paths]
        say(table(("", "path", "owner", ""), rows) if rows else "No changes.\n")
    else:
        shared = f"{SHARED}{changes.shared}" if changes.shared else ""
        text = f"{changes.agent}{shared}" or "No changes.\n"
        say(clean(text) if sys.stdout.isatty() else text)
    for unknown in changes.unknown:
        complain(f"The changes of run {unknown.run_id} are not known: {unknown.reason}")
    if changes.truncated:
        complain("The diff was cut.", fix="See all paths with --stat.")
    return 0


async def _changes(thread_id: str, run_id: str | None, text: bool) -> Changes:
    from podium.contract.errors import BadInput
    from podium.runtime.changes import Changing
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder
    from podium.workspace.workspaces import Workspaces

    folder = data_folder(os.environ)
    with open_reading(folder) as reading:
        thread = reading.thread(thread_id)
        runs = [r for r in reading.runs(thread.id) if run_id is None or r.id == run_id]
        if run_id is not None and not runs:
            raise BadInput(
                "run_unknown",
                f"The thread {thread.id} has no run {run_id!r}.",
                fix=f"See its runs: podium threads show {thread.id} --json",
            )
        return await Changing(reading, Workspaces(folder.resolve())).of(runs, text=text)


def _rows(changes: Changes, *, texts: bool) -> list[dict[str, Any]]:
    import msgspec

    rows: list[dict[str, Any]] = [
        {"kind": "change", "change": _word(path), **msgspec.structs.asdict(path)} for path in changes.paths
    ]
    if texts:
        for owner, text in (("agent", changes.agent), ("shared", changes.shared)):
            rows.append({"kind": "diff", "owner": owner, "text": text, "truncated": changes.truncated})
    rows += [{"kind": "unknown", "run_id": u.run_id, "reason": u.reason} for u in changes.unknown]
    return rows


def _word(path: Owned) -> str:
    if path.before is None:
        return "renamed" if path.renamed_from else "added"
    return "deleted" if path.after is None else "modified"


def _letter(path: Owned) -> str:
    return _word(path)[0].upper()


def shown(path: Owned) -> str:
    """A path, with the one it had before."""
    return f"{path.renamed_from} -> {path.path}" if path.renamed_from else path.path


def _note(path: Owned) -> str:
    if path.masked:
        return path.masked.replace("_", " ")
    return "somebody else changed it in between" if path.gap else ""
