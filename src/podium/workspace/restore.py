"""Carries a restore plan out so that a kill at any moment loses nothing.

Order: a safety capture; every content that will be written, fetched and verified in our own folder; the
record of the restore; then path by path, deletions first. Each step looks at what the path holds: if that is
what the plan saw it acts, if it is already what it should be it passes, if it is anything else it leaves it
alone. So a restore that was killed is carried to its end by running it again, and one that had not reached
its record did nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import msgspec

from podium.contract.errors import BadInput, Conflict, StorageFailed
from podium.workspace import files
from podium.workspace.capture import Capturing
from podium.workspace.changes import Comparing
from podium.workspace.checkout import FOLDER_MODE, Checkout, Checkouts, NotCovered, until, write_file
from podium.workspace.git import Git, GitFailed
from podium.workspace.names import checked_name, parents, raw_of, text_of
from podium.workspace.planning import Around, planned
from podium.workspace.values import Capture, Entry, Owned, PlanStep, RestorePlan, RestoreResult, Trouble

GIT_BUSY_MAX = 5.0
"""How long a restore waits for a git command of the user's to end, in seconds, before it is refused."""

GIT_BUSY_POLL = 0.05
CHANGED = "it was changed while the restore was under way"

STAGE_MAX = 120.0
"""Longest that fetching all contents of a restore may take, in seconds."""

Point = Callable[[str], None]


class _Record(msgspec.Struct, frozen=True):
    """A restore under way or ended and not yet settled."""

    plan: RestorePlan
    safety: Capture
    sha256: bool
    result: RestoreResult | None = None


class Restoring:
    """Plans and carries out restores. `point` is passed at every boundary, for tests that kill."""

    def __init__(
        self, checkouts: Checkouts, capturing: Capturing, comparing: Comparing, git: Git, point: Point
    ) -> None:
        self._checkouts = checkouts
        self._capturing = capturing
        self._comparing = comparing
        self._git = git
        self._point = point

    @property
    def _folder(self) -> Path:
        return self._checkouts.folder / "restores"

    async def plan(
        self, root: str, targets: Sequence[Owned], name: str, *, force: bool = False
    ) -> RestorePlan:
        """What a restore of these changes would do now (F266); nothing is touched but our own refs.

        `name` becomes the plan's id, and `<name>.now` and `<name>.safety` those of its captures.
        """
        checked_name(f"{name}.safety")
        checkout = await self._find(root)
        now = whole_or_error(await self._capturing.capture(root, f"{name}.now"))
        return await self._plan(checkout, now, targets, name, force)

    async def _plan(
        self, checkout: Checkout, now: Capture, targets: Sequence[Owned], name: str, force: bool
    ) -> RestorePlan:
        entries = await self._comparing.entries(checkout, now.tree)
        paths = [raw_of(target.path) for target in targets]
        around = await anyio.to_thread.run_sync(_around, checkout.root, paths, entries)
        steps, folders = planned(targets, entries, around, force=force)
        return RestorePlan(name, now.root, checkout.key, steps, folders, force)

    async def restore(self, plan: RestorePlan) -> RestoreResult:
        """Carries a plan out.

        Raises Conflict `git_busy`, StorageFailed or BadInput before anything is touched.
        """
        checkout = await self._find(os.fsdecode(raw_of(plan.root)))
        if checkout.key != plan.checkout:
            raise BadInput("other_checkout", "The folder is another repository than when this was planned.")
        try:
            return await self._restore(checkout, plan, self._folder / checked_name(plan.id))
        except NotCovered as error:
            raise covered_not(error.trouble) from error

    async def _restore(self, checkout: Checkout, plan: RestorePlan, place: Path) -> RestoreResult:
        async with self._checkouts.locked(checkout):
            if _read_record(place) is not None:
                raise Conflict(
                    "restore_known", f"The restore {plan.id} was begun before.", fix="Make a new plan."
                )
            await _git_at_rest(checkout)
            safety = whole_or_error(await self._capturing.take(checkout, f"{plan.id}.safety"))
            self._point("safety taken")
            await self._stage(checkout, plan, place)
            record = _Record(plan, safety, checkout.sha256)
            await anyio.to_thread.run_sync(_write_record, place, record)
            self._point("record written")
            return await anyio.to_thread.run_sync(self._act, place, record)

    async def resume(self) -> tuple[RestoreResult, ...]:
        """Ends the restores that a kill cut short; returns every result that nobody has settled yet."""
        results: list[RestoreResult] = []
        if not self._folder.is_dir():
            return ()
        for place in sorted(self._folder.iterdir()):
            record = _read_record(place)
            if record is None:
                await self._discard(place)
            elif record.result is not None:
                results.append(record.result)
            else:
                results.append(await self._finish(place, record))
        return tuple(results)

    def settle(self, name: str) -> None:
        """Forgets a restore whose result has been stored by the caller."""
        shutil.rmtree(self._folder / checked_name(name), ignore_errors=True)

    def unsettled(self) -> frozenset[str]:
        """Refs of safety captures that still stand for a restore nobody has settled."""
        places = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        records = (_read_record(place) for place in places)
        return frozenset(record.safety.ref for record in records if record is not None)

    async def _finish(self, place: Path, record: _Record) -> RestoreResult:
        try:
            checkout = await self._checkouts.find(os.fsdecode(raw_of(record.plan.root)))
            if checkout.key != record.plan.checkout:
                raise NotCovered("other_checkout", "The folder is another repository now.")
            async with self._checkouts.locked(checkout):
                # Another process may have ended it while we waited.
                newest = _read_record(place)
                if newest is not None and newest.result is not None:
                    return newest.result
                return await anyio.to_thread.run_sync(self._act, place, record)
        except (NotCovered, BadInput) as error:
            reason = f"the folder cannot be reached: {error}"
            left = tuple(_refused(step, reason) for step in record.plan.steps)
            return _ended(
                place, record, RestoreResult(record.plan.id, record.plan.root, record.safety, (), left)
            )

    async def _discard(self, place: Path) -> None:
        """A restore without a record has touched nothing; one under way in a living process is left alone."""
        if not place.joinpath("alive").exists() or not _alive(place / "alive"):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(place, ignore_errors=True))

    async def _stage(self, checkout: Checkout, plan: RestorePlan, place: Path) -> None:
        """Fetches and verifies every content into our own folder; nothing of the user's is touched."""
        await anyio.to_thread.run_sync(_new_folder, place)
        oids = sorted(
            {step.then.oid for step in plan.steps if step.then and step.action in ("write", "link")}
        )
        try:
            with anyio.fail_after(STAGE_MAX):
                for oid in oids:
                    out, _ = await self._git.run(
                        "cat-file", "blob", oid, cwd="/", env=checkout.environment(), limit=STAGE_MAX
                    )
                    await anyio.to_thread.run_sync(_write_staged, place / oid, out)
                    self._point("content staged")
        except (GitFailed, OSError, TimeoutError) as error:
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(place, ignore_errors=True))
            raise StorageFailed(
                "restore_not_ready",
                f"What the restore needs cannot be read or laid out ({error}). Nothing was changed.",
                fix="Make room on the disk, or choose another checkpoint.",
            ) from error

    def _act(self, place: Path, record: _Record) -> RestoreResult:
        plan = record.plan
        root = os.fsdecode(raw_of(plan.root))
        steps = [step for step in plan.steps if step.action not in ("nothing", "refuse")]
        deletions = [step for step in steps if step.action == "delete"]
        others = [step for step in steps if step.action != "delete"]
        ended: dict[str, str] = {}
        for step in sorted(deletions, key=lambda step: (-step.path.count("/"), step.path)):
            ended[step.path] = self._once(root, place, record, step)
        for folder in plan.folders:
            files.remove_folder(root, raw_of(folder))
            self._point("folder removed")
        for step in sorted(others, key=lambda step: (step.path.count("/"), step.path)):
            ended[step.path] = self._once(root, place, record, step)
        done = tuple(step for step in steps if not ended[step.path])
        refused = [step for step in plan.steps if step.action == "refuse"]
        refused += [_refused(step, ended[step.path]) for step in steps if ended[step.path]]
        result = RestoreResult(plan.id, plan.root, record.safety, done, tuple(refused))
        self._point("before the end")
        return _ended(place, record, result)

    def _once(self, root: str, place: Path, record: _Record, step: PlanStep) -> str:
        """Does one step; "" if it is done, else why it was left alone."""
        path = raw_of(step.path)
        spare = b".podium-" + os.fsencode(record.plan.id)
        self._point(f"before {step.action}")
        try:
            files.remove_spare(root, path, spare)
            with files.folder_of(root, path, create=step.then is not None) as (handle, name):
                seen = files.stamp(handle, name)
                present = files.entry_at(handle, name, sha256=record.sha256)
                if present == step.then:
                    return ""
                if present != step.now:
                    return CHANGED
                self._point(f"at {step.action}")
                self._perform(handle, name, place, spare, step, seen)
                os.fsync(handle)
        except FileNotFoundError:
            return "" if step.then is None else "its folder went away"
        except files.InTheWay as error:
            files.remove_spare(root, path, spare)
            return str(error)
        except OSError as error:
            files.remove_spare(root, path, spare)
            return f"the system refused: {error.strerror}"
        self._point(f"after {step.action}")
        return ""

    def _perform(
        self, handle: int, name: bytes, place: Path, spare: bytes, step: PlanStep, seen: tuple[int, ...]
    ) -> None:
        """Does one step if the path is still as it was seen; looks again at the last moment."""
        then = step.then
        if then is not None and step.action == "link":
            files.lay_link(handle, str(place / then.oid), spare)
        elif then is not None and step.action == "write":
            files.lay_file(handle, name, str(place / then.oid), spare, then, step.now)
        self._point("laid out")
        if files.stamp(handle, name) != seen:
            raise files.InTheWay(CHANGED)
        if then is None:
            files.remove_file(handle, name)
        elif step.action == "mode":
            files.change_mode(handle, name, then)
        else:
            files.put(handle, spare, name, step.now)

    async def _find(self, root: str) -> Checkout:
        try:
            return await self._checkouts.find(root)
        except NotCovered as error:
            raise covered_not(error.trouble) from error


def covered_not(trouble: Trouble) -> BadInput:
    """The error for a folder in which nothing can be captured or restored."""
    return BadInput(f"checkpoint_{trouble.code}", trouble.message, fix=trouble.fix)


def whole_or_error(capture: Capture) -> Capture:
    """The capture; raises StorageFailed `safety_failed` if it failed: without one nothing is restored."""
    if capture.failed is not None:
        raise StorageFailed(
            "safety_failed",
            f"The present files cannot be captured, so nothing was changed: {capture.failed.message}",
            fix=capture.failed.fix,
        )
    return capture


def _around(root: str, paths: Sequence[bytes], now: Mapping[bytes, Entry]) -> Around:
    absent = [path for path in paths if path not in now]
    inside = {path: found for path in absent if (found := files.inside(root, path)) is not None}
    hidden = frozenset(
        path for path in absent if files.exists(root, path) and not files.is_blocked(root, path)
    )
    blocked = frozenset(path for path in absent if _blocked(root, path, now))
    return Around(hidden, blocked, inside)


def _blocked(root: str, path: bytes, now: Mapping[bytes, Entry]) -> bool:
    """Whether something that no capture holds is on the way; what a capture holds may be part of the plan."""
    return files.is_blocked(root, path) and not any(folder in now for folder in parents(path))


async def _git_at_rest(checkout: Checkout) -> None:
    """Waits for a git command of the user's that writes the index; never removes its lock."""
    lock = Path(f"{checkout.git_dir}/index.lock")
    if checkout.common and not await until(lambda: not lock.exists(), GIT_BUSY_MAX, GIT_BUSY_POLL):
        raise Conflict(
            "git_busy",
            f"Another git command holds {text_of(os.fsencode(lock))}; nothing was changed.",
            fix="Wait for it to end, or remove the lock if it is known to be left over.",
        )


def _refused(step: PlanStep, reason: str) -> PlanStep:
    return msgspec.structs.replace(step, action="refuse", reason=reason)


def _new_folder(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=FOLDER_MODE, parents=True)
    write_file(place / "alive", str(os.getpid()).encode())


def _alive(place: Path) -> bool:
    try:
        os.kill(int(place.read_text("ascii")), 0)
    except (OSError, ValueError):
        return False
    return True


def _write_staged(place: Path, content: bytes) -> None:
    sha256 = len(place.name) == 64
    if files.oid_of(content, sha256=sha256) != place.name:
        raise OSError(f"the object {place.name} is damaged")
    write_file(place, content)


def _write_record(place: Path, record: _Record) -> None:
    write_file(place / "record.json", msgspec.json.encode(record))


def _read_record(place: Path) -> _Record | None:
    try:
        return msgspec.json.decode(place.joinpath("record.json").read_bytes(), type=_Record)
    except (OSError, msgspec.DecodeError):
        return None


def _ended(place: Path, record: _Record, result: RestoreResult) -> RestoreResult:
    """The result, written before the staged contents go."""
    _write_record(place, msgspec.structs.replace(record, result=result))
    for staged in place.iterdir():
        if staged.name != "record.json":
            staged.unlink()
    return result


def undone(result: RestoreResult) -> tuple[Owned, ...]:
    """The changes a restore made, as changes that can themselves be taken back: undo, and undo of undo."""
    return tuple(Owned(step.path, step.now, step.then, "agent") for step in result.done)
