"""Requests and events of an agent behind HTTP as the lines of its courier (decision 0017)."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from podium.contract.adapter import HttpSend, HttpServer
from podium.contract.inputs import Frame, HttpReply, Input, SseEvent, StreamLost
from podium.transport.codec import encode_frame
from podium.transport.launch import LaunchError

Carried = HttpReply | SseEvent | StreamLost


def argv_of(argv: Sequence[str], http: HttpServer | None) -> list[str]:
    """What the keeper starts: the program itself, or the courier that starts it. No secret stands in it."""
    if http is None:
        return list(argv)
    plan = encode_frame(msgspec.to_builtins(http))
    return [sys.executable, "-I", str(courier_script()), plan, *argv]


def courier_script() -> Path:
    """The courier's file; it is run by path and imported by nobody."""
    spec = importlib.util.find_spec("podium.keeper")
    if spec is None or spec.origin is None:
        raise LaunchError("keeper_failed", "the courier is not installed", "Install Podium again.")
    return Path(spec.origin).with_name("courier.py")


def line_of(send: HttpSend) -> str:
    """A request as the courier reads it."""
    request: dict[str, Any] = {"tag": send.tag, "method": send.method, "path": send.path}
    return encode_frame({**request, "body": send.body, "seconds": send.seconds})


def received(data: dict[str, Any]) -> Input:
    """What the courier wrote, as an input; something else stays a frame."""
    try:
        return msgspec.convert(data, Carried)
    except msgspec.ValidationError:
        return Frame(data)
