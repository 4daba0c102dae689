"""Texts of a workspace, read and replaced for an agent: never through a link, never outside of it.

Every folder on the way is opened by handle without following links, so a link that is put there meanwhile is
refused, not followed. What git keeps for itself and Podium's own data are out of reach.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from podium.contract.errors import Failure, failure
from podium.contract.events import FileChange
from podium.contract.patches import patch
from podium.contract.serving import (
    READ_MAX,
    WRITE_MAX,
    FileText,
    FileWritten,
    NotServed,
    Outcome,
    ReadTextFile,
    Service,
)
from podium.workspace.files import FOLDER
from podium.workspace.names import is_foreign, is_git_metadata

SHOWN_MAX = 256 * 1024
"""Longest text whose change is shown as a diff, in bytes."""

FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NEW_MODE = 0o644
OWN_TOOLS = "Use your own tools for it."

WORDS: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("not_found", "There is no such file."),
    errno.ELOOP: ("link_in_the_way", "A link is in the way, and links are not followed."),
    errno.ENOTDIR: ("link_in_the_way", "A link or a file is in the way of a folder."),
    errno.EACCES: ("not_allowed", "The system does not allow it."),
    errno.EPERM: ("not_allowed", "The system does not allow it."),
    errno.EROFS: ("not_allowed", "The file system is read-only."),
    errno.ENAMETOOLONG: ("path_invalid", "The path is too long."),
    errno.ENOSPC: ("disk_full", "The disk is full."),
    errno.EDQUOT: ("disk_full", "The quota is used up."),
}


class Unserved(Exception):
    """It cannot be done, and nothing was; the failure says why."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.failure = failure("validation", code, message, fix=fix)


class Texts:
    """The texts of one workspace.

    `private` is the folder of Podium's data, `spare` the name of a file that is being written. `mask` hides
    the secrets of a text: one that it changes is not read, because what passes is also written down.
    """

    def __init__(self, root: str, private: str, spare: bytes, mask: Callable[[str], str]) -> None:
        self.root = root
        self._private = private
        self._spare = spare
        self._mask = mask

    def serve(self, request: Service) -> Outcome:
        """Do it. Raises nothing: what goes wrong is the outcome."""
        try:
            if isinstance(request, ReadTextFile):
                return FileText(self._read(request))
            return FileWritten(self._write(request.path, request.text))
        except Unserved as why:
            return NotServed(why.failure)
        except OSError as error:
            return NotServed(_said(error))

    def _read(self, request: ReadTextFile) -> str:
        with self._folder(request.path, create=False) as (handle, name):
            data = _content(handle, name, READ_MAX)
        if data is None:
            raise Unserved("too_long", f"The file is longer than {READ_MAX} bytes.", OWN_TOOLS)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unserved("no_text", "The file is no UTF-8 text.", OWN_TOOLS) from error
        if self._mask(text) != text:
            message = "The file holds a secret, which does not pass through Podium."
            raise Unserved("holds_secret", message, OWN_TOOLS)
        return _lines(text, request.line, request.limit)

    def _write(self, path: str, text: str) -> FileChange:
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Unserved("no_text", "The text cannot be written as UTF-8.") from error
        if len(data) > WRITE_MAX:
            raise Unserved("too_long", f"The text is longer than {WRITE_MAX} bytes.", OWN_TOOLS)
        with self._folder(path, create=True) as (handle, name):
            before = _kept(handle, name)
            old = b"" if before is None else _content(handle, name, SHOWN_MAX)
            self._put(handle, name, data, before)
        kind = "add" if before is None else "update"
        shown = self._diff(old, text) if old is not None and len(data) <= SHOWN_MAX else ""
        return FileChange(path, kind, shown)

    def _put(self, handle: int, name: bytes, data: bytes, before: int | None) -> None:
        """The new file beside the old one, then in its place with the rights that it had."""
        with suppress(FileNotFoundError):
            os.unlink(self._spare, dir_fd=handle)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE
        file = os.open(self._spare, flags, NEW_MODE, dir_fd=handle)
        try:
            with os.fdopen(file, "wb") as out:
                out.write(data)
                if before is not None:
                    os.fchmod(out.fileno(), before)
                out.flush()
                os.fsync(out.fileno())
            os.rename(self._spare, name, src_dir_fd=handle, dst_dir_fd=handle)
        except BaseException:
            with suppress(OSError):
                os.unlink(self._spare, dir_fd=handle)
            raise

    def _diff(self, old: bytes, text: str) -> str:
        try:
            return self._mask(patch(old.decode("utf-8"), text))
        except UnicodeDecodeError:
            return ""

    def _inside(self, path: str) -> bytes:
        """An absolute path as one below the root."""
        try:
            raw = os.fsencode(path)
        except UnicodeEncodeError as error:
            raise Unserved("path_invalid", "The path is no name of a file.") from error
        if not raw.startswith(b"/"):
            raise Unserved("path_invalid", "The path is not absolute.", "Name the whole path.")
        root = os.fsencode(self.root).rstrip(b"/") + b"/"
        parts = [part for part in raw.split(b"/") if part not in (b"", b".")]
        clean = b"/" + b"/".join(parts)
        if b".." in parts or not clean.startswith(root):
            raise Unserved("outside", f"The path is not inside the workspace {self.root}.", OWN_TOOLS)
        inner = clean[len(root) :]
        if is_foreign(inner):
            raise Unserved("path_invalid", "The path is no name of a file.")
        if is_git_metadata(inner):
            raise Unserved("private", "What git keeps for itself is out of reach.", OWN_TOOLS)
        return inner

    @contextmanager
    def _folder(self, path: str, *, create: bool) -> Generator[tuple[int, bytes]]:
        """A handle of the folder that holds a path, and the last part of it."""
        *folders, name = self._inside(path).split(b"/")
        private = _identity(self._private)
        if os.path.realpath(self.root) != self.root:
            raise Unserved("outside", f"{self.root} now leads to another folder.")
        handle = os.open(self.root, FOLDER)
        try:
            for part in folders:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                inner = os.open(part, FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
                found = os.fstat(handle)
                if private == (found.st_dev, found.st_ino):
                    raise Unserved("private", "Podium's own data are out of reach.")
            yield handle, name
        finally:
            os.close(handle)


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)  # noqa: PTH116 - beside handles
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _kept(handle: int, name: bytes) -> int | None:
    """The rights of the file that is to be replaced; None where there is none."""
    try:
        found = os.lstat(name, dir_fd=handle)
    except FileNotFoundError:
        return None
    _check_plain(found.st_mode)
    if not found.st_mode & 0o222:
        raise Unserved("not_allowed", "The file is read-only.")
    return found.st_mode & 0o777


def _check_plain(mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise Unserved("link_in_the_way", "It is a link, and links are not followed.", OWN_TOOLS)
    if not stat.S_ISREG(mode):
        raise Unserved("no_file", "It is a folder, a device or a pipe, and no file.")


def _content(handle: int, name: bytes, most: int) -> bytes | None:
    """The bytes of a plain file; None if there are more of them."""
    _check_plain(os.lstat(name, dir_fd=handle).st_mode)  # opening some devices does something
    with os.fdopen(os.open(name, os.O_RDONLY | FILE, dir_fd=handle), "rb") as file:
        _check_plain(os.fstat(file.fileno()).st_mode)
        data = file.read(most + 1)
    return data if len(data) <= most else None


def _lines(text: str, line: int | None, limit: int | None) -> str:
    if line is None and limit is None:
        return text
    rows = text.split("\n")
    kept = [row + "\n" for row in rows[:-1]] + rows[-1:]
    start = max(line or 1, 1) - 1
    return "".join(kept[start:] if limit is None else kept[start : start + limit])


def _said(error: OSError) -> Failure:
    code, message = WORDS.get(error.errno or 0, ("io_error", error.strerror or "The system refused it."))
    return failure("storage", code, message)
