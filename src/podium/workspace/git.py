"""Runs git so that nothing but git runs: no hook, filter, signer, monitor, pager, prompt or network; with a
bound.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

GIT_MAX = 30.0
"""Longest that one git command may take, in seconds."""

MESSAGE_MAX = 2000
"""How much of git's complaint is kept, in characters."""

# Every git command gets these; a repository's own configuration cannot say otherwise.
SAFE = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.logAllRefUpdates": "false",
    "core.quotePath": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "gc.auto": "0",
    "gc.autoDetach": "false",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "all",
    "advice.detachedHead": "false",
}
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "GIT_AUTHOR_NAME": "Podium",
    "GIT_AUTHOR_EMAIL": "podium@localhost",
    "GIT_COMMITTER_NAME": "Podium",
    "GIT_COMMITTER_EMAIL": "podium@localhost",
    "LC_ALL": "C",
}
OPTIONS = tuple(part for key, value in SAFE.items() for part in ("-c", f"{key}={value}"))


class GitFailed(Exception):
    """Git is missing, took too long, or said no. `code`: git_missing, timeout, disk_full, git_failed."""

    def __init__(self, code: str, message: str, output: bytes = b"") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.output = output


class Git:
    """Runs git commands in an environment of its own making."""

    def __init__(self, environ: Mapping[str, str] | None = None, program: str = "git") -> None:
        given = os.environ if environ is None else environ
        kept = {key: value for key, value in given.items() if not key.startswith("GIT_") or key in PASSED}
        self._environ = kept | ENVIRONMENT
        self._program = program

    def command(self, *args: str | bytes) -> list[str | bytes]:
        """The whole argument list of one command."""
        return [self._program, "--no-pager", *OPTIONS, *args]

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of one command."""
        return self._environ | dict(env or {})

    async def run(
        self,
        *args: str | bytes,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        limit: float = GIT_MAX,
    ) -> tuple[bytes, bytes]:
        """Standard output and error of one command; raises GitFailed. A cancelled command is killed."""
        status, out, err = await self.attempt(*args, cwd=cwd, env=env, stdin=stdin, limit=limit)
        if status != 0:
            raise failed(args, status, out, err)
        return out, err

    async def ignored(
        self, *options: str, paths: Iterable[bytes], cwd: str, env: Mapping[str, str] | None = None
    ) -> set[bytes]:
        """Which of these relative paths ignore rules hide, tracked or not; raises GitFailed if git cannot
        say.
        """
        # This command refuses to take paths literally by environment; "./" keeps ":" from meaning more.
        mine = {**(env or {}), "GIT_LITERAL_PATHSPECS": "0"}
        args = (*options, "check-ignore", "-z", "--stdin", "--no-index")
        stdin = b"".join(b"./" + path + b"\0" for path in paths)
        status, out, err = await self.attempt(*args, cwd=cwd, env=mine, stdin=stdin)
        if status not in (0, 1):
            raise failed(args, status, out, err)
        return {path.removeprefix(b"./") for path in out.split(b"\0") if path}

    async def attempt(
        self,
        *args: str | bytes,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        limit: float = GIT_MAX,
    ) -> tuple[int, bytes, bytes]:
        """The same for a command whose exit status is an answer."""
        try:
            with anyio.fail_after(limit):
                return await self._talk(self.command(*args), cwd, self.environment(env), stdin)
        except TimeoutError as error:
            raise GitFailed("timeout", f"git {_first(args)} took longer than {limit:.0f} s.") from error
        except FileNotFoundError as error:
            raise GitFailed("git_missing", f"git cannot be started: {error.strerror}.") from error
        except OSError as error:
            raise GitFailed("git_failed", f"git cannot be started: {error}.") from error

    async def _talk(
        self, command: list[str | bytes], cwd: str, env: Mapping[str, str], stdin: bytes
    ) -> tuple[int, bytes, bytes]:
        """Runs a command to its end; one that ends before it has read everything is no error of ours."""
        pipe = subprocess.PIPE
        said: dict[str, bytes] = {}
        process = await anyio.open_process(
            command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env, start_new_session=True
        )
        async with process, anyio.create_task_group() as group:
            group.start_soon(_feed, process, stdin)
            group.start_soon(_read_all, process.stdout, said, "out")
            group.start_soon(_read_all, process.stderr, said, "err")
        return await process.wait(), said["out"], said["err"]


async def _feed(process: Process, content: bytes) -> None:
    stream: ByteSendStream | None = process.stdin
    if stream is not None:
        with suppress(anyio.BrokenResourceError):
            if content:
                await stream.send(content)
        with suppress(anyio.BrokenResourceError, OSError):
            await stream.aclose()


async def _read_all(stream: ByteReceiveStream | None, said: dict[str, bytes], name: str) -> None:
    parts: list[bytes] = []
    if stream is not None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                parts.append(await stream.receive())
    said[name] = b"".join(parts)


# Where the user's own configuration lies is the user's to say: ignore rules and trusted folders stand in it.
PASSED = frozenset({"GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH"})


def failed(args: tuple[str | bytes, ...], status: int, out: bytes, err: bytes) -> GitFailed:
    """The failure that a command's last words tell."""
    words = err.decode("utf-8", "replace").strip()[-MESSAGE_MAX:]
    full = "No space left on device" in words or "Disk quota exceeded" in words
    return GitFailed("disk_full" if full else "git_failed", f"git {_first(args)} ({status}): {words}", out)


def _first(args: tuple[str | bytes, ...]) -> str:
    return next((arg for arg in args if isinstance(arg, str) and not arg.startswith("-")), "")
