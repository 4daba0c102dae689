"""What a run or a thread changed, and whose change each is (R11): the captures of all threads put together.

Reads only: the journal, and the captures in the checkout's own store. Nothing has to be owned for it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import msgspec

from podium.contract.errors import BadInput, StorageFailed
from podium.domain.entities import Checkpoint, Run
from podium.runtime.captures import capture_of
from podium.runtime.reading import Reading
from podium.workspace.changes import PATCH_MAX
from podium.workspace.git import GitFailed
from podium.workspace.names import inside, raw_of
from podium.workspace.ownership import Segment, of_run, of_thread
from podium.workspace.values import Capture, Change, Owned, Owner
from podium.workspace.workspaces import Workspaces

CHECKPOINTS_MAX = 20_000
"""Most checkpoints of all threads that are looked at for one answer; runs beyond them show no changes."""

PATHS_A_PATCH = 500
"""Most paths shown by one call for a diff text."""


class Unknown(msgspec.Struct, frozen=True):
    """A run whose changes are not known, and why."""

    run_id: str
    reason: str


class Changes(msgspec.Struct, frozen=True):
    """What was changed, by path, with a diff of what is the agent's and one of what is shared, apart.

    `unknown` are runs that may have changed files nobody can show. A text is at most PATCH_MAX bytes long.
    """

    thread_id: str
    run_id: str | None
    root: str
    paths: tuple[Owned, ...] = ()
    agent: str = ""
    shared: str = ""
    truncated: bool = False
    unknown: tuple[Unknown, ...] = ()


class Span(msgspec.Struct, frozen=True):
    """A run with the files before and after it."""

    run: Run
    start: Checkpoint
    end: Checkpoint

    @property
    def before(self) -> Capture:
        """The files before the run."""
        return capture_of(self.start)

    @property
    def after(self) -> Capture:
        """The files after it."""
        return capture_of(self.end)


class Changing:
    """Works out changes from what is stored."""

    def __init__(self, reading: Reading, workspaces: Workspaces) -> None:
        self._reading = reading
        self._workspaces = workspaces
        self._compared: dict[tuple[str, str], tuple[Change, ...]] = {}

    async def of(self, runs: Sequence[Run], *, text: bool = True) -> Changes:
        """What these runs of one thread changed together. Raises BadInput, StorageFailed."""
        spans, unknown = self._spans(runs)
        if not runs or not spans:
            thread = runs[0].thread_id if runs else ""
            return Changes(thread, _only(runs), "", unknown=tuple(unknown))
        each = [(span, await self._owned(span)) for span in spans]
        paths = of_thread(owned for _, owned in each) if len(each) > 1 else each[0][1]
        root = spans[-1].end.root
        found = Changes(runs[0].thread_id, _only(runs), root, paths, unknown=tuple(unknown))
        if not text:
            return found
        agent, cut = await self._text(each, paths, "agent")
        shared, also = await self._text(each, paths, "shared")
        return msgspec.structs.replace(found, agent=agent, shared=shared, truncated=cut or also)

    # ---- which runs can be told

    def _spans(self, runs: Iterable[Run]) -> tuple[list[Span], list[Unknown]]:
        spans: list[Span] = []
        unknown: list[Unknown] = []
        for run in runs:
            found = {c.moment: c for c in self._reading.checkpoints(run_id=run.id) if c.state != "stale"}
            start, end = found.get("start"), found.get("end")
            if start is not None and end is not None and start.state == end.state == "ready":
                if start.checkout == end.checkout:
                    spans.append(Span(run, start, end))
                else:
                    unknown.append(Unknown(run.id, "its folder became another repository meanwhile"))
            elif run.state != "queued" and run.outcome != "cancelled":
                unknown.append(Unknown(run.id, _why(run, start, end)))
        return spans, unknown

    # ---- whose a change is

    async def _owned(self, span: Span) -> tuple[Owned, ...]:
        first, last = span.before.at, span.after.at
        moments = {span.start.id: span.start, span.end.id: span.end}
        around = self._around(span)
        for checkpoint in around:
            if checkpoint.state == "ready" and first < capture_of(checkpoint).at < last:
                moments[checkpoint.id] = checkpoint
        ordered = sorted(moments.values(), key=lambda c: (capture_of(c).at, c.id == span.end.id))
        others = self._others(span, around)
        segments: list[Segment] = []
        for one, other in pairwise(ordered):
            before, after = capture_of(one), capture_of(other)
            active = {r for r, begun, over in others if begun < after.at and over > before.at}
            quiescent = one.quiescent and other.quiescent
            changes = await self._changes(before, after)
            segments.append(Segment(frozenset({span.run.id, *active}), changes, quiescent))
        structured = {run_id: self._reported(run_id, span.end.root) for run_id in _active(segments)}
        return of_run(span.run.id, segments, structured)

    def _around(self, span: Span) -> list[Checkpoint]:
        """Every checkpoint of the same checkout from the start of this run on."""
        found = self._reading.checkpoints(since=span.start.at, limit=CHECKPOINTS_MAX)
        return [c for c in found if c.checkout == span.start.checkout]

    def _others(self, span: Span, around: Sequence[Checkpoint]) -> list[tuple[str, float, float]]:
        """Other runs in this checkout, each with the time it may have written in."""
        ids = {c.run_id for c in around if c.run_id is not None}
        ids |= {r.id for r in self._reading.open_runs() if r.state != "queued"}
        found: list[tuple[str, float, float]] = []
        for run_id in sorted(ids - {span.run.id}):
            moments = {c.moment: c for c in self._reading.checkpoints(run_id=run_id) if c.state != "stale"}
            start, end = moments.get("start"), moments.get("end")
            if start is None or start.checkout != span.start.checkout:
                continue
            run = self._reading.run(run_id)
            over = run.ended_at if run.ended_at is not None else float("inf")
            found.append((run_id, _at(start, start.at), _at(end, over)))
        return found

    async def _changes(self, before: Capture, after: Capture) -> tuple[Change, ...]:
        key = (before.ref, after.ref)
        if key not in self._compared:
            try:
                self._compared[key] = await self._workspaces.changes(before, after)
            except GitFailed as error:
                raise unreadable(error) from error
        return self._compared[key]

    def _reported(self, run_id: str, root: str) -> frozenset[str]:
        """The paths whose change the agent of a run reported itself."""
        run = self._reading.run(run_id)
        workspace = self._reading.thread(run.thread_id).workspace
        real = os.fsdecode(raw_of(root))
        found: set[str] = set()
        for item in self._reading.file_changes(run_id):
            for change in item.content.changes:
                for path in (change.path, change.moved_to):
                    known = inside(real, os.path.join(workspace, path)) if path else None  # noqa: PTH118
                    if known is not None:
                        found.add(known)
        return frozenset(found)

    # ---- as text

    async def _text(
        self, each: Sequence[tuple[Span, tuple[Owned, ...]]], paths: Sequence[Owned], owner: Owner
    ) -> tuple[str, bool]:
        """A diff of the paths with this owner: each from before the first run that changed it to after the
        last. Where somebody else changed it in between, run by run.
        """
        groups: dict[tuple[int, int], list[str]] = {}
        for path in paths:
            touched = [n for n, (_, owned) in enumerate(each) if any(o.path == path.path for o in owned)]
            if path.owner != owner or not touched:
                continue
            pairs = [(n, n) for n in touched] if path.gap else [(touched[0], touched[-1])]
            for pair in pairs:
                groups.setdefault(pair, []).append(path.path)
        text = ""
        for (first, last), names in sorted(groups.items()):
            for at in range(0, len(names), PATHS_A_PATCH):
                chosen = names[at : at + PATHS_A_PATCH]
                more, cut = await self._patch(each[first][0].before, each[last][0].after, chosen)
                text += more
                if cut or len(text.encode()) > PATCH_MAX:
                    return text.encode()[:PATCH_MAX].decode("utf-8", "ignore"), True
        return text, False

    async def _patch(self, before: Capture, after: Capture, paths: Collection[str]) -> tuple[str, bool]:
        try:
            patch = await self._workspaces.patch(before, after, paths)
        except GitFailed as error:
            raise unreadable(error) from error
        return patch.text, patch.truncated


def runs_of(reading: Reading, target: str) -> list[Run]:
    """The runs an id stands for: a run, a thread's (or `last`'s), or a thread's from a checkpoint on.

    Raises NotFound, and BadInput `checkpoint_unfit` for a safety checkpoint, which has an undo instead.
    """
    if target.startswith("run_"):
        return [reading.run(target)]
    if not target.startswith("chk_"):
        return reading.runs(reading.thread(target).id)
    checkpoint = reading.checkpoint(target)
    capture_of(checkpoint)
    if checkpoint.run_id is None:
        raise BadInput(
            "checkpoint_unfit",
            "This checkpoint was made before a restore; it belongs to no run.",
            fix=f"Take that restore back: podium checkpoints restore --undo {checkpoint.id}",
        )
    ordinal = reading.run(checkpoint.run_id).ordinal + (checkpoint.moment == "end")
    return [r for r in reading.runs(checkpoint.thread_id) if r.ordinal >= ordinal]


def unreadable(error: GitFailed) -> StorageFailed:
    """The error for captures that are not there any more, or that git cannot read."""
    return StorageFailed(
        "changes_unreadable",
        f"The captured files cannot be read: {error.message}",
        fix="They may have been pruned from the repository; the files themselves are untouched.",
    )


def _only(runs: Sequence[Run]) -> str | None:
    return runs[0].id if len(runs) == 1 else None


def _active(segments: Iterable[Segment]) -> set[str]:
    return {run for segment in segments for run in segment.active}


def _at(checkpoint: Checkpoint | None, otherwise: float) -> float:
    ready = checkpoint is not None and checkpoint.state == "ready"
    return capture_of(checkpoint).at if ready and checkpoint is not None else otherwise


def _why(run: Run, start: Checkpoint | None, end: Checkpoint | None) -> str:
    for checkpoint in (start, end):
        if checkpoint is not None and checkpoint.state == "failed":
            return checkpoint.trouble.message if checkpoint.trouble else "its files could not be captured"
    if run.state != "ended":
        return "it is still working"
    return (
        "its files were not captured before it" if start is None else "its files were not captured after it"
    )
