"""What a restore will do, path by path, before anything is touched (F266, F269). Pure.

A path is put back if its run is its owner and it still holds what the run left. `force` also puts back what
is shared, unknown or changed since; nothing puts back what is ignored, not covered, git's own, or behind a
link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from podium.workspace.names import is_foreign, is_git_metadata, parents, raw_of, text_of
from podium.workspace.values import Action, Entry, Masked, Owned, PlanStep

LINK = "120000"
MASKS: Mapping[Masked, str] = {
    "was_ignored": "it was ignored before",
    "now_ignored": "it is ignored now",
    "was_uncovered": "it could not be captured before",
    "now_uncovered": "it cannot be captured now",
}


class Around(msgspec.Struct, frozen=True):
    """What lies on the disk around the paths of a plan and is in no capture.

    `hidden`: paths that exist though the present capture does not hold them (ignored or not covered).
    `blocked`: paths with a file or link on the way to them that no capture holds.
    `inside`: for a path that is a folder now, the files and folders in it.
    """

    hidden: frozenset[bytes] = frozenset()
    blocked: frozenset[bytes] = frozenset()
    inside: Mapping[bytes, tuple[tuple[bytes, bool], ...]] = {}


def planned(
    targets: Iterable[Owned], now: Mapping[bytes, Entry], around: Around, *, force: bool = False
) -> tuple[tuple[PlanStep, ...], tuple[str, ...]]:
    """Steps in order of path, and the folders to remove if they are empty then, deepest first."""
    steps = {raw_of(each.path): _step(each, now, around, force) for each in targets}
    while True:
        late = _refusals(steps, now, around)
        if not late:
            break
        for path, reason in late.items():
            steps[path] = msgspec.structs.replace(steps[path], action="refuse", reason=reason)
    return tuple(steps[path] for path in sorted(steps)), _folders(steps, now, around)


def _step(each: Owned, now: Mapping[bytes, Entry], around: Around, force: bool) -> PlanStep:
    path = raw_of(each.path)
    present = now.get(path)
    step = PlanStep(each.path, "refuse", "", present, each.before)
    if is_git_metadata(path) or is_foreign(path):
        return msgspec.structs.replace(step, reason="git's own files, and others' folders, are never touched")
    reason = _never(path, each, around, present) or ("" if force else _not_ours(each, present))
    if present == each.before:
        return msgspec.structs.replace(step, action="nothing", reason="it is already as it was")
    if reason:
        return msgspec.structs.replace(step, reason=reason)
    return msgspec.structs.replace(step, action=_action(present, each.before))


def _never(path: bytes, each: Owned, around: Around, present: Entry | None) -> str:
    """Why a path is never touched, with or without force.

    What left the view is known as it was: it can be put back, with force, where nothing unseen would be
    overwritten, because it is gone from the disk or in view again and so in the safety capture.
    """
    left = each.masked in ("now_ignored", "now_uncovered") and each.before is not None
    seen = present is not None or path not in around.hidden
    if each.masked and not (left and seen):
        return f"nobody knows what it held: {MASKS[each.masked]}"
    if path in around.hidden:
        return "it is ignored or not covered now"
    return "a link or an ignored file is in the way" if path in around.blocked else ""


def _not_ours(each: Owned, present: Entry | None) -> str:
    """Why a path is not put back without force."""
    if each.owner == "shared":
        return "shared: another run or a living process may have written it"
    if each.owner == "unknown":
        return "unknown: it changed outside any run"
    if each.gap:
        return "somebody else changed it between the runs"
    return "" if present == each.after else "it was changed since"


def _action(present: Entry | None, then: Entry | None) -> Action:
    if then is None:
        return "delete"
    if then.mode == LINK:
        return "link"
    if present is not None and present.mode != LINK and present.oid == then.oid:
        return "mode"
    return "write"


def _refusals(
    steps: Mapping[bytes, PlanStep], now: Mapping[bytes, Entry], around: Around
) -> dict[bytes, str]:
    """Steps that cannot be done because of what stays where it is."""
    gone = {path for path, step in steps.items() if step.action == "delete"}
    found: dict[bytes, str] = {}
    for path, step in steps.items():
        if step.action not in ("write", "link"):
            continue
        over = [folder for folder in parents(path) if folder in now and folder not in gone]
        if over:
            found[path] = f"{text_of(over[0])} is in the way"
        stays = [name for name, folder in around.inside.get(path, ()) if not folder and name not in gone]
        if stays:
            found[path] = f"it is a folder now, and {text_of(stays[0])} stays"
    return found


def _folders(steps: Mapping[bytes, PlanStep], now: Mapping[bytes, Entry], around: Around) -> tuple[str, ...]:
    """Folders that hold nothing once the deletions are done and nothing will be written into."""
    gone = {path for path, step in steps.items() if step.action == "delete"}
    stay = (set(now) - gone) | {path for path, step in steps.items() if step.action in ("write", "link")}
    needed = {folder for path in stay for folder in parents(path)}
    empty = {folder for path in gone for folder in parents(path)} - needed
    for path, step in steps.items():
        if step.action in ("write", "link") and path in around.inside:
            empty |= {path, *(name for name, folder in around.inside[path] if folder)}
    return tuple(text_of(folder) for folder in sorted(empty, key=lambda name: (-name.count(b"/"), name)))
