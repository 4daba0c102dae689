"""The cases of `docs/changes.md`: who did what, whose each path is then, and what a restore of the thread
does.

`python -m tests.workspace.story` writes the table into the page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from tests.workspace.yard import Yard, repository

PAGE = Path(__file__).parents[2] / "docs" / "changes.md"
BEGIN, END = "<!-- cases: begin -->", "<!-- cases: end -->"
BASE = {"a.txt": "1\n2\n3\n", "b.txt": "b\n", "x/in.txt": "in\n", ".gitignore": "*.log\n.env\n"}

Act = Callable[[Yard], Awaitable[None]]


class Path_(msgspec.Struct, frozen=True):
    """What is expected of one path: its owner, what a restore does, and what it holds afterwards."""

    owner: str
    outcome: str
    holds: str | None


class Case(msgspec.Struct, frozen=True):
    """One story. `runs` are the runs of the thread that is restored."""

    name: str
    told: str
    paths: Mapping[str, Path_]
    act: Act
    runs: tuple[str, ...] = ("one",)
    force: bool = False
    plain: bool = False


CASES: list[Case] = []
BACK, GONE, SINCE = "put back", "removed", "refused: it was changed since"
SHARED = "refused: shared: another run or a living process may have written it"
LEFT = "not touched"


def case(
    told: str,
    paths: Mapping[str, tuple[str, str, str | None]],
    *,
    runs: tuple[str, ...] = ("one",),
    force: bool = False,
    plain: bool = False,
) -> Callable[[Act], Act]:
    """Adds a story to the table."""

    def add(act: Act) -> Act:
        expected = {path: Path_(*each) for path, each in paths.items()}
        CASES.append(Case(act.__name__, told, expected, act, runs, force, plain))
        return act

    return add


@case("An agent edits a file", {"a.txt": ("agent", BACK, "1\n2\n3\n")})
async def edit(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))


@case(
    "An agent makes files, one in a new folder",
    {"new.txt": ("agent", GONE, None), "sub/s.txt": ("agent", GONE, None), "sub": ("-", GONE, None)},
)
async def make(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.write("new.txt", "n"), yard.write("sub/s.txt", "s")))


@case("An agent deletes a file", {"x/in.txt": ("agent", BACK, "in\n")})
async def delete(yard: Yard) -> None:
    await yard.run("one", lambda: ((yard.root / "x/in.txt").unlink(), (yard.root / "x").rmdir()))


@case("An agent renames a file", {"a.txt": ("agent", BACK, "1\n2\n3\n"), "z.txt": ("agent", GONE, None)})
async def rename(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.root / "a.txt").rename(yard.root / "z.txt"))


@case(
    "The user edits another file after the run",
    {"a.txt": ("agent", BACK, "1\n2\n3\n"), "b.txt": ("unknown", LEFT, "user\n")},
)
async def other_file_after(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    yard.write("b.txt", "user\n")


@case("The user edits the same file after the run", {"a.txt": ("agent", SINCE, "agent\nuser\n")})
async def same_file_after(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    yard.write("a.txt", "agent\nuser\n")


@case(
    "The user edits the same file between two runs that edit it too",
    {"a.txt": ("agent", "refused: somebody else changed it between the runs", "again\n")},
    runs=("one", "two"),
)
async def same_file_between(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    yard.write("a.txt", "user\n")
    await yard.run("two", lambda: yard.write("a.txt", "again\n"))


@case(
    "The same, and only the second run is restored",
    {"a.txt": ("agent", BACK, "user\n")},
    runs=("two",),
)
async def only_the_second(yard: Yard) -> None:
    await same_file_between(yard)


@case(
    "Two runs of one thread edit the same file", {"a.txt": ("agent", BACK, "1\n2\n3\n")}, runs=("one", "two")
)
async def two_runs(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    await yard.run("two", lambda: yard.write("a.txt", "again\n"))


@case(
    "The user edits another file during the run (nobody can tell; the safety capture holds it)",
    {"a.txt": ("agent", BACK, "1\n2\n3\n"), "b.txt": ("agent", BACK, "b\n")},
)
async def other_file_during(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.write("a.txt", "agent\n"), yard.write("b.txt", "user\n")))


@case(
    "Two threads overlap and write by shell",
    {"a.txt": ("shared", SHARED, "A\n"), "b.txt": ("shared", SHARED, "B\n")},
)
async def overlap_by_shell(yard: Yard) -> None:
    await yard.start("one")
    await yard.start("two")
    yard.write("a.txt", "A\n")
    yard.write("b.txt", "B\n")
    await yard.end("two")
    await yard.end("one")


@case(
    "The same, with force",
    {"a.txt": ("shared", BACK, "1\n2\n3\n"), "b.txt": ("shared", BACK, "b\n")},
    force=True,
)
async def overlap_by_shell_forced(yard: Yard) -> None:
    await overlap_by_shell(yard)


@case(
    "Two threads overlap, and each agent reports its own edit",
    {"a.txt": ("agent", BACK, "1\n2\n3\n"), "b.txt": ("agent of the other", LEFT, "B\n")},
)
async def overlap_by_edits(yard: Yard) -> None:
    await yard.start("one")
    await yard.start("two")
    yard.write("a.txt", "A\n")
    yard.write("b.txt", "B\n")
    await yard.end("two", structured=["b.txt"])
    await yard.end("one", structured=["a.txt"])


@case("Two threads overlap, and both report an edit of one file", {"a.txt": ("shared", SHARED, "AB\n")})
async def overlap_on_one_file(yard: Yard) -> None:
    await yard.start("one")
    await yard.start("two")
    yard.write("a.txt", "AB\n")
    await yard.end("two", structured=["a.txt"])
    await yard.end("one", structured=["a.txt"])


@case(
    "A thread writes by shell before another starts, and while it goes on",
    {"a.txt": ("agent", BACK, "1\n2\n3\n"), "b.txt": ("shared", SHARED, "late\n")},
)
async def before_and_while(yard: Yard) -> None:
    await yard.start("one")
    yard.write("a.txt", "early\n")
    await yard.start("two")
    yard.write("b.txt", "late\n")
    await yard.end("two")
    await yard.end("one")


@case(
    "Another thread edits another file later",
    {"a.txt": ("agent", BACK, "1\n2\n3\n"), "b.txt": ("agent of the other", LEFT, "B\n")},
)
async def later_other_file(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    await yard.run("two", lambda: yard.write("b.txt", "B\n"))


@case("Another thread edits the same file later", {"a.txt": ("agent", SINCE, "B\n")})
async def later_same_file(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "A\n"))
    await yard.run("two", lambda: yard.write("a.txt", "B\n"))


@case(
    "A command lives on after an interrupt; it writes before the end and after it",
    {"a.txt": ("shared", SHARED, "before\n"), "b.txt": ("unknown", LEFT, "after\n")},
)
async def background(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "before\n"), quiet=False)
    yard.write("b.txt", "after\n")


@case(
    "A command lives on, but the agent reported the edit itself",
    {"a.txt": ("agent", BACK, "1\n2\n3\n")},
)
async def background_reported(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "mine\n"), quiet=False, structured=["a.txt"])


@case("An agent writes an ignored file", {"out.log": ("-", LEFT, "log\n"), ".env": ("-", LEFT, "KEY=2\n")})
async def ignored(yard: Yard) -> None:
    yard.write(".env", "KEY=1\n")
    await yard.run("one", lambda: (yard.write("out.log", "log\n"), yard.write(".env", "KEY=2\n")))


@case(
    "An agent stops ignoring a file that was there",
    {
        ".env": ("unknown", "refused: nobody knows what it held: it was ignored before", "KEY=1\n"),
        ".gitignore": ("agent", BACK, "*.log\n.env\n"),
    },
)
async def no_longer_ignored(yard: Yard) -> None:
    yard.write(".env", "KEY=1\n")
    await yard.run("one", lambda: yard.write(".gitignore", "*.log\n"))


@case(
    "An agent begins to ignore a file that was there",
    {
        "notes.txt": ("unknown", "refused: nobody knows what it held: it is ignored now", "mine\n"),
        ".gitignore": ("agent", BACK, "*.log\n.env\n"),
    },
)
async def ignored_now(yard: Yard) -> None:
    yard.write("notes.txt", "mine\n")
    await yard.run("one", lambda: yard.write(".gitignore", "*.log\n.env\nnotes.txt\n"))


@case(
    "An agent edits one untracked file of the user's, not the other",
    {"notes.txt": ("agent", BACK, "mine\n"), "more.txt": ("-", LEFT, "more\n")},
)
async def untracked(yard: Yard) -> None:
    yard.write("notes.txt", "mine\n")
    yard.write("more.txt", "more\n")
    await yard.run("one", lambda: yard.write("notes.txt", "agent\n"))


@case("A tracked file that a rule ignores is edited", {"keep.log": ("agent", BACK, "kept\n")})
async def tracked_though_ignored(yard: Yard) -> None:
    yard.write("keep.log", "kept\n")
    yard.git("add", "-f", "keep.log")
    await yard.run("one", lambda: yard.write("keep.log", "agent\n"))


@case("An agent edits what the user had staged", {"b.txt": ("agent", BACK, "staged\n")})
async def staged(yard: Yard) -> None:
    yard.write("b.txt", "staged\n")
    yard.git("add", "b.txt")
    await yard.run("one", lambda: yard.write("b.txt", "agent\n"))


@case("An agent edits what the user had staged in part", {"b.txt": ("agent", BACK, "staged\nnot yet\n")})
async def partly_staged(yard: Yard) -> None:
    yard.write("b.txt", "staged\n")
    yard.git("add", "b.txt")
    yard.write("b.txt", "staged\nnot yet\n")
    await yard.run("one", lambda: yard.write("b.txt", "agent\n"))


@case(
    "An agent commits its edit, or the user does: files come back, commits stay",
    {"a.txt": ("agent", BACK, "1\n2\n3\n")},
)
async def committed(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.write("a.txt", "agent\n"), yard.git("commit", "-qam", "agent")))


@case(
    "The user changes to another branch after the run",
    {"a.txt": ("agent", SINCE, "other\n"), "new.txt": ("agent", GONE, None)},
)
async def switched(yard: Yard) -> None:
    yard.git("checkout", "-q", "-b", "other")
    yard.write("a.txt", "other\n")
    yard.git("commit", "-qam", "other")
    yard.git("checkout", "-q", "main")
    await yard.run("one", lambda: (yard.write("a.txt", "agent\n"), yard.write("new.txt", "n")))
    yard.git("commit", "-qm", "by the user", "a.txt")
    yard.git("checkout", "-q", "other")


@case(
    "An agent works in a nested repository",
    {"vendor/v.txt": ("-", LEFT, "agent\n"), "a.txt": ("-", LEFT, "1\n2\n3\n")},
)
async def nested(yard: Yard) -> None:
    repository(yard.root / "vendor", {"v.txt": "v\n"})
    await yard.run("one", lambda: yard.write("vendor/v.txt", "agent\n"))


@case(
    "An agent edits in a submodule and beside it",
    {"lib/s.txt": ("-", LEFT, "agent\n"), "a.txt": ("agent", BACK, "1\n2\n3\n")},
)
async def submodule(yard: Yard) -> None:
    repository(yard.root.parent / "lib", {"s.txt": "s\n"})
    yard.git(
        "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(yard.root.parent / "lib"), "lib"
    )
    await yard.run("one", lambda: (yard.write("lib/s.txt", "agent\n"), yard.write("a.txt", "agent\n")))


@case(
    "An agent turns a link to lead out of the checkout, and writes through it",
    {"link": ("agent", BACK, "-> a.txt"), "../outside.txt": ("-", LEFT, "written through\n")},
)
async def link_out(yard: Yard) -> None:
    (yard.root / "link").symlink_to("a.txt")
    outside = yard.root.parent / "outside.txt"

    def turn() -> None:
        (yard.root / "link").unlink()
        (yard.root / "link").symlink_to("../outside.txt")
        outside.write_text("written through\n")

    await yard.run("one", turn)


@case(
    "An agent puts a link in place of a folder",
    {"x": ("agent", BACK, "/"), "x/in.txt": ("agent", BACK, "in\n"), "../away/in.txt": ("-", LEFT, "in\n")},
)
async def folder_to_link(yard: Yard) -> None:
    def turn() -> None:
        (yard.root / "x").rename(yard.root.parent / "away")
        (yard.root / "x").symlink_to("../away")

    await yard.run("one", turn)


@case(
    "An agent swaps a file for a folder and a folder for a file",
    {
        "a.txt": ("agent", BACK, "1\n2\n3\n"),
        "a.txt/deep": ("agent", GONE, None),
        "x": ("agent", BACK, "/"),
        "x/in.txt": ("agent", BACK, "in\n"),
    },
)
async def swaps(yard: Yard) -> None:
    await yard.run("one", lambda: _swap(yard))


def _swap(yard: Yard) -> None:
    (yard.root / "a.txt").unlink()
    yard.write("a.txt/deep", "deep\n")
    (yard.root / "x/in.txt").unlink()
    (yard.root / "x").rmdir()
    yard.write("x", "file\n")


@case(
    "The same, and the user then puts a file into the new folder",
    {
        "a.txt": ("agent", "refused: it is a folder now, and a.txt/mine stays", "/"),
        "a.txt/mine": ("unknown", LEFT, "mine\n"),
        "a.txt/deep": ("agent", GONE, None),
        "x": ("agent", BACK, "/"),
        "x/in.txt": ("agent", BACK, "in\n"),
    },
)
async def swaps_with_users_file(yard: Yard) -> None:
    await yard.run("one", lambda: _swap(yard))
    yard.write("a.txt/mine", "mine\n")


@case("An agent changes the right to execute", {"b.txt": ("agent", BACK, "b\n")})
async def mode(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.root / "b.txt").chmod(0o755))


@case(
    "Line ends, a clean filter and a large-file pointer: bytes are saved as they are",
    {
        "crlf.txt": ("agent", BACK, "one\r\ntwo\r\n"),
        "z.f": ("agent", BACK, "raw\n"),
        "big.bin": ("agent", BACK, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"),
    },
)
async def raw_bytes(yard: Yard) -> None:
    yard.git("config", "core.autocrlf", "true")
    yard.git("config", "filter.shout.clean", "tr a-z A-Z")
    yard.git("config", "filter.shout.smudge", "false")
    yard.write(".gitattributes", "*.f filter=shout\n*.bin filter=lfs diff=lfs merge=lfs -text\n")
    yard.write("crlf.txt", "one\r\ntwo\r\n")
    yard.write("z.f", "raw\n")
    yard.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")
    await yard.run("one", lambda: [yard.write(name, "agent\n") for name in ("crlf.txt", "z.f", "big.bin")])


@case(
    "The user puts a file into a folder that the agent made",
    {"sub/s.txt": ("agent", GONE, None), "sub/mine": ("unknown", LEFT, "mine\n")},
)
async def users_file_in_agents_folder(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("sub/s.txt", "s"))
    yard.write("sub/mine", "mine\n")


@case(
    "The user already took the edit back",
    {"a.txt": ("agent", "not touched: it is already as it was", "1\n2\n3\n")},
)
async def already_back(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    yard.write("a.txt", "1\n2\n3\n")


@case(
    "The folder is no git repository",
    {
        "a.txt": ("agent", BACK, "1\n2\n3\n"),
        "new.txt": ("agent", GONE, None),
        "b.txt": ("unknown", LEFT, "user\n"),
    },
    plain=True,
)
async def no_repository(yard: Yard) -> None:
    await yard.run("one", lambda: (yard.write("a.txt", "agent\n"), yard.write("new.txt", "n")))
    yard.write("b.txt", "user\n")


@case(
    "Names with a line break, a quotation mark and bytes that are no text",
    {'q"uo\nte': ("agent", GONE, None)},
)
async def odd_names(yard: Yard) -> None:
    await yard.run("one", lambda: yard.write('q"uo\nte', "odd\n"))


@case("A git lock of somebody else's is there during both captures", {"a.txt": ("agent", BACK, "1\n2\n3\n")})
async def lock_held(yard: Yard) -> None:
    (yard.root / ".git/index.lock").touch()
    await yard.run("one", lambda: yard.write("a.txt", "agent\n"))
    (yard.root / ".git/index.lock").unlink()


def checkout(case: Case, place: Path) -> Yard:
    """The folder in which a story happens."""
    root = place / "repo"
    if case.plain:
        for name, content in BASE.items():
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
    else:
        repository(root, BASE)
    return Yard(root, place / "data")


def table() -> str:
    """The stories as a table in Markdown."""
    lines = ["| what happens | path | owner | restore of the thread |", "|---|---|---|---|"]
    for each in CASES:
        told = each.told + (" (force)" if each.force and "force" not in each.told else "")
        for path, expected in each.paths.items():
            shown = path.replace("\n", "\\n")
            lines.append(f"| {told} | `{shown}` | {expected.owner} | {expected.outcome} |")
            told = ""
    return "\n".join(lines)


def page_with_table(page: str) -> str:
    """The page with the table as the stories tell it now."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text("utf-8")), "utf-8")
