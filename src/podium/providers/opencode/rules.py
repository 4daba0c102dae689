"""What the agent may do unasked. It asks before every act; the mode answers where no person has to (H7)."""

from __future__ import annotations

from typing import Literal

from podium.contract.inputs import Mode
from podium.providers.opencode.reading import Json, objects, text
from podium.providers.opencode.state import RULES_MAX

Rules = tuple[tuple[str, str, str], ...]
"""Permission, pattern and action of each rule; the last that fits counts."""

PATTERN_MAX = 300
"""Longest pattern that is kept, in characters; with a longer one everything is asked for."""

ASKS = dict.fromkeys(("bash", "edit", "webfetch", "websearch", "codesearch"), "ask")
"""Set for the whole process: of a conversation's rules, children inherit the forbidding ones only."""

LOOKS: frozenset[str] = frozenset(
    {"read", "glob", "grep", "list", "lsp", "skill", "task", "todoread", "todowrite", "question"}
    | {"external_directory", "doom_loop", "plan_enter", "plan_exit"}
)
"""Permissions that change nothing by themselves: a child's acts are asked for one by one."""

READS: frozenset[str] = LOOKS | {"webfetch", "websearch", "codesearch"}
"""What may be asked of a person in the mode `read`; anything else is declined there."""

Decision = Literal["once", "reject", "person"]


def rules_of(agents: object, name: str) -> Rules | None:
    """The rules of one agent in the catalog; None where it is not there."""
    for agent in objects(agents):
        if text(agent, "name") == name:
            return _rules(objects(agent.get("permission")))
    return None


def _rules(rows: list[Json]) -> Rules:
    """The rules as they are; none where they cannot be kept, so that everything is asked for."""
    found = tuple(
        (text(row, "permission") or "*", text(row, "pattern") or "*", text(row, "action") or "ask")
        for row in rows
    )
    fits = len(found) <= RULES_MAX and all(len(one) <= PATTERN_MAX for rule in found for one in rule)
    return found if fits else ()


def tightened(rules: Rules) -> list[Json]:
    """The same rules with `ask` for whatever they allow and what acts; what they forbid stays forbidden."""
    made: list[Json] = []
    for permission, pattern, action in rules or (("*", "*", "allow"),):
        if action == "allow" and permission not in LOOKS:
            made.append(_rule(permission, pattern, "ask"))
            if permission == "*" and pattern == "*":
                made += [_rule(name, "*", "allow") for name in sorted(LOOKS)]
        else:
            made.append(_rule(permission, pattern, action))
    return made


def _rule(permission: str, pattern: str, action: str) -> Json:
    return {"permission": permission, "pattern": pattern, "action": action}


def decide(mode: Mode, permission: str) -> Decision:
    """Who answers: the mode itself, or a person."""
    if mode == "full" or (mode == "edit" and permission == "edit"):
        return "once"
    if mode == "read" and permission not in READS:
        return "reject"
    return "person"
