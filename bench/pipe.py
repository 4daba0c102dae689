"""The bare pipe: the same agent program, read by nobody but a loop that notes when each line came."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import Any, NamedTuple

from bench.place import WAIT_MAX, Missing

STAMP = re.compile(rb"(\d+)@(\d+)")
PIECE = 256 * 1024


class Stamped(NamedTuple):
    """A numbered thing: when it was written and when it was there, in nanoseconds of one clock."""

    number: int
    written: int
    arrived: int


class Piped(NamedTuple):
    """What came over the pipe, how long the whole turn took, and how many bytes it was."""

    stamps: list[Stamped]
    seconds: float
    size: int


def piped(workspace: str, *steps: dict[str, Any]) -> Piped:
    """Play a script on the agent program alone. Raises Missing."""
    command = [sys.executable, "-I", "-m", "podium.testkit.rehearsal"]
    environ = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdin is not None and process.stdout is not None
        out = process.stdout.fileno()

        def ask(number: int, method: str, params: dict[str, Any]) -> list[tuple[int, bytes]]:
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            assert process.stdin is not None
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            return _answer(out, b'"id": %d, "result"' % number)

        ask(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        opened = b"".join(data for _, data in ask(2, "session/new", {"cwd": workspace, "mcpServers": []}))
        found = re.search(rb'"sessionId": "([^"]+)"', opened)
        if found is None:
            raise Missing("The agent made no session.")
        text = json.dumps({"play": steps}, separators=(",", ":"))
        params = {"sessionId": found[1].decode(), "prompt": [{"type": "text", "text": text}]}
        begun = time.monotonic()
        pieces = ask(3, "session/prompt", params)
        seconds = time.monotonic() - begun
        process.stdin.close()
        process.wait(WAIT_MAX)
    return Piped(_stamps(pieces), seconds, sum(len(data) for _, data in pieces))


def _answer(out: int, mark: bytes) -> list[tuple[int, bytes]]:
    pieces: list[tuple[int, bytes]] = []
    tail = b""
    while mark not in tail:
        data = os.read(out, PIECE)
        if not data:
            raise Missing("The agent left.")
        pieces.append((time.monotonic_ns(), data))
        tail = tail[-len(mark) :] + data
    return pieces


def _stamps(pieces: list[tuple[int, bytes]]) -> list[Stamped]:
    found: list[Stamped] = []
    left = b""
    for at, data in pieces:
        whole, _, left = (left + data).rpartition(b"\n")
        found += [Stamped(int(m[1]), int(m[2]), at) for m in STAMP.finditer(whole)]
    return found
