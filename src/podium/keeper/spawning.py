"""Starts the agent process for the keeper, and looks at what lives in its session."""

# pathlib would cost memory in a process that exists once per agent.
# ruff: noqa: PTH123, PTH208
from __future__ import annotations

import errno
import os
import signal
import sys

TYPE_CHECKING = False  # importing typing costs memory too
if TYPE_CHECKING:
    from typing import Any

FAILURE_MAX = 2048
PR_SET_PDEATHSIG = 1
STATE, GROUP, SESSION, START = 0, 2, 3, 19  # fields of /proc/<pid>/stat behind the command's closing bracket
EXEC_CODES = {
    errno.ENOENT: "binary_missing",
    errno.ENOTDIR: "binary_missing",
    errno.EACCES: "binary_not_executable",
    errno.ENOEXEC: "binary_not_executable",
    errno.E2BIG: "arguments_too_long",
}


class Refused(Exception):
    """The agent was not started: (code, message)."""


def spawn(spec: dict[str, Any], umask: int) -> tuple[int, int, int, int]:
    """(pid, stdin, stdout, stderr) of the new agent. Call from the main thread only: a parent-death signal
    belongs to the thread that forked."""
    (ri, stdin), (out, wo), (err, we), (rx, wx) = (os.pipe() for _ in range(4))
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_agent(spec, umask, parent, (ri, wo, we), wx)
    for fd in (ri, wo, we, wx):
        os.close(fd)
    with open(rx, "rb") as failure:  # ends by itself when exec closes the other side
        code, _, message = failure.read(FAILURE_MAX).decode(errors="replace").partition("\n")
    if code:
        os.waitpid(pid, 0)
        raise Refused(code, message)
    for fd in (stdin, out, err):
        os.set_blocking(fd, False)
    return pid, stdin, out, err


def _become_agent(spec: Any, umask: int, parent: int, pipes: tuple[int, int, int], failure: int) -> None:
    code = "spawn_failed"
    try:
        os.setsid()
        for target, fd in enumerate(pipes):
            os.dup2(fd, target)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if sys.platform == "linux":
            import ctypes  # in the child only: the keeper stays small

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() == parent:  # else the keeper died before the signal was armed
            os.umask(umask)
            code = "cwd_missing"
            os.chdir(spec["cwd"])
            code = "binary_missing"
            os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
    except OSError as problem:
        code = code if code != "binary_missing" else EXEC_CODES.get(problem.errno or 0, "spawn_failed")
        os.write(
            failure, f"{code}\n{problem.strerror}: {problem.filename}".encode(errors="replace")[:FAILURE_MAX]
        )
    except BaseException as problem:
        os.write(
            failure, f"bad_spec\n{type(problem).__name__}: argv, cwd and env must be plain strings".encode()
        )
    finally:
        os._exit(127)


def process_fields(pid: int | str) -> list[str]:
    """The fields of /proc/<pid>/stat from the state on; [] when there is no such process or no /proc."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read(4096).decode(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def start_ticks(pid: int) -> int | None:
    fields = process_fields(pid)
    return int(fields[START]) if fields else None


def census(leader: int) -> list[int] | None:
    """Living processes of the agent's session or group, zombies left out; None where it cannot be told."""
    if sys.platform != "linux":
        return None
    alive: list[int] = []
    for name in os.listdir("/proc"):
        fields = process_fields(name) if name.isdigit() else []
        if fields and fields[STATE] not in "ZX" and str(leader) in (fields[GROUP], fields[SESSION]):
            alive.append(int(name))
    return sorted(alive)
