"""The program: its switches, and its life from the first line to the end of its input."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time

from podium.testkit.rehearsal.agent import Agent
from podium.testkit.rehearsal.protocol import leave

VERSION = "1.0.0"


def parse(arguments: list[str]) -> argparse.Namespace:
    """The switches: its face, what this agent shall lack, and how it shall misbehave."""
    parser = argparse.ArgumentParser(
        prog="scripted_agent", description="A rehearsal agent: plays scripts over ACP."
    )
    flags = (
        "no-load", "no-permission", "no-cancel", "weak-ids", "no-ids", "text-only", "no-stop",
        "refuse-load", "handshake-noise", "rehearsal",
    )  # fmt: skip
    for flag in flags:
        parser.add_argument(f"--{flag}", action="store_true")
    lacking = "be without this leaf of the capability tree; may be said several times"
    parser.add_argument("--without", action="append", default=[], metavar="LEAF", help=lacking)
    parser.add_argument("--start-delay", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--exit-at-start", type=int, default=None, metavar="CODE")
    said = "alone: print the version and leave; with a number: claim that version"
    parser.add_argument("--version", nargs="?", const="", action="append", metavar="NUMBER", help=said)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    switches = parse([*os.environ.get("SCRIPTED_SWITCHES", "").split(), *arguments])
    versions: list[str] = switches.version or []
    switches.version_number = next((number for number in reversed(versions) if number), VERSION)
    if "" in versions:
        sys.stdout.write(f"rehearsal agent {switches.version_number}\n")
        return
    if switches.exit_at_start is not None:
        sys.stderr.write("rehearsal agent: told to exit at start\n")
        leave(switches.exit_at_start)
    time.sleep(switches.start_delay)
    if switches.handshake_noise:
        sys.stdout.write("Welcome to the rehearsal agent!\nWARN not a frame {\n\n")
        sys.stdout.flush()
    agent = Agent(switches)
    for line in sys.stdin:
        if line.strip():
            agent.receive(line)
    for child in agent.children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, 9)
    leave(0)
