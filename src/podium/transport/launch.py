"""Starts a keeper, which starts the agent (R3). The spec goes over stdin: argv and env of the keeper are
public."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import anyio.abc
import msgspec

SPAWN_MAX = 20.0  # seconds from the start of the keeper to its answer
ANSWER_MAX = 65536  # bytes
STDERR_TAIL = 2000  # characters of a keeper that did not answer

_FIXES = {
    "bad_spec": "Give a program, a working folder and an environment of plain strings.",
    "binary_missing": "Install the program or set its path.",
    "binary_not_executable": "Make the program executable, or name one that is.",
    "cwd_missing": "Give a working folder that exists and may be entered.",
    "arguments_too_long": "Send long texts over stdin or in a file, not as arguments or environment.",
    "folder_used": "Give the new process a folder of its own.",
    "spawn_failed": "Look at the message: the system refused to start a process.",
    "keeper_failed": "Look at the message: the keeper itself could not run.",
    "spawn_timeout": "The machine is very busy, or does not start processes; try again.",
}


class LaunchError(Exception):
    """No agent process was started. `code` is one of bad_spec, binary_missing, binary_not_executable,
    cwd_missing,
    arguments_too_long, folder_used, spawn_failed, keeper_failed, spawn_timeout; `fix` says what to do."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.fix = fix or _FIXES.get(code, _FIXES["spawn_failed"])


class LaunchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a keeper needs. `env` is the complete environment of the agent; `linger` in seconds, sizes in
    bytes."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    linger: float = 0.0
    spool_max: int = 512 << 20
    stdin_max: int = 32 << 20
    segment_max: int = 8 << 20
    stderr_ring: int = 1 << 20
    note: str = ""


class Launched(msgspec.Struct, frozen=True):
    """`agent_start` is the agent's start time in clock ticks since boot, None where the system does not
    say."""

    pid: int
    agent_pid: int
    agent_start: int | None
    address: str


class _Answer(msgspec.Struct):
    ok: bool
    pid: int = 0
    agent_pid: int = 0
    agent_start: int | None = None
    address: str = ""
    code: str = "keeper_failed"
    message: str = ""


def keeper_script() -> Path:
    """The keeper's file; it is run by path and never imported here."""
    spec = importlib.util.find_spec("podium.keeper")
    if spec is None or spec.origin is None:
        raise LaunchError("keeper_failed", "the keeper is not installed", "Install Podium again.")
    return Path(spec.origin).with_name("keeper.py")


async def launch_keeper(folder: Path, spec: LaunchSpec) -> Launched:
    """Start a detached keeper in `folder` (made 0700) and through it the agent. Raises LaunchError.

    After a timeout or a cancellation the keeper may still come up; it then ends its agent by itself, because
    no
    owner attaches, and `read_launched(folder)` tells its pids.
    """
    # ASCII JSON keeps environment values that are no text (surrogate escapes) byte for byte.
    data = json.dumps(msgspec.to_builtins(spec)).encode()
    argv = _keeper_command(folder)
    out, err = bytearray(), bytearray()
    try:
        with anyio.fail_after(SPAWN_MAX):
            process = await anyio.open_process(
                argv, env=_keeper_environment(), cwd="/", start_new_session=True
            )
            async with process, anyio.create_task_group() as tasks:
                tasks.start_soon(_collect, process.stdout, out)
                tasks.start_soon(_collect, process.stderr, err)
                await _write(process.stdin, data)
    except TimeoutError:
        raise LaunchError("spawn_timeout", f"no answer within {SPAWN_MAX:g} s") from None
    except OSError as problem:
        raise LaunchError("spawn_failed", f"the keeper did not start: {problem.strerror}") from None
    try:
        answer = msgspec.json.decode(bytes(out), type=_Answer)
    except msgspec.MsgspecError:
        tail = bytes(err).decode("utf-8", "replace")[-STDERR_TAIL:].strip()
        raise LaunchError("keeper_failed", f"the keeper gave no answer: {tail or 'no message'}") from None
    if not answer.ok:
        raise LaunchError(answer.code, answer.message)
    return Launched(answer.pid, answer.agent_pid, answer.agent_start, answer.address)


def read_launched(folder: Path) -> Launched | None:
    """What the keeper of this folder answered; None when it never started an agent."""
    try:
        return msgspec.json.decode((folder / "launched").read_bytes(), type=Launched)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None


def _keeper_command(folder: Path) -> list[str]:
    return [sys.executable, "-I", "-S", "-X", "utf8", str(keeper_script()), str(folder.absolute())]


def _keeper_environment() -> dict[str, str]:
    """Nothing but what a dynamically linked interpreter may need to start."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}


async def _collect(stream: anyio.abc.ByteReceiveStream | None, into: bytearray) -> None:
    if stream is not None:
        async for piece in stream:
            into += piece[: ANSWER_MAX - len(into)]


async def _write(stream: anyio.abc.ByteSendStream | None, data: bytes) -> None:
    if stream is not None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stream.send(data)  # a keeper that is gone has said why on its way out
        await stream.aclose()
