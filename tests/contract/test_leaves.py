"""The tree as data: complete, free of cycles, each leaf explained."""

from __future__ import annotations

import typing

import pytest

from podium.contract import inputs
from podium.contract.leaves import DERIVED, GROUPS, LEAVES, MANDATORY_ASKS, MUST_BE_PROVEN, guards
from podium.contract.values import Kind

GROUP_NAMES = {
    "lifecycle",
    "threads",
    "turns",
    "input",
    "output",
    "tools",
    "approvals",
    "planning",
    "subagents",
    "context",
    "checkpoints",
    "identity",
    "models",
    "reasoning",
    "auth",
    "maintenance",
    "commands",
    "resources",
    "policy",
}

DELIVERIES = {
    "tools.app_tools",
    "tools.native_yielding",
    "tools.mcp_external",
    "resources.skills",
    "resources.context_files",
    "resources.mcp_delivery",
}


def test_the_groups_are_the_agreed_ones() -> None:
    assert set(GROUPS) == GROUP_NAMES
    assert {leaf.group for leaf in LEAVES.values()} == GROUP_NAMES


def test_every_leaf_explains_itself() -> None:
    for path, leaf in LEAVES.items():
        assert leaf.path == path
        assert leaf.meaning
        assert bool(leaf.needs) != bool(leaf.derived), path


def test_references_lead_to_leaves_and_never_in_a_circle() -> None:
    for path, leaf in LEAVES.items():
        seen, waiting = set[str](), [*leaf.implies, *leaf.derived_from]
        while waiting:
            other = waiting.pop()
            assert other in LEAVES, f"{path} -> {other}"
            assert other != path
            if other not in seen:
                seen.add(other)
                waiting += (*LEAVES[other].implies, *LEAVES[other].derived_from)


def test_a_derived_leaf_follows_from_declared_leaves_of_its_kind() -> None:
    assert "lifecycle.resume" in DERIVED
    for leaf in DERIVED.values():
        assert leaf.derived_from
        assert leaf.derived == "any" or len(leaf.derived_from) == 1
        assert all(
            LEAVES[source].kind is leaf.kind and not LEAVES[source].derived for source in leaf.derived_from
        )


def test_delivery_values_stand_where_something_is_delivered_and_nowhere_else() -> None:
    assert {path for path, leaf in LEAVES.items() if leaf.kind is Kind.DELIVERY} == DELIVERIES


def test_what_can_lose_work_or_widen_rights_must_be_proven() -> None:
    assert {
        "policy.enforcement",
        "threads.rollback",
        "threads.rewind_scope",
        "threads.fork",
        "threads.delete",
        "turns.steer_active",
        "lifecycle.attach",
        "lifecycle.writing_load",
    } <= MUST_BE_PROVEN


@pytest.mark.behaviour("F072")
def test_every_ask_of_the_contract_is_mandatory_or_guarded() -> None:
    tags = {str(one.__struct_config__.tag) for one in typing.get_args(inputs.Command)}
    assert tags >= MANDATORY_ASKS
    for tag in tags:
        assert bool(guards(tag)) != (tag in MANDATORY_ASKS), tag


def test_a_mandatory_ask_has_no_guard() -> None:
    assert guards("ensure_thread") == ()
    assert guards("steer_turn") == ("turns.steer_active",)
    assert guards("no_such_ask") == ()
