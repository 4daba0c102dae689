"""Where the server of a data folder is: one file for this user, one lock that only a living server holds."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec

SERVER_FILE = "server.json"
LOCK_FILE = "server.lock"


class Place(msgspec.Struct, frozen=True):
    """Where a server is reached. The file that holds it is 0600: the token opens everything."""

    url: str
    token: str
    pid: int
    boot: str


def read_place(data: Path) -> Place | None:
    """Where the server of a data folder is, if one runs: seen by its lock, without touching anything."""
    if not locked(data):
        return None
    try:
        return msgspec.json.decode((data / SERVER_FILE).read_bytes(), type=Place)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        return None


def locked(data: Path) -> bool:
    """Whether a server holds the data folder."""
    try:
        descriptor = os.open(data / LOCK_FILE, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def write_place(data: Path, place: Place) -> None:
    """Say where this server is, to this user only."""
    fresh = data / f"{SERVER_FILE}.new"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, msgspec.json.encode(place))
    finally:
        os.close(descriptor)
    fresh.replace(data / SERVER_FILE)
