"""`podium doctor`: look at everything a run needs, and say what mends what is wrong."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from podium.cli.printing import say, say_json

if TYPE_CHECKING:
    from podium.runtime.agents import Registry
    from podium.runtime.settings import Settings

KEEPER_MAX = 30.0
"""Longest wait for the trial of the keeper, in seconds."""

GIT_MAX = 10.0
"""Longest wait for git to say its version, in seconds."""

RING_TAIL = 50
"""Lines of each thread's diagnostics that go into a bundle, from the end."""

RINGS_MAX = 10
"""Most threads whose diagnostics go into a bundle, the newest first."""


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at. `state`: ok, note (worth knowing) or wrong."""

    name: str
    state: str
    said: str
    fix: str = ""


def doctor(agent: str | None = None, /, *, bundle: bool = False) -> int:
    """Check the data folder, the keeper, git and the agents; exit code 1 if something is wrong.

    Parameters
    ----------
    agent
        Look at this agent only, besides the rest; one that is missing is then wrong.
    bundle
        Print a report as JSON for an issue: secrets masked, of the environment only the names.
    """
    import anyio

    from podium.runtime.agents import Registry
    from podium.runtime.settings import read_settings

    settings = read_settings(os.environ)
    registry = Registry.installed(settings)
    if agent is not None:
        registry.instance(agent)
    checks = anyio.run(examine, settings, registry, agent)
    if bundle:
        say_json([report(settings, registry, checks)])
    else:
        for check in checks:
            fix = f"\n        {check.fix}" if check.fix else ""
            say(f"{check.state:6}  {check.name}: {check.said}{fix}\n")
    return 1 if any(c.state == "wrong" for c in checks) else 0


async def examine(settings: Settings, registry: Registry, agent: str | None) -> list[Check]:
    """Everything, in the order a person would look."""
    checks = [check_folder(settings), *check_database(settings), await check_keeper(), await check_git()]
    checks += await check_agents(registry, agent)
    checks += check_rejected(registry)
    return [*checks, *check_left(settings)]


def check_folder(settings: Settings) -> Check:
    """Whether the data folder can be written."""
    folder = settings.data
    name = "data folder"
    if not folder.exists():
        parent = next((p for p in folder.parents if p.exists()), Path("/"))
        if os.access(parent, os.W_OK | os.X_OK):
            return Check(name, "ok", f"{folder} will be made with the first run")
        return Check(name, "wrong", f"{folder} cannot be made", "Set PODIUM_DATA to a folder you may write.")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        return Check(
            name,
            "wrong",
            f"{folder} cannot be written: {error.strerror}",
            "Give yourself the right to write it, free space, or set PODIUM_DATA.",
        )
    return Check(name, "ok", str(folder))


def check_database(settings: Settings) -> list[Check]:
    """Whether the database is there, whole, and of a version we know."""
    from podium.journal.database import FILE_NAME, SCHEMA_VERSION

    name, path = "database", settings.data / FILE_NAME
    if not path.exists():
        return [Check(name, "ok", "none yet; it comes with the first run")]
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            version = int(db.execute("pragma user_version").fetchone()[0])
            found = str(db.execute("pragma quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        fix = f"Give yourself the right to read and write {path} and its folder."
        return [Check(name, "wrong", f"{path} cannot be read: {error}", fix)]
    except sqlite3.Error as error:
        found, version = str(error), 0
    if found != "ok":
        fix = f"Nothing was changed. Keep a copy of {path}, then move it aside; Podium begins a new one."
        return [Check(name, "wrong", f"{path} is damaged: {found}", fix)]
    if version > SCHEMA_VERSION:
        said = f"{path} was written by a newer Podium (schema {version}, this one knows {SCHEMA_VERSION})"
        return [Check(name, "wrong", said, "Use that newer version; `podium threads list` still reads it.")]
    return [Check(name, "ok", f"schema {version}, {path.stat().st_size} bytes")]


async def check_keeper() -> Check:
    """Start a program under a keeper and see it end; nothing of it stays."""
    import anyio

    from podium.transport.launch import LaunchError, LaunchSpec, launch_keeper
    from podium.transport.link import Exited, KeeperLink, LinkLost
    from podium.transport.spool import discard_folder

    name = "keeper"
    with tempfile.TemporaryDirectory(prefix="podium-doctor-") as place:
        folder = Path(place) / "trial"
        spec = LaunchSpec(argv=[sys.executable, "-I", "-S", "-c", "input()"], cwd=place, env={})
        try:
            with anyio.fail_after(KEEPER_MAX):
                launched = await launch_keeper(folder, spec)
                async with await KeeperLink.attach(launched.address, 1) as link:
                    await link.end("doctor", grace=1.0)
                    async for notice in link:
                        if isinstance(notice, Exited):
                            break
        except LaunchError as error:
            return Check(name, "wrong", error.message, error.fix)
        except (LinkLost, TimeoutError) as error:
            fix = "Look for limits on processes or sockets."
            return Check(name, "wrong", f"it did not answer: {error}", fix)
        finally:
            discard_folder(folder)
    return Check(name, "ok", "a program starts and ends under it")


async def check_git() -> Check:
    """Whether git is there."""
    import anyio

    program = shutil.which("git")
    if program is None:
        return Check("git", "wrong", "it was not found", "Install git.")
    try:
        with anyio.fail_after(GIT_MAX):
            answer = await anyio.run_process([program, "--version"], check=False)
    except (OSError, TimeoutError) as error:
        return Check("git", "wrong", f"{program} does not run: {error}", "Install git anew.")
    return Check("git", "ok", answer.stdout.decode("utf-8", "replace").strip())


async def check_agents(registry: Registry, agent: str | None) -> list[Check]:
    """Each agent's program and version. One that nobody named and that is missing is only worth a note."""
    from podium.runtime.health import probe_all

    wanted = {agent, registry.settings.config.default_agent}
    checks: list[Check] = []
    for found in await probe_all(registry, [agent] if agent else registry.listed()):
        unsaid = "version unknown" if found.program else "comes with Podium"
        said = found.problem or (f"version {found.version}" if found.version else unsaid)
        state = "ok" if found.health == "ok" else "note"
        if state != "ok" and (found.id in wanted or found.health == "problem"):
            state = "wrong"
        program = f" ({found.program})" if found.program else ""
        checks.append(Check(f"agent {found.id}", state, f"{said}{program}", found.fix))
    default = registry.settings.config.default_agent
    if default is not None and default not in registry.instances:
        fix = f"Name one of: {', '.join(sorted(registry.instances))}."
        checks.append(Check("default_agent", "wrong", f"there is no agent {default!r}", fix))
    return checks


def check_rejected(registry: Registry) -> list[Check]:
    """Adapters that were not let in."""
    fix = "Mend the adapter's declaration, or remove its package."
    return [
        Check(f"adapter {name}", "wrong", "; ".join(findings), fix)
        for name, findings in sorted(registry.rejected.items())
    ]


def check_left(settings: Settings) -> list[Check]:
    """Runtimes that live, and agents that were left working."""
    from podium.contract.errors import PodiumError
    from podium.journal.database import FILE_NAME
    from podium.journal.store import Journal
    from podium.runtime.reading import lock_held
    from podium.transport.spool import read_exit

    if not (settings.data / FILE_NAME).exists():
        return []
    try:
        journal = Journal(settings.data, write=False)
    except PodiumError:
        return []
    checks: list[Check] = []
    try:
        living = [r for r in journal.runtimes() if lock_held(settings.data, r)]
        kept = 0
        for row in journal.processes():
            folder = Path(row.folder)
            working = folder.exists() and read_exit(folder) is None
            kept += working and journal.owner(row.thread_id) not in living
    except PodiumError:
        return []
    finally:
        journal.close()
    if living:
        checks.append(Check("running", "note", f"{len(living)} podium at work: {', '.join(living)}"))
    if kept:
        fix = "Continue with `podium run --thread`, or end them: podium stop --agents"
        checks.append(Check("left working", "note", f"{kept} agents wait for their next owner", fix))
    return checks


def report(settings: Settings, registry: Registry, checks: list[Check]) -> dict[str, Any]:
    """What a maintainer needs, without a secret: values of the environment never, other texts masked."""
    import podium
    from podium.transport.masking import from_environment

    declared = [
        v.name for i in registry.instances.values() for v in i.adapter.descriptor.environment if v.secret
    ]
    extra = {k: v for i in registry.instances.values() for k, v in i.settings.env.items()}
    secrets = from_environment({**settings.environ, **extra}, [*declared, *extra])
    found = {
        "podium": podium.__version__,
        "python": sys.version,
        "system": platform.platform(),
        "sqlite": sqlite3.sqlite_version,
        "checks": [msgspec.to_builtins(c) for c in checks],
        "agents": {
            name: {"adapter": i.adapter.descriptor.adapter, "environment": sorted(i.settings.env)}
            for name, i in sorted(registry.instances.items())
        },
        "environment": sorted(settings.environ),
        "diagnostics": rings(settings.data / "diagnostics"),
    }
    masked: dict[str, Any] = secrets.mask_json(found)
    return masked


def rings(folder: Path) -> dict[str, list[str]]:
    """The last diagnostic lines of the newest threads."""
    from podium.transport.masking import Secrets
    from podium.transport.rings import DiagnosticRing

    try:
        files = sorted((p for p in folder.iterdir() if p.suffix != ".old"), key=lambda p: p.stat().st_mtime)
    except OSError:
        return {}
    return {
        p.name: DiagnosticRing(folder, Secrets({}), name=p.name).read()[-RING_TAIL:]
        for p in files[-RINGS_MAX:]
    }
