"""Captures of a repository's files against plain git plumbing that does the same."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio

from bench.figures import Figure
from bench.measuring import Measure, Run, Sizes
from bench.place import Missing, placed
from podium.workspace.workspaces import Workspaces

CHANGED = (0, 10, 500)
"""Files changed between two captures; never more than there are."""


def rows(sizes: Sizes) -> list[str]:
    """One for each number of changed files."""
    return [f"capture, {count} of {sizes.files:,} files changed" for count in _counts(sizes)]


def _counts(sizes: Sizes) -> list[int]:
    return [count for count in CHANGED if count <= sizes.files]


@contextmanager
def opened(sizes: Sizes) -> Generator[Run]:
    """A repository that was captured once already, by both."""
    with placed() as place:
        root, index = place.root / "repo", place.root / "index"
        _make(root, sizes.files)
        spaces = Workspaces(place.data)
        _captured(spaces, root, "first")
        _plain(root, index, "first")
        number = iter(range(10**9))
        yield lambda: _run(spaces, root, index, sizes, next(number))


def _run(spaces: Workspaces, root: Path, index: Path, sizes: Sizes, number: int) -> list[Figure]:
    found: list[Figure] = []
    for row, count in zip(rows(sizes), _counts(sizes), strict=True):
        _edit(root, sizes.files, count, f"a{number}.{count}")
        ours = _captured(spaces, root, f"c{number}.{count}")
        _edit(root, sizes.files, count, f"b{number}.{count}")
        found.append(Figure(row, ours * 1000, "ms", _plain(root, index, f"{number}.{count}") * 1000))
    return found


def _make(root: Path, files: int) -> None:
    """A repository of small files, a hundred in each folder, all committed."""
    root.mkdir()
    for number in range(files):
        place = root / f"d{number // 100}" / f"f{number}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"line {number}\n" * 20)
    named = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for command in (["init", "-q"], ["add", "."], [*named, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *command], cwd=root, check=True)


def _edit(root: Path, files: int, count: int, word: str) -> None:
    """Changes some files, so that no bytes have been seen before."""
    for number in range(count):
        chosen = number * (files // count)
        (root / f"d{chosen // 100}" / f"f{chosen}").write_text(f"{word} {number}\n" * 20)


def _plain(root: Path, index: Path, name: str) -> float:
    """The same by plumbing alone: add, write-tree, update-ref with an index that is kept."""
    env = os.environ | {"GIT_INDEX_FILE": str(index)}
    begun = time.monotonic()
    subprocess.run(["git", "add", "-A"], cwd=root, env=env, check=True)
    done = subprocess.run(
        ["git", "write-tree"], cwd=root, env=env, check=True, capture_output=True, text=True
    )
    subprocess.run(["git", "update-ref", f"refs/plain/{name}", done.stdout.strip()], cwd=root, check=True)
    return time.monotonic() - begun


def _captured(spaces: Workspaces, root: Path, name: str) -> float:
    """One capture of ours. Raises Missing if it failed."""
    begun = time.monotonic()
    capture = anyio.run(spaces.capture, root, name)
    ended = time.monotonic() - begun
    if capture.failed is not None:
        raise Missing(f"A capture failed: {capture.failed}")
    return ended


MEASURE = Measure("captures", rows, opened)
