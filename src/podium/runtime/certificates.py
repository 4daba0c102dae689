"""What `podium certify` found on this user's own programs: one small file for each instance (R8).

A certificate holds for the version it was made with, and for the very program: once the file behind it has
changed, what passed is carried like a proof on another version, and what failed is forgotten.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.errors import StorageFailed
from podium.contract.evidence import Certification

FOLDER = "certificates"

VERSIONS_MAX = 16
"""Most versions of one instance whose results are kept, the newest ones."""

FILE_MAX = 4 * 1024 * 1024
"""Largest certificate file that is read, in bytes."""

PLACES_MAX = 256
"""Most places of certificates remembered."""

CHANGED = "+changed"
"""Stands behind the version of a program that is no longer the one that was certified."""


class Certificate(msgspec.Struct, frozen=True):
    """The results on one version. `program` is what the program was: its path, size and time of change."""

    instance: str
    agent_kind: str
    version: str
    date: str
    podium: str
    program: str
    results: tuple[Certification, ...]
    rating: str = ""


class _File(msgspec.Struct):
    certificates: list[Certificate] = msgspec.field(default_factory=list[Certificate])


def program_mark(program: str) -> str:
    """What tells one program from another of the same version, without reading it."""
    try:
        found = Path(program).stat()
    except OSError:
        return program
    return f"{program}:{found.st_size}:{found.st_mtime_ns}"


def store(data: Path, certificate: Certificate) -> Path:
    """Keep a certificate in place of an older one of the same version. Raises StorageFailed."""
    place = _place(data, certificate.instance)
    kept = [c for c in read(data, certificate.instance) if c.version != certificate.version]
    found = _File([certificate, *kept][:VERSIONS_MAX])
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = place.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(found), indent=1))
        fresh.replace(place)
    except OSError as error:
        raise StorageFailed(
            "certificate_not_kept",
            f"The result cannot be kept in {place.parent}: {error.strerror}.",
            fix="Make the data folder writable, then run it again.",
        ) from error
    return place


def read(data: Path, instance: str) -> list[Certificate]:
    """The certificates of an instance, the newest first; a file that cannot be read certifies nothing."""
    place = _place(data, instance)
    try:
        if place.stat().st_size > FILE_MAX:
            return []
        return msgspec.json.decode(place.read_bytes(), type=_File).certificates
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        return []


def stamp(data: Path, instance: str) -> int:
    """Changes whenever the certificates of an instance do."""
    try:
        return _place(data, instance).stat().st_mtime_ns
    except OSError:
        return 0


def certifications(data: Path, instance: str, program: str) -> list[Certification]:
    """What the certificates say of the program that is installed now."""
    mark = program_mark(program)
    found: list[Certification] = []
    for certificate in read(data, instance):
        same = certificate.program == mark
        for result in certificate.results:
            if same:
                found.append(result)
            elif result.passed:
                elsewhere: dict[str, Any] = {"agent_version": f"{result.agent_version}{CHANGED}"}
                found.append(msgspec.structs.replace(result, **elsewhere))
    return found


@functools.lru_cache(maxsize=PLACES_MAX)  # it is asked for with each frame of an agent
def _place(data: Path, instance: str) -> Path:
    return data / FOLDER / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', instance)}.json"
