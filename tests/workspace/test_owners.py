"""Owners by rule alone (R11): every combination of active runs, reports and rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podium.workspace.ownership import Segment, of_nobody, of_run, of_thread
from podium.workspace.values import Change, Entry, Owned

ONE, TWO, THREE = (Entry("100644", digit * 40) for digit in "123")
NONE: frozenset[str] = frozenset()


def modified(path: str, before: Entry | None, after: Entry | None) -> Change:
    return Change(path, "modified", before, after)


def owners(owned: tuple[Owned, ...]) -> dict[str, str]:
    return {each.path: each.owner for each in owned}


runs = st.frozensets(st.sampled_from(["a", "b", "c"]))


@given(runs, runs, st.booleans())
def test_one_path_in_one_segment(active: frozenset[str], reported: frozenset[str], quiet: bool) -> None:
    segments = [Segment(active, (modified("p", ONE, TWO),), quiet)]
    structured = {run: frozenset({"p"}) for run in reported}
    writers = reported & active
    found = {run: owners(of_run(run, segments, structured)).get("p") for run in "abc"}
    for run in "abc":
        if run not in active:
            assert found[run] is None
        elif len(writers) == 1:
            assert found[run] == ("agent" if run in writers else None)
        elif len(active) == 1 and quiet:
            assert found[run] == "agent"
        else:
            assert found[run] == "shared"
    assert bool(of_nobody(segments)) == (not active)


def test_a_run_is_judged_over_all_its_segments() -> None:
    alone, both = frozenset({"a"}), frozenset({"a", "b"})
    segments = [
        Segment(alone, (modified("p", ONE, TWO), modified("q", ONE, TWO), modified("r", ONE, TWO))),
        Segment(both, (modified("q", TWO, THREE), modified("r", TWO, ONE))),
        Segment(NONE, (modified("p", TWO, THREE),)),
    ]
    found = of_run("a", segments, {})
    assert owners(found) == {"p": "agent", "q": "shared"}, "what ended as it began is no change"
    assert next(each for each in found if each.path == "q").before == ONE


def test_what_came_into_view_belongs_to_nobody() -> None:
    change = Change(".env", "added", None, ONE, masked="was_ignored")
    found = of_run("a", [Segment(frozenset({"a"}), (change,))], {"a": frozenset({".env"})})
    assert [(each.owner, each.masked) for each in found] == [("unknown", "was_ignored")]


def test_a_thread_is_the_union_of_its_runs_with_gaps_told() -> None:
    first = (Owned("p", ONE, TWO, "agent", "a"), Owned("q", ONE, TWO, "agent", "a"))
    second = (Owned("p", THREE, ONE, "agent", "b"), Owned("q", TWO, ONE, "agent", "b"))
    found = of_thread([first, second])
    assert [(each.path, each.gap) for each in found] == [("p", True)], "q is as it was, p has a gap"
    assert owners(of_thread([first, (Owned("q", TWO, THREE, "shared", "b"),)])) == {
        "p": "agent",
        "q": "shared",
    }
