"""Who may call: the token, one-time codes, cookies; and which names and origins are ours (R7, test K).

A foreign `Host` is refused on every route, so that a rebound name never reaches one; a foreign `Origin` too.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from podium.contract.errors import BadInput, PodiumError, StorageFailed

TOKEN_FILE = "token"
TOKEN_BYTES = 32

CODE_SECONDS = 3600.0
"""How long a one-time code can be traded, in seconds."""

CODES_MAX = 32
"""Most codes that wait to be traded; the oldest go first."""

COOKIE_SECONDS = 30 * 24 * 3600
"""How long a browser stays signed in, in seconds."""

LEFT_MAX = 10_000
"""Most signed-out cookies that are remembered; then every cookie given so far counts as signed out."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN_PATHS = frozenset({"/healthz", "/v1/session"})
"""Paths that want no login: liveness, and the trade of a code for one."""

JSON = "application/json"


class Denied(PodiumError):
    """The caller may not do this; the code says why."""


def read_token(data: Path) -> str:
    """The token of a data folder, made on first use, 0600. Raises StorageFailed if it cannot be kept."""
    path = data / TOKEN_FILE
    try:
        found = path.read_text().strip()
        if len(found) >= TOKEN_BYTES:
            path.chmod(0o600)
            return found
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, str(error)) from error
    token = secrets.token_urlsafe(TOKEN_BYTES)
    fresh = path.with_suffix(f".{os.getpid()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, token.encode())
        finally:
            os.close(descriptor)
        fresh.replace(path)
    except OSError as error:
        raise _unusable(path, str(error)) from error
    return token


def _unusable(path: Path, why: str) -> StorageFailed:
    return StorageFailed("token_file", f"{path} cannot be used: {why}.", fix="Mend or remove the file.")


class Access:
    """The rights to one server. `names` are the values of `Host` that mean it, with their ports."""

    def __init__(self, token: str, names: tuple[str, ...] = ()) -> None:
        self._token = token
        self._codes: dict[str, float] = {}
        self._left: set[str] = set()
        self._since = 0
        self.names = frozenset(n.lower() for n in names)
        self.cookie = "podium"

    def serve_as(self, host: str, port: int) -> None:
        """Take the names of an address that the server listens at."""
        hosts = {host, "127.0.0.1", "localhost", "[::1]"} if is_loopback(host) else {host}
        self.names |= {f"{'[' + h + ']' if ':' in h and not h.startswith('[') else h}:{port}" for h in hosts}
        if port == 80:
            self.names |= {n.rsplit(":", 1)[0] for n in self.names}
        self.cookie = f"podium_{port}"  # cookies do not tell ports apart

    # ---- codes and cookies

    def new_code(self) -> str:
        """A code that can be traded once for a cookie."""
        code = secrets.token_urlsafe(16)
        self._codes[hashed(code)] = time.monotonic() + CODE_SECONDS
        while len(self._codes) > CODES_MAX:
            del self._codes[next(iter(self._codes))]
        return code

    def trade(self, code: str) -> str:
        """A cookie's value for a code. Raises Denied `code_unknown` for one that is used, old or made up."""
        until = self._codes.pop(hashed(code), None)
        if until is None or until < time.monotonic():
            raise Denied(
                "code_unknown",
                "This link was used already or is too old.",
                fix="Get a fresh one: podium serve --url",
            )
        name = f"{secrets.token_hex(8)}.{int(time.time()) + COOKIE_SECONDS}"
        return f"{name}.{self._mark(name)}"

    def leave(self, cookie: str) -> None:
        """Make a cookie worthless for as long as this server runs."""
        if not self.cookie_good(cookie):
            return
        if len(self._left) >= LEFT_MAX:
            self._left.clear()
            self._since = int(time.time())
        self._left.add(cookie)

    def _mark(self, name: str) -> str:
        return hmac.new(self._token.encode(), b"cookie:" + name.encode(), hashlib.sha256).hexdigest()

    def cookie_good(self, value: str) -> bool:
        """Whether a cookie was given by this data folder's server and still counts."""
        name, _, mark = value.rpartition(".")
        if not hmac.compare_digest(self._mark(name).encode(), mark.encode()) or value in self._left:
            return False
        until = int(name.rpartition(".")[2])
        return until > time.time() and until - COOKIE_SECONDS > self._since

    def token_good(self, authorization: str) -> bool:
        """Whether an `Authorization` header carries the token."""
        kind, _, given = authorization.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token.encode())

    # ---- the gate

    def check(self, method: str, path: str, headers: Mapping[str, str], *, page: bool) -> None:
        """Let a request pass, or raise Denied. `page` is one for the page's own files, which hold no data."""
        self._check_host(headers)
        self._check_origin(headers)
        if method not in SAFE:
            self._check_json(headers)
        if page or path in OPEN_PATHS:
            return
        authorization = headers.get("authorization")
        if authorization is not None:
            if self.token_good(authorization):
                return
        elif self.cookie_good(self.cookie_of(headers)):
            if method in SAFE or headers.get("origin") is not None:
                return
            raise Denied(
                "foreign_origin", "A browser must say where a change comes from.", fix="Send our Origin."
            )
        raise Denied(
            "not_signed_in",
            "This needs the server's token.",
            fix="Send Authorization: Bearer TOKEN, or open a fresh link: podium serve --url",
        )

    def cookie_of(self, headers: Mapping[str, str]) -> str:
        """The value of our cookie, empty without one."""
        jar = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return ""
        found = jar.get(self.cookie)
        return found.value if found is not None else ""

    def _check_host(self, headers: Mapping[str, str]) -> None:
        if headers.get("host", "").lower() not in self.names:
            raise Denied(
                "foreign_host", "This server does not answer to that name.", fix="Use the URL it printed."
            )

    def _check_origin(self, headers: Mapping[str, str]) -> None:
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "").lower() in ("cross-site", "same-site"):
            raise Denied("foreign_origin", "Another site may not call this server.")
        if origin is None:
            return
        scheme, _, name = origin.lower().partition("://")
        if scheme not in ("http", "https") or name not in self.names:
            raise Denied("foreign_origin", "Another site may not call this server.")

    def _check_json(self, headers: Mapping[str, str]) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise Denied("not_json", "A change wants JSON.", fix=f"Send content-type: {JSON}.")


def hashed(code: str) -> str:
    """What is remembered of a code."""
    return hashlib.sha256(code.encode()).hexdigest()


def is_loopback(host: str) -> bool:
    """Whether a host means this machine only."""
    return host in ("127.0.0.1", "localhost", "::1", "[::1]")


def check_host(host: str) -> str:
    """A host to listen at. Raises BadInput `bad_host`."""
    if not host or any(c in host for c in "/ \t"):
        raise BadInput("bad_host", f"{host!r} is no host.", fix="Name an address, such as 127.0.0.1.")
    return host
