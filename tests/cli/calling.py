"""Calls the installed program as a person would: a process of its own, a home, a data folder and a census."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PODIUM = Path(sys.executable).with_name("podium")
CALL_MAX = 60.0
"""Seconds after which a command counts as hanging."""
WAIT_MAX = 20.0
"""Seconds after which something that should come counts as missing."""
POLL = 0.02

Json = dict[str, Any]


class Shell:
    """A person's machine in one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = root / "data"
        self.config = root / "config"
        self.workspace = root / "workspace"
        self.agent_home = root / "agent"
        self.temporary = root / "tmp"
        for folder in (self.config, self.workspace, self.temporary, root / "home"):
            folder.mkdir(mode=0o700)
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(root / "home"),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "PODIUM_DATA": str(self.data),
            "PODIUM_CONFIG": str(self.config),
            "SCRIPTED_HOME": str(self.agent_home),
            "PYTHONWARNINGS": "error",
        }

    def call(
        self,
        *arguments: str,
        given: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Answer:
        """Run a command to its end, without a terminal."""
        done = subprocess.run(
            [PODIUM, *arguments],
            input=given if given is not None else b"",
            capture_output=True,
            timeout=CALL_MAX,
            env={**self.environment, **(environment or {})},
            cwd=cwd or self.workspace,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def run(self, *arguments: str, given: bytes | None = None) -> Answer:
        """`podium run` with the rehearsal agent."""
        return self.call("run", "-a", "scripted", *arguments, given=given)

    def start(
        self, *arguments: str, stdout: Any = subprocess.PIPE, stderr: Any = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """A command that goes on while the test does something."""
        return subprocess.Popen(
            [PODIUM, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=self.environment,
            cwd=self.workspace,
        )

    def threads(self) -> list[Json]:
        """What `threads list --json` tells."""
        return self.call("threads", "list", "--json").rows

    def pending(self) -> list[Json]:
        """What `requests list --json` tells."""
        return self.call("requests", "list", "--json").rows

    def log(self, kind: str | None = None) -> list[Json]:
        """What the agent received, by its own log."""
        path = self.agent_home / "prompts.jsonl"
        rows = [json.loads(line) for line in lines(path.read_text())] if path.exists() else []
        return [row for row in rows if kind is None or row["kind"] == kind]

    def processes(self) -> list[str]:
        """Command lines of living processes that carry this machine's folder, keepers and agents alike."""
        found: list[str] = []
        mark = str(self.root).encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal() or int(entry.name) == os.getpid():
                continue
            try:
                line, environ = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
            except OSError:
                continue
            if line and (mark in line or mark in environ):
                found.append(line.replace(b"\0", b" ").decode(errors="replace"))
        return found

    def leftovers(self) -> list[str]:
        """What a command may not leave behind: processes, temporary files, process folders, locks."""
        files = [
            str(path.relative_to(self.root))
            for place in (self.temporary, self.data / "processes", self.data / "runtimes")
            if place.exists()
            for path in place.rglob("*")
            if path.name != "claiming"  # the lock that all runtimes share stays
        ]
        wait(lambda: not self.processes(), orelse=False)
        return [*self.processes(), *files]


class Answer:
    """How a command ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err
        assert "Traceback" not in err, err

    @property
    def rows(self) -> list[Json]:
        """stdout as JSON lines."""
        return [json.loads(line) for line in lines(self.out)]

    def id(self, prefix: str) -> str:
        """The first id of this kind that stderr names."""
        found = re.search(rf"\b{prefix}_[0-9a-z]+", self.err)
        assert found is not None, self.err
        return found.group()


def lines(text: str) -> list[str]:
    """Lines as JSON lines have them: other separators are part of a text."""
    return [line for line in text.split("\n") if line]


def wait(ready: Callable[[], Any], *, orelse: Any = None) -> Any:
    """Poll until something is there; fails the test if it does not come, unless `orelse` is given."""
    deadline = time.monotonic() + WAIT_MAX
    while time.monotonic() < deadline:
        if found := ready():
            return found
        time.sleep(POLL)
    assert orelse is not None, "what the test waits for did not come"
    return orelse
