"""What happens when an agent cannot: rows, choices and answers. Pure; knows the contract and nothing else."""

from podium.policy.config import (
    CHOICES,
    DEFAULTS,
    LAYERS,
    Layer,
    Policy,
    PolicyError,
    PolicyLayer,
    layer_of,
    merge,
    parse_layer,
)
from podium.policy.resolve import Refusal, Resolution, guard, resolve, resolve_all
from podium.policy.rows import FEATURES, KNOWN_STEPS, RESERVED, ROWS, Allowed, Option, Reserved

__all__ = [
    "CHOICES",
    "DEFAULTS",
    "FEATURES",
    "KNOWN_STEPS",
    "LAYERS",
    "RESERVED",
    "ROWS",
    "Allowed",
    "Layer",
    "Option",
    "Policy",
    "PolicyError",
    "PolicyLayer",
    "Refusal",
    "Reserved",
    "Resolution",
    "guard",
    "layer_of",
    "merge",
    "parse_layer",
    "resolve",
    "resolve_all",
]
