"""A machine of its own in a folder: data, workspace, home, and a real server on it."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.processes import Cpu, belonging, cpu_seconds, wait_gone

WAIT_MAX = 120.0
"""Seconds after which something that should come counts as missing."""

POLL = 0.002

BEFORE = re.compile(rb'"before":(null|\d+)')


class Missing(Exception):
    """Something that should have come did not, or came wrong: this measurement has no figure."""


class Place:
    """One server and everything that is its own. Nothing of the person who measures is touched."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data, self.workspace = root / "data", root / "ws"
        for name in ("data", "ws", "home", "config", "tmp", "scripted"):
            (root / name).mkdir(mode=0o700)
        (self.workspace / "README.md").write_text("# A small folder\n")
        self.environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "LANG": "C.UTF-8",
            "PODIUM_DATA": str(self.data),
            "PODIUM_CONFIG": str(root / "config"),
            "SCRIPTED_HOME": str(root / "scripted"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.server: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.token = ""

    # ---- the server

    def start(self) -> float:
        """Start the server; seconds until /healthz said ok. Raises Missing."""
        begun = time.monotonic()
        with (self.root / "serve.log").open("ab") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "podium", "serve", "--port", "0"],
                cwd=self.workspace,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        while not self._healthy():
            if time.monotonic() > begun + WAIT_MAX or self.server.poll() is not None:
                raise Missing(f"The server did not start: {(self.root / 'serve.log').read_text()}")
            time.sleep(POLL)
        return time.monotonic() - begun

    def _healthy(self) -> bool:
        try:
            said = json.loads((self.data / "server.json").read_bytes())
            self.port, self.token = int(said["url"].rpartition(":")[2]), str(said["token"])
            link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_MAX)
            link.request("GET", "/healthz")
            answer = link.getresponse()
            answer.read()
            link.close()
        except (OSError, ValueError, KeyError):
            return False
        return answer.status == 200

    def close(self) -> None:
        """End the server and its agents. Raises Missing if a process stays behind."""
        server, self.server = self.server, None
        if server is None:
            return
        server.send_signal(signal.SIGTERM)
        server.wait(WAIT_MAX)
        command = [sys.executable, "-m", "podium", "stop", "--agents"]
        subprocess.run(command, env=self.environ, check=False, capture_output=True, timeout=WAIT_MAX)
        left = wait_gone(self.root, WAIT_MAX)
        if left:
            raise Missing(f"{len(left)} processes stayed behind.")

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self.server is not None
        return self.server.pid

    def agents(self) -> list[int]:
        """Keepers and agents."""
        return belonging(self.root, (self.pid,))

    def cpu(self) -> Cpu:
        """What the server, and its keepers and agents, used so far."""
        return Cpu(cpu_seconds(self.pid), sum(map(cpu_seconds, self.agents())))

    # ---- speaking to it

    def link(self) -> http.client.HTTPConnection:
        """A connection to it."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_MAX)

    def call(
        self, method: str, path: str, body: Any = None, link: http.client.HTTPConnection | None = None
    ) -> bytes:
        """One request; the body of its answer. Raises Missing for a refusal."""
        used = link or self.link()
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        used.request(method, path, None if body is None else json.dumps(body), headers)
        answer = used.getresponse()
        data = answer.read()
        if link is None:
            used.close()
        if answer.status >= 300:
            raise Missing(f"{method} {path}: {answer.status} {data[:500]!r}")
        return data

    def thread(self) -> str:
        """A new thread with the scripted agent."""
        body = {"workspace": str(self.workspace), "agent": "scripted", "mode": "full"}
        made: str = json.loads(self.call("POST", "/v1/threads", body))["result"]["thread"]
        return made

    def play(self, thread: str, *steps: dict[str, Any]) -> str:
        """Give the agent a script; the run."""
        body = {
            "client_id": f"c{time.monotonic_ns()}",
            "text": json.dumps({"play": steps}, separators=(",", ":")),
        }
        run: str = json.loads(self.call("POST", f"/v1/threads/{thread}/messages", body))["result"]["run"]
        return run

    def wait_idle(self, thread: str) -> None:
        """Wait until the thread works no more. Raises Missing if its run did not end well."""
        deadline = time.monotonic() + WAIT_MAX
        while time.monotonic() < deadline:
            seen = json.loads(self.call("GET", f"/v1/threads/{thread}?items=1"))
            if seen["runs"] and seen["runs"][-1]["state"] == "ended":
                return
            time.sleep(POLL * 10)
        raise Missing("A run did not end.")

    def warm(self) -> str:
        """A thread whose agent is at work already."""
        thread = self.thread()
        self.play(thread, {"do": "stamp", "count": 1})
        self.wait_idle(thread)
        return thread

    @staticmethod
    def before(answer: bytes) -> int | None:
        """Where the page before this one ends, as a client finds it without reading all of it."""
        found = BEFORE.findall(answer)
        if not found:
            raise Missing("A page does not say what is before it.")
        return None if found[-1] == b"null" else int(found[-1])

    def stored_bytes(self) -> int:
        """What the data folder holds."""
        return sum(f.stat().st_size for f in self.data.rglob("*") if f.is_file())


@contextmanager
def placed() -> Generator[Place]:
    """A place that is gone afterwards, with everything that ran in it."""
    root = Path(tempfile.mkdtemp(prefix="podium-bench-"))
    place = Place(root)
    try:
        yield place
    finally:
        try:
            place.close()
        finally:
            shutil.rmtree(root, ignore_errors=True)


@contextmanager
def served() -> Generator[Place]:
    """A place with a server that answers."""
    with placed() as place:
        place.start()
        yield place
