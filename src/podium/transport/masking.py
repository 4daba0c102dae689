"""Known secrets and token shapes are replaced before anything is written or shown (B15, F277).

Pure. `Secrets` masks whole texts and decoded JSON; `StreamMasker` masks a stream of text pieces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from podium.transport.codec import clean_text, is_array, is_object

MIN_SECRET = 8  # characters; a shorter value would mask ordinary words
TOKEN_HOLD_MAX = 4096  # characters of an unfinished token that a stream holds back
KEY_HOLD_MAX = 16384  # the same for a private key block
HEAD = 4  # characters by which the beginning of a secret is looked for
TOKEN_MASK = "[secret token]"

_B64 = r"[A-Za-z0-9+/=]"
_GAP = r"(?:\s|\\[nr])"
_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"  # a token starts a word; in raw JSON an escape may stand before
# (shape, what an unfinished one looks like at the end of a text, its literal beginnings)
_SHAPES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        r"sk-(?:[A-Za-z]{2,12}-)?+(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{20,}+",
        r"sk-[A-Za-z0-9_-]*+",
        ("sk-",),
    ),
    (r"gh[pousr]_[A-Za-z0-9]{20,}+", r"gh[pousr]_[A-Za-z0-9]*+", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    (r"github_pat_[A-Za-z0-9_]{20,}+", r"github_pat_[A-Za-z0-9_]*+", ("github_pat_",)),
    (r"A[KS]IA[A-Z0-9]{16}", r"A[KS]IA[A-Z0-9]{0,15}", ("AKIA", "ASIA")),
    (
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}+",
        r"xox[abeoprs]-[A-Za-z0-9-]*+",
        tuple(f"xox{c}-" for c in "abeoprs"),
    ),
    (
        r"eyJ[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]*+",
        r"eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+){0,2}",
        ("eyJ",),
    ),
    (
        r"(?P<bearer>[Bb]earer )[A-Za-z0-9._~+/=-]{16,}+",
        r"[Bb]earer [A-Za-z0-9._~+/=-]*+",
        ("Bearer ", "bearer "),
    ),
    (
        rf"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:{_GAP}|{_B64}{{20,}}+)*+"
        rf"(?:{_B64}{{1,19}}{_GAP}*(?=-----END))?(?:-----END [A-Z0-9 ]*-----)?",
        r"-----BEGIN [A-Z0-9 ]*-{0,5}\Z|-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:(?!-----END [A-Z0-9 ]*-----)"
        r"[A-Za-z0-9+/=\s\\-])*+(?:-----END [A-Z0-9 ]*-{0,4})?",
        ("-----BEGIN ",),
    ),
)
_HEADS = tuple(head for _, _, heads in _SHAPES for head in heads)
_SHAPE = f"{_EDGE}(?:{'|'.join(shape for shape, _, _ in _SHAPES)})"
_SHAPE_PATTERN = re.compile(_SHAPE)
_HEAD_BYTES = tuple(head.encode() for head in _HEADS)
_HEAD_PREFIXES = tuple(
    sorted({head[:n] for head in _HEADS for n in range(1, len(head) + 1)}, key=len, reverse=True)
)
_PARTS = "|".join((*(part for _, part, _ in _SHAPES), *map(re.escape, _HEAD_PREFIXES)))
_UNFINISHED = re.compile(f"{_EDGE}(?:{_PARTS})\\Z")


class Secrets:
    """The values that must never be written, each with the name that stands in its place: `[secret NAME]`.

    Values shorter than MIN_SECRET are not masked. A value is also known in its JSON-escaped forms.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._names: dict[str, str] = {}
        for name, value in values.items():
            for form in _forms(value):
                self._names.setdefault(form, name)
        self._forms = sorted(self._names, key=len, reverse=True)  # the longest wins where several begin
        known = "|".join(map(re.escape, self._forms))
        first = "".join(sorted({re.escape(form[0]) for form in self._forms}))
        self._pattern = re.compile(f"(?P<known>(?=[{first}])(?:{known}))|{_SHAPE}" if known else _SHAPE)
        self._bytes = tuple(form.encode() for form in self._forms)
        self._escapable = any(re.search(r'["\\/\x00-\x1f]', form) for form in self._forms)
        digits = max((len(form) for form in self._forms if form.isdecimal()), default=0)
        self._digits = 10**digits if digits else 0  # beyond every secret that is a number
        self._unclear = any("\ufffd" in form for form in self._forms)

    @property
    def longest(self) -> int:
        return len(self._forms[0]) if self._forms else 0

    def mask_text(self, text: str) -> str:
        if not any(form in text for form in self._forms) and not any(head in text for head in _HEADS):
            return text
        return self._pattern.sub(self.mask_match, text)

    def mask_json(self, value: Any) -> Any:
        """A copy with every text masked, keys too; a whole number that is a secret becomes its mask."""
        if isinstance(value, str):
            return self.mask_text(value)
        if is_array(value):
            return [self.mask_json(item) for item in value]
        if is_object(value):
            masked: dict[str, Any] = {}
            for key, member in value.items():
                name = plain = self.mask_text(key)
                count = 1
                while name in masked:  # two keys may become one: nothing is lost
                    count += 1
                    name = f"{plain} {count}"
                masked[name] = self.mask_json(member)
            return masked
        if isinstance(value, int) and self._digits and abs(value) < self._digits:
            return self.mask_text(str(value)) if str(value) in self._names else value
        return value

    def suspicious(self, line: bytes) -> bool:
        """Whether this JSON line must be walked with `mask_json`. May say yes too often, never no too often:
        an
        escape can hide a secret, so a line with \\u counts always, any escape when a secret needs one."""
        if b"\\" in line and (self._escapable or b"\\u" in line):
            return True
        return (
            self._unclear
            or any(form in line for form in self._bytes)
            or any(head in line for head in _HEAD_BYTES)
        )

    def hold_from(self, text: str, start: int) -> int:
        """Where, from `start` on, the tail begins that may still become a secret; len(text) when it
        cannot."""
        size = len(text)
        hold = size
        for form in self._forms:
            at = text.find(form[:HEAD], max(start, size - len(form) + 1))
            while 0 <= at < hold:
                if form.startswith(text[at:]):
                    hold = at
                at = text.find(form[:HEAD], at + 1)
            for at in range(max(start, size - HEAD + 1, size - len(form) + 1), hold):
                if form.startswith(text[at:]):
                    hold = at
                    break
        unfinished = _UNFINISHED.search(text, max(start, size - KEY_HOLD_MAX - 1))
        return min(hold, unfinished.start()) if unfinished else hold

    def next_secret(self, text: str, start: int) -> re.Match[str] | None:
        return self._pattern.search(text, start)

    def mask_match(self, match: re.Match[str]) -> str:
        if match.groupdict().get("known") is not None:
            return f"[secret {self._names[match.group()]}]"
        return (match.group("bearer") or "") + TOKEN_MASK


def _forms(value: str) -> list[str]:
    clean = clean_text(value)
    forms: list[str] = []
    for form in (clean, clean.strip(), json.dumps(clean)[1:-1], json.dumps(clean, ensure_ascii=False)[1:-1]):
        if len(form) >= MIN_SECRET and len(clean.strip()) >= MIN_SECRET and form not in forms:
            forms.append(form)
    return forms


class StreamMasker:
    """Masks text that comes in pieces; the caller keeps `held` between the calls. However a text is cut,
    what is
    emitted in all (with `release` at the end) is the masked whole text. One difference remains, on the safe
    side:
    a token right behind a letter is masked when the cut stands between the two.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    def feed(self, held: str, text: str) -> tuple[str, str]:
        """(emit, held): held is the tail that may still become a secret, at most the longest secret, or
        TOKEN_HOLD_MAX of a token or KEY_HOLD_MAX of a key block."""
        text = held + text
        emit: list[str] = []
        position = 0
        hold = self._secrets.hold_from(text, 0)
        while True:
            if hold < position:  # it lay inside what was masked
                hold = self._secrets.hold_from(text, position)
            match = self._secrets.next_secret(text, position)
            if match and match.end() == len(text) and _UNFINISHED.match(text, match.start()):
                hold = min(hold, match.start())  # longer than what hold_from looks at
            if match is None or hold <= match.start():
                emit.append(text[position:hold])
                break
            emit.append(text[position : match.start()])
            emit.append(self._secrets.mask_match(match))
            position = match.end()
        tail, masked = self._bounded(text[hold:])
        return "".join(emit) + masked, tail

    def release(self, held: str) -> str:
        """What was held, masked, when nothing more comes or the wait is over."""
        return self._secrets.mask_text(held)

    def _bounded(self, tail: str) -> tuple[str, str]:
        """A token beyond its bound is masked now; its beginning stays, so that the rest is masked as well."""
        limit = max(self._secrets.longest, KEY_HOLD_MAX if tail.startswith("-") else TOKEN_HOLD_MAX)
        if len(tail) <= limit:
            return tail, ""
        match = _SHAPE_PATTERN.match(tail)
        if match is None:
            return "", tail
        if tail.startswith("-"):
            return tail[: tail.index("-----", 5) + 5], TOKEN_MASK
        return tail[: min(len(tail), 64)], TOKEN_MASK


_SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY")
_SECRET_SEGMENTS = frozenset({"KEY", "KEYS", "PASS", "PWD", "AUTH", "PAT"})
_ADDRESS_ENDS = ("URL", "URI", "DSN")
_NO_SECRET_ENDS = ("_SOCK", "_FILE", "_PATH", "_DIR", "_ID")


def from_environment(environ: Mapping[str, str], declared: Iterable[str] = ()) -> Secrets:
    """The secrets in an environment: the declared names, names that look secret, and passwords in
    addresses."""
    values: dict[str, str] = {}
    wanted = set(declared)
    for name, value in environ.items():
        password = _password(name, value)
        if name in wanted or _looks_secret(name, value) or password:
            values[name] = value
        if password:
            values[f"{name} password"] = password
    return Secrets(values)


def _looks_secret(name: str, value: str) -> bool:
    upper = name.upper()
    if upper == "DATABASE_URL":
        return True
    if upper in {"PWD", "OLDPWD"} or upper.endswith(_NO_SECRET_ENDS):
        return False
    if any(word in upper for word in _SECRET_WORDS):
        return True
    plain_word = value.isalpha() and value.islower()  # AUTH_MODE=disabled must not mask every "disabled"
    return not plain_word and not _SECRET_SEGMENTS.isdisjoint(upper.split("_"))


def _password(name: str, value: str) -> str:
    if not name.upper().endswith(_ADDRESS_ENDS):
        return ""
    try:
        password = urlsplit(value).password or ""
    except ValueError:
        return ""
    return unquote(password)
