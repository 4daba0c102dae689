"""What users hand in, before anything is decided on it: text that can be written, a folder that is there."""

from __future__ import annotations

from pathlib import Path

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.errors import BadInput, Refused
from podium.domain.commands import UserCommand
from podium.domain.entities import Thread
from podium.policy.config import Policy
from podium.policy.resolve import Resolution, resolve
from podium.transport.codec import encode_frame


def readable(command: UserCommand) -> UserCommand:
    """The command with each lone surrogate replaced by U+FFFD: no store and no agent could take one (B04)."""
    try:
        msgspec.json.encode(command)
    except UnicodeEncodeError:
        return msgspec.json.decode(encode_frame(msgspec.to_builtins(command)), type=UserCommand)
    return command


def working_folder() -> Path:
    """The folder this process stands in. Raises BadInput `workspace_missing` where it was deleted."""
    try:
        return Path.cwd()
    except OSError as error:
        raise BadInput(
            "workspace_missing", "The folder you are in does not exist any more.", fix="Go to another one."
        ) from error


def check_workspace(path: Path) -> Path:
    """The real path of a folder an agent may work in. Raises BadInput saying what is wrong with it."""
    try:
        real = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:  # a path with a NUL is no path
        raise BadInput(
            "workspace_missing", f"The folder {path} does not exist.", fix="Name an existing folder with -C."
        ) from error
    if not real.is_dir():
        raise BadInput("workspace_not_a_folder", f"{path} is not a folder.", fix="Name a folder with -C.")
    try:
        next(iter(real.iterdir()), None)
    except OSError as error:
        raise BadInput(
            "workspace_unreadable", f"{path} cannot be read.", fix="Give yourself the right to read it."
        ) from error
    return real


def check_same_workspace(workspace: str) -> None:
    """A thread works in the folder it was begun in, and nowhere else (B49, B50).

    Raises BadInput `workspace_missing`, or `workspace_moved` where the path leads to another folder now.
    """
    choices = "Restore it at this path, or start a thread in another folder; this thread stays as it is."
    try:
        real = Path(workspace).resolve(strict=True)
    except (OSError, RuntimeError):
        real = None
    if real is None or not real.is_dir():
        raise BadInput("workspace_missing", f"{workspace} is no longer a folder.", fix=choices)
    if str(real) != workspace:
        raise BadInput("workspace_moved", f"{workspace} now leads to {real}.", fix=choices)


def unheld(thread: Thread, capabilities: Capabilities, policy: Policy) -> Resolution | None:
    """Why nothing holds the agent to the thread's mode; None where something does, or nothing has to."""
    found = resolve("approvals", capabilities, policy) if thread.mode != "full" else None
    return found if found is not None and found.refused else None


def check_held(thread: Thread, capabilities: Capabilities, policy: Policy) -> None:
    """A mode that promises to hold an agent back needs an agent that can be held (test H of the field).

    Raises Refused `capability_missing`: a mode is never accepted and then ignored.
    """
    found = unheld(thread, capabilities, policy)
    if found is not None:
        raise Refused(
            "capability_missing",
            f"Nothing holds this agent to the mode {thread.mode}: it asks nobody before it acts.",
            fix="Begin a thread in the mode full if that is what you want, or take another agent.",
            capability=found.capability,
            policy=found.policy,
            reason=found.reason,
        )
