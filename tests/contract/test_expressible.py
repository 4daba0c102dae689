"""Agents of very different kinds fit into the one tree, and claims that look alike stay apart."""

from __future__ import annotations

import pytest

from podium.contract.capabilities import Capabilities
from podium.contract.validation import check_declaration
from podium.contract.values import DIRECT, NATIVE, Strength, unsupported
from podium.policy import guard


def record(**leaves: object) -> Capabilities:
    declared = {path.replace("__", "."): value for path, value in leaves.items()}
    return Capabilities.build(declared, adapter="zz")


@pytest.mark.behaviour("F006")
def test_strong_ids_with_rollback_a_fork_alone_and_neither_are_three_records() -> None:
    strong = record(
        identity__thread=Strength.STRONG,
        threads__rollback=NATIVE,
        threads__fork=NATIVE,
        threads__fork_from_turn=NATIVE,
    )
    forks = record(identity__thread=Strength.WEAK, threads__fork=NATIVE)
    neither = record(threads__fork=unsupported("The agent knows one conversation only."))
    seen = [
        (r.strength("identity.thread"), r.has("threads.rollback"), r.has("threads.fork"))
        for r in (strong, forks, neither)
    ]
    assert seen == [
        (Strength.STRONG, True, True),
        (Strength.WEAK, False, True),
        (Strength.NONE, False, False),
    ]
    views = [r.view_000()["threads"] for r in (strong, forks, neither)]
    assert [(v["canForkThread"], v["canForkFromTurn"], v["canRollbackThread"]) for v in views] == [
        (True, True, True),
        (True, False, False),
        (False, False, False),
    ]


@pytest.mark.behaviour("F025")
def test_delivering_tools_says_nothing_about_yielding_the_agents_own() -> None:
    delivers = record(tools__app_tools=DIRECT)
    assert delivers.has("tools.app_tools") and not delivers.has("tools.native_yielding")
    yields = record(tools__native_yielding=NATIVE)
    assert yields.has("tools.native_yielding") and not yields.has("tools.app_tools")


@pytest.mark.behaviour("F038", "F039")
def test_what_an_adapter_does_not_handle_is_absent_and_never_faked() -> None:
    """A claim without its ask is refused at registration; an absent one never reaches the adapter."""
    claims = record(turns__steer_active=NATIVE)
    assert any(f.leaf == "turns.steer_active" for f in check_declaration(claims, {"send_turn"}))
    absent = record()
    refusal = guard("steer_turn", absent)
    assert refusal is not None and refusal.capability == "turns.steer_active" and refusal.reason
