"""`podium agents`: each with what was found of it and the command that mends it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from cyclopts import Parameter

from podium.cli.printing import say, say_json, table
from podium.contract.errors import BadInput

if TYPE_CHECKING:
    from podium.runtime.agents import Registry
    from podium.runtime.health import Found

UNHELD = (
    "It runs with your rights and asks nobody, so it takes prompts in the mode full only:"
    " podium run -a {name} --mode full PROMPT\n"
)
"""What a person is told who adds a command that nothing holds back."""


def agents(*, json: bool = False) -> int:
    """List agents with version and health.

    Parameters
    ----------
    json
        Print one agent a line, as JSON.
    """
    import anyio

    from podium.runtime.health import probe_all, rejected

    registry = open_registry()
    found = [*anyio.run(probe_all, registry, registry.listed()), *rejected(registry)]
    if json:
        say_json(map(agent_data, found))
        return 0
    heads = ("agent", "version", "health", "sign-in", "program", "what is wrong, and what mends it")
    say(table(heads, [row(f) for f in found], fold=len(heads) - 1))
    return 0


def add(
    name: str,
    command: tuple[str, ...] = (),
    /,
    *,
    adapter: str | None = None,
    env: Annotated[tuple[str, ...], Parameter(name="--env")] = (),
    inherit: Annotated[tuple[str, ...], Parameter(name="--inherit")] = (),
    mode: Literal["read", "ask", "edit", "full"] | None = None,
    version_arg: Annotated[tuple[str, ...], Parameter(name="--version-arg", allow_leading_hyphen=True)] = (),
    one_shot: bool = False,
) -> int:
    """Add an agent to your podium.toml: a known one by its name, any other by its command.

    podium agents add mine -- my-agent --acp

    podium agents add loud --one-shot -- tr a-z A-Z

    Parameters
    ----------
    name
        What it is called from now on.
    command
        After --: the program and the arguments that make it speak the Agent Client Protocol, or with
        --one-shot any command that reads a prompt from its stdin and prints an answer.
    adapter
        The adapter that drives it.
    env
        A variable for it, NAME=VALUE; may be repeated.
    inherit
        The name of a variable of your own that reaches it; may be repeated.
    mode
        What it may do unasked in new threads, unless they say otherwise.
    version_arg
        An argument that makes the program say its version; may be repeated.
    one_shot
        The command is run once for each prompt, which it gets on its stdin; what it prints is the answer.
    """
    from podium.runtime.configuring import ONE_SHOT, add_agent, wanted

    registry = open_registry()
    settings = wanted(
        registry,
        name,
        command,
        adapter=adapter,
        env=dict(map(pair, env)),
        inherit=inherit,
        mode=mode,
        version_args=version_arg,
        one_shot=one_shot,
    )
    path = add_agent(os.environ, name, settings)
    say(f"Added {name} to {path}. See whether it is found: podium agents\n")
    if settings.adapter == ONE_SHOT and mode != "full":
        say(UNHELD.format(name=name))
    return 0


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE. Raises BadInput `bad_variable`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise BadInput("bad_variable", f"{text!r} is no variable.", fix="Write it as NAME=VALUE.")
    return name, value


def open_registry() -> Registry:
    """All installed adapters and configured instances; no data folder is touched."""
    from podium.runtime.agents import Registry
    from podium.runtime.settings import read_settings

    return Registry.installed(read_settings(os.environ))


def row(found: Found) -> tuple[str, ...]:
    """An agent as a line of the table."""
    wrong = f"{found.problem} {found.fix}".strip()
    return (found.id, found.version or "", found.health, found.sign_in, found.program or "", wrong)


def agent_data(found: Found) -> dict[str, Any]:
    """An agent as JSON shows it."""
    return {"kind": "agent", **msgspec.structs.asdict(found)}
