"""The built page, as it stands in the package, under a policy that lets no foreign script in."""

from __future__ import annotations

from importlib import resources
from pathlib import PurePosixPath

from litestar.types import Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self';"
    " connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types podium"
)
"""Everything from here, nothing inline, no string becomes script (page rule 8)."""

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain; charset=utf-8",
}

INDEX = "index.html"
HASHED = "assets/"
"""Files below have their content's hash in their name."""

NOT_BUILT = (
    b"<!doctype html><title>Podium</title><p>The page is not built in this checkout. Build it: make page</p>"
)

OURS = ("/v1", "/healthz")
"""Paths of the API; every other one without a dot is a place within the page."""


def ours(path: str) -> bool:
    """Whether a path is one of the API."""
    return path in OURS or path.startswith("/v1/")


class Page:
    """The page's files, read once."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    @classmethod
    def built(cls) -> Page:
        """What the package holds; without a build, a page that says so."""
        folder = resources.files("podium.server").joinpath("static")
        found: dict[str, bytes] = {}
        waiting = [(PurePosixPath(), folder)] if folder.is_dir() else []
        while waiting:
            base, place = waiting.pop()
            for entry in place.iterdir():
                if entry.is_dir():
                    waiting.append((base / entry.name, entry))
                else:
                    found[str(base / entry.name)] = entry.read_bytes()
        return cls(found or {INDEX: NOT_BUILT})

    def has(self, path: str) -> bool:
        """Whether a path belongs to the page."""
        if ours(path):
            return False
        name = path.removeprefix("/")
        return name in self._files or "." not in name.rpartition("/")[2]

    async def answer(self, path: str, method: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a file, or the page itself for a place within it. Only reading is known here."""
        name = path.removeprefix("/")
        name = name if name in self._files else INDEX
        body = self._files.get(name, NOT_BUILT)
        kind = TYPES.get(PurePosixPath(name).suffix, "application/octet-stream")
        keep = "public, max-age=31536000, immutable" if name.startswith(HASHED) else "no-cache"
        headers = [
            ("content-type", kind),
            ("content-length", str(len(body))),
            ("cache-control", keep),
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
        ]
        raw = [(k.encode(), v.encode()) for k, v in headers]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        sent = body if method == "GET" else b""
        await send({"type": "http.response.body", "body": sent, "more_body": False})
