"""What a killed machine left: processes by their mark, keepers by their folders, its journal's word."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

GONE_MAX = 20.0
"""Seconds until processes that must end are gone."""


def marked(folder: Path) -> set[int]:
    """Living processes with this folder in their command line or environment."""
    found: set[int] = set()
    mark = str(folder).encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            line, environ = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if line and (mark in line or mark in environ):
            found.add(int(entry.name))
    return found


def launched(data: Path) -> list[dict[str, Any]]:
    """What each keeper of a data folder said when it started its agent."""
    return [json.loads(path.read_bytes()) for path in sorted(data.glob("processes/*/launched"))]


def kill(pid: int) -> None:
    """SIGKILL to a process this test's machine started, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def kill_keepers(data: Path) -> int:
    """SIGKILL every keeper of a data folder; how many there were."""
    keepers = [row["pid"] for row in launched(data)]
    for pid in keepers:
        kill(pid)
    return len(keepers)


def gone(pids: set[int], folder: Path) -> bool:
    """Whether none of these processes of a machine lives; waits, bounded."""
    for _ in range(round(GONE_MAX / 0.05)):
        if not pids & marked(folder):
            return True
        time.sleep(0.05)
    return False


def stored(data: Path, kind: str) -> list[dict[str, Any]]:
    """Every entity of a kind, in order."""
    with sqlite3.connect(f"file:{data / 'podium.db'}?mode=ro", uri=True) as db:
        rows = db.execute(
            "select payload from entities where kind = ? order by position, sequence", (kind,)
        ).fetchall()
    db.close()
    return [json.loads(row[0]) for row in rows]


def left_open(data: Path) -> list[str]:
    """Ids of what is still open and should not be once every run is over and every agent gone."""
    with sqlite3.connect(f"file:{data / 'podium.db'}?mode=ro", uri=True) as db:
        rows = db.execute(
            "select id from entities where open = 1 and kind not in ('thread', 'provider_thread')"
        ).fetchall()
    db.close()
    return [row[0] for row in rows]


def native_ids(data: Path) -> set[str]:
    """The agent's own names of the conversations the threads were bound to, subagents left out."""
    roots = [p for p in stored(data, "provider_thread") if not p.get("parent_node_id")]
    links = [link for p in roots for link in p.get("chain", {"links": []})["links"]]
    return {link["handle"]["native_id"] for link in links}
