"""Where Podium keeps its data, and what its configuration says. An agent's own is never edited."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import platformdirs

from podium.contract.errors import BadInput, StorageFailed
from podium.contract.inputs import Mode
from podium.policy.config import Policy, PolicyLayer, merge, parse_layer

DATA_VARIABLE = "PODIUM_DATA"
CONFIG_VARIABLE = "PODIUM_CONFIG"
CONFIG_FILE = "podium.toml"


class AgentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[agents.NAME]` table: an instance of an adapter, with its own program and environment.

    `env` sets variables; `inherit` names those of the user's own that reach the agent besides what its
    adapter declares (B15). `version_args` make the program say its version, where the adapter does not know.
    """

    adapter: str | None = None
    program: str | None = None
    model: str | None = None
    mode: Mode | None = None
    env: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    inherit: tuple[str, ...] = ()
    version_args: tuple[str, ...] = ()
    options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    stuck_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None


class CaptureSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[captures]` table: whether the files of a folder are captured around runs. None: not said here."""

    enabled: bool | None = None


class ConfigFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `podium.toml`. An unknown table or key is refused with its name, so that a typing error is seen."""

    agents: dict[str, AgentSettings] = msgspec.field(default_factory=dict[str, AgentSettings])
    policy: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    captures: CaptureSettings = CaptureSettings()
    default_agent: str | None = None


class Settings(msgspec.Struct, frozen=True):
    """What holds for a runtime: folders, environment, configured agents, policy of the user."""

    data: Path
    environ: dict[str, str]
    config: ConfigFile = ConfigFile()
    policy_layer: PolicyLayer = PolicyLayer("file")

    def policy(self, workspace: str) -> Policy:
        """The policy in a workspace: the user's, then the project's; the narrowest wins (R9)."""
        project = read_config(Path(workspace) / CONFIG_FILE)
        return merge(self.policy_layer, parse_layer(project.policy, "project"))

    def captures(self, workspace: str) -> bool:
        """Whether files are captured in a workspace: the project's word, else the user's, else yes."""
        project = read_config(Path(workspace) / CONFIG_FILE).captures.enabled
        return (project if project is not None else self.config.captures.enabled) is not False


def read_config(path: Path) -> ConfigFile:
    """A configuration file, or an empty one if there is none. Raises BadInput `invalid_config`."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile()
    except OSError as error:  # a policy that cannot be read is not the same as none
        text = f"{path} cannot be read: {error.strerror}."
        raise BadInput("invalid_config", text, fix="Make it a readable file, or remove it.") from error
    try:
        return msgspec.convert(tomllib.loads(data.decode()), ConfigFile)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadInput(
            "invalid_config", f"{path}: {error}.", fix="Mend the file; nothing was started."
        ) from error


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where this user's data is, whether it exists or not."""
    return Path(environ.get(DATA_VARIABLE) or platformdirs.user_data_dir("podium", appauthor=False))


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where this user's configuration is, whether it exists or not."""
    return Path(environ.get(CONFIG_VARIABLE) or platformdirs.user_config_dir("podium", appauthor=False))


def read_settings(environ: Mapping[str, str], *, data: Path | None = None) -> Settings:
    """The settings of this user; nothing is made. Raises BadInput `invalid_config`."""
    env = dict(environ)
    config = read_config(config_folder(env) / CONFIG_FILE)
    return Settings(data or data_folder(env), env, config, parse_layer(config.policy, "file"))


def load_settings(environ: Mapping[str, str] | None = None, *, data: Path | None = None) -> Settings:
    """The settings of this user, with the data folder made. Raises StorageFailed if it cannot be used."""
    settings = read_settings(os.environ if environ is None else environ, data=data)
    folder = settings.data
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageFailed(
            "data_folder",
            f"The data folder {folder} cannot be used: {error.strerror}.",
            fix=f"Set {DATA_VARIABLE} to a folder you may write.",
        ) from error
    return msgspec.structs.replace(settings, data=folder.resolve())
