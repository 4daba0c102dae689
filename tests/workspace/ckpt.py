"""The contract commands of the field cases over this room.

Usage: python ckpt.py save REPO | turn REPO SCRIPT | restore REPO ID | remove REPO WORKTREE
`CKPT_DATA` is the data folder. Each turn is a run of a thread of its own; exit status 1 means refused.
"""

from __future__ import annotations

import os
import sys
import uuid
from pathlib import Path

import anyio
import msgspec

from podium.contract.errors import PodiumError
from podium.workspace.ownership import Segment, of_run
from podium.workspace.values import Capture
from podium.workspace.workspaces import Workspaces

DATA = Path(os.environ["CKPT_DATA"])


class Turn(msgspec.Struct):
    """One run: its captures."""

    before: Capture
    after: Capture


async def save(spaces: Workspaces, root: str) -> int:
    capture = await spaces.capture(root, f"s{uuid.uuid4().hex[:12]}")
    return _told(capture)


def _told(capture: Capture) -> int:
    if capture.failed is not None:
        print(capture.failed.message, capture.failed.fix, file=sys.stderr)
        return 1
    print(capture.id)
    return 0


async def turn(spaces: Workspaces, root: str, script: str) -> int:
    name = f"t{uuid.uuid4().hex[:12]}"
    before = await spaces.capture(root, f"{name}.start")
    await anyio.run_process(["bash", script], cwd=root, check=False, stdout=None, stderr=None)
    after = await spaces.capture(root, f"{name}.end")
    (DATA / before.id).write_bytes(msgspec.json.encode(Turn(before, after)))
    return _told(before if before.failed else after if after.failed else before)


async def restore(spaces: Workspaces, root: str, name: str) -> int:
    one = msgspec.json.decode((DATA / name).read_bytes(), type=Turn)
    changes = await spaces.changes(one.before, one.after)
    quiet = one.before.quiescent and one.after.quiescent
    owned = of_run(name, [Segment(frozenset({name}), changes, quiet)], {})
    plan = await spaces.plan(root, owned, f"r{uuid.uuid4().hex[:12]}")
    result = await spaces.restore(plan)
    for step in result.refused:
        print(f"refused {step.path}: {step.reason}", file=sys.stderr)
    spaces.settle(result.id)
    return 1 if result.refused else 0


async def remove(spaces: Workspaces, root: str, worktree: str) -> int:
    removal = await spaces.remove_worktree(root, worktree)
    for reason in removal.reasons:
        print(f"kept: {reason}", file=sys.stderr)
    return 0 if removal.removed else 1


COMMANDS = {"save": save, "turn": turn, "restore": restore, "remove": remove}


async def main() -> int:
    await anyio.Path(DATA).mkdir(parents=True, exist_ok=True)
    try:
        return await COMMANDS[sys.argv[1]](Workspaces(DATA), *sys.argv[2:])
    except PodiumError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(anyio.run(main))
