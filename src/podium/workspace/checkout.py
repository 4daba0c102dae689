"""Which checkout a folder belongs to, and the private git folder in which its captures are made.

The private folder has a configuration and attributes of its own, so no filter, line-end rule, hook or monitor
of the user's applies and bytes are saved raw. Its index is kept, which makes later captures as cheap as the
change.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec

from podium.contract.errors import BadInput
from podium.workspace.git import Git, GitFailed
from podium.workspace.names import real_text, text_of
from podium.workspace.values import Place, Trouble

LOCK_MAX = 40.0
"""Longest wait for another capture or restore of the same checkout, in seconds: a whole capture and some."""

LOCK_POLL = 0.02
_numbers = itertools.count()
FOLDER_MODE = 0o700
ATTRIBUTES = b"* -text !eol !filter -ident !working-tree-encoding\n"


class NotCovered(Exception):
    """A folder that cannot be captured, with the trouble that says why."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.trouble = Trouble(code, message, fix)


class Checkout(msgspec.Struct, frozen=True):
    """One folder whose files are captured as a whole, and where that is kept.

    `git_dir` and `common` are the user's ("" in a plain folder), `private` is ours. `excludes` is the ignore
    file that the user's configuration names.
    """

    root: str
    key: str
    kind: str
    private: str
    owner: str
    git_dir: str = ""
    common: str = ""
    sha256: bool = False
    excludes: str = ""

    @property
    def refs(self) -> str:
        """Where this checkout's refs lie, in the repository or in our own store."""
        return f"refs/podium/{self.owner}/{self.key}/"

    @property
    def store(self) -> str:
        """The git folder that holds objects and refs for good."""
        return self.common or self.private

    @property
    def objects(self) -> str:
        """Where objects lie for good."""
        return f"{self.store}/objects"

    @property
    def index(self) -> str:
        """The private index."""
        return f"{self.private}/index"

    def environment(self, tree: str = "") -> dict[str, str]:
        """For commands that read and write the private index."""
        env = {"GIT_DIR": self.private, "GIT_WORK_TREE": tree or self.root, "GIT_INDEX_FILE": self.index}
        if self.common:
            env["GIT_OBJECT_DIRECTORY"] = self.objects
        return env

    def options(self) -> tuple[str, ...]:
        """The user's own ignore file, which no private configuration could know."""
        return ("-c", f"core.excludesFile={self.excludes}") if self.excludes else ()

    def own(self) -> dict[str, str]:
        """For commands on the refs of the store."""
        return {"GIT_DIR": self.store}


class Where(msgspec.Struct, frozen=True):
    """What a private git folder notes about its checkout, for the clean-up."""

    root: str
    common: str


class Checkouts:
    """Finds the checkout of a folder and keeps its private git folder in order."""

    def __init__(self, data: Path, git: Git) -> None:
        self._folder = data / "workspaces"
        self._data = data
        self._git = git
        self._owner = ""
        self._known: dict[str, tuple[Checkout, tuple[object, ...]]] = {}

    @property
    def folder(self) -> Path:
        """Where everything of this room lies."""
        return self._folder

    def owner(self) -> str:
        """The name of this data folder among those that may share a repository."""
        if not self._owner:
            self._folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            place = self._folder / "owner"
            if not place.exists():
                spare = self._folder / f"owner.{os.getpid()}"
                write_file(spare, os.urandom(6).hex().encode())
                with suppress(FileExistsError):
                    os.link(spare, place)
                spare.unlink(missing_ok=True)
            self._owner = place.read_text("ascii")
        return self._owner

    async def look(self, root: str | os.PathLike[str]) -> Place:
        """What can be done in a folder; never raises for what the folder is (B63)."""
        try:
            checkout = await self.find(root)
        except NotCovered as error:
            return Place(real_text(root), "none", error.trouble)
        kind = "repository" if checkout.common else "folder"
        return Place(text_of(os.fsencode(checkout.root)), kind)

    async def find(self, root: str | os.PathLike[str]) -> Checkout:
        """The checkout that holds a folder; raises NotCovered, or BadInput if there is no such folder."""
        real = _folder(root)
        if real in self._known:
            checkout, seen = self._known[real]
            if seen == _signs(checkout):
                return checkout
        try:
            checkout = await self._discover(real)
            await anyio.to_thread.run_sync(_prepare, checkout, self._data)
        except OSError as error:
            raise _no_storage(error) from error
        self._known[real] = (checkout, _signs(checkout))
        return checkout

    async def _discover(self, real: str) -> Checkout:
        if "\n" in real:
            raise NotCovered("odd_folder", "The folder's own path holds a line break.", "Rename the folder.")
        asked = (
            "is-inside-work-tree",
            "absolute-git-dir",
            "git-common-dir",
            "show-object-format",
            "show-toplevel",
        )
        try:
            _, out, err = await self._git.attempt("rev-parse", *(f"--{each}" for each in asked), cwd=real)
        except GitFailed as error:
            raise NotCovered(
                error.code, error.message, "Install git, or look why it does not answer."
            ) from error
        lines = os.fsdecode(out).split("\n")[:-1]
        if not lines:
            if b"dubious ownership" in err:
                raise NotCovered(
                    "foreign_owner",
                    "The repository belongs to another user.",
                    "Trust it with: git config --global --add safe.directory <folder>",
                )
            return self._plain(real)
        if len(lines) < 5 or lines[0] != "true":
            raise NotCovered(
                "no_work_tree",
                "This is the inside of a repository without files of its own.",
                "Work in a checkout of it: git worktree add <folder>",
            )
        _, git_dir, common, form, top = lines[:5]
        if real != top and await self._ignored(top, real):
            return self._plain(real)
        common = _folder(f"{real}/{common}" if not common.startswith("/") else common)
        excludes = await self._excludes(top)
        key = _key(self.owner(), top, git_dir)
        private = str(self._folder / key)
        return Checkout(
            top, key, "repository", private, self.owner(), git_dir, common, form == "sha256", excludes
        )

    def _plain(self, real: str) -> Checkout:
        if real == "/" or real == os.path.realpath(Path.home()):
            raise NotCovered(
                "too_wide",
                "A home folder or the whole machine is not captured.",
                "Let the agent work in a folder of its own.",
            )
        key = _key(self.owner(), real, "")
        return Checkout(real, key, "folder", str(self._folder / key), self.owner())

    async def _ignored(self, top: str, real: str) -> bool:
        try:
            return bool(await self._git.ignored(paths=[os.fsencode(real[len(top) :].lstrip("/"))], cwd=top))
        except GitFailed as error:
            raise NotCovered(error.code, error.message, "Look why git does not answer here.") from error

    async def _excludes(self, top: str) -> str:
        _, out, _ = await self._git.attempt("config", "--type=path", "--get", "core.excludesFile", cwd=top)
        found = os.fsdecode(out).rstrip("\n")
        return found if not found or found.startswith("/") else f"{top}/{found}"

    def locked(self, checkout: Checkout) -> Alone:
        """Alone in this checkout, also among processes; raises NotCovered `busy` after LOCK_MAX."""
        return Alone(checkout)


class Alone:
    """Holds the lock of one checkout. What a killed git of ours left is cleared away on entering."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self._file = -1

    async def __aenter__(self) -> None:
        place = f"{self._checkout.private}/lock"
        try:
            self._file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _no_storage(error) from error
        try:
            if not await until(lambda: _try_lock(self._file), LOCK_MAX, LOCK_POLL):
                raise NotCovered(
                    "busy", "Another capture or restore of this folder does not end.", "Try again later."
                )
            if os.fstat(self._file).st_nlink == 0:
                raise NotCovered("busy", "This folder's store was cleaned up just now.", "Try again.")
            _clear(self._checkout)
        except BaseException:
            os.close(self._file)
            raise

    async def __aexit__(self, *_: object) -> None:
        os.close(self._file)


def _no_storage(error: OSError) -> NotCovered:
    return NotCovered(
        "storage", f"The data folder cannot be written: {error}.", "Make room or mend its rights."
    )


async def until(done: Callable[[], bool], most: float, poll: float) -> bool:
    """Whether a fact of the file system came about in time; nothing tells us of it, so it is asked again."""
    ends = anyio.current_time() + most
    while not done():
        if anyio.current_time() >= ends:
            return False
        await anyio.sleep(poll)
    return True


def _folder(root: str | os.PathLike[str]) -> str:
    real = os.path.realpath(root)
    if not Path(real).is_dir():
        raise BadInput(
            "workspace_missing",
            f"There is no folder {real}.",
            fix="Name the folder in which the agent works.",
        )
    return real


def write_file(place: Path, content: bytes, *, sync: bool = True) -> None:
    """A file of ours, 0600, in place whole or not at all; `sync` waits until the disk has it."""
    spare = place.with_name(f"{place.name}.{os.getpid()}-{next(_numbers)}.new")
    with open(spare, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        out.write(content)
        if sync:
            out.flush()
            os.fsync(out.fileno())
    spare.replace(place)


def _keep_file(place: Path, content: bytes) -> None:
    if not place.exists() or _read(str(place)) != content:
        write_file(place, content)


def _key(owner: str, top: str, git_dir: str) -> str:
    return hashlib.sha256("\0".join((owner, top, git_dir)).encode("utf-8", "surrogateescape")).hexdigest()[
        :16
    ]


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _signs(checkout: Checkout) -> tuple[object, ...]:
    """What would be different if a folder had become another repository or were set up otherwise."""
    places = [f"{checkout.root}/.git", checkout.private, f"{checkout.private}/HEAD"]
    if checkout.common:
        places += [f"{checkout.common}/config", f"{checkout.git_dir}/config.worktree", checkout.objects]
    return tuple(_sign(place) for place in places)


def _sign(place: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(place)
    except OSError:
        return None
    return found.st_ino, 0 if Path(place).is_dir() else found.st_mtime_ns


def _prepare(checkout: Checkout, data: Path) -> None:
    """Makes the private git folder; what is there already is left as it is."""
    private = Path(checkout.private)
    for folder in (private, private / "objects", private / "refs", private / "info"):
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    config = (
        "[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n\tfileMode = true\n\tsymlinks = true\n"
        "\tignoreCase = false\n\tprotectNTFS = false\n\tprotectHFS = false\n"
        + ("" if checkout.common else "\tsharedRepository = 0600\n")  # a store of ours is the person's alone
        + "[index]\n\tversion = 4\n"
        + ("[extensions]\n\tobjectFormat = sha256\n" if checkout.sha256 else "")
    )
    for name, content in (("info/attributes", ATTRIBUTES), ("config", config.encode())):
        _keep_file(private / name, content)
    where = Where(text_of(os.fsencode(checkout.root)), text_of(os.fsencode(checkout.common)))
    _keep_file(private / "where.json", msgspec.json.encode(where))
    _keep_file(private / "HEAD", b"ref: refs/heads/none\n")
    excludes(checkout, data)


def excludes(checkout: Checkout, data: Path) -> str:
    """Brings the repository's own ignore file into the private folder; returns a hash of all rules outside
    the tree.

    The data folder of Podium is never captured, wherever it lies.
    """
    rules = _read(f"{checkout.common}/info/exclude") if checkout.common else b""
    own = os.path.realpath(data)
    if own.startswith(checkout.root.rstrip("/") + "/"):
        name = os.fsencode(os.path.relpath(own, checkout.root))
        rules = rules + b"\n/" + _literal(name) + b"/\n"
    place = f"{checkout.private}/info/exclude"
    _keep_file(Path(place), rules)
    outer = checkout.excludes or os.path.expandvars("${XDG_CONFIG_HOME}/git/ignore")
    if outer.startswith("$"):
        outer = str(Path.home() / ".config/git/ignore")
    return hashlib.sha256(rules + b"\0" + _read(outer)).hexdigest()[:16]


def _literal(name: bytes) -> bytes:
    return b"".join(b"\\" + bytes([byte]) if byte in b"*?[\\ !#" else bytes([byte]) for byte in name)


def _read(place: str) -> bytes:
    try:
        return Path(place).read_bytes()
    except OSError:
        return b""


def _clear(checkout: Checkout) -> None:
    """Takes away what a killed git of ours left; only ours, only while we hold the lock."""
    Path(f"{checkout.index}.lock").unlink(missing_ok=True)
