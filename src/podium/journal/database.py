"""Opening the database: durability settings, migrations, and what to do with one we cannot use."""

from __future__ import annotations

import os
import sqlite3
import time
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from podium.contract.errors import StorageFailed

SCHEMA_VERSION = 2
"""The newest schema this build writes, equal to the number of the last migration."""

BUSY_SECONDS = 20.0
"""How long a write waits for another process's transaction (B46)."""

WAL_RETRY, WAL_TRIES = 0.02, 1000
"""Seconds between tries to turn a database that another process is making to WAL, and how many."""

FILE_NAME = "podium.db"


def _corrupt(path: Path, error: sqlite3.Error) -> StorageFailed:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY:
        return StorageFailed(
            "data_folder_read_only",
            f"The folder {path.parent} may only be read; its database writes beside itself to be read.",
            fix="Give yourself the right to write there, or copy the folder and name it in PODIUM_DATA.",
        )
    if isinstance(error, sqlite3.OperationalError):  # the disk or its rights, not what the file holds
        return StorageFailed(
            "storage_failed",
            f"{path} could not be opened: {error}.",
            fix="Free space on the disk, or give yourself the right to use the data folder.",
        )
    return StorageFailed(
        "database_corrupt",
        f"{path} cannot be read as a Podium database: {error}.",
        fix="Nothing was changed. Move the file aside and keep it; `podium doctor` names the data folder.",
    )


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations of this build, in order."""
    found: list[tuple[int, str]] = []
    for entry in resources.files("podium.journal").joinpath("migrations").iterdir():
        if entry.name.endswith(".sql"):
            found.append((int(entry.name.split("_")[0]), entry.read_text("utf-8")))
    return sorted(found)


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection in autocommit mode, WAL and synchronous=FULL; transactions are opened by hand.

    Raises StorageFailed `database_newer` if a newer Podium wrote it and `write` is set (F284),
    `database_corrupt` if it is no database; the file is left as it is in both cases.
    """
    if write and not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode={'rw' if write else 'ro'}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, error) from error
    try:
        _prepare(connection, path, write)
    except StorageFailed:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _corrupt(path, error) from error
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, write: bool) -> None:
    connection.execute(f"pragma busy_timeout = {int(BUSY_SECONDS * 1000)}")
    version: int = connection.execute("pragma user_version").fetchone()[0]
    connection.execute("select count(*) from sqlite_master").fetchone()
    if write and version > SCHEMA_VERSION:
        raise StorageFailed(
            "database_newer",
            f"{path} was written by a newer Podium (schema {version}, this one knows {SCHEMA_VERSION}).",
            fix="Use that newer version; reading with `podium threads list` still works.",
        )
    if write:
        _write_ahead(connection)
        connection.execute("pragma synchronous = full")
        connection.execute("pragma wal_autocheckpoint = 1000")
        connection.execute("pragma journal_size_limit = 4194304")
        _migrate(connection)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn to WAL. SQLite does not wait when two processes make the same new database at once, so we do."""
    for _ in range(WAL_TRIES):
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            time.sleep(WAL_RETRY)
    connection.execute("pragma journal_mode = wal")


def _migrate(connection: sqlite3.Connection) -> None:
    for number, script in migrations():
        connection.execute("begin immediate")
        try:
            version: int = connection.execute("pragma user_version").fetchone()[0]
            if number > version:
                for statement in script.split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"pragma user_version = {number}")
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
