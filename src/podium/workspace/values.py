"""What this room hands out: captures, changes, owners, plans, results. Plain data, ready to be stored as
JSON.

A path is text relative to its checkout's root (`names.text_of`); a time is seconds since 1970.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Entry(msgspec.Struct, frozen=True):
    """What a path holds: mode (100644, 100755, 120000 for a link) and the object with its bytes."""

    mode: str
    oid: str


Reason = Literal["nested_repository", "unreadable", "too_large", "special", "name"]


class Uncovered(msgspec.Struct, frozen=True):
    """A path that a capture could not hold, and why. A folder ends with a slash."""

    path: str
    reason: Reason


class Trouble(msgspec.Struct, frozen=True):
    """Why a folder cannot be captured or a capture failed: a stable code, words, and the next step."""

    code: str
    message: str
    fix: str = ""


class Place(msgspec.Struct, frozen=True):
    """What can be done in a folder (F170). `kind`: a git checkout, a plain folder, or nothing at all."""

    root: str
    kind: Literal["repository", "folder", "none"]
    trouble: Trouble | None = None


class Capture(msgspec.Struct, frozen=True):
    """All files of one checkout at one moment. A failed one has `failed` and can never be restored.

    `quiescent` is False when a file changed while it was read or the caller knew of a living writer (R11).
    `rules` stands for the ignore rules outside the tree, `branch` for the branch checked out ("" if none).
    """

    id: str
    root: str
    at: float
    tree: str = ""
    ref: str = ""
    checkout: str = ""
    quiescent: bool = True
    failed: Trouble | None = None
    uncovered: tuple[Uncovered, ...] = ()
    branch: str = ""
    rules: str = ""


Kind = Literal["added", "deleted", "modified", "mode", "type"]
Masked = Literal["", "was_ignored", "now_ignored", "was_uncovered", "now_uncovered"]


class Change(msgspec.Struct, frozen=True):
    """One path that differs between two captures. A rename is a deletion and an addition that name each
    other.

    `masked` says that the path came into view or left it, so that nobody knows whether its bytes changed.
    """

    path: str
    kind: Kind
    before: Entry | None
    after: Entry | None
    renamed_from: str = ""
    renamed_to: str = ""
    masked: Masked = ""


class Patch(msgspec.Struct, frozen=True):
    """A unified diff, at most PATCH_MAX bytes. `truncated` says that more was left out."""

    text: str
    truncated: bool = False


Owner = Literal["agent", "shared", "unknown"]


class Owned(msgspec.Struct, frozen=True):
    """A path's change with its owner (R11). `run` is "" when it lies outside any run.

    `gap` says that somebody else changed the path between this thread's runs, `masked` as in `Change`.
    """

    path: str
    before: Entry | None
    after: Entry | None
    owner: Owner
    run: str = ""
    renamed_from: str = ""
    renamed_to: str = ""
    masked: Masked = ""
    gap: bool = False


Action = Literal["write", "link", "mode", "delete", "nothing", "refuse"]


class PlanStep(msgspec.Struct, frozen=True):
    """What happens to one path and, if it is refused, why.

    `now` is what it holds, `then` what it will hold.
    """

    path: str
    action: Action
    reason: str = ""
    now: Entry | None = None
    then: Entry | None = None


class RestorePlan(msgspec.Struct, frozen=True):
    """Exact paths and what happens to each (F266, F269). `folders` are removed if empty."""

    id: str
    root: str
    checkout: str
    steps: tuple[PlanStep, ...]
    folders: tuple[str, ...] = ()
    forced: bool = False


class RestoreResult(msgspec.Struct, frozen=True):
    """A restore that ended. `safety` holds the files as they were before it; `done` can be undone."""

    id: str
    root: str
    safety: Capture
    done: tuple[PlanStep, ...] = ()
    refused: tuple[PlanStep, ...] = ()


class Dropped(msgspec.Struct, frozen=True):
    """What a clean-up dropped, or would drop: refs, stores of ours, and the bytes they take in our own
    folder.
    """

    refs: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    freed: int = 0
    kept: tuple[tuple[str, str], ...] = ()


class Worktree(msgspec.Struct, frozen=True):
    """A worktree of a repository: its folder, its branch, and the commit it began at."""

    root: str
    path: str
    branch: str
    base: str


class Removal(msgspec.Struct, frozen=True):
    """What became of a worktree that was to be removed.

    `reasons` say why it was kept; `ignored` is what went.
    """

    path: str
    removed: bool
    reasons: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    saved: Capture | None = None
