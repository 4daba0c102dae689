"""The pages on capabilities, made of what the code says: docs/capabilities.md, docs/capability-reference.md.

Usage: python -m tools.capability_docs write | check
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from podium.contract.capabilities import Capabilities
from podium.contract.leaves import GROUPS, LEAVES, MUST_BE_PROVEN, Leaf
from podium.contract.rating import FULL
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.validation import FALSE_CLAIMS
from podium.contract.values import LEVEL_NONE, Degraded, Kind, LeafValue, level, reason_of
from podium.policy.rows import RESERVED, ROWS
from podium.providers.acp import adapter as general
from podium.providers.acp import copilot, gemini, grok, qwen, vibe
from podium.providers.claude import adapter as claude
from podium.providers.codex import adapter as codex
from podium.providers.oneshot import adapter as oneshot
from podium.providers.pi import adapter as pi
from podium.providers.rehearsal import adapter as rehearsal
from podium.providers.scripted import one_shot as text_only
from podium.providers.scripted import weak
from podium.runtime.capabilityrows import word_of
from tools import matrix
from tools.behaviours import ROOT, LedgerError

CAPABILITIES = ROOT / "docs" / "capabilities.md"
REFERENCE = ROOT / "docs" / "capability-reference.md"

MADE = "Made by `make rows`; do not edit."

AGENTS: dict[str, Capabilities] = {
    "claude": claude.capabilities(),
    "codex": codex.capabilities(),
    "copilot": copilot.capabilities(),
    "gemini": gemini.capabilities(),
    "grok": grok.capabilities(),
    "pi": pi.capabilities(),
    "qwen": qwen.capabilities(),
    "vibe": vibe.capabilities(),
    "acp": general.capabilities(),
    "oneshot": oneshot.capabilities(),
    "rehearsal": rehearsal.capabilities(),
    "weak": weak().capabilities(),
    "text-only": text_only().capabilities(),
}
"""The agents of the page, the two that any program may be behind among them."""

SIGNS = {"native": "●", "strong": "●", "degraded": "◐", "weak": "◐"}

HEAD = f"""# What each agent can do

{MADE} Every claim is a scenario that was played on the real program, and that failed on
the same agent without that leaf; [matrix/](matrix) holds both runs with version, date and hashes.
`podium capabilities AGENT` shows what holds on your version, `podium certify AGENT` proves it there again.
What the leaves mean stands in [capability-reference.md](capability-reference.md).

● full, ◐ in part, · not there. `acp` is any agent of that protocol that Podium has not met: the most that was
proven of another one, narrowed by what it advertises. `oneshot` is any command that reads a prompt and prints
an answer; what is proven of it is Podium's bridge. `weak` and `text-only` are shapes of the scripted agent.
"""


def cells(*texts: str) -> str:
    """One row of a table."""
    return f"| {' | '.join(text.replace('|', '/') for text in texts)} |"


def sign(value: LeafValue) -> str:
    """A value as one sign."""
    word = word_of(value)
    if level(value) == LEVEL_NONE:
        return "·"
    return SIGNS.get(word, "●")


def summary() -> Iterator[str]:
    """Every leaf against every agent."""
    yield cells("leaf", *AGENTS)
    yield cells("---", *(":-:" for _ in AGENTS))
    for path, leaf in LEAVES.items():
        if leaf.kind is not Kind.NUMBER:
            yield cells(f"`{path}`", *(sign(record.value(path)) for record in AGENTS.values()))


def claims(name: str, record: Capabilities) -> Iterator[str]:
    """One agent, leaf by leaf."""
    stored = matrix.read(name)
    runs = {row.leaf: row for row in stored.rows} if stored else {}
    versions = sorted({v for p in LEAVES if (e := record.evidence(p)) for v in e.proven_on})
    yield f"\n## {name}\n"
    said = f"Proven on version {', '.join(versions)}." if versions else "Proven on other agents only."
    yield f"{said}{f' Last run: {stored.date}.' if stored else ''}\n"
    yield cells("leaf", "support", "evidence", "standing", "scenario", "fails without it", "rests on")
    yield cells(*["---"] * 7)
    for path, leaf in LEAVES.items():
        value, evidence = record.value(path), record.evidence(path)
        if leaf.derived or leaf.kind is Kind.NUMBER or level(value) == LEVEL_NONE or evidence is None:
            continue
        row = runs.get(path)
        more = f" ({value.mode}: {value.reason})" if isinstance(value, Degraded) else ""
        yield cells(
            f"`{path}`",
            f"{word_of(value)}{more}",
            str(evidence.evidence_class),
            "proven" if evidence.proven_on else "advertised",
            evidence.scenario,
            "yes" if row is not None and row.without == "not_shown" else "",
            ", ".join(f"`{one}`" for one in evidence.native),
        )
    yield "\nNot there:\n"
    for path, leaf in LEAVES.items():
        value = record.value(path)
        if not leaf.derived and leaf.kind is Kind.SUPPORT and level(value) == LEVEL_NONE:
            yield f"- `{path}`: {reason_of(value)}"


def capabilities() -> str:
    """The whole text of docs/capabilities.md."""
    lines = [HEAD, *summary()]
    for name, record in AGENTS.items():
        lines += claims(name, record)
    return "\n".join(lines) + "\n"


def without(leaf: Leaf) -> str:
    """What happens where a leaf is not there."""
    if leaf.feature is None:
        return "It is not shown, or refused with the reason."
    if leaf.feature in RESERVED:
        return f"Refused: {RESERVED[leaf.feature].consequence}"
    told = [f"{o.outcome.replace('_', ' ')}: {o.consequence}" for o in ROWS[leaf.feature] if o.consequence]
    return "; ".join(told) or "Refused with the reason."


def leaf_lines(path: str, leaf: Leaf) -> Iterator[str]:
    """One leaf of the reference."""
    yield f"\n### `{path}`\n"
    yield f"{leaf.meaning}. A {leaf.kind} leaf.\n"
    if leaf.derived:
        yield f"- Follows from: {', '.join(f'`{s}`' for s in leaf.derived_from)}; it cannot be declared."
    else:
        yield f"- Evidence needed: {leaf.needs or 'a stated limit'}."
    if path in SCENARIO_OF:
        yield f"- Proven by the scenario `{SCENARIO_OF[path]}`."
    elif not leaf.derived and leaf.kind is not Kind.NUMBER:
        yield "- No scenario proves it yet: only a package's own scenario (`own:NAME`) can carry a claim."
    if leaf.implies:
        yield f"- Cannot be there without: {', '.join(f'`{one}`' for one in leaf.implies)}."
    if leaf.fully_with:
        yield f"- In part at most without: {', '.join(f'`{one}`' for one in leaf.fully_with)}."
    if leaf.asks:
        yield f"- The adapter must handle: {', '.join(f'`{one}`' for one in leaf.asks)}."
    if path in MUST_BE_PROVEN:
        yield "- Must be proven on the very version that is installed: it can lose work or widen rights."
    yield f"- Without it: {without(leaf)}"


DELIVERY = """
## Ways of delivery

A delivery leaf says how something of Podium's or of the person's reaches the agent: `native` (its own way),
`direct` (a call in its process or protocol), `mcp` (as an MCP server, with the transports), `written_files`
(files it reads, with the modes), `degraded` (a lesser way, with mode and reason), `unsupported` (with the
reason). A way without its transports, modes or reason is refused (`transports_missing`, `modes_missing`,
`reason_missing`).
"""

PARTIAL = """
## A partial agent

Any command that reads a prompt and prints an answer (`oneshot`) claims this and nothing else:

{claims}

Its conversation has no lasting name, a restart begins anew and says so, and whatever it cannot honour is
refused before anything is sent. It is rated partial, and useful for that.
"""


def partial() -> str:
    """What the least of the agents claims."""
    record = AGENTS["oneshot"]
    return PARTIAL.format(
        claims="\n".join(
            f"- `{path}`: {leaf.meaning}"
            for path, leaf in LEAVES.items()
            if not leaf.derived and leaf.kind is not Kind.NUMBER and level(record.value(path)) != LEVEL_NONE
        )
    )


def reference() -> str:
    """The whole text of docs/capability-reference.md."""
    lines = [
        f"# The capability tree\n\n{MADE} What each leaf means, what must be shown for it, and "
        "what happens without it.\n"
    ]
    for group in GROUPS:
        lines.append(f"\n## {group}")
        for path, leaf in LEAVES.items():
            if leaf.group == group:
                lines += leaf_lines(path, leaf)
    lines.append(DELIVERY)
    lines.append("\n## A full agent\n\nRated full where all of this is proven on the installed version:\n")
    lines += [f"- {need.name}: {', '.join(f'`{leaf}`' for leaf in need.leaves)}" for need in FULL]
    lines.append(partial())
    lines.append("\n## False claims\n\nEach is found when an adapter is registered, and keeps it out:\n")
    lines += [cells("check", "what does not carry a claim", "evidence from"), cells("---", "---", "---")]
    for claim in FALSE_CLAIMS:
        lines.append(cells(f"`{claim.code}`", claim.message, ", ".join(sorted(map(str, claim.sources)))))
    return "\n".join(lines) + "\n"


def check() -> None:
    """Raises LedgerError where a page is not what the code says."""
    for place, text in ((CAPABILITIES, capabilities()), (REFERENCE, reference())):
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            raise LedgerError(f"docs/{place.name} is not up to date: run `make rows` and commit the result")


def main(arguments: list[str]) -> int:
    """Exit status 0 if all is well, 1 for a stale page, 2 for wrong usage."""
    try:
        match arguments:
            case ["write"]:
                CAPABILITIES.write_text(capabilities(), encoding="utf-8")
                REFERENCE.write_text(reference(), encoding="utf-8")
            case ["check"]:
                check()
            case _:
                print("usage: python -m tools.capability_docs write | check", file=sys.stderr)
                return 2
    except LedgerError as error:
        print(f"capability docs: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
