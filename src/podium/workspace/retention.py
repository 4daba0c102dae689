"""Clean-up: drops the refs and stores of captures that nobody keeps, and nothing else.

Objects in a user's repository are let go by dropping our refs; git's own clean-up removes them in its time.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection
from pathlib import Path

import anyio
import msgspec

from podium.workspace.capture import recent_refs
from podium.workspace.checkout import Checkout, Checkouts, NotCovered, Where
from podium.workspace.git import Git, GitFailed
from podium.workspace.names import raw_of
from podium.workspace.values import Dropped

GRACE = 3600.0
"""How long a capture is kept that no one has claimed yet, in seconds: its run may not have been stored."""


class Keeping:
    """Drops what is not kept, in every checkout this data folder has captured."""

    def __init__(self, checkouts: Checkouts, git: Git) -> None:
        self._checkouts = checkouts
        self._git = git

    async def collect(self, keep: Collection[str], *, dry_run: bool, grace: float = GRACE) -> Dropped:
        """Drops every capture whose ref is not in `keep` and is older than `grace`; see `Dropped`."""
        refs: list[str] = []
        stores: list[str] = []
        kept: list[tuple[str, str]] = []
        freed = 0
        for checkout in await anyio.to_thread.run_sync(_known, self._checkouts):
            try:
                async with self._checkouts.locked(checkout):
                    dropped = await self._one(checkout, frozenset(keep), dry_run, grace)
            except (NotCovered, GitFailed, OSError) as error:
                kept.append((checkout.key, str(error)))
                continue
            refs += dropped.refs
            stores += dropped.stores
            freed += dropped.freed
        return Dropped(tuple(refs), tuple(stores), freed, tuple(kept))

    async def _one(self, checkout: Checkout, keep: frozenset[str], dry_run: bool, grace: float) -> Dropped:
        if checkout.common and not Path(checkout.objects).is_dir():  # noqa: ASYNC240 - one stat
            return await self._whole(checkout, (), dry_run)
        command = ("for-each-ref", "--format=%(objectname) %(refname)", checkout.refs)
        out, _ = await self._git.run(*command, cwd="/", env=checkout.own())
        lines = (line.split(" ", 1) for line in out.decode("ascii").splitlines())
        found = {ref: oid for oid, ref in lines}
        young = recent_refs(checkout, time.time() - grace)
        captures = [ref for ref in found if ref.startswith(f"{checkout.refs}c/")]
        drop = [ref for ref in captures if ref not in keep and ref not in young]
        whole = len(drop) == len(captures)
        gone = list(found) if whole else drop
        if not dry_run and gone:
            stdin = "".join(f"delete {ref} {found[ref]}\n" for ref in gone).encode()
            await self._git.run("update-ref", "--stdin", cwd="/", env=checkout.own(), stdin=stdin)
        if whole:
            return await self._whole(checkout, tuple(drop), dry_run)
        freed = 0
        if drop and not dry_run and not checkout.common:
            before = _bytes(checkout.private)
            await self._git.run(
                "prune", "--expire=now", cwd=checkout.private, env={"GIT_DIR": checkout.private}
            )
            freed = before - _bytes(checkout.private)
        return Dropped(tuple(drop), (), freed)

    async def _whole(self, checkout: Checkout, refs: tuple[str, ...], dry_run: bool) -> Dropped:
        """No capture is left of a checkout, so its private folder goes too."""
        size = await anyio.to_thread.run_sync(_bytes, checkout.private)
        if not dry_run:
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(checkout.private))
        return Dropped(refs, (checkout.key,), size)


def _known(checkouts: Checkouts) -> list[Checkout]:
    found: list[Checkout] = []
    for place in sorted(checkouts.folder.glob("*/where.json")):
        try:
            where = msgspec.json.decode(place.read_bytes(), type=Where)
        except (OSError, msgspec.DecodeError):
            continue
        root, common = (os.fsdecode(raw_of(text)) for text in (where.root, where.common))
        kind = "repository" if common else "folder"
        private = str(place.parent)
        found.append(Checkout(root, place.parent.name, kind, private, checkouts.owner(), common, common))
    return found


def _bytes(folder: str) -> int:
    return sum(os.lstat(Path(above) / name).st_size for above, _, names in os.walk(folder) for name in names)
