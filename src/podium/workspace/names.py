"""Names of files as text: any bytes a file system allows, and back again."""

from __future__ import annotations

import os
import re

from podium.contract.errors import BadInput

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")
ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
LETTERS = {letter: code for code, letter in ESCAPES.items()}
ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


def text_of(raw: bytes) -> str:
    """A path as text: itself if it is UTF-8, else quoted as git quotes it (`"odd\\377"`).

    A path that itself begins with a quotation mark is quoted too, so the two forms never mix.
    """
    if not raw.startswith(b'"'):
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return quoted(raw)


def quoted(raw: bytes) -> str:
    """A path in the quoted form that git's own lists and `--stdin` options read."""
    out = [_escaped(byte) for byte in raw]
    return f'"{"".join(out)}"'


def _escaped(byte: int) -> str:
    if byte in ESCAPES:
        return "\\" + ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def real_text(folder: str | os.PathLike[str]) -> str:
    """A folder's real path as text."""
    return text_of(os.fsencode(os.path.realpath(folder)))


def raw_of(text: str) -> bytes:
    """The bytes of a path made by `text_of`."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return os.fsencode(text)

    def plain(found: re.Match[bytes]) -> bytes:
        body = found.group(1).decode("ascii", "replace")
        code = int(body, 8) if len(body) == 3 else LETTERS.get(body, ord(body))
        return bytes([code & 255])

    return ESCAPE.sub(plain, text[1:-1].encode("utf-8", "surrogateescape"))


def checked_name(name: str) -> str:
    """A name that may stand in a ref; raises BadInput `bad_checkpoint_name`."""
    if NAME.fullmatch(name) is None or name.endswith((".", ".lock")):
        raise BadInput(
            "bad_checkpoint_name",
            f"{name[:120]!r} cannot name a checkpoint.",
            fix="Use up to 120 letters, digits, '.', '_' and '-', not beginning with '.' or '-'.",
        )
    return name


def inside(root: str | os.PathLike[str], path: str) -> str | None:
    """A path that an agent named, absolute or relative to `root`, as a path of that checkout; None if
    outside.

    The folder part is resolved, the last part is not: a link is itself, never what it points to.
    """
    base = os.path.realpath(os.fsencode(root))
    whole = os.path.normpath(os.path.join(base, os.fsencode(path)))  # noqa: PTH118 - bytes
    folder, name = os.path.split(whole)
    whole = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - bytes
    prefix = base.rstrip(b"/") + b"/"
    return text_of(whole[len(prefix) :]) if whole.startswith(prefix) and name else None


def is_git_metadata(raw: bytes) -> bool:
    """Whether a path lies in what git keeps for itself, however it is spelt."""
    return any(part.lower().rstrip(b". ") in (b".git", b"git~1") for part in raw.split(b"/"))


def is_foreign(raw: bytes) -> bool:
    """Whether a path could lead out of its checkout or names nothing in it."""
    return any(part in (b"", b".", b"..") or b"\0" in part for part in raw.split(b"/"))


def parents(raw: bytes) -> list[bytes]:
    """The folders above a path inside its root, nearest first."""
    parts = raw.split(b"/")
    return [b"/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
