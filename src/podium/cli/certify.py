"""`podium certify`: the scenarios on the agent that is installed here, offline, and what they prove."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from podium.cli.printing import complain, say, say_json, short, table

if TYPE_CHECKING:
    from podium.contract.evidence import Certification
    from podium.contract.rating import Rating
    from podium.runtime.agents import Instance, Registry
    from podium.testkit.conformance.report import Finding
    from podium.testkit.conformance.running import Verdict
    from podium.testkit.conformance.scenario import Scenario

FAILED = 1
"""Exit code where a claimed leaf was not shown."""


def certify(agent: str, /, *, json: bool = False) -> int:
    """Prove again, on the program installed here, what an agent is said to do.

    Plays every scenario in a folder of its own, with a home of its own and a scripted model on this machine:
    no account, no network, nothing of yours is touched. The result is kept; Podium relies on what it proves.

    Parameters
    ----------
    agent
        The agent.
    json
        Print one leaf a line, as JSON.
    """
    import anyio

    from podium.cli.agents import open_registry
    from podium.runtime import certificates
    from podium.runtime.settings import load_settings
    from podium.testkit.conformance.report import findings
    from podium.testkit.conformance.running import claims_of, needed, prove
    from podium.testkit.conformance.stage import rig_of

    registry = open_registry()
    instance = registry.instance(agent)
    rig = rig_of(instance.kind)
    program = registry.program(instance)
    version = anyio.run(registry.probe, instance).version
    record = registry.capabilities(instance)
    claims = claims_of(record)
    settings = load_settings()
    earlier = certificates.certifications(settings.data, instance.id, program)
    progress = Progress(len(needed(claims)), quiet=json)
    verdicts = prove(instance.adapter, rig, program, claims, progress.told, instance.settings.options)
    version = version or next((v.version for v in verdicts if v.version), None)
    found = findings(record, version, claims, verdicts, earlier)
    results = results_of(found, version, verdicts)
    rating = rated(registry, instance, version, results)
    kept = keep(registry, instance, program, version, results, rating.word)
    lost = [f for f in found if f.word in ("failed", "drifted")]
    if json:
        head = {"kind": "certificate", "agent": instance.id, "agent_kind": instance.kind, "version": version}
        say_json([head | {"rating": rating, "kept": kept}, *({"kind": "leaf"} | _data(f) for f in found)])
    else:
        say(_told(instance.id, version, found, rating, kept))
    return FAILED if lost else 0


class Progress:
    """One line for each scenario, on stderr."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self.total, self.quiet, self.done = total, quiet, 0

    def told(self, scenario: Scenario, verdicts: list[Verdict]) -> None:
        """A scenario is over."""
        self.done += 1
        bad = [v.leaf for v in verdicts if v.shown != "shown"]
        if not self.quiet:
            said = f"not shown: {', '.join(bad)}" if bad else "shown"
            sys.stderr.write(f"[{self.done}/{self.total}] {scenario.name}: {said}\n")


def results_of(
    found: list[Finding], version: str | None, verdicts: list[Verdict]
) -> tuple[Certification, ...]:
    """What is kept: each leaf that was played, on the version the program says and the one it said itself."""
    from datetime import UTC, datetime

    from podium.contract.evidence import Certification

    day = datetime.now(UTC).date().isoformat()
    versions = list(dict.fromkeys(v for v in (version, *(one.version for one in verdicts)) if v))
    return tuple(
        Certification(f.leaf, one, f.word == "proven", f.scenario, day)
        for one in versions
        for f in found
        if f.word != "unproven"
    )


def rated(
    registry: Registry, instance: Instance, version: str | None, results: tuple[Certification, ...]
) -> Rating:
    """Full or partial, by what was proven just now."""
    from podium.contract.rating import rate

    return rate(registry.capabilities(instance).effective(version, results))


def keep(
    registry: Registry,
    instance: Instance,
    program: str,
    version: str | None,
    results: tuple[Certification, ...],
    rating: str,
) -> str:
    """Keep the certificate, and say where; nothing is kept where no version is known."""
    from datetime import UTC, datetime

    import podium
    from podium.runtime.certificates import Certificate, program_mark, store

    if version is None:
        complain("The agent did not say its version, so the result holds for nothing and was not kept.")
        return ""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = Certificate(
        instance.id, instance.kind, version, now, podium.__version__, program_mark(program), results, rating
    )
    return str(store(registry.settings.data, made))


def _data(found: Finding) -> dict[str, Any]:
    import msgspec

    return msgspec.structs.asdict(found)


def _told(agent: str, version: str | None, found: list[Finding], rating: Rating, kept: str) -> str:
    rows = [
        (
            f.leaf,
            f.word,
            f.scenario,
            f"because of {', '.join(f.because_of)}" if f.because_of else short(f.saw),
        )
        for f in found
        if f.word != "proven"
    ]
    proven = sum(1 for f in found if f.word == "proven")
    text = f"{agent}  version {version or 'unknown'}: {proven} of {len(found)} claims proven.\n"
    if rows:
        text += f"\n{table(('capability', 'is', 'scenario', 'what was seen'), rows, fold=3)}\n"
    text += f"Rated {rating.word}.\n"
    text += "".join(f"  missing: {m.name} ({', '.join(m.leaves)})\n" for m in rating.missing)
    return text + (f"Kept in {kept}.\n" if kept else "")
