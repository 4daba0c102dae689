"""The choices a user has, read from configuration and merged: the narrowest layer wins (R9).

Layers, widest first: `[policy]` of podium.toml, the project, the profile, the thread.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from podium.contract.errors import BadInput

Layer = Literal["default", "file", "project", "profile", "thread"]

LAYERS: tuple[Layer, ...] = ("default", "file", "project", "profile", "thread")
"""The layers, widest first."""

LOCAL = "local"
"""The summariser that needs no agent."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "interrupt": ("stop_session", "refuse"),
        "steer": ("restart", "queue", "refuse"),
        "fork": ("synthetic", "refuse"),
        "rollback": ("files_and_restart", "files", "refuse"),
        "nested_checkpoint": ("root_only", "refuse"),
        "return": ("full_summary", "refuse"),
        "summariser": (LOCAL,),
    }
)
"""Every key and its values; `summariser` also takes the id of an instance."""

STRICT = "strict"

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "interrupt": "stop_session",
        "steer": "queue",
        "fork": "refuse",
        "rollback": "refuse",
        "nested_checkpoint": "root_only",
        "return": "full_summary",
        "summariser": LOCAL,
    }
)
"""What holds where nothing is chosen: a stop is obeyed, and no running turn is cut for a message."""

_INSTANCE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")


class PolicyError(BadInput, ValueError):
    """A policy is not readable; `detail` names the key, the layer and what is allowed."""


class PolicyLayer(msgspec.Struct, frozen=True):
    """The choices one place makes; keys that it leaves out are None."""

    layer: Layer
    interrupt: str | None = None
    steer: str | None = None
    fork: str | None = None
    rollback: str | None = None
    nested_checkpoint: str | None = None
    return_: str | None = msgspec.field(default=None, name="return")
    summariser: str | None = None
    strict: bool | None = None


class Policy(msgspec.Struct, frozen=True):
    """The choices in force. `sources` says which layer made each one."""

    interrupt: str = DEFAULTS["interrupt"]
    steer: str = DEFAULTS["steer"]
    fork: str = DEFAULTS["fork"]
    rollback: str = DEFAULTS["rollback"]
    nested_checkpoint: str = DEFAULTS["nested_checkpoint"]
    return_: str = msgspec.field(default=DEFAULTS["return"], name="return")
    summariser: str = DEFAULTS["summariser"]
    strict: bool = False
    sources: tuple[tuple[str, Layer], ...] = ()

    def choice(self, key: str) -> str:
        """The value of a key of `CHOICES`; `PolicyError` with code `unknown_policy_key` for any other."""
        if key not in CHOICES:
            raise _unknown_key(key, "thread")
        value: str = getattr(self, _attribute(key))
        return value

    def source(self, key: str) -> Layer:
        """The layer that made a choice; `default` where none did."""
        return dict(self.sources).get(key, "default")


def _attribute(key: str) -> str:
    return "return_" if key == "return" else key


def _unknown_key(key: str, layer: Layer) -> PolicyError:
    allowed = [*CHOICES, STRICT]
    return PolicyError(
        "unknown_policy_key",
        f"There is no policy {key!r} ({layer}).",
        fix=f"Use one of: {', '.join(allowed)}.",
        key=key,
        layer=layer,
        allowed=allowed,
    )


def _value(key: str, given: Any, layer: Layer, instances: Collection[str] | None) -> str | bool:
    allowed = ["true", "false"] if key == STRICT else list(CHOICES[key])
    if key == STRICT and isinstance(given, bool):
        return given
    if key != STRICT and isinstance(given, str):
        if given in allowed:
            return given
        if key == "summariser":
            allowed += sorted(instances) if instances is not None else ["the id of an instance"]
            if given in instances if instances is not None else _INSTANCE.match(given):
                return given
    raise PolicyError(
        "unknown_policy_value",
        f"The policy {key} cannot be {given!r} ({layer}).",
        fix=f"Use one of: {', '.join(allowed)}.",
        key=key,
        layer=layer,
        allowed=allowed,
    )


def parse_layer(
    section: Mapping[str, Any], layer: Layer, *, instances: Collection[str] | None = None
) -> PolicyLayer:
    """Read a `[policy]` table that is already loaded.

    Raises `PolicyError`: `unknown_policy_key` or `unknown_policy_value`, each listing what is allowed. Where
    `instances` is given, a summariser must be one of them or `local`.
    """
    chosen: dict[str, Any] = {}
    for key, given in section.items():
        if key not in CHOICES and key != STRICT:
            raise _unknown_key(key, layer)
        chosen[_attribute(key)] = _value(key, given, layer, instances)
    return PolicyLayer(layer=layer, **chosen)


def layer_of(
    document: Mapping[str, Any], layer: Layer, *, instances: Collection[str] | None = None
) -> PolicyLayer:
    """The layer a whole configuration document makes with its `policy` table; none chooses nothing.

    Raises as `parse_layer`, and `wrong_policy_section` where `policy` is no table.
    """
    section: Any = document.get("policy", {})
    try:
        table = msgspec.convert(section, dict[str, Any])
    except msgspec.ValidationError as error:
        raise PolicyError(
            "wrong_policy_section",
            f"`policy` must be a table ({layer}).",
            fix="Write `[policy]` above its keys.",
        ) from error
    return parse_layer(table, layer, instances=instances)


def merge(*layers: PolicyLayer) -> Policy:
    """The policy in force: for each key the narrowest layer that chooses, whatever order they are given in.

    Of two layers of the same place the later one wins.
    """
    chosen: dict[str, Any] = {}
    sources: dict[str, Layer] = {}
    for layer in sorted(layers, key=lambda one: LAYERS.index(one.layer)):
        for key in (*CHOICES, STRICT):
            value = getattr(layer, _attribute(key))
            if value is not None:
                chosen[_attribute(key)] = value
                sources[key] = layer.layer
    return Policy(**chosen, sources=tuple(sorted(sources.items())))
