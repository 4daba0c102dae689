"""Bodies against the simplest model: a list of texts for each epoch."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.events import Body
from podium.journal.rows import PartRow
from podium.runtime import bodies as module
from podium.runtime.bodies import PART_MAX, Bodies, OpenBody, restored

OWNERS = ("a", "b", "c")
NAMES: tuple[Body, ...] = ("text", "output")

words = st.sampled_from(["", "x", "hello ", "ü漢", "long " * 40])
moves = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "settle", "settle_same", "close", "drain", "reload"]),
        st.integers(0, 2),
        st.integers(0, 1),
        words,
    ),
    max_size=50,
)


class Store:
    """What a journal would hold: rows once written, and each body's epoch as its item's event said it."""

    def __init__(self) -> None:
        self.rows: list[PartRow] = []
        self.epochs: dict[tuple[str, Body], int] = {}
        self.closed: set[tuple[str, Body]] = set()
        self.bodies = Bodies("thr", self.load)

    def load(self, owner: str) -> dict[Body, OpenBody]:
        found: dict[Body, OpenBody] = {}
        for (name, body), epoch in self.epochs.items():
            if name == owner:
                rows = [r for r in self.rows if (r.owner, r.body, r.epoch) == (owner, body, epoch)]
                found[body] = restored(epoch, sorted(rows, key=lambda r: r.from_part), None)
                found[body].closed = (owner, body) in self.closed
        return found

    def drain(self) -> None:
        """A transaction: the parts, and how each body stands."""
        self.rows.extend(self.bodies.drain())
        for owner in OWNERS:
            for body, ref in self.bodies.refs(owner).items():
                self.epochs[owner, body] = ref.epoch
                if ref.closed:
                    self.closed.add((owner, body))


@settings(max_examples=300)
@given(moves=moves, part_max=st.sampled_from([3, 50, PART_MAX]), kept=st.sampled_from([1, 512]))
def test_any_interleaving_gives_the_text_of_the_model(
    moves: list[tuple[str, int, int, str]], part_max: int, kept: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART_MAX", part_max)
        patch.setattr(module, "BODIES_KEPT", kept)
        store = Store()
        model: dict[tuple[str, Body], list[str]] = {}
        closed: set[str] = set()
        for verb, which, name, text in moves:
            owner, body = OWNERS[which], NAMES[name]
            epochs = model.setdefault((owner, body), [""])
            if verb == "append" and owner not in closed:
                delta = store.bodies.append(owner, body, text)
                assert (delta is None) == (text == "")
                epochs[-1] += text
            elif verb in ("settle", "settle_same"):
                final = epochs[-1] if verb == "settle_same" else text
                delta, replaced = store.bodies.settle(owner, body, final, close=False)
                assert replaced == (epochs[-1] not in ("", final))
                if replaced:
                    epochs.append(final)
                else:
                    epochs[-1] = final
                assert delta is None or (verb == "settle" and delta.text == final)
            elif verb == "close":
                store.bodies.close(owner)
                closed.add(owner)
            elif verb == "drain":
                store.drain()
            elif verb == "reload":
                store.drain()
                store.bodies = Bodies("thr", store.load)
        store.drain()
        check(store, model)


def check(store: Store, model: dict[tuple[str, Body], list[str]]) -> None:
    """Every epoch's text, parts without gap, counts and hashes."""
    for (owner, body), epochs in model.items():
        ref = store.bodies.refs(owner).get(body)
        if ref is None:
            assert epochs == [""]
            continue
        assert ref.epoch == len(epochs) and ref.chars == len(epochs[-1])
        if ref.closed:
            assert ref.sha256 == hashlib.sha256(epochs[-1].encode()).hexdigest()
        for number, text in enumerate(epochs, 1):
            mine = [r for r in store.rows if (r.owner, r.body, r.epoch) == (owner, body, number)]
            rows = sorted(mine, key=lambda r: r.from_part)
            assert "".join(r.text for r in rows) == text
            ends = [0, *(r.to_part for r in rows)]
            assert [r.from_part for r in rows] == [n + 1 for n in ends[:-1]]
        keys = [(r.owner, r.body, r.epoch, r.from_part) for r in store.rows]
        assert len(keys) == len(set(keys))


def test_ten_megabytes_in_small_pieces_are_few_rows_without_a_gap() -> None:
    store = Store()
    piece = "0123456789" * 10
    for number in range(100_000):
        store.bodies.append("a", "output", piece)
        if number % 1000 == 999:
            store.drain()
    store.drain()
    assert sum(len(r.text) for r in store.rows) == 10_000_000
    assert len(store.rows) <= 200 and max(len(r.text) for r in store.rows) <= PART_MAX
    assert store.rows[-1].to_part == 100_000


def test_one_huge_text_becomes_rows_of_bounded_size() -> None:
    store = Store()
    delta = store.bodies.append("a", "text", "x" * (3 * PART_MAX + 5))
    assert delta is not None and (delta.from_part, delta.to_part) == (1, 4)
    store.drain()
    assert [len(r.text) for r in store.rows] == [PART_MAX] * 3 + [5]


def test_a_final_text_that_differs_begins_a_new_epoch_and_keeps_the_old_one() -> None:
    store = Store()
    store.bodies.append("a", "text", "draft")
    delta, replaced = store.bodies.settle("a", "text", "final", close=True)
    assert replaced and delta is not None and (delta.body_epoch, delta.from_part) == (2, 1)
    store.drain()
    assert [(r.epoch, r.text) for r in store.rows] == [(1, "draft"), (2, "final")]
    delta, replaced = store.bodies.settle("a", "text", "final", close=True)
    assert delta is None and not replaced


def test_an_owner_is_forgotten_only_after_its_rows_were_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODIES_KEPT", 0)
    store = Store()
    store.bodies.append("a", "text", "one")
    store.bodies.close("a")
    rows = store.bodies.drain()  # given out, and not yet written
    assert store.bodies.refs("a")["text"].chars == 3
    store.rows.extend(rows)
    store.epochs["a", "text"] = 1
    store.bodies.drain()
    store.bodies.drain()
    assert store.bodies.refs("a")["text"].chars == 3  # read back whole
