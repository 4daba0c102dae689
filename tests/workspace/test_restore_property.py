"""Random trees and edits by three people: a restore changes only what is its thread's, and undo is exact."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.workspace.names import raw_of
from tests.workspace.yard import Yard, git, repository, standing, tree

NAMES = [
    b"a",
    b"b",
    b"d/a",
    b"d/b",
    b"d/e/f",
    b"e",
    b"e/x",
    b"odd\xff",
    b"line\nbreak",
    b'"q"',
    b"-n",
    b"x.log",
]
CONTENTS = [b"", b"1\n", b"2\r\n", b"\x00\xff", b"long\n" * 500]

names = st.sampled_from(NAMES)
edits = st.one_of(
    st.tuples(st.just("write"), names, st.sampled_from(CONTENTS)),
    st.tuples(st.just("delete"), names, st.just(b"")),
    st.tuples(st.just("mode"), names, st.just(b"")),
    st.tuples(st.just("link"), names, st.sampled_from([b"a", b"d", b"../outside", b"nowhere"])),
    st.tuples(st.just("move"), names, names),
)
# Who makes edits, and when: the user, thread one or thread two; each list of a thread's is one run.
stories = st.lists(
    st.tuples(st.sampled_from(["user", "one", "two"]), st.lists(edits, min_size=1, max_size=4)), max_size=5
)
State = dict[bytes, tuple[str, bytes]]
Edit = tuple[str, bytes, bytes]


def clear(place: bytes) -> None:
    if os.path.islink(place) or os.path.isfile(place):  # noqa: PTH113,PTH114 - bytes
        os.unlink(place)  # noqa: PTH108 - bytes
    elif os.path.isdir(place):  # noqa: PTH112 - bytes
        shutil.rmtree(place)


def ready(root: bytes, name: bytes) -> bytes:
    """A place where something can be put; what is in the way goes."""
    parts = name.split(b"/")
    for count in range(1, len(parts)):
        folder = root + b"/" + b"/".join(parts[:count])
        if os.path.islink(folder) or not os.path.isdir(folder):  # noqa: PTH112,PTH114 - bytes
            clear(folder)
            os.mkdir(folder)  # noqa: PTH102 - bytes
    place = root + b"/" + name
    clear(place)
    return place


def behind_a_link(root: bytes, name: bytes) -> bool:
    parts = name.split(b"/")
    folders = (root + b"/" + b"/".join(parts[:count]) for count in range(1, len(parts)))
    return any(os.path.islink(folder) for folder in folders)  # noqa: PTH114 - bytes


def make(root: Path, edit: Edit) -> None:
    base, (kind, name, more) = os.fsencode(root), edit
    source = base + b"/" + name
    if kind == "write":
        with open(ready(base, name), "wb") as out:  # noqa: PTH123 - bytes
            out.write(more)
    elif kind == "link":
        os.symlink(more, ready(base, name))  # noqa: PTH211 - bytes
    elif behind_a_link(base, name):
        return
    elif kind == "delete":
        clear(source)
    elif kind == "mode" and os.path.isfile(source) and not os.path.islink(source):  # noqa: PTH113,PTH114
        os.chmod(source, os.stat(source).st_mode ^ 0o111)  # noqa: PTH101,PTH116 - bytes
    elif kind == "move" and os.path.isfile(source) and name != more and not more.startswith(name + b"/"):  # noqa: PTH113
        content = (os.path.islink(source), Path(os.fsdecode(source)))  # noqa: PTH114 - bytes
        data = os.readlink(source) if content[0] else content[1].read_bytes()  # noqa: PTH115 - bytes
        clear(source)
        target = ready(base, more)
        if content[0]:
            os.symlink(data, target)  # noqa: PTH211 - bytes
        else:
            Path(os.fsdecode(target)).write_bytes(data)


def put_back(who: list[str], states: list[State]) -> dict[bytes, tuple[str, bytes] | None]:
    """By the files alone: what a restore of thread one may put back, with what each path held before it."""
    first: dict[bytes, tuple[str, bytes] | None] = {}
    last: dict[bytes, tuple[str, bytes] | None] = {}
    broken: set[bytes] = set()
    for actor, before, after in zip(who, states, states[1:], strict=False):
        if actor != "one":
            continue
        for path in before.keys() | after.keys():
            if before.get(path) == after.get(path):
                continue
            if path in last and last[path] != before.get(path):
                broken.add(path)
            first.setdefault(path, before.get(path))
            last[path] = after.get(path)
    now = states[-1]
    return {path: first[path] for path in first if path not in broken and last[path] == now.get(path)}


async def check(place: Path, first: list[Edit], story: list[tuple[str, list[Edit]]], force: bool) -> None:
    root = repository(place / "repo", {"a": "base\n", "d/a": "base\n", ".gitignore": "*.log\n"})
    (place / "outside").write_text("outside\n")
    for edit in first:
        make(root, edit)
    git(root, "add", "-A") if len(first) % 2 else None
    yard = Yard(root, place / "data")
    mine: list[str] = []
    states = [tree(root)]
    for number, (who, made) in enumerate(story):
        run = f"{who}{number}"
        if who != "user":
            await yard.start(run)
        for edit in made:
            make(root, edit)
        if who != "user":
            await yard.end(run)
        if who == "one":
            mine.append(run)
        states.append(tree(root))
    may = put_back([who for who, _ in story], states)
    owned = {raw_of(each.path): each for each in await yard.owned(*mine)} if mine else {}
    before, stand = tree(root), standing(root)
    plan = await yard.spaces.plan(root, tuple(owned.values()), "restore", force=force)
    result = await yard.spaces.restore(plan)
    after = tree(root)
    paths = {raw_of(step.path) for step in result.done}
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == paths, (changed, paths)
    assert paths <= {raw_of(each.path) for each in owned.values()}
    if not force:
        assert all(each.owner == "agent" for each in owned.values() if raw_of(each.path) in paths)
        assert {path: after.get(path) for path in paths} == {path: may[path] for path in paths}
    assert standing(root) == stand
    assert (place / "outside").read_text() == "outside\n"
    undo = await yard.spaces.restore(await yard.spaces.undo(result, "undo"))
    assert undo.refused == ()
    assert tree(root) == before
    again = await yard.spaces.restore(await yard.spaces.undo(undo, "again"))
    assert again.refused == ()
    assert tree(root) == after
    assert not [path for path in tree(root) if b".podium-" in path]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(edits, max_size=6), stories, st.booleans())
def test_a_restore_touches_only_its_own_and_undo_is_exact(
    first: list[Edit], story: list[tuple[str, list[Edit]]], force: bool
) -> None:
    with tempfile.TemporaryDirectory() as place:
        anyio.run(check, Path(place), first, story, force)
