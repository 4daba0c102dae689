"""`podium gc`: drop captured files that no checkpoint holds any more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from podium.cli.printing import complain, say, say_json

if TYPE_CHECKING:
    from podium.workspace.values import Dropped


def gc(*, dry_run: bool = False, json: bool = False) -> int:
    """Drop captured files that no checkpoint holds any more; those of the last hour stay.

    Parameters
    ----------
    dry_run
        Only say what would be dropped.
    json
        Print it as JSON.
    """
    import anyio

    found = anyio.run(_collect, dry_run)
    if json:
        import msgspec

        say_json([{"kind": "dropped", "dry_run": dry_run, **msgspec.structs.asdict(found)}])
        return 0
    verb = "Would drop" if dry_run else "Dropped"
    say(
        f"{verb} {len(found.refs)} captures and {len(found.stores)} stores; {found.freed} bytes of our own.\n"
    )
    for ref in found.refs:
        say(f"  {ref}\n")
    for key, why in found.kept:
        complain(f"The captures of {key} were left as they are: {why}")
    return 0


async def _collect(dry_run: bool) -> Dropped:
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder
    from podium.workspace.values import Dropped
    from podium.workspace.workspaces import Workspaces

    folder = data_folder(os.environ)
    if not (folder / "workspaces").is_dir():
        return Dropped()
    with open_reading(folder) as reading:
        held = (c.capture for c in reading.checkpoints() if c.state == "ready")
        keep = {str(capture.get("ref", "")) for capture in held if capture is not None}
        return await Workspaces(folder.resolve()).gc(keep, dry_run=dry_run)
