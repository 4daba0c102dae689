"""Takes all files of a checkout into a tree behind a hidden ref, as cheaply as what changed since the last
time.

A ref points to the tree itself: no commit, so no identity, no signature, and no line in anybody's `git log
--all`.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec

from podium.workspace.checkout import Checkout, Checkouts, NotCovered, excludes, write_file
from podium.workspace.git import Git, GitFailed, failed
from podium.workspace.names import checked_name, is_git_metadata, parents, real_text, text_of
from podium.workspace.values import Capture, Reason, Trouble, Uncovered

CAPTURE_MAX = 30.0
"""Longest that one capture may take, in seconds; a longer one is recorded as failed (R11)."""

PATHS_MAX = 300_000
"""Most paths that one capture takes up anew."""

FILE_MAX = 256 * 1024 * 1024
"""Largest file that is captured, in bytes; a larger one is listed as not covered."""

BYTES_MAX = 4 * 1024 * 1024 * 1024
"""Most bytes that one capture takes up anew."""

UNCOVERED_MAX = 5_000
"""Most paths listed as not covered; a folder with more cannot be captured."""

HALF_AGE = 600.0
"""How old half an object of a killed git must be to be cleared away, in seconds."""

KILLED_MAX = 100
"""Most killed captures remembered for that."""

BATCH = 5_000
"""Paths given to git at a time: what was taken up before a time-out need not be taken up again."""

RECENT = 3600.0
"""How long it is remembered when a capture was made, in seconds."""

READ_TRIES = 8
"""How many unreadable files are met and left out before a capture gives up."""

TIMEOUTS_MAX = 3
"""After so many time-outs in a row captures of a checkout are switched off until `podium` starts anew (B60).
"""

CANNOT_READ = re.compile(rb"^fatal: Unable to process path (.*)$", re.MULTILINE | re.DOTALL)
CANNOT_ENTER = re.compile(rb"^warning: could not open directory '(.*)': ", re.MULTILINE)
CANNOT_NAME = re.compile(rb"^Ignoring path (.*)$", re.MULTILINE)

Stamp = tuple[int, int, int, int, int]


class _Kept(msgspec.Struct, frozen=True):
    """What is known about the private index: the tree it makes, and what it was seen against."""

    tree: str
    index: tuple[int, int]
    users: tuple[int, int]
    rules: str
    forced: tuple[str, ...] = ()
    recent: dict[str, float] = {}


class _Found(msgspec.Struct):
    """Changed paths by what is to be done with them."""

    add: dict[bytes, Stamp] = msgspec.field(default_factory=dict[bytes, Stamp])
    remove: list[bytes] = msgspec.field(default_factory=list[bytes])
    uncovered: dict[bytes, Uncovered] = msgspec.field(default_factory=dict[bytes, Uncovered])


class Capturing:
    """Captures of all checkouts, one at a time in each."""

    def __init__(self, checkouts: Checkouts, git: Git, data: Path) -> None:
        self._checkouts = checkouts
        self._git = git
        self._data = data
        self._timeouts: dict[str, int] = {}

    async def capture(self, root: str | os.PathLike[str], name: str, *, quiet: bool = True) -> Capture:
        """All files of the checkout that holds `root`; a failure is in the answer (`failed`), never raised.

        `name` is unique among this data folder's captures of the checkout. `quiet` is False when the caller
        knows of a living writer, such as a child of the agent (R11). Raises BadInput for a bad name or
        missing folder.
        """
        checked_name(name)
        try:
            checkout = await self._checkouts.find(root)
            async with self._checkouts.locked(checkout):
                return await self.take(checkout, name, quiet=quiet)
        except NotCovered as error:
            return Capture(name, real_text(root), time.time(), quiescent=False, failed=error.trouble)

    async def take(self, checkout: Checkout, name: str, *, quiet: bool = True) -> Capture:
        """The same by a caller who holds the checkout's lock."""
        at = time.time()
        where = text_of(os.fsencode(checkout.root))
        try:
            if self._timeouts.get(checkout.key, 0) >= TIMEOUTS_MAX:
                raise NotCovered(
                    "switched_off",
                    f"Captures here took longer than {CAPTURE_MAX:.0f} s {TIMEOUTS_MAX} times in a row.",
                    "Ignore large generated folders in .gitignore, then start podium anew.",
                )
            left = await anyio.to_thread.run_sync(_begun, checkout, at)
            with anyio.fail_after(CAPTURE_MAX):
                done = await self._take(checkout, name, at, quiet)
        except TimeoutError:
            self._timeouts[checkout.key] = self._timeouts.get(checkout.key, 0) + 1
            words = f"The capture took longer than {CAPTURE_MAX:.0f} s."
            trouble = Trouble("timeout", words, "Ignore large generated folders in .gitignore.")
        except GitFailed as error:
            trouble = Trouble(error.code, error.message)
        except OSError as error:
            trouble = Trouble("storage", f"The capture could not be written: {error}.")
        except NotCovered as error:
            trouble = error.trouble
        else:
            self._timeouts.pop(checkout.key, None)
            _over(checkout, left)
            return done
        return Capture(name, where, at, checkout=checkout.key, quiescent=False, failed=trouble)

    async def _take(self, checkout: Checkout, name: str, at: float, quiet: bool) -> Capture:
        rules = await anyio.to_thread.run_sync(excludes, checkout, self._data)
        kept = _remembered(checkout)
        ref = f"{checkout.refs}c/{name}"
        try:
            tree, found, still, forced = await self._whole(checkout, kept, rules, ref)
        except GitFailed as error:
            if error.code != "git_failed" or not _forgotten(checkout):
                raise
            # An index that git cannot read, or whose objects somebody pruned, is made anew once.
            tree, found, still, forced = await self._whole(checkout, None, rules, ref)
        recent = {each: when for each, when in (kept.recent if kept else {}).items() if when > at - RECENT}
        seen = _Kept(tree, _size(checkout.index), _size(_users(checkout)), rules, forced, {**recent, ref: at})
        write_file(_kept_place(checkout), msgspec.json.encode(seen), sync=False)
        left_out = tuple(found.uncovered[path] for path in sorted(found.uncovered))
        return Capture(
            name,
            text_of(os.fsencode(checkout.root)),
            at,
            tree,
            ref,
            checkout.key,
            quiet and still,
            None,
            left_out,
            _branch(checkout),
            rules,
        )

    async def _whole(
        self, checkout: Checkout, kept: _Kept | None, rules: str, ref: str
    ) -> tuple[str, _Found, bool, tuple[str, ...]]:
        """A tree in the user's repository, with the ref that shows it."""
        tree, found, still, forced = await self._tree(checkout, kept, rules)
        # The base ref keeps what the private index names from being pruned. Had somebody deleted it, objects
        # might be gone: then git refuses the old value, and the index is made anew.
        zero = "0" * len(tree)
        was = f" {kept.tree}" if kept else ""
        lines = f"update {ref} {tree} {zero}\nupdate {checkout.refs}base {tree}{was}\n"
        await self._git.run("update-ref", "--stdin", cwd="/", env=checkout.own(), stdin=lines.encode())
        return tree, found, still, forced

    async def _tree(
        self, checkout: Checkout, kept: _Kept | None, rules: str
    ) -> tuple[str, _Found, bool, tuple[str, ...]]:
        env, options = checkout.environment(), checkout.options()
        listing = (*options, "ls-files", "-z", "-m", "-o", "-d", "--exclude-standard")
        out, err = await self._git.run(*listing, cwd=checkout.root, env=env, limit=CAPTURE_MAX)
        paths = {path for path in out.split(b"\0") if path}
        forced = kept.forced if kept else ()
        dropped: list[bytes] = []
        if kept is None or _asks_anew(kept, checkout, rules, paths):
            tracked = await self._tracked_though_ignored(checkout)
            forced = tuple(text_of(path) for path in sorted(tracked))
            dropped = await self._came_under_rules(checkout, tracked)
            paths = paths - set(dropped) | tracked
        if len(paths) > PATHS_MAX:
            raise NotCovered(
                "too_many_files", f"More than {PATHS_MAX} changed files.", "Ignore generated folders."
            )
        closed = [path.rstrip(b"/") + b"/" for path in CANNOT_ENTER.findall(err)]
        found = await anyio.to_thread.run_sync(_sorted_out, checkout.root, paths, closed)
        found.remove += dropped
        await self._remove(checkout, found.remove)
        await self._add(checkout, found)
        still = await anyio.to_thread.run_sync(_unchanged, checkout.root, found.add)
        if len(found.uncovered) > UNCOVERED_MAX:
            raise NotCovered("too_many_uncovered", f"More than {UNCOVERED_MAX} paths cannot be captured.")
        if kept is not None and kept.index == _size(checkout.index):
            return kept.tree, found, still, forced
        out, _ = await self._git.run("write-tree", cwd=checkout.root, env=env, limit=CAPTURE_MAX)
        return out.decode("ascii").strip(), found, still, forced

    async def _tracked_though_ignored(self, checkout: Checkout) -> set[bytes]:
        """What the user's index holds although a rule ignores it; links to other repositories apart."""
        if not checkout.common:
            return set()
        listing = ("ls-files", "-z", "-s", "-c", "-i", "--exclude-standard")
        env = {"GIT_DIR": checkout.git_dir, "GIT_WORK_TREE": checkout.root}
        out, _ = await self._git.run(*listing, cwd=checkout.root, env=env)
        entries = (entry.partition(b"\t") for entry in out.split(b"\0") if entry)
        return {path for head, _, path in entries if not head.startswith(b"160000")}

    async def _came_under_rules(self, checkout: Checkout, tracked: set[bytes]) -> list[bytes]:
        """What the private index holds although a rule now ignores it and the user does not track it."""
        listing = (*checkout.options(), "ls-files", "-z", "-c", "-i", "--exclude-standard")
        out, _ = await self._git.run(*listing, cwd=checkout.root, env=checkout.environment())
        return [path for path in out.split(b"\0") if path and path not in tracked]

    async def _remove(self, checkout: Checkout, paths: Sequence[bytes]) -> None:
        if not paths:
            return
        zero = b"0" * (64 if checkout.sha256 else 40)
        lines = b"".join(b"0 " + zero + b"\t" + path + b"\0" for path in paths)
        await self._git.run(
            "update-index", "-z", "--index-info", cwd=checkout.root, env=checkout.environment(), stdin=lines
        )

    async def _add(self, checkout: Checkout, found: _Found) -> None:
        ordered = sorted(found.add)
        for start in range(0, len(ordered), BATCH):
            for _ in range(READ_TRIES):
                batch = [path for path in ordered[start : start + BATCH] if path in found.add]
                if not batch or await self._added(checkout, batch, found):
                    break
            else:
                raise NotCovered("unreadable", "Too many files cannot be read.", "Look at their rights.")

    async def _added(self, checkout: Checkout, batch: Sequence[bytes], found: _Found) -> bool:
        """Whether git took up all of a batch; a file that it cannot read is left out of the next try."""
        command = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        stdin = b"".join(path + b"\0" for path in batch)
        status, out, err = await self._git.attempt(
            *command, cwd=checkout.root, env=checkout.environment(), stdin=stdin, limit=CAPTURE_MAX
        )
        for path in CANNOT_NAME.findall(err):
            found.uncovered[path] = Uncovered(text_of(path), "name")
        if status == 0:
            return True
        stuck = CANNOT_READ.search(err)
        path = stuck.group(1).rstrip(b"\n") if stuck else b""
        if b"No space left" in err or b"Disk quota" in err or path not in found.add:
            raise failed(command, status, out, err)
        found.add.pop(path)
        found.uncovered[path] = Uncovered(text_of(path), "unreadable")
        await self._remove(checkout, [path])
        return False


def _forgotten(checkout: Checkout) -> bool:
    """Takes the private index away; False if there was none."""
    place = Path(checkout.index)
    there = place.exists()
    place.unlink(missing_ok=True)
    return there


def _asks_anew(kept: _Kept, checkout: Checkout, rules: str, paths: Iterable[bytes]) -> bool:
    """Whether what is ignored or tracked may have changed since the last capture."""
    if kept.rules != rules or kept.users != _size(_users(checkout)):
        return True
    return any(path == b".gitignore" or path.endswith(b"/.gitignore") for path in paths)


def _users(checkout: Checkout) -> str:
    return f"{checkout.git_dir}/index" if checkout.common else ""


def _size(place: str) -> tuple[int, int]:
    try:
        found = Path(place).stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _remembered(checkout: Checkout) -> _Kept | None:
    try:
        return msgspec.json.decode(_kept_place(checkout).read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None


def _kept_place(checkout: Checkout) -> Path:
    return Path(f"{checkout.private}/kept.json")


def recent_refs(checkout: Checkout, since: float) -> frozenset[str]:
    """Refs of captures made since a moment, at most RECENT ago: their runs may not have been stored yet."""
    kept = _remembered(checkout)
    return frozenset(ref for ref, at in kept.recent.items() if at > since) if kept else frozenset()


def _branch(checkout: Checkout) -> str:
    if not checkout.common:
        return ""
    with suppress(OSError, UnicodeDecodeError):
        head = Path(f"{checkout.git_dir}/HEAD").read_text("utf-8").strip()
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    return ""


def _sorted_out(root: str, paths: set[bytes], closed: list[bytes]) -> _Found:
    """What each changed path is now: to be taken up, gone, or not to be covered."""
    found = _Found()
    base = os.fsencode(root) + b"/"
    links: dict[bytes, bool] = {}
    size = 0
    for path in closed:
        found.uncovered[path] = Uncovered(text_of(path), "unreadable")
    for path in paths:
        if path.endswith(b"/"):
            found.uncovered[path] = Uncovered(text_of(path), "nested_repository")
            continue
        entry = None if _beyond_a_link(base, path, links) else _lstat(base + path)
        if entry is None or stat.S_ISDIR(entry.st_mode):
            found.remove.append(path)
            continue
        reason = _not_to_be_read(base + path, entry)
        if reason is not None or is_git_metadata(path):
            found.uncovered[path] = Uncovered(text_of(path), reason or "name")
            found.remove.append(path)
            continue
        found.add[path] = _stamp(entry)
        size += entry.st_size
    if size > BYTES_MAX:
        raise NotCovered(
            "too_large", f"More than {BYTES_MAX >> 30} GiB of changed files.", "Ignore large folders."
        )
    return found


def _not_to_be_read(whole: bytes, entry: os.stat_result) -> Reason | None:
    if stat.S_ISLNK(entry.st_mode):
        return None
    if not stat.S_ISREG(entry.st_mode):
        return "special"
    if entry.st_size > FILE_MAX:
        return "too_large"
    return None if os.access(whole, os.R_OK) else "unreadable"


def _beyond_a_link(base: bytes, path: bytes, links: dict[bytes, bool]) -> bool:
    """Whether a folder on the way to a path is a link: then the path is no file of this checkout."""
    for folder in reversed(parents(path)):
        if folder not in links:
            entry = _lstat(base + folder)
            links[folder] = entry is not None and stat.S_ISLNK(entry.st_mode)
        if links[folder]:
            return True
    return False


def _lstat(whole: bytes) -> os.stat_result | None:
    try:
        return os.lstat(whole)
    except OSError:
        return None


def _stamp(entry: os.stat_result) -> Stamp:
    return (entry.st_ino, entry.st_mode, entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns)


def _unchanged(root: str, stamps: Mapping[bytes, Stamp]) -> bool:
    """Whether no file that was read has changed since before it was read."""
    base = os.fsencode(root) + b"/"
    for path, stamp in stamps.items():
        entry = _lstat(base + path)
        if entry is None or _stamp(entry) != stamp:
            return False
    return True


def _begun(checkout: Checkout, at: float) -> list[float]:
    """Notes that a capture begins; first clears away what a killed git of an earlier one left half written.

    Half an object has a name that says nothing, so only what was last written while such a capture ran is
    taken, and only when no git can still be at it.
    """
    killed = _running(checkout)
    old = [start for start in killed if start + CAPTURE_MAX + HALF_AGE < at]
    if old:
        for place in Path(checkout.objects).glob("*/tmp_*"):
            with suppress(OSError):
                written = place.stat().st_mtime
                if any(start - 1 <= written <= start + CAPTURE_MAX + 1 for start in old):
                    place.unlink()
    left = [start for start in killed if start not in old][-KILLED_MAX:]
    write_file(_running_place(checkout), msgspec.json.encode([*left, at]), sync=False)
    return left


def _running(checkout: Checkout) -> list[float]:
    try:
        return msgspec.json.decode(_running_place(checkout).read_bytes(), type=list[float])
    except (OSError, msgspec.DecodeError):
        return []


def _running_place(checkout: Checkout) -> Path:
    return Path(f"{checkout.private}/running.json")


def _over(checkout: Checkout, left: list[float]) -> None:
    """A capture ended, well or not, with no git of ours killed."""
    if left:
        write_file(_running_place(checkout), msgspec.json.encode(left), sync=False)
    else:
        _running_place(checkout).unlink(missing_ok=True)
