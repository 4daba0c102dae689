"""A keeper with a small Python script as its agent, and a raw client that can behave as badly as it likes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import podium.keeper

SCRIPT = Path(podium.keeper.__file__).with_name("keeper.py")
PATIENCE = 30.0  # seconds a test waits before it fails; never asserted

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b"got " + line)
    sys.stdout.buffer.flush()
"""


def eventually(what: Callable[[], Any]) -> Any:
    """The first true value of what(), within the patience of a test."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"never true: {what}")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Client:
    def __init__(self, address: str, gen: int | None = None) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(address)
        self.buffer = b""
        self.seen: list[dict[str, Any]] = []
        if gen is not None:
            self.attached = self.ask({"gen": gen}, "attached")

    def put(self, *messages: Any) -> None:
        self.sock.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def read(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        while b"\n" not in self.buffer:
            try:
                data = self.sock.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        self.seen.append(message)
        return message

    def until(self, *keys: str) -> dict[str, Any]:
        while (message := self.read()) is not None:
            if any(key in message for key in keys):
                return message
        raise AssertionError(f"closed before any of {keys}; seen {self.seen[-5:]}")

    def written(self, offset: int = 1) -> None:
        """Until the agent has written that much; it may have before the attach."""
        while self.newest < offset:
            self.until("off")

    @property
    def newest(self) -> int:
        return max((int(m.get("off", m.get("offset", 0))) for m in self.seen), default=0)

    def ask(self, message: dict[str, Any], *keys: str) -> dict[str, Any]:
        self.put(message)
        return self.until(*keys)

    def send(self, n: int, line: str) -> dict[str, Any]:
        return self.ask({"n": n, "line": line}, "n", "refused")

    def ended(self) -> bool:
        while self.read() is not None:
            pass
        return True

    def close(self) -> None:
        self.sock.close()


class Kept:
    """One folder with its keeper."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answer: dict[str, Any] = {}
        self.clients: list[Client] = []
        self.raw = b""

    def start(self, script: str | list[Any], **spec: Any) -> Kept:
        argv = script if isinstance(script, list) else [sys.executable, "-c", script]
        spec = {"argv": argv, "cwd": str(self.folder.parent), "env": {"PATH": os.environ["PATH"]}, **spec}
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", str(SCRIPT), str(self.folder)],
            input=json.dumps(spec).encode(),
            capture_output=True,
            env={},
            timeout=PATIENCE,
            check=False,
        )
        assert done.stderr == b"", done.stderr.decode()
        self.raw = done.stdout
        self.answer = json.loads(done.stdout)
        return self

    @property
    def pid(self) -> int:
        return int(self.answer["pid"])

    @property
    def agent(self) -> int:
        return int(self.answer["agent_pid"])

    def client(self, gen: int | None = 1) -> Client:
        client = Client(self.answer["address"], gen)
        self.clients.append(client)
        return client

    def output(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("out.*")))

    def sends(self) -> list[list[Any]]:
        return [json.loads(row) for row in (self.folder / "sends").read_text().splitlines()]

    def exit(self) -> dict[str, Any] | None:
        path = self.folder / "exit"
        return json.loads(path.read_text()) if path.exists() else None

    def finished(self) -> dict[str, Any]:
        """The exit record, once the keeper has left."""
        eventually(lambda: not alive(self.pid))
        record = self.exit()
        assert record is not None
        return record

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        for pid in (self.answer.get("pid"), self.answer.get("agent_pid")):
            if pid and alive(pid):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
