"""Reads and changes single files below a root without ever following a link.

Every folder on the way is opened by handle (`O_NOFOLLOW`), so a link put there meanwhile is refused, not
followed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from podium.workspace.names import is_foreign
from podium.workspace.values import Entry

CHUNK = 1024 * 1024
INSIDE_MAX = 10_000
"""Most files and folders looked at inside a folder that is to be replaced by a file."""

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class InTheWay(Exception):
    """A path cannot be reached or is not what it must be; the message says why."""


@contextmanager
def folder_of(root: str, path: bytes, *, create: bool = False) -> Generator[tuple[int, bytes]]:
    """A handle of the folder that holds a path, and the last part of it; raises InTheWay or
    FileNotFoundError.
    """
    *folders, name = path.split(b"/")
    if is_foreign(path):
        raise InTheWay("the path leads out of the checkout")
    handle = os.open(root, FOLDER)
    try:
        for part in folders:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=handle)
            try:
                inner = os.open(part, FOLDER, dir_fd=handle)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise InTheWay("a link or a file is in the way") from error
                raise
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def read_entry(root: str, path: bytes, *, sha256: bool) -> Entry | None:
    """What a path holds now, by its bytes; None if nothing or a folder. Raises InTheWay."""
    try:
        with folder_of(root, path) as (handle, name):
            return entry_at(handle, name, sha256=sha256)
    except FileNotFoundError:
        return None


def entry_at(handle: int, name: bytes, *, sha256: bool) -> Entry | None:
    """The same inside an open folder."""
    try:
        found = os.lstat(name, dir_fd=handle)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return None
    if stat.S_ISLNK(found.st_mode):
        return Entry("120000", oid_of(os.readlink(name, dir_fd=handle), sha256=sha256))
    if not stat.S_ISREG(found.st_mode):
        raise InTheWay("it is neither a file, a link nor a folder now")
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
    with os.fdopen(file, "rb") as content:
        size = os.fstat(content.fileno()).st_size
        digest = _hash(sha256)
        digest.update(b"blob %d\0" % size)
        while chunk := content.read(CHUNK):
            digest.update(chunk)
    return Entry("100755" if found.st_mode & 0o100 else "100644", digest.hexdigest())


def stamp(handle: int, name: bytes) -> tuple[int, ...]:
    """What changes when anybody writes a file, replaces it or takes it away; empty if there is none."""
    try:
        found = os.lstat(name, dir_fd=handle)
    except FileNotFoundError:
        return ()
    return (found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def lay_file(handle: int, name: bytes, source: str, spare: bytes, then: Entry, now: Entry | None) -> None:
    """Lays a staged file beside its place, with the rights it will have there."""
    with suppress(FileNotFoundError):
        os.unlink(spare, dir_fd=handle)
    wanted = 0o777 if then.mode == "100755" else 0o666
    file = os.open(
        spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, wanted, dir_fd=handle
    )
    with os.fdopen(file, "wb") as out, Path(source).open("rb") as content:
        while chunk := content.read(CHUNK):
            out.write(chunk)
        if now is not None and now.mode != "120000":
            os.fchmod(out.fileno(), _rights(os.lstat(name, dir_fd=handle).st_mode, then))
        out.flush()
        os.fsync(out.fileno())


def lay_link(handle: int, source: str, spare: bytes) -> None:
    """Lays a link beside its place; what it points to is never looked at."""
    with suppress(FileNotFoundError):
        os.unlink(spare, dir_fd=handle)
    with Path(source).open("rb") as content:
        os.symlink(content.read(), spare, dir_fd=handle)


def change_mode(handle: int, name: bytes, then: Entry) -> None:
    """Sets or clears the right to execute."""
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
    try:
        os.fchmod(file, _rights(os.fstat(file).st_mode, then))
    finally:
        os.close(file)


def put(handle: int, spare: bytes, name: bytes, now: Entry | None) -> None:
    """Puts what was laid out in place, whole or not at all; never over a file that came meanwhile."""
    if now is not None:
        os.rename(spare, name, src_dir_fd=handle, dst_dir_fd=handle)
        return
    try:
        os.link(spare, name, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=False)
    except FileExistsError as error:
        raise InTheWay("it was made meanwhile") from error
    finally:
        os.unlink(spare, dir_fd=handle)


def _rights(mode: int, then: Entry) -> int:
    """The rights a file has, with execution given to whoever may read, or taken from all."""
    kept = stat.S_IMODE(mode)
    return kept | ((kept & 0o444) >> 2) if then.mode == "100755" else kept & ~0o111


def remove_file(handle: int, name: bytes) -> None:
    """Takes one file or link away; never a folder."""
    os.unlink(name, dir_fd=handle)


def remove_folder(root: str, path: bytes) -> None:
    """Takes a folder away if it is empty; otherwise leaves it."""
    with suppress(OSError, InTheWay), folder_of(root, path) as (handle, name):
        os.rmdir(name, dir_fd=handle)


def remove_spare(root: str, path: bytes, spare: bytes) -> None:
    """Takes away what a killed restore left beside a path."""
    with suppress(OSError, InTheWay), folder_of(root, path) as (handle, _):
        os.unlink(spare, dir_fd=handle)


def is_blocked(root: str, path: bytes) -> bool:
    """Whether a file or link stands where a folder on the way to a path must be."""
    try:
        with folder_of(root, path):
            return False
    except FileNotFoundError:
        return False
    except (OSError, InTheWay):
        return True


def inside(root: str, path: bytes) -> tuple[tuple[bytes, bool], ...] | None:
    """All files and folders in a folder, as (path, is a folder); None if the path is no folder.

    Links are not followed. A folder with more than INSIDE_MAX of them ends with the folder itself named as a
    file, so that nothing takes it for empty.
    """
    whole = os.fsencode(root) + b"/" + path
    if not stat.S_ISDIR(_mode(whole)):
        return None
    found: list[tuple[bytes, bool]] = []
    for folder, folders, files in os.walk(whole):
        below = path + folder[len(whole) :]
        for name in folders:
            found.append((below + b"/" + name, not stat.S_ISLNK(_mode(folder + b"/" + name))))
        found += [(below + b"/" + name, False) for name in files]
        if len(found) > INSIDE_MAX:
            return (*found[:INSIDE_MAX], (path, False))
    return tuple(found)


def exists(root: str, path: bytes) -> bool:
    """Whether a path holds a file, link or anything else but a folder."""
    mode = _mode(os.fsencode(root) + b"/" + path)
    return mode != 0 and not stat.S_ISDIR(mode)


def _mode(whole: bytes) -> int:
    try:
        return os.lstat(whole).st_mode
    except OSError:
        return 0


def oid_of(content: bytes, *, sha256: bool) -> str:
    """The name git gives to a content."""
    digest = _hash(sha256)
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest()


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


def _hash(sha256: bool) -> _Digest:
    return hashlib.sha256() if sha256 else hashlib.sha1(usedforsecurity=False)
