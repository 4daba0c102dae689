"""Adding an agent to the user's own `podium.toml`: a table is appended, nothing else in it is touched."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.adapter import Preset
from podium.contract.errors import BadInput, Conflict, StorageFailed
from podium.contract.inputs import Mode
from podium.runtime.agents import Registry
from podium.runtime.settings import CONFIG_FILE, AgentSettings, config_folder, read_config

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
"""What an instance may be called: it stands in commands, files and URLs."""

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A key that TOML takes without quotes."""

GENERAL = "acp"
"""The adapter of an agent that is named by its command alone."""

ONE_SHOT = "oneshot"
"""The adapter of a command that reads a prompt and prints an answer."""


def presets(registry: Registry) -> dict[str, tuple[str, Preset]]:
    """Known programs by name, each with the adapter that drives it."""
    return {
        preset.name: (name, preset)
        for name, adapter in sorted(registry.adapters.items())
        for preset in adapter.descriptor.presets
    }


def wanted(
    registry: Registry,
    name: str,
    command: tuple[str, ...],
    *,
    adapter: str | None = None,
    env: Mapping[str, str] | None = None,
    inherit: tuple[str, ...] = (),
    mode: Mode | None = None,
    version_args: tuple[str, ...] = (),
    one_shot: bool = False,
) -> AgentSettings:
    """The settings of a new instance: of a command, or of a known program by its name.

    Raises BadInput `bad_agent_name`, `unknown_adapter`, `unknown_preset`, `command_missing` or
    `adapter_named_twice`, Conflict `agent_exists`.
    """
    if one_shot and adapter not in (None, ONE_SHOT):
        raise BadInput(
            "adapter_named_twice",
            f"A one-shot command is driven by the adapter {ONE_SHOT!r}, not by {adapter!r}.",
            fix="Leave out --adapter, or --one-shot.",
        )
    adapter = ONE_SHOT if one_shot else adapter
    if not NAME.fullmatch(name):
        raise BadInput(
            "bad_agent_name",
            f"{name!r} cannot be the name of an agent.",
            fix="Use small letters, digits, dots, hyphens and underscores, 64 at most.",
        )
    if name in registry.settings.config.agents or (command and name in registry.instances):
        raise Conflict(
            "agent_exists",
            f"There is an agent {name!r} already.",
            fix="Choose another name, or edit podium.toml.",
        )
    if adapter == ONE_SHOT and not any(command[:1]):
        raise BadInput(
            "command_missing",
            "A one-shot agent needs a command.",
            fix=f"podium agents add {name} --one-shot -- COMMAND ARGUMENTS",
        )
    known = presets(registry)
    if not command and name in registry.instances:
        raise Conflict(
            "agent_exists", f"Podium knows {name!r} without being told.", fix=f"Use it: podium run -a {name}"
        )
    if not command and name in known:
        of, preset = known[name]
        return AgentSettings(
            adapter=adapter or of,
            program=preset.program,
            options=dict(preset.options),
            env=dict(env or {}),
            inherit=(*preset.inherit, *inherit),
            mode=mode,
            version_args=version_args,
        )
    if len(command) == 0:
        raise BadInput(
            "unknown_preset",
            f"Podium does not know how {name!r} is started.",
            fix=f"podium agents add {name} -- COMMAND ARGUMENTS. Known: {', '.join(known) or 'none'}.",
        )
    chosen = adapter or GENERAL
    if chosen not in registry.adapters:
        raise BadInput(
            "unknown_adapter",
            f"The adapter {chosen!r} is not installed.",
            fix=f"Installed adapters: {', '.join(sorted(registry.adapters))}.",
        )
    program, *arguments = command
    options: dict[str, Any] = {"arguments": arguments} if arguments else {}
    return AgentSettings(
        adapter=chosen,
        program=program,
        options=options,
        env=dict(env or {}),
        inherit=inherit,
        mode=mode,
        version_args=version_args,
    )


def add_agent(environ: Mapping[str, str], name: str, settings: AgentSettings) -> Path:
    """Write the instance into the user's `podium.toml`; the file. Raises BadInput `invalid_config`.

    The file is replaced whole, so that nobody ever reads half of it; what stood in it stays as it was.
    """
    folder = config_folder(environ)
    path = folder / CONFIG_FILE
    read_config(path)  # a broken file is not added to
    before = path.read_bytes() if path.exists() else b""
    gap = b"" if not before or before.endswith(b"\n\n") else b"\n" if before.endswith(b"\n") else b"\n\n"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, before + gap + table_text(name, settings).encode())
        finally:
            os.close(descriptor)
        read_config(fresh)
        fresh.replace(path)
    except OSError as error:
        raise StorageFailed(
            "config_file", f"{path} cannot be written: {error.strerror}.", fix="Mend its rights, or write it."
        ) from error
    return path


def table_text(name: str, settings: AgentSettings) -> str:
    """An instance as a TOML table."""
    lines = [f"[agents.{key_text(name)}]"]
    for key, value in msgspec.to_builtins(settings).items():
        if value in (None, {}, [], ()):
            continue
        lines.append(f"{key} = {toml(value)}")
    return "\n".join(lines) + "\n"


def toml(value: Any) -> str:
    """A value as TOML writes it; strings are JSON's, which are TOML's too."""
    if isinstance(value, str):
        return quoted(value)
    kind = str(type(value).__name__)
    if kind == "dict":
        return "{ " + ", ".join(f"{key_text(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if kind in ("list", "tuple"):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return msgspec.json.encode(value).decode()


def quoted(text: str) -> str:
    """A basic string; DEL, which JSON leaves bare, is escaped."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def key_text(key: str) -> str:
    """A key, quoted where it has to be."""
    return key if BARE.fullmatch(key) else quoted(key)
