"""Plays one case as an agent on stdin and stdout: writes what the case says, waits for what it expects.

usage: replay_agent.py FOLDER    FOLDER holds 1.jsonl, 2.jsonl, ...: one file for each start of the program;
the last one serves all further starts. Beside them it leaves, for start N:
  got-N     every line it was sent, as it came
  done-N    the number of steps done, one line for each
  result-N  0 = played to the end, 3 = an awaited frame did not come, 4 = a forbidden one came

Steps of the agent: agent, agent_ascii, agent_raw, agent_b64, agent_big, agent_chunks, agent_repeat,
agent_err, agent_err_bytes, sleep_ms, expect_to_agent, expect_none, agent_exit, agent_signal, close_stdout,
close_stdin, write_file, spawn, stay. All other steps belong to the driver and are passed over.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, TypeGuard

AWAIT_MAX = 20.0
"""Longest wait for an awaited frame, in seconds, where the step names none."""

STAY_MAX = 120.0
"""Longest time an agent stays that was told to, in seconds."""

MISSED, FORBIDDEN = 3, 4


class Ended(Exception):
    """The play is over with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether this is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether this is a JSON array."""
    return isinstance(value, list)


def matches(wanted: Any, got: Any) -> bool:
    """Whether a frame contains what is wanted; "*" is anything, and 0, "0" and false are three things."""
    if is_table(wanted):
        return is_table(got) and all(k in got and matches(v, got[k]) for k, v in wanted.items())
    if wanted == "*":
        return True
    return type(wanted) is type(got) and wanted == got


def member(value: Any, path: str) -> Any:
    """What stands at a dotted path."""
    for key in path.split("."):
        value = value[int(key)] if is_list(value) else value[key]
    return value


def inflated(frame: Any, path: str, size: int, text: str) -> Any:
    """A copy of the frame with a string of this many characters at the path."""
    copy = json.loads(json.dumps(frame))
    *head, last = path.split(".")
    holder = member(copy, ".".join(head)) if head else copy
    holder[int(last) if is_list(holder) else last] = (text * (size // len(text) + 1))[:size]
    return copy


class Player:
    """One start of the program."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder
        self.number = number
        self.bound: dict[str, Any] = {}
        self.inbox: queue.Queue[Any] = queue.Queue()
        self.passed: list[Any] = []
        self.eof = threading.Event()
        self.closing = threading.Event()
        self.closed = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with (self.folder / f"got-{self.number}").open("ab") as got:
            rest = b""
            while data := self._input():
                *lines, rest = (rest + data).split(b"\n")
                for raw in lines:
                    got.write(raw + b"\n")
                    got.flush()
                    try:
                        self.inbox.put(json.loads(raw))
                    except ValueError:
                        self.inbox.put({"unreadable": raw[:200].decode("utf-8", "replace")})
        self.eof.set()
        self.inbox.put(None)

    def _input(self) -> bytes:
        """The next bytes. It never blocks in a read, which would keep a closed pipe open."""
        while not self.closing.is_set():
            if select.select([0], [], [], 0.02)[0]:
                return os.read(0, 1 << 16)
        os.close(0)
        self.closed.set()
        return b""

    def play(self, steps: list[dict[str, Any]]) -> int:
        """All steps, in order."""
        with (self.folder / f"done-{self.number}").open("a", encoding="ascii") as done:
            for index, step in enumerate(steps):
                try:
                    self._step(step)
                except Ended as end:
                    done.write(f"{index}\n")
                    return end.code
                done.write(f"{index}\n")
                done.flush()
        return 0

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.bound.get(value, value)
        if is_list(value):
            return [self._filled(entry) for entry in value]
        if is_table(value):
            return {key: self._filled(entry) for key, entry in value.items()}
        return value

    def _write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def _line(self, frame: Any, *, ascii_only: bool = False) -> bytes:
        return json.dumps(self._filled(frame), ensure_ascii=ascii_only).encode() + b"\n"

    def _step(self, step: dict[str, Any]) -> None:
        match step:
            case {"agent": frame}:
                self._write(self._line(frame))
            case {"agent_ascii": frame}:
                self._write(self._line(frame, ascii_only=True))
            case {"agent_raw": str(text)}:
                self._write(text.encode())
            case {"agent_b64": str(text)}:
                self._write(base64.b64decode(text))
            case {"agent_big": {"frame": frame, "path": path, "bytes": size, **rest}}:
                self._write(self._line(inflated(self._filled(frame), path, size, rest.get("text", "x"))))
            case {"agent_chunks": {"frame": frame, "size": size}}:
                data = self._line(frame)
                for start in range(0, len(data), size):
                    self._write(data[start : start + size])
                    time.sleep(0.001)
            case {"agent_repeat": {"frame": frame, "times": times}}:
                text = json.dumps(self._filled(frame))
                for count in range(times):
                    self._write(text.replace("{i}", str(count)).encode() + b"\n")
            case {"expect_to_agent": wanted}:
                found = self._await(self._filled(wanted), step.get("within_ms", AWAIT_MAX * 1000) / 1000)
                for name, path in step.get("bind", {}).items():
                    self.bound[name] = member(found, path)
            case {"expect_none": unwanted}:
                self._forbid(self._filled(unwanted), step.get("for_ms", 500) / 1000)
            case _:
                self._act(step)

    def _act(self, step: dict[str, Any]) -> None:
        """Steps that are no frames."""
        match step:
            case {"agent_err": str(text)}:
                sys.stderr.write(text)
                sys.stderr.flush()
            case {"agent_err_bytes": {"total": total, "line": length}}:
                line = "e" * (length - 1) + "\n"
                for _ in range(max(1, total // length)):
                    sys.stderr.write(line)
                sys.stderr.flush()
            case {"sleep_ms": wait}:
                time.sleep(wait / 1000)
            case {"agent_exit": code}:
                raise Ended(code)
            case {"agent_signal": number}:
                os.kill(os.getpid(), number)
                time.sleep(STAY_MAX)
            case {"close_stdout": _}:
                sys.stdout.flush()
                os.close(1)
            case {"close_stdin": _}:
                self.closing.set()
                self.closed.wait(AWAIT_MAX)
            case {"write_file": {"name": name, "text": text}}:
                Path(name).write_text(text, encoding="utf-8")
            case {"spawn": {"argv": argv, "pid": name}}:
                child = subprocess.Popen(argv, start_new_session=True, stdin=subprocess.DEVNULL)
                (self.folder / name).write_text(str(child.pid), encoding="ascii")
            case {"stay": _}:
                self.eof.wait(STAY_MAX)
            case _:
                pass

    def _await(self, wanted: Any, seconds: float) -> Any:
        found = next((frame for frame in self.passed if matches(wanted, frame)), None)
        if found is not None:
            self.passed.remove(found)
            return found
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                frame = self.inbox.get(timeout=left)
            except queue.Empty:
                break
            if frame is None:
                break
            if matches(wanted, frame):
                return frame
            self.passed.append(frame)
        sys.stderr.write(f"did not come: {json.dumps(wanted)}\n")
        raise Ended(MISSED)

    def _forbid(self, unwanted: Any, seconds: float) -> None:
        bad = [frame for frame in self.passed if matches(unwanted, frame)]
        end = time.monotonic() + seconds
        while not bad and (left := end - time.monotonic()) > 0:
            try:
                frame = self.inbox.get(timeout=left)
            except queue.Empty:
                break
            if frame is None:
                break
            self.passed.append(frame)
            bad = [frame] if matches(unwanted, frame) else []
        if bad:
            sys.stderr.write(f"must not come: {json.dumps(bad[0])}\n")
            raise Ended(FORBIDDEN)


def next_number(folder: Path) -> int:
    """Which start of the program this is: the first whose mark is not there yet."""
    number = 1
    while True:
        try:
            os.close(os.open(folder / f"started-{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            number += 1
        else:
            return number


def main(folder: Path) -> int:
    """Play the steps of this start."""
    number = next_number(folder)
    known = sorted(int(path.stem) for path in folder.glob("*.jsonl"))
    script = folder / f"{min(number, known[-1])}.jsonl"
    steps = [json.loads(line) for line in script.read_text("utf-8").splitlines() if line.strip()]
    (folder / f"pid-{number}").write_text(str(os.getpid()), encoding="ascii")
    (folder / f"environ-{number}").write_text(json.dumps(dict(os.environ)), encoding="utf-8")
    code = Player(folder, number).play(steps)
    (folder / f"result-{number}").write_text(str(code), encoding="ascii")
    return code


if __name__ == "__main__":
    status = main(Path(sys.argv[1]))
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(status)
