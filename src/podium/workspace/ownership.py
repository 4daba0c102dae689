"""Whose change it is (R11). Pure: captures cut a checkout's time into segments; each path has an owner in
each.

A path belongs to the run whose agent reported its change (a structured change), else to the one run that was
active while it changed. Where runs overlapped, or something else was known to write, it is shared; outside
any run it is unknown. What only came into view or left it is unknown too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from podium.workspace.values import Change, Masked, Owned, Owner

Structured = Mapping[str, frozenset[str]]
"""Run id to the paths whose change its agent reported itself."""

_NOTHING: frozenset[str] = frozenset()


class Segment(msgspec.Struct, frozen=True):
    """The time between two captures that follow each other in one checkout.

    `active`: the runs that were going on all that time. `quiescent`: both captures were.
    """

    active: frozenset[str]
    changes: tuple[Change, ...]
    quiescent: bool = True


class _Trace:
    """What became of one path over the segments of a run."""

    def __init__(self, change: Change) -> None:
        self.before = change.before
        self.after = change.after
        self.owners: list[tuple[Owner, str]] = []
        self.renamed_from = ""
        self.renamed_to = ""
        self.masked: Masked = ""

    def follow(self, change: Change, owner: Owner, run: str) -> None:
        self.after = change.after
        self.owners.append((owner, run))
        self.renamed_from, self.renamed_to = change.renamed_from, change.renamed_to
        self.masked = change.masked or self.masked


def of_run(run: str, segments: Sequence[Segment], structured: Structured) -> tuple[Owned, ...]:
    """One run's changes, from its start to its end, in order of path.

    What another run's agent reported and this one's did not is that run's and left out here.
    """
    traces: dict[str, _Trace] = {}
    for segment in segments:
        if run not in segment.active:
            continue
        for change in segment.changes:
            trace = traces.setdefault(change.path, _Trace(change))
            trace.follow(change, *_owner(change, segment, structured))
    owned: list[Owned] = []
    for path, trace in sorted(traces.items()):
        if trace.before == trace.after:
            continue
        owner = _joined(run, trace.owners)
        if owner is None:
            continue
        owned.append(
            Owned(
                path,
                trace.before,
                trace.after,
                owner,
                run,
                trace.renamed_from,
                trace.renamed_to,
                trace.masked,
            )
        )
    return tuple(owned)


def of_nobody(segments: Sequence[Segment]) -> tuple[Owned, ...]:
    """What changed while no run was active: by the user, or by something an agent left running."""
    return tuple(
        Owned(
            change.path,
            change.before,
            change.after,
            "unknown",
            "",
            change.renamed_from,
            change.renamed_to,
            change.masked,
        )
        for segment in segments
        if not segment.active
        for change in segment.changes
    )


def of_thread(runs: Iterable[Sequence[Owned]]) -> tuple[Owned, ...]:
    """The union of a thread's runs in their order, never one comparison across them.

    A path that somebody else changed between two of them has a `gap`.
    """
    union: dict[str, Owned] = {}
    for run in runs:
        for path in run:
            first = union.get(path.path)
            union[path.path] = path if first is None else _after(first, path)
    return tuple(path for _, path in sorted(union.items()) if path.gap or path.before != path.after)


def _after(first: Owned, then: Owned) -> Owned:
    weakest = max(first.owner, then.owner, key=("agent", "shared", "unknown").index)
    return msgspec.structs.replace(
        then,
        before=first.before,
        owner=weakest,
        masked=first.masked or then.masked,
        gap=first.gap or first.after != then.before,
        renamed_from=then.renamed_from or first.renamed_from,
    )


def _owner(change: Change, segment: Segment, structured: Structured) -> tuple[Owner, str]:
    """The owner of a path in one segment, and the run it belongs to."""
    if change.masked:
        return "unknown", ""
    writers = [run for run in sorted(segment.active) if change.path in structured.get(run, _NOTHING)]
    if len(writers) == 1:
        return "agent", writers[0]
    if not writers and len(segment.active) == 1 and segment.quiescent:
        return "agent", next(iter(segment.active))
    return "shared", ""


def _joined(run: str, owners: Sequence[tuple[Owner, str]]) -> Owner | None:
    """One owner over all segments of a run; None if the path is wholly another run's."""
    if any(owner == "unknown" for owner, _ in owners):
        return "unknown"
    if all(owner == "agent" and who != run for owner, who in owners):
        return None
    return "agent" if all(owner == "agent" and who == run for owner, who in owners) else "shared"
