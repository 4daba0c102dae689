"""The scenarios themselves: each proves leaves that exist, and each of those has a saboteur."""

from __future__ import annotations

import pytest

from podium.contract.errors import Unavailable
from podium.contract.leaves import DERIVED, LEAVES
from podium.contract.scenarios import SCENARIO_OF
from podium.contract.scenarios import SCENARIOS as NAMED
from podium.contract.values import LEVEL_DEGRADED
from podium.providers.rehearsal import adapter
from podium.providers.scripted import ScriptedAdapter
from podium.providers.scripted.flavours import RICH, program
from podium.testkit.conformance.moves import Say
from podium.testkit.conformance.play import Play
from podium.testkit.conformance.running import Claim, run, sabotage
from podium.testkit.conformance.saboteurs import SABOTEURS
from podium.testkit.conformance.scenario import SCENARIOS, Scenario, scenario
from podium.testkit.conformance.stage import rig_of
from podium.testkit.driving import DriveError
from podium.testkit.rigs.rehearsal import rig


def test_what_is_named_is_there_and_nothing_else() -> None:
    assert set(SCENARIOS) == set(NAMED)
    assert set(SCENARIO_OF) == set(SABOTEURS)


def test_each_leaf_is_proven_by_one_scenario_only() -> None:
    named = [leaf for leaves in NAMED.values() for leaf in leaves]
    assert len(named) == len(set(named))
    assert set(named) <= set(LEAVES) - set(DERIVED)


def test_a_scenario_under_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="proves no leaf"):
        scenario("made_up")


def test_an_agent_without_a_rig_is_told_so() -> None:
    with pytest.raises(Unavailable) as refused:
        rig_of("nobody")
    assert refused.value.code == "no_rig"


@pytest.mark.behaviour("F016")
def test_a_scenario_that_passes_on_its_saboteur_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that looks at nothing shows everything, with the leaf and without it."""

    def blind(play: Play) -> None:
        play.thread().turn(Say("Whatever."))
        play.shows("turns.interrupt", True)

    monkeypatch.setattr(
        "podium.testkit.conformance.running.SCENARIOS", {"interrupt": Scenario("interrupt", blind)}
    )
    claim = Claim("turns.interrupt", 2)
    assert sabotage(adapter, rig, "", claim).shown == "shown"
    monkeypatch.undo()
    assert sabotage(adapter, rig, "", claim).shown == "not_shown"


def test_what_a_scenario_does_not_look_at_is_not_shown() -> None:
    idle = Scenario("interrupt", lambda play: None)
    [verdict] = run(adapter, rig, "", idle, [Claim("turns.interrupt", 1)])
    assert (verdict.shown, verdict.saw) == ("not_shown", "it did not happen")


def test_an_agent_that_does_not_start_shows_nothing_and_proves_nothing() -> None:
    """A saboteur lacks one leaf; one that never started lacks them all, which says nothing of the leaf."""
    gone = ScriptedAdapter(RICH, program("", "--exit-at-start", "3"))
    claim = Claim("lifecycle.empty_thread", LEVEL_DEGRADED)
    [verdict] = run(gone, rig, "", SCENARIOS["empty"], [claim])
    assert verdict.shown == "not_shown" and "told to exit at start" in verdict.saw
    assert sabotage(gone, rig, "", claim).shown == "not_staged"


def test_what_a_broken_play_had_noted_is_not_shown() -> None:
    def breaks(play: Play) -> None:
        play.shows("turns.interrupt", True)
        raise DriveError("it broke")

    [verdict] = run(adapter, rig, "", Scenario("interrupt", breaks), [Claim("turns.interrupt", 1)])
    assert (verdict.shown, verdict.saw) == ("not_shown", "it broke")
