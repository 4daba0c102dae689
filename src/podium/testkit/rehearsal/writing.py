"""One clear change to one file: what it would be, and doing it, never outside the workspace."""

from __future__ import annotations

import json
import os
import shlex
import stat
from pathlib import Path, PurePath
from typing import NamedTuple

EDIT_BYTES_MAX = 256 * 1024
"""Largest file that is edited, in bytes."""

LINE = "A line added in the rehearsal."

COMMENTS = {
    "#": (".py", ".sh", ".toml", ".yaml", ".yml", ".rb", ".cfg", ".ini", ".pl", ".r"),
    "//": (".js", ".ts", ".jsx", ".tsx", ".c", ".h", ".cc", ".cpp", ".java", ".go", ".rs", ".swift", ".kt"),
    "--": (".sql", ".lua", ".hs"),
}
"""What begins a comment, by the suffixes of files."""

NO_COMMENTS = frozenset({".json", ".csv", ".lock", ".xml", ".html", ".css"})
"""Files to which no line of words can be added without breaking them; they get an empty one."""


class NotEdited(Exception):
    """The file is left as it is; the words say why."""


class Change(NamedTuple):
    """What an edit would make of a file; `old` is None where the file does not exist."""

    name: str
    path: Path
    old: str | None
    new: str


def planned(workspace: Path, name: str, says: str | None) -> Change:
    """The change: a new file, or one line more at the end of what is there. Raises NotEdited."""
    path = place(workspace, name)
    old = content(path, name)
    if old is None:
        return Change(name, path, None, first(name, says))
    end = "\r\n" if "\r\n" in old else "\n"
    start = old if not old or old.endswith("\n") else old + end
    return Change(name, path, old, start + added(name, says) + end)


def carry_out(workspace: Path, change: Change) -> None:
    """Write it, if the file is still what the diff was made of. Raises NotEdited."""
    path = place(workspace, change.name)
    if path != change.path or content(path, change.name) != change.old:
        raise NotEdited(f"{change.name} was changed meanwhile, so I left it as it is.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if change.old is None else os.O_TRUNC)
        with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
            file.write(change.new.encode())
    except OSError as error:
        raise NotEdited(f"I could not write {change.name}: {error.strerror}.") from error


def place(workspace: Path, name: str) -> Path:
    """Where a name leads, links followed. Raises NotEdited where that is outside the workspace."""
    try:
        root = workspace.resolve()
        path = (root / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise NotEdited(f"I cannot use the name {name!r}.") from error
    if name.startswith("~") or not path.is_relative_to(root) or path == root:
        raise NotEdited(f"{name} is outside the workspace, and I never leave it. Name a file inside.")
    return path


def content(path: Path, name: str) -> str | None:
    """The text of a file; None where there is none. Raises NotEdited for what is no small text file."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise NotEdited(f"{name} is no file.")
        if found.st_size > EDIT_BYTES_MAX:
            raise NotEdited(f"{name} is larger than {EDIT_BYTES_MAX // 1024} KiB; I edit smaller files only.")
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise NotEdited(f"{name} is no UTF-8 text.") from error
    except OSError as error:
        raise NotEdited(f"I could not read {name}: {error.strerror}.") from error


def added(name: str, says: str | None) -> str:
    """The line to add, as a comment where the file is a program."""
    suffix = PurePath(name).suffix.lower()
    if says is not None:
        return said_in(suffix, says)
    if suffix in NO_COMMENTS:
        return ""
    return next((f"{mark} {LINE}" for mark, suffixes in COMMENTS.items() if suffix in suffixes), LINE)


def first(name: str, says: str | None) -> str:
    """The text of a new file."""
    return added(name, says) + "\n"


def said_in(suffix: str, says: str) -> str:
    """A line that says so in the language of the file."""
    if suffix == ".py":
        return f"print({json.dumps(says, ensure_ascii=False)})"
    if suffix == ".sh":
        return f"echo {shlex.quote(says)}"
    if suffix in (".js", ".ts"):
        return f"console.log({json.dumps(says, ensure_ascii=False)})"
    return says
