"""What differs between two captures: paths with kinds and renames, and a patch of bounded length."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, Process

from podium.contract.errors import BadInput
from podium.workspace.checkout import Checkout, Checkouts
from podium.workspace.git import GIT_MAX, Git
from podium.workspace.names import raw_of, text_of
from podium.workspace.values import Capture, Change, Entry, Kind, Masked, Patch, Uncovered

PATCH_MAX = 1024 * 1024
"""Longest patch handed out, in bytes; the rest is left out and said so."""

RENAMES_MAX = 1_000
"""Most deleted and added files that are compared for likeness; beyond, only equal files are paired."""

PATHSPEC_MAX = 500
"""Most paths named to one git command; a patch of more shows them all."""


class Comparing:
    """Compares captures of one checkout."""

    def __init__(self, checkouts: Checkouts, git: Git) -> None:
        self._checkouts = checkouts
        self._git = git

    async def changes(self, before: Capture, after: Capture) -> tuple[Change, ...]:
        """Every path that differs, in order of path; raises BadInput for a failed or foreign capture."""
        checkout = await self._both(before, after)
        if before.tree == after.tree:
            return ()
        options = ("-r", "-z", "-M50%", f"-l{RENAMES_MAX}", "--no-ext-diff", "--no-textconv")
        out, _ = await self._git.run(
            "diff-tree", *options, before.tree, after.tree, cwd="/", env=checkout.environment()
        )
        found = sorted(_read(out), key=lambda change: raw_of(change.path))
        return await self._masked(checkout, before, after, found)

    async def patch(self, before: Capture, after: Capture, paths: Collection[str] | None = None) -> Patch:
        """A unified diff of some paths or all, cut after PATCH_MAX bytes."""
        checkout = await self._both(before, after)
        if before.tree == after.tree or (paths is not None and not paths):
            return Patch("")
        chosen = [raw_of(path) for path in paths or ()]
        options = ("-r", "-p", "-M50%", f"-l{RENAMES_MAX}", "--no-ext-diff", "--no-textconv", "--no-color")
        command = self._git.command("diff-tree", *options, before.tree, after.tree, "--")
        if len(chosen) <= PATHSPEC_MAX:
            command += chosen
        env = self._git.environment(checkout.environment())
        text = b""
        with anyio.fail_after(GIT_MAX):
            async with await anyio.open_process(
                command, cwd="/", env=env, stderr=None, stdin=None
            ) as process:
                text = await _first(process, PATCH_MAX + 1)
                if len(text) > PATCH_MAX:  # the rest is not wanted
                    with suppress(ProcessLookupError):
                        process.kill()
        return Patch(text[:PATCH_MAX].decode("utf-8", "replace"), len(text) > PATCH_MAX)

    async def entries(self, checkout: Checkout, tree: str) -> dict[bytes, Entry]:
        """Every path of a tree."""
        out, _ = await self._git.run("ls-tree", "-r", "-z", tree, cwd="/", env=checkout.environment())
        return dict(_entries(out))

    async def _both(self, before: Capture, after: Capture) -> Checkout:
        for capture in (before, after):
            whole(capture)
        if before.checkout != after.checkout:
            raise BadInput("other_checkout", "The two captures are of different folders.")
        checkout = await self._checkouts.find(os.fsdecode(raw_of(after.root)))
        if checkout.key != after.checkout:  # a repository was begun or removed there since
            raise BadInput(
                "other_checkout",
                "The folder is another checkout now than when these captures were made.",
                fix="Put its .git folder back as it was, or move it aside, and try again.",
            )
        return checkout

    async def _masked(
        self, checkout: Checkout, before: Capture, after: Capture, found: Sequence[Change]
    ) -> tuple[Change, ...]:
        """The changes, with those marked that only came into view or left it."""
        ruled = before.rules != after.rules
        inner = any(_is_rules(change.path) for change in found)
        came = {change.path for change in found if change.before is None}
        went = {change.path for change in found if change.after is None}
        ignored_before = await self._ignored(checkout, before, came) if inner else set[str]()
        ignored_after = await self._ignored(checkout, after, went) if inner else set[str]()
        masks: dict[str, Masked] = {}
        for path in came:
            if _lies_in(path, before.uncovered):
                masks[path] = "was_uncovered"
            elif ruled or path in ignored_before:
                masks[path] = "was_ignored"
        for path in went:
            if _lies_in(path, after.uncovered):
                masks[path] = "now_uncovered"
            elif ruled or path in ignored_after:
                masks[path] = "now_ignored"
        return tuple(
            msgspec.structs.replace(change, masked=masks[change.path]) if change.path in masks else change
            for change in found
        )

    async def _ignored(self, checkout: Checkout, capture: Capture, paths: set[str]) -> set[str]:
        """Which paths the ignore files in a capture would have hidden."""
        if not paths:
            return set()
        tree = await self.entries(checkout, capture.tree)
        rules = {
            path: entry.oid
            for path, entry in tree.items()
            if _is_rules(text_of(path)) and entry.mode != "120000"
        }
        with tempfile.TemporaryDirectory(dir=checkout.private) as folder:
            contents = await self._contents(checkout, set(rules.values()))
            for path, oid in rules.items():
                place = Path(folder) / os.fsdecode(path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(contents[oid])
            found = await self._git.ignored(
                *checkout.options(),
                paths=[raw_of(path) for path in sorted(paths)],
                cwd=folder,
                env=checkout.environment(folder),
            )
        return {text_of(path) for path in found}

    async def _contents(self, checkout: Checkout, oids: set[str]) -> dict[str, bytes]:
        """The bytes of small files."""
        stdin = "".join(f"{oid}\n" for oid in oids).encode()
        out, _ = await self._git.run("cat-file", "--batch", cwd="/", env=checkout.environment(), stdin=stdin)
        contents: dict[str, bytes] = {}
        start = 0
        while start < len(out):
            end = out.index(b"\n", start)
            oid, _, size = out[start:end].decode("ascii").split(" ")
            contents[oid] = out[end + 1 : end + 1 + int(size)]
            start = end + 2 + int(size)
        return contents


def whole(capture: Capture) -> None:
    """Raises BadInput `capture_failed` for a capture that failed: it holds nothing and restores nothing."""
    if capture.failed is not None or not capture.tree:
        reason = capture.failed.message if capture.failed else ""
        raise BadInput(
            "capture_failed",
            f"The capture {capture.id} failed: nothing to compare or to restore. {reason}".rstrip(),
            fix="Choose another checkpoint.",
        )


async def _first(process: Process, most: int) -> bytes:
    """The first bytes that a process writes."""
    text = b""
    stream: ByteReceiveStream | None = process.stdout
    if stream is not None:
        with suppress(anyio.EndOfStream):
            while len(text) < most:
                text += await stream.receive()
    return text[:most]


def _is_rules(path: str) -> bool:
    return path == ".gitignore" or path.endswith("/.gitignore")


def _lies_in(path: str, uncovered: Sequence[Uncovered]) -> bool:
    return any(
        path == each.path or (each.path.endswith("/") and path.startswith(each.path)) for each in uncovered
    )


def _read(out: bytes) -> Iterator[Change]:
    """The changes in git's raw list; a rename becomes a deletion and an addition."""
    fields = iter(out.split(b"\0"))
    for head in fields:
        if not head:
            continue
        old_mode, new_mode, old_oid, new_oid, status = head[1:].decode("ascii").split(" ")
        old, new = Entry(old_mode, old_oid), Entry(new_mode, new_oid)
        path = text_of(next(fields))
        if status[0] in "RC":
            target = text_of(next(fields))
            if status[0] == "R":
                yield Change(path, "deleted", old, None, renamed_to=target)
            yield Change(target, "added", None, new, renamed_from=path)
        elif status == "A":
            yield Change(path, "added", None, new)
        elif status == "D":
            yield Change(path, "deleted", old, None)
        else:
            yield Change(path, _kind(old, new), old, new)


def _kind(old: Entry, new: Entry) -> Kind:
    if "120000" in (old.mode, new.mode) and old.mode != new.mode:
        return "type"
    return "mode" if old.oid == new.oid else "modified"


def _entries(out: bytes) -> Iterator[tuple[bytes, Entry]]:
    for line in out.split(b"\0"):
        if line:
            head, _, path = line.partition(b"\t")
            mode, _, oid = head.decode("ascii").split(" ")
            yield path, Entry(mode, oid)
