"""The durable pointer to a conversation: its form, its sealed note, and the rules of its chain."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.errors import Conflict
from podium.contract.handles import (
    BEGINNINGS,
    HANDLE_BYTES_MAX,
    LINKS_MAX,
    NATIVE_ID_MAX,
    NOTE_MAX,
    Handle,
    HandleChain,
    HandleError,
    HandleLink,
    Origin,
    Sealed,
    decode_handle,
    encode_handle,
)

ORIGINS: tuple[Origin, ...] = ("created", "resumed", "forked", "adopted", "cleared")

slugs = st.from_regex(r"[a-z][a-z0-9_.-]{0,63}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
handles = st.builds(Handle, slugs, slugs, texts.filter(bool), texts)
few = st.builds(
    Handle, st.just("wire"), st.just("brand"), st.sampled_from(["a", "b"]), st.sampled_from(["", "x", "y"])
)
links = st.builds(HandleLink, few, st.sampled_from(ORIGINS), st.integers(0, 4))


def link(native: str = "a", origin: Origin = "created", fence: int = 1, note: str = "") -> HandleLink:
    return HandleLink(Handle("wire", "brand", native, note), origin, fence)


# ---- form


@pytest.mark.behaviour("F101")
@given(handles)
def test_the_stored_form_is_read_back_and_is_one(handle: Handle) -> None:
    stored = encode_handle(handle)
    assert decode_handle(stored) == handle
    assert encode_handle(decode_handle(stored)) == stored


@pytest.mark.behaviour("F195")
def test_the_stored_form_is_this_very_form() -> None:
    handle = Handle("wire", "brand", "é-1", "cursor")
    stored = '{"transport":"wire","agent_kind":"brand","native_id":"é-1","note":"cursor"}'
    assert encode_handle(handle) == stored.encode()


@pytest.mark.behaviour("F195")
@given(handles, st.dictionaries(texts.filter(lambda k: k not in Handle.__struct_fields__), st.integers()))
def test_unrelated_fields_are_tolerated_and_dropped_on_writing(handle: Handle, more: dict[str, int]) -> None:
    read = decode_handle(msgspec.json.encode({**more, **msgspec.to_builtins(handle), **more}))
    assert encode_handle(read) == encode_handle(handle)


GOOD = '{"transport":"wire","agent_kind":"brand","native_id":"a","note":"n"}'


@pytest.mark.behaviour("F195")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'"wire"',
        b"{",
        b"{}",
        b"\xff\xfe",
        GOOD.encode() + b"x",
        GOOD.replace('"a"', "1").encode(),
        GOOD.replace('"a"', "null").encode(),
        GOOD.replace('"n"', "{}").encode(),
        GOOD.replace('"wire"', '["wire"]').encode(),
        GOOD.replace('"brand"', '"Brand"').encode(),
        GOOD.replace('"brand"', r'"brand\n"').encode(),
        GOOD.replace('"brand"', '""').encode(),
        GOOD.replace('"a"', r'"\ud800"').encode(),
        GOOD.replace('"native_id":"a",', "").encode(),
        GOOD.replace("native_id", "nativeId").encode(),
        GOOD.replace('"note"', '"native_id":"b","note"').encode(),
        GOOD.replace('"n"', "1" * 5000).encode(),
        GOOD.replace('"n"', "[" * 20000 + "]" * 20000).encode(),
        GOOD.replace('"a"', json.dumps("a" * (NATIVE_ID_MAX + 1))).encode(),
        GOOD.replace('"n"', json.dumps("n" * (NOTE_MAX + 1))).encode(),
        b" " * HANDLE_BYTES_MAX + GOOD.encode(),
    ],
)
def test_any_other_form_is_refused(data: bytes) -> None:
    with pytest.raises(HandleError) as caught:
        decode_handle(data)
    assert caught.value.code == "handle_invalid"
    assert caught.value.fix


@given(st.binary(max_size=200))
def test_bytes_are_a_handle_or_a_typed_refusal(data: bytes) -> None:
    try:
        handle = decode_handle(data)
    except HandleError:
        return
    assert decode_handle(encode_handle(handle)) == handle


@given(st.data())
def test_a_damaged_handle_never_becomes_another_shape(data: st.DataObject) -> None:
    raw = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        handle = decode_handle(bytes(raw))
    except HandleError:
        return
    assert Handle(*msgspec.structs.astuple(handle)) == handle


@pytest.mark.behaviour("F195")
def test_a_record_with_a_broken_handle_fails_like_any_broken_record() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(
            f'{{"handle":{GOOD.replace("wire", "Wire")},"origin":"created","fence":1}}', type=HandleLink
        )


@pytest.mark.behaviour("F100")
@pytest.mark.parametrize(
    "fields",
    [
        ("Wire", "brand", "a", ""),
        ("wire", "", "a", ""),
        ("wire", "brand", "", ""),
        ("wire", "1brand", "a", ""),
        ("w" * 65, "brand", "a", ""),
        ("wire", "brand\n", "a", ""),
        ("wire", "brand", "a" * (NATIVE_ID_MAX + 1), ""),
        ("wire", "brand", "a", "n" * (NOTE_MAX + 1)),
        ("wire", "brand", "\ud800", ""),
        ("wire", "brand", "a", "\udfff"),
    ],
)
def test_a_handle_outside_its_bounds_cannot_be_made(fields: tuple[str, str, str, str]) -> None:
    with pytest.raises(HandleError):
        Handle(*fields)


@pytest.mark.behaviour("F100")
def test_the_bounds_themselves_fit_and_are_stored() -> None:
    handle = Handle("w" * 64, "b" * 64, "\0" * NATIVE_ID_MAX, "\0" * NOTE_MAX)
    stored = encode_handle(handle)
    assert len(stored) < HANDLE_BYTES_MAX
    assert decode_handle(stored) == handle


# ---- whose conversation


@pytest.mark.behaviour("F040")
@given(handles, handles)
def test_a_conversation_is_the_same_only_under_the_same_protocol_and_agent(
    one: Handle, other: Handle
) -> None:
    assert one.same_conversation(other) == (
        msgspec.structs.astuple(one)[:3] == msgspec.structs.astuple(other)[:3]
    )
    assert not one.same_conversation(
        Handle(one.transport, one.agent_kind + "x"[: 64 - len(one.agent_kind)], "z")
    )


@pytest.mark.behaviour("F040")
def test_two_agents_on_one_protocol_with_one_native_id_stay_two() -> None:
    mine, theirs = Handle("wire", "brand", "1"), Handle("wire", "other", "1")
    assert not mine.same_conversation(theirs)
    with pytest.raises(Conflict, match="same conversation"):
        HandleChain((HandleLink(mine, "created", 1),)).append(HandleLink(theirs, "resumed", 1))


@pytest.mark.behaviour("F094")
@given(handles, texts)
def test_the_note_says_nothing_about_whose_conversation_it_is(handle: Handle, note: str) -> None:
    assert handle.same_conversation(msgspec.structs.replace(handle, note=note))


# ---- the sealed note

SECRET = "cursor-of-the-adapter"


def formatted(sealed: Sealed) -> str:
    return f"{sealed}"


def joined(sealed: Any) -> str:
    return "".join([sealed])


LOOKS: list[Callable[[Any], object]] = [
    str, formatted, joined, json.dumps, msgspec.json.encode, msgspec.to_builtins, pickle.dumps, copy.deepcopy,
    vars, len, iter,
]  # fmt: skip


@pytest.mark.behaviour("F092")
@pytest.mark.parametrize("look", LOOKS)
def test_a_sealed_note_cannot_be_read_by_anybody_else(look: Callable[[Sealed], object]) -> None:
    sealed = Handle("wire", "brand", "a", SECRET).sealed()
    with pytest.raises((HandleError, TypeError)) as caught:
        look(sealed)
    assert SECRET not in str(caught.value)


@pytest.mark.behaviour("F092")
def test_a_sealed_note_shows_nowhere() -> None:
    handle = Handle("wire", "brand", "a", SECRET)
    for shown in (repr(handle.sealed()), repr([handle.sealed()]), repr(handle), str(handle), f"{handle}"):
        assert SECRET not in shown
    assert SECRET not in repr(HandleChain((HandleLink(handle, "created", 1),)))


@pytest.mark.behaviour("F092")
def test_only_its_own_protocol_opens_a_note() -> None:
    sealed = Handle("wire", "brand", "a", SECRET).sealed()
    assert sealed.open("wire") == SECRET
    with pytest.raises(HandleError, match="sealed by wire"):
        sealed.open("other")
    assert sealed == Sealed("wire", SECRET) != Sealed("other", SECRET)
    assert len({sealed, Sealed("wire", SECRET)}) == 1
    with pytest.raises(HandleError):
        Sealed("wire", "n" * (NOTE_MAX + 1))


# ---- the chain


def grown(sequence: list[HandleLink]) -> tuple[HandleChain, list[HandleLink]]:
    """The chain of everything that is allowed, and what was refused."""
    chain, refused = HandleChain(), list[HandleLink]()
    for proof in sequence:
        try:
            chain = chain.append(proof)
        except Conflict:
            refused.append(proof)
    return chain, refused


@pytest.mark.behaviour("F096")
@given(st.lists(links, max_size=40))
def test_every_chain_keeps_its_rules_whatever_is_appended(sequence: list[HandleLink]) -> None:
    chain, _ = grown(sequence)
    held = chain.links
    assert [h.fence for h in held] == sorted(h.fence for h in held)
    assert all(h.origin in BEGINNINGS for h in held[:1])
    for before, after in itertools.pairwise(held):
        same = before.handle.same_conversation(after.handle)
        assert after.origin != "adopted"
        assert same if after.origin == "resumed" else True
        assert not same if after.origin == "forked" else True
        assert not (after.origin == "resumed" and before.handle == after.handle)
    assert chain.current == (held[-1].handle if held else None)


@pytest.mark.behaviour("F096")
@given(st.lists(links, max_size=20), links)
def test_a_refused_proof_changes_nothing(sequence: list[HandleLink], proof: HandleLink) -> None:
    chain, _ = grown(sequence)
    kept = msgspec.json.encode(chain)
    try:
        longer = chain.append(proof)
    except Conflict as refusal:
        assert refusal.code.startswith("handle_")
    else:
        assert longer.links[: len(chain.links)] == chain.links
    assert msgspec.json.encode(chain) == kept


@pytest.mark.behaviour("F096")
@pytest.mark.parametrize("origin", ORIGINS)
def test_the_fence_never_goes_back(origin: Origin) -> None:
    chain = HandleChain().append(link(fence=2))
    with pytest.raises(Conflict) as caught:
        chain.append(link("b", origin, 1))
    assert caught.value.code == "handle_fenced"


@pytest.mark.behaviour("F096")
@pytest.mark.parametrize("origin", ["resumed", "cleared"])
def test_nothing_goes_on_before_it_was_proved(origin: Origin) -> None:
    with pytest.raises(Conflict) as caught:
        HandleChain().append(link(origin=origin))
    assert caught.value.code == "handle_origin"


@pytest.mark.behaviour("F096")
def test_a_conversation_that_was_never_saved_is_replaced_by_a_creation() -> None:
    chain = HandleChain().append(link("a")).append(link("b", "created", 2))
    assert chain.current == Handle("wire", "brand", "b")


@pytest.mark.behaviour("F095")
def test_a_resume_takes_the_whole_handle_and_refuses_another_conversation() -> None:
    chain = HandleChain().append(link("a", note="x"))
    assert chain.append(link("a", "resumed", note="y")).current == Handle("wire", "brand", "a", "y")
    with pytest.raises(Conflict) as caught:
        chain.append(link("b", "resumed"))
    assert caught.value.code == "handle_other_conversation"


@pytest.mark.behaviour("F097")
def test_a_moved_note_is_recorded_and_an_identical_proof_is_not() -> None:
    chain = HandleChain().append(link("a", note="x"))
    assert chain.append(link("a", "resumed", 1, "x")) is chain
    moved = chain.append(link("a", "resumed", 1, "y"))
    assert [held.handle.note for held in moved.links] == ["x", "y"]
    assert moved.append(link("a", "resumed", 1, "y")) is moved


@pytest.mark.behaviour("F102")
def test_before_a_proof_there_is_no_identity() -> None:
    assert HandleChain().current is None
    assert msgspec.json.encode(HandleChain()) == b'{"links":[]}'


@pytest.mark.behaviour("F209")
def test_a_chain_is_bounded_and_keeps_its_beginning_and_its_newest_links() -> None:
    chain = HandleChain()
    for number in range(LINKS_MAX * 2):
        chain = chain.append(link(origin="resumed" if number else "created", note=str(number)))
        assert len(chain.links) <= LINKS_MAX
    notes = [held.handle.note for held in chain.links]
    assert len(notes) == LINKS_MAX
    assert notes[0] == "0"
    assert notes[1:] == [str(number) for number in range(LINKS_MAX + 1, LINKS_MAX * 2)]
