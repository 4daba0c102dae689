"""Our ids for native things: the same for the same story, never the same for two things."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.events import (
    ItemKind,
    ItemSeen,
    ItemState,
    OpaqueSeen,
    ProviderEvent,
    Ref,
    RequestOpened,
    SubagentSeen,
    TextDelta,
)
from podium.contract.requests import RequestContent
from podium.runtime import correlator as module
from podium.runtime.correlator import COUNTERS_MAX, Correlator, Grade

KINDS: tuple[ItemKind, ...] = ("assistant_message", "command", "reasoning")
GRADES: tuple[Grade, ...] = ("strong", "weak", "none")

step = st.tuples(
    st.sampled_from(["delta", "open", "end", "opaque", "child"]),
    st.sampled_from(["p1", "p2"]),
    st.sampled_from(["t1", "t2", None]),
    st.sampled_from([None, "1", "2", "command"]),
    st.integers(0, 2),
)


def event(word: str, thread: str, turn: str | None, native: str | None, kind: int) -> ProviderEvent:
    ref = Ref(thread, turn, native)
    state: ItemState = "open" if word == "open" else "completed"
    match word:
        case "delta":
            return TextDelta(ref, KINDS[kind], "text", "x")
        case "opaque":
            return OpaqueSeen("x", {}, thread, turn)
        case "child":
            return SubagentSeen(ref, "running")
        case _:
            return ItemSeen(ref, KINDS[kind], state)


@pytest.mark.behaviour("F090", "F015")
@given(st.sampled_from(GRADES), st.lists(step, max_size=40), st.integers(0, 40))
def test_the_same_story_gives_the_same_ids_over_any_restart(
    grade: Grade, story: list[tuple[str, str, str | None, str | None, int]], cut: int
) -> None:
    one, other = Correlator(grade), Correlator(grade)
    for number, (word, scope, turn, native, kind) in enumerate(story):
        if number == cut:
            other = Correlator.restore(grade, other.dump())
        told = event(word, scope, turn, native, kind)
        assert one.item_of(scope, told) == other.item_of(scope, told)
    assert one.dump() == Correlator.restore(grade, one.dump()).dump()


@pytest.mark.behaviour("F091")
@given(st.sampled_from(GRADES), st.lists(step, max_size=40))
def test_what_two_conversations_call_the_same_is_two_things(
    grade: Grade, story: list[tuple[str, str, str | None, str | None, int]]
) -> None:
    correlator = Correlator(grade)
    ids: dict[str, set[str]] = {"p1": set(), "p2": set()}
    for word, _, turn, native, kind in story:
        for scope, mine in ids.items():
            found, _ = correlator.item_of(scope, event(word, "n", turn, native, kind))
            if found is not None:
                mine.add(found)
    assert not ids["p1"] & ids["p2"]


@pytest.mark.behaviour("F091")
@pytest.mark.parametrize("grade", ["strong", "weak"])
def test_names_that_run_together_stay_apart(grade: Grade) -> None:
    """Slashes, NULs and words of ours within native names."""
    parts = ["", "a", "a/b", "b", "/b", "a\0b", "\0", "command", "1:a"]
    seen: dict[str, tuple[str, str, str]] = {}
    for scope, turn, native in itertools.product(parts, parts, parts[1:]):
        correlator = Correlator(grade)
        found, _ = correlator.item_of(scope, TextDelta(Ref("n", turn, native), "command", "text", "x"))
        assert found is not None and found not in seen
        seen[found] = (scope, turn, native)


@pytest.mark.behaviour("F090")
def test_a_weak_id_is_told_apart_by_its_ordinal_or_by_its_fingerprint() -> None:
    correlator = Correlator("weak")

    def one(state: ItemState, print_: str | None = None) -> str | None:
        return correlator.item_of("p", ItemSeen(Ref("n", "t", "1", print_), "command", state))[0]

    first = one("open")
    assert one("completed") == first
    second = one("open")
    assert second != first and one("open") == second
    assert one("open", "f1") == one("completed", "f1") != one("open", "f2")
    card = RequestOpened("k", Ref("n", "t"), "question", RequestContent(), (), Ref("n", "t", "1"))
    assert correlator.item_of("p", card)[0] == second
    assert correlator.item_of("p", RequestOpened("k", Ref("n"), "question", RequestContent(), ()))[0] is None


@pytest.mark.behaviour("F050", "F090")
def test_without_ids_items_are_counted_within_turn_and_kind() -> None:
    ids: list[list[str | None]] = []
    for _ in range(2):
        correlator = Correlator("none")
        found: list[str | None] = []
        for state in ("open", "completed", "completed", "open"):
            found.append(correlator.item_of("p", ItemSeen(Ref("n", "t"), "tool_call", state))[0])
        ids.append(found)
    assert ids[0] == ids[1]
    assert ids[0][0] == ids[0][1] and len(set(ids[0])) == 3


@pytest.mark.parametrize("grade", ["weak", "none"])
def test_a_forgotten_scope_gives_no_id_twice(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNTERS_MAX", 8)
    correlator = Correlator(grade)
    given_out: list[str | None] = []
    for _ in range(4):
        for turn in range(20):
            for _ in range(3):
                told = ItemSeen(Ref("n", f"t{turn}", "1"), "command", "completed")
                given_out.append(correlator.item_of("p", told)[0])
    assert len(given_out) == len(set(given_out)) == 240
    assert len(correlator.counters.seen) <= 8


def test_an_open_item_is_not_forgotten_for_closed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNTERS_MAX", 4)
    correlator = Correlator("none")
    told = TextDelta(Ref("n", "long"), "assistant_message", "text", "x")
    first = correlator.item_of("p", told)
    for turn in range(50):
        correlator.item_of("p", ItemSeen(Ref("n", f"t{turn}"), "command", "completed"))
    assert correlator.item_of("p", told) == first


def test_the_stored_counters_stay_small() -> None:
    correlator = Correlator("weak")
    for turn in range(3 * COUNTERS_MAX):
        ref = Ref("n", f"turn-{turn}-{'x' * 100}", f"item-{'y' * 200}")
        correlator.item_of("scope" * 10, ItemSeen(ref, "command", "open" if turn % 2 else "completed"))
    assert len(correlator.dump()) < 128 * 1024
