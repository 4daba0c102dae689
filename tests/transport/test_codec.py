"""Nothing an agent writes raises, and what it meant arrives (B03, B04, B06)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.transport.codec import (
    FRAMES_MAX,
    NESTING_MAX,
    NOISE_MAX,
    Frame,
    Noise,
    clean_text,
    decode_frame,
    decode_line,
    encode_frame,
    error,
    notification,
    request,
    result,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def frame(line: bytes | str) -> Frame:
    found = decode_frame(line.encode() if isinstance(line, str) else line)
    assert isinstance(found, Frame), found
    return found


@given(st.dictionaries(st.text(), JSON))
def test_what_is_encoded_comes_back_on_one_line(value: dict[str, Any]) -> None:
    line = encode_frame(value)
    assert line.splitlines() == [line]
    assert decode_frame(line.encode()) == Frame(value)


@given(st.dictionaries(st.text(), JSON), st.booleans())
def test_other_encoders_are_understood(value: dict[str, Any], ascii_only: bool) -> None:
    assert frame(json.dumps(value, ensure_ascii=ascii_only)).value == value


@given(st.binary(max_size=60))
def test_any_bytes_give_a_frame_or_noise(line: bytes) -> None:
    found = decode_frame(line)
    if isinstance(found, Frame):
        encode_frame(found.value).encode()


@given(st.binary(max_size=20))
def test_any_bytes_inside_a_string(inside: bytes) -> None:
    found = decode_frame(b'{"a":"' + inside + b'"}')
    if isinstance(found, Frame):
        encode_frame(found.value).encode()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (rb'{"a":"cut here \ud83d end"}', {"a": "cut here \ufffd end"}),
        (rb'{"a":"\ude00\ud83d"}', {"a": "\ufffd\ufffd"}),
        (rb'{"\uD83D":["\udc00"]}', {"\ufffd": ["\ufffd"]}),
        (b'{"a":"bad\xff\xfebyte"}', {"a": "bad\ufffd\ufffdbyte"}),
        (b'{"a":"\xe4\xb8"}', {"a": "\ufffd"}),
        (b'{"a":"\xf0\x9f\x9a\xc3\xa9"}', {"a": "\ufffdé"}),
        (b'{"a":NaN,"b":-Infinity,"c":1e999}', {"a": None, "b": None, "c": None}),
        (b'{"a":' + b"9" * 5000 + b"}", {"a": None}),
    ],
)
def test_what_cannot_be_is_replaced_and_said(line: bytes, value: dict[str, Any]) -> None:
    found = frame(line)
    assert found == Frame(value, repaired=True)
    encode_frame(found.value).encode()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (rb'{"a":"\ud83d\ude00"}', {"a": "😀"}),
        ('{"a":"中文 🚀 é"}'.encode(), {"a": "中文 🚀 é"}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a":"x\ty"}', {"a": "x\ty"}),
        (b'{"a":1}\r', {"a": 1}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'\x1b[1 q\x1b]0;title\x07{"a":1}', {"a": 1}),
        (b'\x1b[?25l\x1b[2J\x1b[1;1H\x1b(B\x1b>\x1b]8;;http://x\x1b\\ {"a":1}', {"a": 1}),
        (b'\x1bPsome string\x1b\\{"a":1}', {"a": 1}),
        (b'  {"a":1}  ', {"a": 1}),
    ],
)
def test_what_is_right_is_not_called_repaired(line: bytes, value: dict[str, Any]) -> None:
    assert decode_frame(line) == Frame(value)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", "empty"),
        (b"\r", "empty"),
        (b"\x1b[2J\x1b[H", "empty"),
        (b"Welcome to the shell", "text"),
        (b"[12:00:01] using configuration x", "text"),
        (b"[info] tool server ready", "text"),
        (b"{not json}", "text"),
        (b'{"half": ', "text"),
        (b'{"a":1}{"b":2}', "text"),
        (b"\xff\xfe", "text"),
        (b"42", "value"),
        (b"null", "value"),
        (b'"text"', "value"),
        (b"[]", "array"),
        (b'[{"id":1}]', "array"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "too_deep"),
        (b"[" * 100_000, "too_deep"),
        (b'{"a":' + b"[" * NESTING_MAX + b"]" * NESTING_MAX + b"}", "too_deep"),
    ],
)
def test_noise_has_a_kind(line: bytes, kind: str) -> None:
    found = decode_frame(line)
    assert isinstance(found, Noise)
    assert found.kind == kind
    assert found.size == len(line)
    assert len(found.text) <= NOISE_MAX


def test_brackets_in_strings_do_not_count_as_nesting() -> None:
    text = "[{" * 5000 + '\\"'
    assert frame(json.dumps({"a": text, "b": [1]})).value == {"a": text, "b": [1]}
    deep = b'{"a":' + b"[" * (NESTING_MAX - 1) + b"]" * (NESTING_MAX - 1) + b"}"
    assert frame(deep).value["a"] is not None


def test_ids_stay_what_they_are() -> None:
    for text in ("0", '"0"', "null", "0.0", "0.5", '""', "-1", "true"):
        value = frame(f'{{"id":{text}}}').value["id"]
        assert repr(value) == repr(json.loads(text))
        assert encode_frame(result(value, {})) == f'{{"id":{text},"result":{{}}}}'


def test_encoding_never_fails_for_json() -> None:
    value = {"a\ud83d": "b\udc00\u2028\u2029\x85\n", "n": float("nan"), "i": float("inf"), "big": 10**30}
    line = encode_frame(value)
    assert line.encode()
    assert line.splitlines() == [line]
    assert json.loads(line) == {"a\ufffd": "b\ufffd\u2028\u2029\x85\n", "n": None, "i": None, "big": 10**30}


@given(st.text())
def test_clean_text_is_encodable_and_keeps_the_rest(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert len(clean) == len(text)
    assert clean_text(clean) is clean


def test_messages() -> None:
    assert request(1, "m", {"a": 1}) == {"id": 1, "method": "m", "params": {"a": 1}}
    assert request("1", "m", versioned=True) == {"jsonrpc": "2.0", "id": "1", "method": "m"}
    assert notification("m", []) == {"method": "m", "params": []}
    assert result(None, None) == {"id": None, "result": None}
    assert error(0, -32601, "no") == {"id": 0, "error": {"code": -32601, "message": "no"}}
    assert error(0, 1, "no", {"x": 1}, versioned=True)["error"]["data"] == {"x": 1}


def test_a_frame_of_17_megabytes() -> None:
    text = "x" * 17_000_000
    assert frame(json.dumps({"t": text})).value["t"] == text


@pytest.mark.parametrize("between", [b"", b" ", b"\r", b"\x1b[0m", b"\x00", b"\xef\xbb\xbf"])
def test_two_objects_on_one_line_are_two_frames(between: bytes) -> None:
    line = between + b'{"a": "\\"}{"}' + between + b'{"b": 1}' + between
    assert decode_line(line) == (Frame({"a": '"}{'}), Frame({"b": 1}))


@pytest.mark.parametrize(
    "line", [b'{"a":1} and words', b'{"a":1}{"b":', b'{"a":1}[2]', b"{}" * (FRAMES_MAX + 1)]
)
def test_a_line_with_anything_else_on_it_is_noise(line: bytes) -> None:
    (found,) = decode_line(line)
    assert isinstance(found, Noise)
